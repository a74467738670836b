"""Each fault planted into the text is found on its line, under its code, and nothing else is.

Where a public document had the fault, the report of it is named; the sentences around it are ours.
"""

from __future__ import annotations

import pytest

from bookbuild.check.lints_words import misspellings

ONE = "docs/one.md"
TWO = "docs/folder/two.md"
HEAD = "# One\n\n"
LONG = (
    "The rate of a link bounds the time of a transfer from below and says nothing about the time that it takes, "
    * 2
)

# name, text after the heading (line 3 and on), expected [(line, code)]
FAULTS = [
    # stas00/ml-engineering#65, Infrasys-AI/AISystem#271: GBps and Gbps, one letter apart
    ("rate in bytes", "A link moves 235 GBps.\n", [(3, "unit-bytes")]),
    ("rate in terabytes", "Text.\n\nThe card moves 1.8 TBps.\n", [(5, "unit-bytes")]),
    # MicrosoftDocs/azure-compute-docs#393, btcsuite/btcdb#1: Gb/s beside GB/s
    ("rate in bits", "- One.\n- The port has 400 Gb/s.\n", [(4, "unit-bits")]),
    # ned14/llfio#176: Gb/sec and Mb/sec
    ("rate with sec", "| a | b |\n|---|---|\n| DDR4 | 40 Gb/sec |\n", [(5, "unit-bits")]),
    # RedHatInsights/red-hat-ansible-automation-platform-documentation#360, matomo-org/matomo#11515
    ("bits for bytes", "It needs 16 Gb of memory.\n", [(3, "unit-bits")]),
    # kubernetes/website#43319: Gib for GiB
    ("kibibit", "It holds 64 Gib.\n", [(3, "unit-bytes")]),
    # wokwi/wokwi-docs#181, justinmeiners/lc3-vm#56
    ("kilobit", "A page of 32 kb.\n", [(3, "unit-bytes")]),
    # awsdocs/aws-kms-developer-guide#18, mdn/content#27016: KB and 1024 bytes
    ("KB", "A block of 4 KB.\n", [(3, "unit-bytes")]),
    ("rate in binary units", "A disk that reads 3 GiB/s.\n", [(3, "unit-binary")]),
    # Max-Hailperin/Operating-Systems-and-Middleware--Supporting-Controlled-Interaction#121: memory in decimal units
    ("cache in decimal units", "There are 50 MB of L2.\n", [(3, "unit-binary")]),
    # NVIDIA/cutlass#2660: a rate that says FLOPs
    ("rate as a count", "The kernel reaches 700 TFLOPs on it.\n", [(3, "unit-flops")]),
    # wandb/wandb#3913, ultralytics/yolov5#3413: a count that says FLOPS
    ("count as a rate", "The number of FLOPS grows with the length.\n", [(3, "unit-flops")]),
    # amirgholami/ai_and_memory_wall#3
    ("count for each token", "Inference takes 140 GFLOPS per token.\n", [(3, "unit-flops")]),
    # jax-ml/scaling-book#56: FLOPs/s
    ("third spelling", "A peak of 197 TFLOPs/s.\n", [(3, "unit-flops")]),
    ("plural", "A file of 30 GBs.\n", [(3, "unit-plural")]),
    # mendix/docs#4998, riscv/riscv-isa-manual#2165, elementary/website#369
    ("no space", "It takes 1GB.\n", [(3, "unit-space")]),
    ("no space before a rate", "Line\nand 400Gbps.\n", [(4, "unit-space")]),
    ("no space before per cent", "A loss of 5%.\n", [(3, "unit-space")]),
    ("no space in an alt text", '![A bar of 700W](figures/plot.svg "Caption.")\n', [(3, "unit-space")]),
    ("no space in a note", "!!! note\n    Text.\n\n    It draws 700W.\n", [(6, "unit-space")]),
    # MicrosoftDocs/azure-compute-docs#460 and others: a figure whose unit stands in nobody's line
    ("no unit", "The memory bandwidth is 3.35.\n", [(3, "unit-missing")]),
    ("no unit in an item", "- Peak of 989, dense.\n", [(3, "unit-missing")]),
    # basefoundry/base#1940, mmeyerlein/meclaw#794, stephrobert/feint#127: claims in the present tense that went stale
    ("currently", "The library currently has no such path.\n", [(3, "time-undated")]),
    ("latest", "Use the latest version.\n", [(3, "time-undated")]),
    ("date in another sentence", "It came in 2024. It was recently mended.\n", [(3, "time-undated")]),
    # mdn/content#38903, nhsuk/nhsuk-service-manual#760
    ("see below", "Links are slower, see below.\n", [(3, "where-bare")]),
    # SCons/scons#4859: what is said to be below stands on another page
    ("the section below", "The section below has more.\n\n## More\n", [(3, "where-bare")]),
    # AOMediaCodec/av1-spec#357
    (
        "table across a heading",
        "See the table below.\n\n## More\n\n| a |\n|---|\n| 1 |\n",
        [(3, "where-bare")],
    ),
    # whatwg/html#2203: nothing is shown below
    ("code that is not there", "The example above works.\n", [(3, "where-bare")]),
    ("experience", "We have seen this on three clusters.\n", [(3, "claim-experience")]),
    ("experience, ours", "Text.\n\n- In our runs it was slower.\n", [(5, "claim-experience")]),
    # Nexmo/nexmo-developer#554, Opentrons/opentrons#9750, anki-manual#424: words that carry nothing
    ("simply", "You simply set the variable.\n", [(3, "word-filler")]),
    ("important to note", "It is important to note that it fails.\n", [(3, "word-filler")]),
    # MicrosoftDocs/azure-compute-docs#393 quotes 'unmatched performance' of a data sheet's kind
    ("praise", "It has unmatched bandwidth.\n", [(3, "word-marketing")]),
    ("praise in a caption", '![A bar](figures/plot.svg "A blazing fast link.")\n', [(3, "word-marketing")]),
    # facebookresearch/PartDistillation#2
    ("spelling", "Racks accomodate eight.\n", [(3, "spelling")]),
    # Infrasys-AI/AISystem#338
    ("spelling in a cell", "| a |\n|---|\n| seperate |\n", [(5, "spelling")]),
    # timescale/docs#305, appwrite/console#513
    ("capitals in a heading", "## How To Measure a Link\n", [(3, "heading-case")]),
    ("link in a heading", "## To [two](folder/two.md)\n", [(3, "heading-link")]),
    (
        "paragraph wrapped by hand",
        "Text.\n\nA paragraph that goes on for more than half of a line,\nand then on the next one.\n",
        [(5, "paragraph-wrapped")],
    ),
]


