"""DAISY's Ace, the accessibility checker that shops and libraries run over EPUBs, called as a program."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from support import find_program, require_program


def violations(epub: Path, folder: Path) -> list[str]:
    """What Ace says of a file, one line a violation of any impact; its reports go to `folder`."""
    require_program("node", "ace-cli", "chromium")
    env = {
        **os.environ,
        "PUPPETEER_EXECUTABLE_PATH": find_program("chromium") or "",
        "ACE_TIMEOUT_INITIAL": "60000",  # milliseconds until Chromium is there; 5000 are too few on a busy machine
        "HOME": str(folder),  # where Ace keeps a log and settings
    }
    command = [find_program("ace-cli") or "", "--force", "--silent", "--outdir", str(folder / "ace"), str(epub)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=500)
    report = folder / "ace" / "report.json"
    assert report.is_file(), f"Ace gave no report: {done.stdout}{done.stderr}"
    found = json.loads(report.read_text(encoding="utf-8"))
    told = [_line(page, item) for page in found["assertions"] for item in page["assertions"]]
    assert told or found["earl:result"]["earl:outcome"] == "pass"
    return told


def _line(page: dict, item: dict) -> str:
    test, result = item["earl:test"], item["earl:result"]
    words = " ".join(str(result.get("dct:description", "")).split())[:200]
    return f"{page['earl:testSubject']['url']}: {test['earl:impact']} {test['dct:title']} {words} {result.get('html', '')}"
