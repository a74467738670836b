"""Every calculator of the book gives its published value; its units fit; Python, page and TeX agree on it."""

from __future__ import annotations

import math
import random

import pytest
import yaml
import ziamath
from nodejs import in_node
from support import ROOT

from bookbuild.calculator_records import load, read_calculator
from bookbuild.calculator_words import equation, is_exact, terms, unit_words, value_words
from bookbuild.calculators import Fault, as_page_data, evaluate_case
from bookbuild.data import parse_yaml
from bookbuild.expression_units import physical, quantity, same_dimension
from bookbuild.markdown.maths import mathml

DATA = ROOT / "book" / "data"
BOOK = load(DATA)
CASES = [(c, known) for c in BOOK.values() for known in c.checks]
# from the table of formulas that the tools must reproduce: (calculator, inputs, output, value, tolerance)
TABLE = [
    ("bus-bandwidth", {"size": 256, "ranks": 8, "time": 2420.6}, "algbw", 110.90, 0.005),
    ("bus-bandwidth", {"size": 256, "ranks": 8, "time": 2420.6}, "busbw", 194.07, 0.005),
    ("gpt-parameters", {"layers": 128, "hidden": 25600, "vocabulary": 51200, "positions": 2048}, "params", 1008.0, 0.05),
    ("training-compute", {"params": 405, "tokens": 15.6}, "compute", 3.79e25, 0.005e25),
    ("training-compute",
     {"params": 175, "tokens": 0.3, "work": 8, "devices": 1024, "peak": 140, "mfu": 100, "goodput": 100},
     "time", 33.9, 0.05),
    ("step-utilization", {"time": 13.75, "devices": 64, "peak": 312}, "mfu", 51.4, 0.05),
    ("step-utilization", {"time": 13.75, "devices": 64, "peak": 312}, "hfu", 52.8, 0.05),
    ("mfu", {"rate": 238300, "devices": 6144, "peak": 275}, "mfu", 46.2, 0.05),
    ("mfu", {"rate": 238300, "devices": 6144, "peak": 275}, "mfu_plain", 45.7, 0.05),
    ("training-memory", {"dense": 7.5, "data": 64, "zero": 0}, "states", 120, 0.05),
    ("training-memory", {"dense": 7.5, "data": 64, "zero": 1}, "states", 31.4, 0.05),
    ("training-memory", {"dense": 7.5, "data": 64, "zero": 2}, "states", 16.6, 0.05),
    ("training-memory", {"dense": 7.5, "data": 64, "zero": 3}, "states", 1.88, 0.005),
    ("kv-cache", {"layers": 32, "kv_heads": 8, "head_dim": 128}, "per_token", 131072, 0),
    ("kv-cache", {"layers": 61, "latent": 512, "rope": 64}, "per_token", 70272, 0),
    ("pipeline-bubble", {"stages": 4, "micro_batches": 8}, "of_ideal", 37.5, 1e-9),
    ("pipeline-bubble", {"stages": 4, "micro_batches": 8, "chunks": 2}, "of_ideal", 18.75, 1e-9),
    ("checkpoint-interval", {"save": 300, "mtbf": 24}, "young", 7200 / 60, 1e-9),
    ("checkpoint-interval", {"save": 300, "mtbf": 24}, "daly", 7001.4 / 60, 0.05 / 60),
    ("job-mtbf", {"observed": 54, "failures": 419}, "mtbf", 3.09, 0.005),
    ("peak-rate", {"clock": 1830, "fma": 512, "units": 4 * 132}, "peak", 989.4, 0.05),
    ("matmul", {"m": 4096, "n": 4096, "k": 4096}, "work", 137.44, 0.005),
    ("matmul", {"m": 8192, "k": 128, "n": 8192}, "intensity", 124.12, 0.005),
    ("matmul", {"m": 8192, "k": 8192, "n": 8192}, "intensity", 2730.67, 0.005),
    ("storage-rate", {"iops": 257614, "block": 4}, "rate", 1006.3, 0.05),
    ("collective-time", {"size": 0.268435456, "ranks": 8, "busbw": 194.07, "latency": 0}, "time", 2.4206, 0.0001),
]  # fmt: skip


