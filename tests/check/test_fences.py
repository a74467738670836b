"""Each fault planted into a code fence is found on its line, under its code, and nothing else is.

Where a public document had the fault, the report of it is named; the text around it is ours.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from support import ROOT, require_program

from bookbuild.check import fence_batch, fence_commands
from bookbuild.check.fence_data import yaml_faults

ONE = "docs/one.md"
HEAD = "# One\n\n"
TOOL = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("-o", "--output", metavar="FILE", help="not --outfile")
parser.add_argument("--max-bytes", type=int)
parser.add_argument("--plot", action=argparse.BooleanOptionalAction)
parser.add_argument("name", nargs="?")
parser.parse_args()
"""


def fence(language: str, *lines: str) -> str:
    return "\n".join([f"```{language}", *lines, "```", ""])


# name, text after the heading (line 3 and on; the fence's first line is 4), expected [(line, code)]
FAULTS = [
    # MicrosoftDocs/azure-docs#82355: a blank behind the backslash, so the command ends there
    ("blank behind a backslash", fence("bash", "ls \\ ", "  /tmp"), [(4, "fence-shellcheck")]),
    # microsoft/vscode-dev-containers#320: the last lines of a command without backslashes before them
    (
        "no backslash",
        fence("bash", "apt-get install \\", "  -y", "  --no-install-recommends curl"),
        [(5, "fence-bash")],
    ),
    # evildmp/afraid-to-commit#386: brackets around a placeholder, which the shell takes for redirections
    ("placeholder in brackets", fence("bash", "export A=1", "ssh <HOST>"), [(5, "fence-bash")]),
    # pulumi/pulumi#21509, madhums/node-express-mongoose-demo#343: prompts that are copied along
    ("prompt", fence("bash", "$ pip list"), [(4, "fence-prompt")]),
    ("prompt with a host", fence("bash", "user@node-1:~$ hostname", "node-1"), [(4, "fence-prompt")]),
    ("quote left open", fence("sh", 'echo "a'), [(4, "fence-bash")]),
    ("here-document left open", fence("bash", "cat <<EOF", "a"), [(5, "fence-bash")]),
    ("loop left open", fence("bash", "for i in 1 2; do", "  echo $i"), [(5, "fence-bash")]),
    ("brackets without blanks", fence("bash", "[[$A == 1]]"), [(4, "fence-shellcheck")]),
    # hpcaitech/ColossalAI#2718 (--nproc_pero_node): an option with a slip, here in a tool of ours
    ("option misspelt", fence("bash", "python3 tools/x/bench.py --max-byte 8"), [(4, "fence-option")]),
    # ProFatXuanAll/language-model-playground#26: an option that the script no longer has
    ("option that is gone", fence("bash", "python tools/x/bench.py --dset_name a"), [(4, "fence-option")]),
    # pyouroboros/ouroboros#115: an option's old spelling
    (
        "option behind torchrun",
        fence(
            "bash",
            "torchrun --nproc-per-node $(nproc) \\",
            "  tools/x/bench.py --plot \\",
            "  --out-put a > log",
        ),
        [(6, "fence-option")],
    ),
    (
        "option in a quoted script",
        fence("bash", "srun bash -c 'python3 tools/x/bench.py --maxbytes 3'"),
        [(4, "fence-option")],
    ),
    (
        "option that only the help's words name",
        fence("bash", "tools/x/bench.py --outfile a"),
        [(4, "fence-option")],
    ),
    # Significant-Gravitas/AutoGPT#1883: a path that no longer exists
    ("tool that is not there", fence("bash", "echo", "python3 tools/main.py --help"), [(5, "fence-tool")]),
    # Significant-Gravitas/AutoGPT#2523 (./run.sh start): a command that the program does not have
    ("command of build.py", fence("bash", "python3 build.py biuld --strict"), [(4, "fence-option")]),
    ("option of build.py", fence("bash", "python3 build.py pdf --chapters a"), [(4, "fence-option")]),
    # python/cpython#148839: no colon at the end of a function's head
    ("colon", fence("python", "x = 1", "def grade(score)", "    return score"), [(5, "fence-python")]),
    # pydata/pydata-sphinx-theme#2134, google/adk-docs#624: a bracket that is never closed
    ("bracket", fence("python", "x = max(1, 2", "y = 2"), [(4, "fence-python")]),
    # bbangert/routes#69: quotes left out
    ("quotes", fence("python", "connect(home, /)"), [(4, "fence-python")]),
    ("session", fence("python", ">>> 1 + 1", "2"), [(4, "fence-python")]),
    ("return outside", fence("python", "x = 1", "return x"), [(5, "fence-python")]),
    ("await outside", fence("python", "await get()"), [(4, "fence-python")]),
    # sensu/sensu-docs#586, d2iq-archive/marathon#3633, elastic/elasticsearch-definitive-guide#126
    ("comma", fence("json", "{", '  "a": 1,', "}"), [(5, "fence-json")]),
    # docker/docs#10035: every line but the first moved by a blank
    (
        "indent",
        fence("yaml", "apiVersion: v1", " kind: Pod", " metadata:", "   name: demo"),
        [(5, "fence-yaml")],
    ),
    # openshift/openshift-docs#37064: no --- between two documents
    (
        "two documents",
        fence("yaml", "kind: A", "name: a", "kind: B", "name: b"),
        [(6, "fence-yaml"), (7, "fence-yaml")],
    ),
    # EspressoSystems/HotShot#3741: a key that stands twice
    ("key twice", fence("toml", "[da]", "is_da = true", "is_da = false"), [(6, "fence-toml")]),
    # CSCfi/csc-user-guide#323: "if you use ntask, you get error"
    (
        "sbatch, letter left out",
        fence("bash", "#!/bin/bash", "#SBATCH --ntask=4", "srun a"),
        [(5, "fence-sbatch")],
    ),
    # ArjunaCluster/ArjunaUsers#177: --cpus, and --N in its place
    ("sbatch, no such option", fence("slurm", "#!/bin/bash", "#SBATCH --cpus=1", "a"), [(5, "fence-sbatch")]),
    (
        "sbatch, short name with two dashes",
        fence("slurm", "#!/bin/bash", "#SBATCH --N=1", "a"),
        [(5, "fence-sbatch")],
    ),
    # ARCHER2-HPC/archer2-docs#455
    (
        "sbatch, old name",
        fence("slurm", "#!/bin/bash", "#SBATCH --nodes=1", "#SBATCH --tasks-per-node=8", "a"),
        [(6, "fence-sbatch")],
    ),
    # neu-spiral/Discovery-Cluster#14: remarks in brackets, so that the settings were ignored
    (
        "sbatch, a remark",
        fence("slurm", "#!/bin/bash", "#SBATCH --job-name=x    (sets the name)", "a"),
        [(5, "fence-sbatch")],
    ),
    # stanford-rc/www.sherlock.stanford.edu#19: a blank in a value
    (
        "sbatch, a blank",
        fence("slurm", "#!/bin/bash", "#SBATCH --job-name=Big simulation", "a"),
        [(5, "fence-sbatch")],
    ),
    (
        "sbatch, too late",
        fence("slurm", "#!/bin/bash", "module load a", "#SBATCH --time=1", "b"),
        [(6, "fence-sbatch")],
    ),
    ("sbatch, one dash", fence("slurm", "#!/bin/bash", "#SBATCH -time=01:00:00", "b"), [(5, "fence-sbatch")]),
    # davidsneighbour/kollitsch.dev#1669, Servarr/Wiki#450
    ("no language", fence("", "a"), [(3, "fence-language")]),
    ("run in no language that runs", fence("json run", "1"), [(3, "fence-run")]),
    (
        "output of nothing",
        fence("bash", "true") + "\n" + fence("text output", "a"),
        [(7, "fence-output")],
    ),
    (
        "fence in a box",
        "!!! note\n    Text.\n\n    ```json\n    {\n      'a': 1\n    }\n    ```\n",
        [(8, "fence-json")],
    ),
    ("fence in a list", "- Text.\n\n  ```json\n  [1,\n   2,]\n  ```\n", [(7, "fence-json")]),
]


