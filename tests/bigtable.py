"""A tiny book with one data table of as many rows as a test wants (WeasyPrint#1104, #1296)."""

from __future__ import annotations

from pathlib import Path

PAGE = """\
# Rows

```table
label: tab-rows
caption: As many rows as wanted
data: rows
columns:
  - name: Name
  - size_gb: Size
  - rate_tflops: Rate
  - power_w: Power
  - note: Note
```
"""


def write_bigtable(folder: Path, rows: int = 2_000) -> Path:
    """Write the book below `folder`; its mkdocs.yml. Row n has n GB, 1.5 n TFLOPS and one of seven sources."""
    config = (Path(__file__).parent / "minibook" / "mkdocs.yml").read_text(encoding="utf-8")
    start = config.index("\nnav:\n  - Preface")
    files = {
        "mkdocs.yml": config[:start].replace("Mini book", "Big table") + "\nnav: [index.md, {Part: [rows.md]}]\n",
        "docs/index.md": "# Preface\n",
        "docs/rows.md": PAGE,
        "docs/data/rows.yml": 'meta: {title: Rows, checked: "2026-01-02"}\nrecords:\n'
        + "".join(_record(number) for number in range(rows)),
    }
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder / "mkdocs.yml"


def _record(number: int) -> str:
    source = f'{{url: "https://example.org/{number % 7}", how: vendor, checked: "2026-01-02"}}'
    power = "" if number % 5 == 0 else f"power_w: {100 + number % 900}, "
    return (
        f"  - {{id: row-{number}, name: Row {number}, size_gb: {number}, rate_tflops: {number * 1.5}, {power}"
        f"note: What is said of row {number}, how: vendor, sources: [{source}]}}\n"
    )