@pytest.mark.parametrize(
    ("calculator", "known"), CASES, ids=[f"{c.id}-{k.output}-{k.line}" for c, k in CASES]
)
def test_published_value(calculator, known):
    value = evaluate_case(calculator, known.inputs).value(known.output)
    assert abs(value - known.value) <= known.tolerance


@pytest.mark.parametrize(("name", "given", "output", "value", "tolerance"), TABLE)
def test_value_of_the_table(name, given, output, value, tolerance):
    assert abs(evaluate_case(BOOK[name], given).value(output) - value) <= tolerance


@pytest.mark.parametrize("name", BOOK)
def test_units_fit(name):
    calculator = BOOK[name]
    values = {e.name: physical(e.default, e.unit) for e in calculator.inputs.values()}
    values |= {c.name: physical(c.value, c.unit) for c in calculator.constants.values()}
    case = evaluate_case(calculator)
    for result in calculator.results.values():
        values[result.name] = found = quantity(result.formula, values)
        assert same_dimension(found, physical(1, result.unit)), result.name
        plain = found.to_base_units().magnitude if hasattr(found, "to") else found
        assert math.isclose(plain, case.base[result.name], rel_tol=1e-9), result.name


def some_case(calculator, chance: random.Random) -> dict[str, float]:
    """Values in range, over all of its powers of ten."""
    given = {}
    for entry in calculator.inputs.values():
        if entry.choices:
            given[entry.name] = chance.choice(list(entry.choices))
            continue
        low, high = max(entry.low, 1e-3 * entry.high**0.5 if entry.low <= 0 else entry.low), entry.high
        value = low * (high / low) ** chance.random()
        given[entry.name] = min(max(round(value) if entry.step == 1 else value, entry.low), entry.high)
    return given


def test_page_computes_what_python_does():
    """200 cases of each calculator: the page's own sums in Node, on the data that a page gets."""
    chance = random.Random(20261201)
    jobs, wanted, labels = [], [], []
    for calculator in BOOK.values():
        page = as_page_data(calculator)
        lines = [f"v.{r['name']} = {r['js']};" for r in page["results"]]
        for _ in range(200):
            given = some_case(calculator, chance)
            try:
                case = evaluate_case(calculator, given)
            except Fault as fault:
                assert "no finite number" in fault.text or "division by zero" in fault.text, (given, fault)
                continue
            values = page["constants"] | {e["name"]: given[e["name"]] * e["scale"] for e in page["inputs"]}
            for result in page["results"]:
                js = f"(() => {{ {' '.join(lines)} return v.{result['name']} / {result['scale']!r}; }})()"
                jobs.append((js, values))
                wanted.append(case.value(result["name"]))
                labels.append((calculator.id, result["name"], given))
    assert {name for name, _, _ in labels} == set(BOOK)
    for ours, theirs, label in zip(wanted, in_node(jobs), labels, strict=True):
        assert math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-15), label


@pytest.mark.parametrize("name", BOOK)
def test_formulas_can_be_set_on_site_and_paper(name):
    """In every branch of a conditional: the default case and each choice."""
    calculator = BOOK[name]
    cases = [{}] + [{e.name: value} for e in calculator.inputs.values() for value in e.choices]
    for given in cases:
        case = evaluate_case(calculator, given)
        for result in calculator.results.values():
            tex = equation(case, result, terms(case))
            mathml(tex, True)
            ziamath.Latex(tex)


def test_every_family_of_the_issue_is_there():
    assert set(BOOK) >= {
        "training-compute", "mfu", "training-memory", "activation-memory", "kv-cache", "decode-bound",
        "collective-time", "pipeline-bubble", "checkpoint-interval", "checkpoint-bandwidth", "gpu-upgrade",
        "owner-cost", "cluster-power", "serving-cost", "speculative-decoding", "job-mtbf", "goodput",
    }  # fmt: skip


# ---- presets: numbers are typed once ----


def test_default_comes_from_the_data(tmp_path):
    """Another peak in accelerators.yml is another default."""
    for name in ("accelerators", "models", "calculators"):
        text = (DATA / f"{name}.yml").read_text(encoding="utf-8")
        if name == "accelerators":
            found = yaml.safe_load(text)
            for record in found["records"]:
                if record["id"] == "nvidia-h100-sxm":
                    record["dense_peak"]["bf16_tflops"] = 1234.5
            text = yaml.safe_dump(found)
        (tmp_path / f"{name}.yml").write_text(text, encoding="utf-8")
    peak = load(tmp_path)["training-compute"].inputs["peak"]
    assert peak.default == 1234.5 and peak.preset == "nvidia-h100-sxm"