@pytest.mark.parametrize(("text", "expected"), [f[1:] for f in FAULTS], ids=[f[0] for f in FAULTS])
def test_planted_fault_is_found_on_its_line_and_nothing_else(planted, text, expected):
    planted.write(ONE, HEAD + text)
    assert planted.found() == [(ONE, line, code) for line, code in expected]


# jenkins-infra/jenkins.io#4214, js_of_ocaml#430: paragraphs that stand twice
def test_a_paragraph_that_another_page_has_too(planted):
    planted.write(TWO, f"# Two\n\n## Größe & Co\n\n{LONG}\n")
    planted.write(ONE, f"{HEAD}To [two](folder/two.md).\n\nFirst. **{LONG.upper().strip()}**\n")
    assert planted.found() == [(TWO, 5, "paragraph-twice")]


def test_less_than_25_words_in_common_are_no_repetition(planted):
    words = LONG.split()
    planted.write(TWO, f"# Two\n\n## Größe & Co\n\n{' '.join(words[:24])} ends.\n")
    planted.write(ONE, f"{HEAD}{' '.join(words[:24])} goes on.\n")
    assert planted.problems() == []


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("A link of 400 Gb/s.", "Gbps"),
        ("A link of 50 GBps.", "GB/s"),
        ("A block of 4 KB.", "KiB"),
        ("It reaches 700 TFLOPs on it.", "TFLOPS"),
        ("It takes 1GB.", "1 GB"),
        ("Racks accomodate eight.", "accommodate"),
    ],
)
def test_hint_names_what_is_right(planted, text, hint):
    planted.write(ONE, f"{HEAD}{text}\n")
    [problem] = planted.problems()
    assert hint in problem.hint


