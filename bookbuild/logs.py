"""What MkDocs logs, as problems with the file and line where an author mends them."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path

from bookbuild.model import Problem
from bookbuild.outline import docs_dir

# MkDocs 1.6's own words; it tells neither lines nor codes
_SETTING = re.compile(r"Config value '(?P<name>[\w.]+)': (?P<text>.+)")
_LINK = re.compile(r"Doc file '(?P<page>.+?)' contains (?P<text>an? (?:.+ )?link (?:to )?'(?P<link>.+?)'.*)")
_NAV = re.compile(r"A reference to '(?P<path>.+?)' is included in the 'nav' configuration, (?P<text>.+)")
_FAILED = re.compile(r"Error (?:reading|building) page '(?P<page>.+?)': (?P<text>.+)")
_OMITTED = re.compile(
    r"The following pages exist in the docs directory, .* \"nav\" configuration: - (?P<pages>.+)"
)


class LogCollector(logging.Handler):
    """Keeps warnings and errors; a record of our own extensions carries its problem with it."""

    def __init__(self, config_file: Path) -> None:
        super().__init__(logging.WARNING)
        self.config_file = Path(config_file)
        self.problems: list[Problem] = []

    def emit(self, record: logging.LogRecord) -> None:
        if problem := getattr(record, "problem", None):
            self.problems.append(problem)
        else:
            severity = "error" if record.levelno >= logging.ERROR else "warning"
            self.problems.extend(self._read(" ".join(record.getMessage().split()), severity))

    def _read(self, text: str, severity: str) -> Iterator[Problem]:
        config, name = self.config_file, self.config_file.name
        if found := _SETTING.match(text):
            line = _line(config, rf"{re.escape(found['name'])}\s*:")
            yield Problem(name, line, "config", f"{found['name']}: {found['text']}", severity=severity)
        elif found := _LINK.match(text):
            page = docs_dir(config) / found["page"]
            line = _line(page, rf".*{re.escape(found['link'])}")
            worse = "warning" if "left as is" in text else "error"
            yield Problem(self._shown(page), line, "mkdocs-link", found["text"].rstrip("."), severity=worse)
        elif found := _FAILED.match(text):
            page = docs_dir(config) / found["page"]
            no_template = "search paths" in text  # Jinja's words for no such file
            line = _line(page, r"template\s*:") if no_template else 0
            yield Problem(self._shown(page), line, "page-failed", found["text"])
        elif found := _NAV.match(text):
            line = _line(config, rf".*{re.escape(found['path'])}")
            yield Problem(name, line, "nav-missing", f"'{found['path']}' {found['text'].rstrip('.')}")
        elif found := _OMITTED.match(text):
            for page in found["pages"].split(" - "):
                file = self._shown(docs_dir(config) / page)
                yield Problem(
                    file, 0, "nav-omitted", "the page is not in nav, nobody finds it", severity="warning"
                )
        else:
            yield Problem(name, 0, "mkdocs", text, severity=severity)

    def _shown(self, path: Path) -> str:
        root = self.config_file.resolve().parent
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def _line(file: Path, pattern: str) -> int:
    """The first line of a file that begins with a pattern; 0 where none does or there is no such file."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return next((number for number, line in enumerate(lines, 1) if re.match(pattern, line)), 0)
