"""Batch scripts in fences: every #SBATCH line has options that sbatch knows, and stands where sbatch reads it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from bookbuild.check.fence import Fault, words
from bookbuild.data import nearest

# from sbatch(1) of Slurm 25.05: options with a value, and options without one or with one behind '=' only
_VALUED = words(
    """
account acctg-freq array batch bb bbf begin chdir clusters cluster-constraint comment constraint container container-id
core-spec cores-per-socket cpu-freq cpus-per-gpu cpus-per-task deadline delay-boot dependency distribution error
exclude export export-file extra extra-node-info gid gpu-bind gpu-freq gpus gpus-per-node gpus-per-socket
gpus-per-task gres gres-flags hint input job-name kill-on-invalid-dep licenses mail-type mail-user mcs-label mem
mem-bind mem-per-cpu mem-per-gpu mincpus network nodefile nodelist nodes ntasks ntasks-per-core ntasks-per-gpu
ntasks-per-node ntasks-per-socket open-mode output partition prefer priority profile qos reservation segment signal
sockets-per-node switches thread-spec threads-per-core time time-min tmp tres-bind tres-per-task uid wait-all-nodes
wckey wrap
"""
)
_BARE = words(
    """
consolidate-segments contiguous exclusive get-user-env help hold ignore-pbs nice no-kill no-requeue oom-kill-step
overcommit oversubscribe parsable propagate quiet reboot requeue resv-ports spread-job spread-segments stepmgr
test-only usage use-min-nodes verbose version wait
"""
)
# of the container plugin Pyxis, from its README
_PYXIS = words(
    """
container-image container-mounts container-workdir container-name container-save container-mount-home
no-container-mount-home container-remap-root no-container-remap-root container-entrypoint no-container-entrypoint
container-entrypoint-log container-writable container-readonly container-env
"""
)
_SHORT_VALUED = frozenset("AaBbCcDdeFGiJLMmNnopqStwx")
_SHORT_BARE = frozenset("HhkOQsVvW")
LONG = _VALUED | _BARE | _PYXIS
SHORT = _SHORT_VALUED | _SHORT_BARE
_LINE = re.compile(r"^#\s?SBATCH\b(.*)$")


def faults(text: str) -> Iterator[Fault]:
    """What sbatch would refuse in the lines for it, and those that it never reads."""
    commands = False
    for row, line in enumerate(text.split("\n")):
        found = _LINE.match(line)
        if not found:
            commands = commands or bool(line.strip()) and not line.lstrip().startswith("#")
        elif line.startswith("# "):
            continue  # one that was taken out on purpose
        elif commands:
            hint = "move it before the first command"
            yield (
                row,
                "fence-sbatch",
                "sbatch stops reading options at the first command, so not this one",
                hint,
            )
        else:
            yield from ((row, "fence-sbatch", *said) for said in _options(found[1]))


def _options(line: str) -> Iterator[tuple[str, str]]:
    try:
        given = shlex.split(line, comments=True)
    except ValueError as error:
        yield f"the options cannot be read: {error}", ""
        return
    wants = False  # whether the word before still takes a value
    for word in given:
        name, equals, _ = word.partition("=")
        if wants and not word.startswith("-"):
            wants = False
        elif name.startswith("--"):
            known = name[2:] in LONG
            if not known:
                near = nearest(name[2:], LONG)
                yield f"sbatch has no option {name}", f"did you mean --{near}?" if near else ""
            wants = not equals and name[2:] not in _BARE
        elif word.startswith("-") and len(word) > 1:
            if word[1] not in SHORT:
                near = nearest(name[1:], LONG)
                yield f"sbatch has no option {word[:2]}", f"did you mean --{near}?" if near else ""
            elif word[2:3] == "=":
                yield f"sbatch takes '{word[2:]}' for the value of {word[:2]}", f"write {word[:2]} {word[3:]}"
            elif len(name[1:]) > 2 and name[1:] in LONG:
                yield f"sbatch reads {name} as {word[:2]} with a value", f"did you mean -{name}?"
            wants = len(word) == 2 and word[1] not in _SHORT_BARE
        else:
            yield (
                f"'{word}' belongs to no option",
                "a comment begins with #, a value with blanks stands in quotes",
            )
            return
