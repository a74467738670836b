"""How a value of book/data is found, with its unit, its source and the date on which somebody looked.

A data file is YAML: `meta:` about the file and one or more lists of records. Units stand in the key names
(`bandwidth_tb_per_s`), keys of nested mappings are joined by dots. A file is read anew only when it has changed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import yaml

_Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml where PyYAML was built with it

# the one home of unit names: last word of a key → how the unit is written
UNITS = {
    "flops": "FLOPS", "gflops": "GFLOPS", "tflops": "TFLOPS", "pflops": "PFLOPS", "eflops": "EFLOPS",
    "tops": "TOPS", "flop": "FLOPs",
    "bytes": "B", "kb": "kB", "mb": "MB", "gb": "GB", "tb": "TB", "pb": "PB",
    "kib": "KiB", "mib": "MiB", "gib": "GiB", "tib": "TiB",
    "bit": "bits", "bits": "bits", "gbit": "Gbit", "tbit": "Tbit",
    "kbps": "kbps", "mbps": "Mbps", "gbps": "Gbps", "tbps": "Tbps", "gt": "GT",
    "ns": "ns", "us": "µs", "ms": "ms", "s": "s", "minutes": "min", "h": "h", "hours": "h", "days": "days",
    "weeks": "weeks", "months": "months", "years": "years",
    "w": "W", "kw": "kW", "mw": "MW", "wh": "Wh", "kwh": "kWh", "mwh": "MWh", "v": "V",
    "hz": "Hz", "mhz": "MHz", "ghz": "GHz", "c": "°C", "nm": "nm", "mm": "mm", "mm2": "mm²", "kg": "kg",
    "usd": "USD", "eur": "EUR", "percent": "%", "pct": "%",
    "tokens": "tokens", "samples": "samples", "requests": "requests", "iops": "IOPS",
}  # fmt: skip
_AFTER_PER = {"gpu": "GPU", "hour": "h", "year": "year"}
_NARROW = "\u202f"  # thin space that does not break: between groups of three digits


class DataError(ValueError):
    """A data file or a request to it is wrong; `file` and `line` say where, as far as known."""

    def __init__(self, text: str, *, hint: str = "", file: Path | None = None, line: int = 0) -> None:
        super().__init__(text)
        self.text, self.hint, self.file, self.line = text, hint, file, line


class Number(float):
    """A float that remembers how it was written, so that 2.50 is shown as 2.50."""

    written: str

    def __new__(cls, value: float, written: str) -> Self:
        number = super().__new__(cls, value)
        number.written = written
        return number

    def __reduce__(self):
        return Number, (float(self), self.written)


class Computed(Number):
    """A number that follows from others: exact inside, `written` with the digits that count."""

    def __reduce__(self):
        return Computed, (float(self), self.written)


class Record(dict):
    """A mapping of a data file with the line on which it starts and those of its keys."""

    line: int = 0
    key_lines: Mapping[str, int] = {}


class Missing:
    """What a key gives that a record does not have; None is a value of its own."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()


class _Loader(_Base):
    """YAML as plain values, but floats as written, mappings with lines, and no key twice."""


def _mapping(loader: yaml.Loader, node: yaml.MappingNode) -> Iterator[Record]:
    record = Record()
    yield record
    lines: dict[str, int] = {}
    for key_node, _ in node.value:
        line = key_node.start_mark.line + 1
        if key_node.value in lines and not isinstance(key_node.value, list):
            raise DataError(
                f"key '{key_node.value}' stands twice, first on line {lines[key_node.value]}", line=line
            )
        lines[key_node.value if isinstance(key_node.value, str) else ""] = line
    record.update(loader.construct_mapping(node))
    record.line, record.key_lines = node.start_mark.line + 1, lines


def _number(loader: yaml.Loader, node: yaml.ScalarNode) -> Number:
    return Number(loader.construct_yaml_float(node), node.value)


_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)
_Loader.add_constructor("tag:yaml.org,2002:float", _number)


def parse_yaml(text: str) -> Any:
    """The value of a YAML text; DataError with the line within it."""
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise DataError(f"YAML: {error.problem}", line=mark.line + 1 if mark else 0) from error
    except yaml.YAMLError as error:
        raise DataError(f"YAML: {' '.join(str(error).split())}") from error


_needs: dict[Path, tuple[Path, ...]] = {}  # files of which a file computes values


@lru_cache(maxsize=64)
def _read(path: Path, _stamps: tuple[tuple[int, int], ...]) -> Record:
    try:
        content = parse_yaml(path.read_text(encoding="utf-8"))
    except DataError as error:
        error.file = path
        raise
    if not isinstance(content, Record):
        raise DataError("a data file is a mapping with lists of records", file=path, line=1)
    from bookbuild.derived import add_derived  # which needs what stands below

    try:
        _needs[path] = add_derived(content, path)
    except DataError as error:
        error.file = path
        raise
    return content


def read_data(path: Path) -> Record:
    """The content of a data file; DataError for one that is absent or no YAML."""
    try:
        stats = [p.stat() for p in (path, *_needs.get(path, ()))]
    except OSError:
        near = nearest(path.stem, [p.stem for p in path.parent.glob("*.yml")])
        raise DataError(f"no data file {path.name}", hint=near and f"did you mean {near}?") from None
    return _read(path, tuple((stat.st_mtime_ns, stat.st_size) for stat in stats))