def test_memory_is_what_the_driver_reports_where_that_is_known():
    """81 559 MiB of an H100 are 85.52e9 B; the vendor's 80 GB stand beside; an A100's 80 GB are 80e9 B."""
    capacity = BOOK["training-memory"].inputs["capacity"]
    assert math.isclose(capacity.presets["nvidia-h100-sxm"].base, 81559 * 2**20)
    assert len(capacity.presets["nvidia-h100-sxm"].words) == 2
    assert "80 GB as the vendor prints it" in capacity.presets["nvidia-h100-sxm"].words
    assert capacity.presets["amd-mi250"].base == 128e9


def test_does_it_fit_compares_bytes():
    """16 bytes for each of 5.3e9 parameters are 84.8e9 B: within 81 559 MiB, beyond 80 GB."""
    whole = {"dense": 5.3, "data": 1, "zero": 0, "micro_batch": 0}
    assert evaluate_case(BOOK["training-memory"], whole).value("fits") == 1
    assert evaluate_case(BOOK["training-memory"], whole | {"capacity": 80}).value("fits") == 0


# ---- cases ----


def test_a_case_takes_numbers_presets_and_words():
    case = evaluate_case(BOOK["kv-cache"], {"layers": "llama-3-70b", "width": "FP8 or INT8"})
    assert case.value("per_token") == 2 * 80 * 8 * 128 * 1
    assert case.chosen["layers"] == "llama-3-70b"


def test_a_case_needs_what_it_takes():
    """DeepSeek-V3 keeps a latent vector; heads and their width do not come in, the latent decides that."""
    case = evaluate_case(BOOK["kv-cache"], {"layers": 61, "latent": 512, "rope": 64})
    assert case.needed(["per_token"]) == {"per_token", "layers", "latent", "rope", "width"}
    llama = evaluate_case(BOOK["kv-cache"])
    assert llama.needed(["per_token"]) == {"per_token", "layers", "kv_heads", "head_dim", "latent", "width"}


@pytest.mark.parametrize(
    ("given", "words", "hint"),
    [
        ({"layer": 3}, "no input 'layer'", "layers"),
        ({"layers": 0}, "outside of 1 to 1000", ""),
        ({"layers": "llama-3-70c"}, "is no value of layers", "llama-3-70b"),
        ({"width": 3}, "width is 3", "2, 1, 4"),
        ({"width": True}, "not a number", ""),
    ],
)
def test_what_a_case_does_not_take(given, words, hint):
    with pytest.raises(Fault) as caught:
        evaluate_case(BOOK["kv-cache"], given)
    assert words in caught.value.text and hint in caught.value.hint


def test_a_case_without_a_result_is_a_fault():
    text = """\
records:
  - id: x
    name: X
    question: What?
    inputs: [{name: a, title: A, symbol: a, default: 1, min: 0, max: 9, help: Any.}]
    outputs: [{name: b, title: B, symbol: b, digits: 3, formula: 1 / (a - 2)}]
"""
    [record] = parse_yaml(text)["records"]
    calculator = read_calculator(record, DATA)
    assert evaluate_case(calculator).value("b") == -1
    with pytest.raises(Fault, match="division by zero") as caught:
        evaluate_case(calculator, {"a": 2})
    assert caught.value.line == 6


# ---- words ----


def test_units_in_words():
    assert unit_words("Gparam") == "B parameters"
    assert unit_words("Ttoken") == "T tokens"
    assert unit_words("USD/Mtoken") == "USD/M tokens"
    assert unit_words("B/token") == "B/token"
    assert unit_words("FLOP") == "FLOPs"
    assert unit_words("TFLOPS") == "TFLOPS"


def test_numbers_in_words():
    assert value_words(131072, 3) == "131\u202f072"
    assert value_words(3.7908e25, 3) == "3.79 × 10²⁵"
    assert value_words(7001.36, 5) == "7001.4"
    assert value_words(0.30030, 4) == "0.3003"
    assert not is_exact(7001.36, 5) and is_exact(7200, 5)