@pytest.fixture
def book(planted):
    planted.write("tools/x/bench.py", TOOL)
    planted.write("build.py", (ROOT / "build.py").read_text(encoding="utf-8"))
    (planted.root / "bookbuild").symlink_to(ROOT / "bookbuild")
    return planted


@pytest.mark.parametrize(("text", "expected"), [f[1:] for f in FAULTS], ids=[f[0] for f in FAULTS])
def test_planted_fault_is_found_on_its_line_and_nothing_else(book, text, expected):
    require_program("bash", "shellcheck")
    book.write(ONE, HEAD + text)
    assert book.found() == [(ONE, line, code) for line, code in expected]


# kubernetes/website#17724: lines moved out of their mapping; containerd-shim-spin#266: small faults of indentation
MANIFEST = """\
apiVersion: v1
kind: Service
metadata:
  name: nginx
app: nginx
spec:
  ports:
    - port: 80
"""


def test_manifest_with_a_key_in_the_wrong_place():
    """The parser is content with it, the schema is not."""
    [(row, code, text, _)] = yaml_faults(MANIFEST)
    assert (row, code) == (4, "fence-kubernetes")
    assert "app" in text


def test_manifest_with_a_word_where_a_number_belongs(planted):
    planted.write(
        ONE, HEAD + fence("yaml", *MANIFEST.replace("80", "http").replace("app: nginx\n", "").splitlines())
    )
    assert planted.found() == [(ONE, 10, "fence-kubernetes")]