def data_file(data_dir: Path, name: str) -> Path:
    return data_dir / (name if name.endswith((".yml", ".yaml")) else f"{name}.yml")


def records(content: Record, key: str = "records") -> list[Record]:
    """The list of records under `key`."""
    found = content.get(key, MISSING)
    if found is MISSING:
        near = nearest(key, [k for k, v in content.items() if isinstance(v, list)])
        raise DataError(f"no list '{key}' in the data file", hint=near and f"did you mean {near}?")
    if not isinstance(found, list) or not all(isinstance(r, Record) for r in found):
        raise DataError(f"'{key}' is not a list of records")
    return found


def lookup(record: Mapping[str, Any], key: str) -> Any:
    """The value under a dotted key, MISSING where there is none. A key with a dot in it is found as well."""
    if key in record:
        return record[key]
    head, _, rest = key.partition(".")
    below = record.get(head, MISSING)
    if rest and isinstance(below, Mapping):
        return lookup(below, rest)
    return MISSING


def line_of(row: Record, key: str) -> int:
    """The line of a dotted key within a record."""
    line, value = row.line, row
    for step in key.split("."):
        if not isinstance(value, Record):
            break
        line, value = value.key_lines.get(step, line), value.get(step)
    return line


def keys_of(found: Sequence[Mapping[str, Any]]) -> set[str]:
    """Every dotted key that some record has, those of the mappings on the way included."""
    keys: set[str] = set()

    def walk(record: Mapping[str, Any], prefix: str) -> None:
        for key, value in record.items():
            keys.add(f"{prefix}{key}")
            if isinstance(value, Mapping):
                walk(value, f"{prefix}{key}.")

    for record in found:
        walk(record, "")
    return keys


def nearest(word: Hashable, known: Sequence[str] | set[str]) -> str:
    """The known word that was probably meant, "" where none is near."""
    close = get_close_matches(str(word), sorted(known), n=1, cutoff=0.6)
    return close[0] if close else ""


# ---- units and numbers ----


def unit_of(key: str) -> str:
    """The unit that the end of a key names: 'memory.bandwidth_tb_per_s' → 'TB/s'; "" for none."""
    number, *below = key.rpartition(".")[2].lower().split("_per_")
    above = number.split("_")
    unit = UNITS.get(above[-1], "") if below or len(above) > 1 else ""
    names = (UNITS.get(word) or _AFTER_PER.get(word) or word.replace("_", " ") for word in below)
    return "/".join([unit, *names]) if unit else ""


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def number_text(value: float, digits: int | None = None) -> str:
    """A number for readers: decimals as stored or `digits` of them, groups of three from 10 000 up."""
    plain = isinstance(value, Number) and not set(value.written) - set("0123456789.-+")
    if digits is not None:
        exact = Decimal(value.written if plain and not isinstance(value, Computed) else repr(float(value)))
        text = f"{exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP):f}"
    elif plain:
        text = value.written.lstrip("+")
    else:
        text = f"{value:.15g}"
        if "e" in text and 1e-6 < abs(value) < 1e21:
            text = f"{value:.0f}" if value == int(value) else f"{value:.12f}".rstrip("0")
    sign, text = ("−", text[1:]) if text.startswith("-") else ("", text)
    whole, point, rest = text.partition(".")
    if len(whole) >= 5 and whole.isdigit():
        whole = f"{int(whole):,}".replace(",", _NARROW)
    return f"{sign}{whole}{point}{rest}"


# ---- where a value comes from ----


@dataclass(frozen=True)
class Source:
    title: str
    url: str
    checked: str
    how: str = ""

    @property
    def words(self) -> str:
        """What a reader sees: the title, else the address without its protocol."""
        return self.title or self.url.split("://", 1)[-1].removeprefix("www.").rstrip("/")


def sources(record: Mapping[str, Any], keys: Sequence[str] | None = None) -> list[Source]:
    """The sources of a record; with `keys` only those that stand for one of these or for the whole record."""
    found = []
    for entry in record.get("sources") or ():
        if not isinstance(entry, Mapping):
            continue
        fields = entry.get("fields")
        if keys is None or not fields or any(covers(field, key) for field in fields for key in keys):
            texts = (str(entry.get(k) or "") for k in ("title", "url", "checked", "how"))
            found.append(Source(*texts))
    return found


def covers(field: str, key: str) -> bool:
    """'memory' stands for 'memory.type', and a source of 'memory.type' for a column that shows all of 'memory'."""
    return field == key or key.startswith(f"{field}.") or field.startswith(f"{key}.")


def rule_of(content: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """How a value is computed, {} for one that stands in the file."""
    return (
        content.get("derived", {}).get(key.removeprefix("derived."), {}) if key.startswith("derived.") else {}
    )


def origins(content: Mapping[str, Any], key: str) -> list[str]:
    """The keys whose sources stand for a value: its own, or those of what it is computed from."""
    rule = rule_of(content, key)
    return list(rule["of"].values()) if rule else [key]
