"""Runs JavaScript expressions in Node: what a page would compute."""

from __future__ import annotations

import json
import subprocess

from support import require_program

_SCRIPT = """
const jobs = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const answers = jobs.map(({js, values}) => new Function('v', 'return ' + js)(values));
process.stdout.write(JSON.stringify(answers.map(String)));
"""


def in_node(jobs: list[tuple[str, dict[str, float]]]) -> list[float]:
    """The value of each (expression over `v`, values of its names)."""
    require_program("node")
    given = json.dumps([{"js": js, "values": values} for js, values in jobs])
    done = subprocess.run(
        ["node", "-e", _SCRIPT], input=given, capture_output=True, text=True, check=True, timeout=120
    )
    return [float(answer.replace("Infinity", "inf")) for answer in json.loads(done.stdout)]