@pytest.mark.parametrize(
    "text",
    [
        fence("bash", "ssh HOST 'ls YOUR_FOLDER' | grep -c $PATTERN"),
        fence("bash", "python3 tools/x/bench.py --no-plot -o out.txt --max-bytes=8 -- --anything"),
        fence("bash", "python3 tools/x/bench.py -oout.txt"),
        fence("bash", "python3 tools/TOPIC/NAME.py --whatever"),
        fence("bash", "grep -rn main tools/x/bench.py --include x"),
        fence("bash", "python3 build.py test -- -k links --lf"),
        fence("bash", "cat > a.sh <<'EOF'", "  --not-a-command", "$ no prompt", "EOF").replace("$ no", "no"),
        fence("bash", "for i in 1 2; do echo $i; done  # (1)!"),
        fence("python", "x = [1, 2, ...]", "def f():", "    ..."),
        fence("python", "    indented = 1"),
        fence("yaml", "a: 1", "---", "a: 2"),
        fence("yaml", "base: &b {a: 1}", "one: {<<: *b}", "two: !mine x"),
        fence("yaml", "apiVersion: example.org/v1", "kind: Own", "spec: {a: 1}"),
        fence(
            "slurm",
            "#!/bin/bash",
            "#SBATCH -N 2 --gpus 8 -t 1:00:00 # two",
            "#SBATCH --exclusive",
            "##SBATCH --x",
            "srun a",
        ),
        fence("bash", "#SBATCH --container-image=nvcr.io/a --requeue", "srun a"),
        fence("python run", "print(1)") + "\n" + fence("text output", "1"),
        fence("console", "$ ls", "a"),
        fence("pycon", ">>> 1", "1"),
        fence("python", '--8<-- "docs/part.py"'),
    ],
)
def test_what_is_right_is_left_alone(book, text):
    require_program("bash", "shellcheck")
    book.write("docs/part.py", "def f(:")
    book.write(ONE, HEAD + text)
    assert [p for p in book.problems() if p.file == ONE] == []


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (fence("bash", "python3 tools/x/bench.py --max-byte 8"), "--max-bytes"),
        (fence("bash", "python3 tools/bench.py"), "tools/x/bench.py"),
        (fence("bash", "python3 build.py chek"), "check"),
        (fence("slurm", "#SBATCH --ntask=4"), "--ntasks"),
        (fence("slurm", "#SBATCH -time=4"), "--time"),
        (fence("bash", "ssh <HOST>"), "CAPITALS"),
    ],
)
def test_hint_names_what_was_meant(book, text, hint):
    require_program("bash")
    book.write(ONE, HEAD + text)
    assert hint in " ".join(p.hint for p in book.problems())


def test_missing_programs_judge_nothing(book, monkeypatch):
    """A laptop without shellcheck checks the rest; CI has it."""
    monkeypatch.setattr("shutil.which", lambda name: None)
    book.write(ONE, HEAD + fence("bash", "ls \\ ") + "\n" + fence("json", "{"))
    assert [p.code for p in book.problems()] == ["fence-json"]


def test_a_second_check_starts_no_program(book, monkeypatch):
    require_program("bash", "shellcheck")
    book.write(ONE, HEAD + fence("bash", "ls \\ ", "  /tmp"))
    first = book.found()
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: pytest.fail("a program was started"))
    assert book.found() == first == [(ONE, 4, "fence-shellcheck")]


@pytest.mark.parametrize("name", sorted(p.name for p in (ROOT / "tools" / "orchestration").glob("*.slurm")))
def test_the_batch_scripts_of_tools_have_known_options(name):
    assert (
        list(fence_batch.faults((ROOT / "tools" / "orchestration" / name).read_text(encoding="utf-8"))) == []
    )


@pytest.mark.parametrize("path", ["README.md", "CONTRIBUTING.md", "SKILL.md"])
def test_commands_of_the_pages_at_the_top_exist(path):
    """They are no pages of the book, yet readers copy from them first."""
    text = (ROOT / path).read_text(encoding="utf-8")
    blocks = text.split("```bash\n")[1:]
    found = [fault for block in blocks for fault in fence_commands.faults(ROOT, block.partition("```")[0])]
    assert found == []


def test_help_of_every_tool_is_read_as_its_parser_means_it():
    """The parser's own words are the measure: each option that a help shows at the head of a line is known."""
    done = subprocess.run(
        [sys.executable, "tools/network/all_reduce_bench.py", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    known = fence_commands.options(done.stdout)
    assert {"-h", "--help", "--nproc", "--max-bytes", "--json"} <= known
    assert "--rdzv-backend" not in known  # an option of torchrun, named in the examples