@pytest.mark.parametrize(
    "text",
    [
        "400 Gbps each way, 50 GB/s, 141 GB, 80 GiB, 4 KiB, 32 kB, 989 TFLOPS, 700 W, 5 %, 2.5 GHz, 3 ms.",
        "A model of 8B parameters, 15T tokens, 2K samples; $6 \\cdot 10^{23}$ FLOPs, 10^21 FLOPs, 2 FLOPs per byte.",
        "The A100 SXM 80GB and the H100-80GB are names; `--size 4KB` and `1GB` are code.",
        'The sheet says "900 GBps bidirectional" and "80GB".',
        "It takes 140 GFLOPs per token and 0.3 TFLOPs of compute.",
        "A bandwidth of 3.35 TB/s, a peak of 989 TFLOPS, a latency of 5 µs, a clock of 1,830 MHz.",
        "A memory of 8 stacks; a capacity of 2 or 3 GPUs; a peak of two kinds.",
        "As of 2026-12 the library currently has no such path. Its word *currently* has a date.",
        "Load the latest checkpoint. It rose from 2021 to 2023, and recently, in 2025, it fell.",
        "Rates above the ridge and times below the bound; a batch above 200.",
        "The table below has both.\n\n| a | b |\n|---|---|\n| 1 | 2 |",
        "```bash\ntrue\n```\n\nThe command above does nothing.",
        "$$\na = b\n$$\n\nThe formula above is a bound.",
        "See [the part on links below](#again), or the section below on [links](#again).",
        "We found no clock published for it.",
        "## Lab: measure it\n\nWe ran it on one core; in our runs the second digit moved.",
        "## NVIDIA and AMD: What GPUs report\n\n### Why `torchrun` hangs with InfiniBand\n\n### HBM3E, NVLink and PyTorch",
        "Short line\nand another.",
        "- An item that is as long as a line of source may be, and more,\n- and then another of them.",
        "A verse of a line that is more than fifty columns long,\\\nand the next.",
        "A fo in `accomodate`; https is a word, nd not.".replace("nd not", "and not"),
    ],
)
def test_what_is_right_is_left_alone(planted, text):
    planted.write(ONE, f"{HEAD}{text}\n\n## Again\n")
    assert planted.problems() == []


def entry(**changes: str) -> str:
    fields = {"code": "spelling", "file": "one.md", "text": "accomodate", "reason": "A quotation."} | changes
    return "- " + "\n  ".join(f"{key}: {value}" for key, value in fields.items()) + "\n"


def test_an_entry_of_the_list_takes_its_fault_away(planted):
    planted.write(ONE, f"{HEAD}Racks accomodate eight.\n")
    planted.write("docs/lint-ignore.yml", entry())
    assert planted.problems() == []


def test_an_entry_takes_no_other_fault_away(planted):
    planted.write(ONE, f"{HEAD}Racks accomodate eight.\n\nTwo racks accomodate 16.\n")
    planted.write("docs/lint-ignore.yml", entry(text="accomodate eight"))
    assert planted.found() == [(ONE, 5, "spelling")]


def test_an_entry_that_matches_nothing_is_named(planted):
    planted.write("docs/lint-ignore.yml", "# why\n" + entry())
    assert planted.found() == [("docs/lint-ignore.yml", 2, "ignore-unused")]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (entry() + entry(code="speling"), 5),
        (entry().replace("  reason: A quotation.\n", ""), 1),
        (entry(reason="''"), 1),
        ("code: spelling\n", 1),
        ("- code: [\n", 2),
    ],
)
def test_an_entry_that_cannot_be_read(planted, text, line):
    planted.write(ONE, f"{HEAD}Racks accomodate eight.\n")
    planted.write("docs/lint-ignore.yml", text)
    assert ("docs/lint-ignore.yml", line, "ignore-entry") in planted.found()


def test_the_dictionary_is_codespells_own():
    """Its own documentation names this pair."""
    assert misspellings()["teh"].split(",")[0] == "the"
