"""How build.py comes by its packages, with a pip that downloads nothing and a project that needs one widget."""

from __future__ import annotations

import ast
import io
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

from bookbuild import bootstrap

ROOT = Path(__file__).resolve().parent.parent
PROJECT = """\
[project]
name = "book"
dependencies = ["widget[fast]>=2,<3 ; python_version>'3'"]
[project.optional-dependencies]
test = ["gadget"]
"""
PIPELINE = """\
import sys
from collections import namedtuple
Options = namedtuple("Options", "config output chapters paper epub_maths jobs strict format")
def run(command, options, progress):
    print("ran", command, options.paper, sys.prefix)
    return 0
"""
# `python -m venv` without pip, so that it takes no time; the test run's own packages are visible in it
VENV = """\
import importlib.util, os, sys, sysconfig
path = os.path.join(sysconfig.get_path("stdlib"), "venv", "__init__.py")
spec = importlib.util.spec_from_file_location("realvenv", path)
real = importlib.util.module_from_spec(spec); spec.loader.exec_module(real)
log = open(os.environ["STUB_LOG"], "a"); log.write("venv\\n"); log.close()
if os.environ.get("STUB_VENV") == "fail": sys.exit("ensurepip is not available")
real.EnvBuilder(symlinks=True).create(sys.argv[-1])
lib = os.path.join(sys.argv[-1], "lib", "python%d.%d" % sys.version_info[:2], "site-packages")
open(os.path.join(lib, "test.pth"), "w").write(os.environ["STUB_SITE"])
"""
# `python -m pip install`: what is asked for is there from now on
PIP = """\
import json, os, sys, sysconfig
log = open(os.environ["STUB_LOG"], "a"); log.write(json.dumps(sys.argv[1:]) + "\\n"); log.close()
if os.environ.get("STUB_PIP") == "fail":
    print("Collecting widget"); sys.exit("ERROR: No matching distribution found for widget")
for name in ["widget"] + ["gadget"] * (sys.argv[-1] == ".[test]"):
    folder = os.path.join(sysconfig.get_path("purelib"), name + "-2.0.dist-info")
    os.makedirs(folder, exist_ok=True)
    open(os.path.join(folder, "METADATA"), "w").write("Metadata-Version: 2.1\\nName: %s\\nVersion: 2.0\\n" % name)
"""


@dataclass
class Tree:
    """A clone with stub programs beside it; `log` is what they were asked."""

    root: Path
    stubs: Path

    def build(self, *arguments: str, python: Path = Path(sys.executable), **env: str):
        (self.stubs / "log").write_text("")
        given = {
            **{k: v for k, v in os.environ.items() if k not in (bootstrap.MARK, "CI")},
            "PYTHONPATH": str(self.stubs),
            "STUB_LOG": str(self.stubs / "log"),
            "STUB_SITE": sysconfig.get_path("purelib"),
            **env,
        }
        return subprocess.run(
            [python, self.root / "build.py", *arguments],
            cwd=self.root, env=given, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    @property
    def log(self) -> list[str]:
        lines = (self.stubs / "log").read_text().splitlines()
        return ["venv" if line == "venv" else "pip " + json.loads(line)[-1] for line in lines]

    @property
    def venv(self) -> Path:
        return self.root / ".venv"


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    root, stubs = tmp_path / "a clone", tmp_path / "stubs"
    (root / "bookbuild").mkdir(parents=True)
    shutil.copy(ROOT / "build.py", root)
    for name in ("__init__.py", "bootstrap.py", "model.py", "progress.py"):
        shutil.copy(ROOT / "bookbuild" / name, root / "bookbuild")
    (root / "bookbuild" / "pipeline.py").write_text(PIPELINE)
    (root / "pyproject.toml").write_text(PROJECT)
    (root / "constraints.txt").write_text("widget==2.0\n")
    (root / "mkdocs.yml").write_text("site_name: x\n")
    for name, main in (("venv", VENV), ("pip", PIP)):
        (stubs / name).mkdir(parents=True)
        (stubs / name / "__init__.py").touch()
        (stubs / name / "__main__.py").write_text(main)
    return Tree(root, stubs)


def test_the_first_run_makes_the_environment_and_starts_again_in_it_with_the_same_arguments(tree):
    done = tree.build("check", "--paper", "letter")
    assert done.returncode == 0
    assert done.stdout == f"ran check letter {tree.venv}\n"
    assert done.stderr == "build.py: making .venv with the builder's packages, once\n"
    assert tree.log == ["venv", "pip ."]


def test_pip_is_held_to_the_constraints_file(tree):
    tree.build()
    asked = json.loads((tree.stubs / "log").read_text().splitlines()[-1])
    assert asked[0] == "install" and asked[-4:] == ["-c", "constraints.txt", "-e", "."]


def test_the_second_run_installs_nothing_and_says_nothing(tree):
    tree.build()
    done = tree.build("site")
    assert (done.stdout, done.stderr, tree.log) == (f"ran site a4 {tree.venv}\n", "", [])


def test_the_environment_s_own_python_goes_on_as_it_is(tree):
    tree.build()
    done = tree.build("site", python=tree.venv / "bin" / "python")
    assert (done.stdout, done.stderr, tree.log) == (f"ran site a4 {tree.venv}\n", "", [])


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt"])
@pytest.mark.parametrize("inside", [False, True], ids=["from outside", "from inside"])
def test_other_wanted_packages_bring_the_environment_up_to_date(tree, name, inside):
    tree.build()
    with (tree.root / name).open("a") as file:
        file.write("# renewed\n")
    done = tree.build(python=tree.venv / "bin" / "python") if inside else tree.build()
    assert done.returncode == 0, done.stderr
    assert done.stderr == "build.py: updating .venv with the builder's packages, once\n"
    assert tree.log == ["pip ."]


def test_the_test_command_adds_the_test_extra_and_later_builds_keep_it(tree):
    tree.build()
    done = tree.build("test", "--", "--version")
    assert done.returncode == 0, done.stderr
    assert tree.log == ["pip .[test]"]
    tree.build("site")
    assert tree.log == []


def test_an_environment_with_the_packages_is_left_alone(tree):
    widget = tree.stubs / "widget-2.7.dist-info"
    widget.mkdir()
    (widget / "METADATA").write_text("Metadata-Version: 2.1\nName: widget\nVersion: 2.7\n")
    done = tree.build()
    assert done.stdout == f"ran all a4 {sys.prefix}\n"
    assert tree.log == [] and not tree.venv.exists()


def test_an_environment_with_another_version_is_not_used(tree):
    widget = tree.stubs / "widget-1.9.dist-info"
    widget.mkdir()
    (widget / "METADATA").write_text("Metadata-Version: 2.1\nName: widget\nVersion: 1.9\n")
    done = tree.build("--no-bootstrap")
    assert done.returncode == 1
    assert "widget[fast]>=2,<3" in done.stderr and "found 1.9" in done.stderr


def test_a_venv_that_the_user_made_with_the_packages_is_used_as_it_is(tree):
    tree.build()
    (tree.venv / bootstrap.STAMP).unlink()
    done = tree.build()
    assert (done.stdout, done.stderr, tree.log) == (f"ran all a4 {tree.venv}\n", "", [])


def test_no_bootstrap_names_what_is_missing_and_makes_nothing(tree):
    done = tree.build("--no-bootstrap")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "missing widget (without --no-bootstrap, build.py installs into .venv)\n"
    assert not tree.venv.exists()


def test_quiet_installs_without_a_word(tree):
    done = tree.build("--quiet")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_failed_installation_shows_pip_s_last_lines_and_the_next_run_starts_anew(tree):
    done = tree.build(STUB_PIP="fail")
    assert done.returncode == 1
    assert done.stderr.splitlines()[1:] == [
        "  Collecting widget",
        "  ERROR: No matching distribution found for widget",
        "pip could not install the packages",
    ]
    assert tree.build().returncode == 0
    assert tree.log == ["venv", "pip ."]


def test_a_system_without_venv_gets_the_package_s_name(tree):
    done = tree.build(STUB_VENV="fail")
    assert done.returncode == 1
    assert "apt-get install python3-venv" in done.stderr


def empty(venv: Path) -> None:
    shutil.rmtree(venv)
    venv.mkdir()


def without_python(venv: Path) -> None:
    (venv / "bin" / "python").unlink()


def cut_short(venv: Path) -> None:
    (venv / bootstrap.STAMP).write_text(bootstrap.UNFINISHED)


def of_a_python_that_has_gone(venv: Path) -> None:
    for link in (venv / "bin").glob("python*"):
        link.unlink()
        link.symlink_to("/nowhere/python3")


@pytest.mark.parametrize("harm", [empty, without_python, cut_short, of_a_python_that_has_gone])
def test_a_half_made_or_broken_environment_is_made_anew(tree, harm):
    tree.build()
    harm(tree.venv)
    done = tree.build()
    assert done.stdout == f"ran all a4 {tree.venv}\n", done.stderr
    assert tree.log == ["venv", "pip ."]


def test_it_never_starts_itself_twice(tree):
    done = tree.build(**{bootstrap.MARK: "1"})
    assert done.returncode == 1
    assert done.stderr == f"{tree.venv} still lacks widget; delete it and try again\n"


def test_clean_needs_no_packages(tree):
    assert tree.build("clean").stdout == f"ran clean a4 {sys.prefix}\n"
    assert not tree.venv.exists()


def test_until_the_packages_are_there_only_the_standard_library_is_imported():
    command = [sys.executable, "-S", "-E", ROOT / "build.py", "--version"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_an_old_python_gets_one_line():
    code = (
        "import runpy, sys; sys.version_info = (3, 9, 18, 'final', 0); sys.argv = ['build.py'];"
        f"runpy.run_path({str(ROOT / 'build.py')!r}, run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith("build.py needs Python 3.11.5 or newer, this is 3.9.18 (")


def test_python_3_6_can_read_build_py_up_to_that_line():
    tree = ast.parse((ROOT / "build.py").read_text(), feature_version=(3, 6))
    checks = [n for n, node in enumerate(tree.body) if isinstance(node, ast.If)]
    before = tree.body[1 : checks[0]]
    assert [type(node) for node in before] == [ast.Import], "only `import sys` stands before the check"


def test_a_terminal_sees_pip_s_lines_in_place_and_nothing_stays(monkeypatch, tmp_path):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    bootstrap.run(
        [sys.executable, "-c", "print('Collecting a'); print('Collecting b')"], tmp_path, False, "no"
    )
    shown = sys.stderr.getvalue()
    assert "Collecting b" in shown and "\n" not in shown
    assert shown.endswith("\r\x1b[K")


def test_the_constraints_name_every_requirement_once_and_fit_it():
    from packaging.requirements import Requirement

    lines = [
        line
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    exact = {}
    for line in lines:
        requirement = Requirement(line)
        [specifier] = requirement.specifier
        assert specifier.operator == "==", line
        name = requirement.name.lower().replace("_", "-")
        assert name not in exact, name
        exact[name] = specifier.version
    for line in bootstrap.requirements("test", ROOT):
        wanted = Requirement(line)
        version = exact[wanted.name.lower().replace("_", "-")]
        assert wanted.specifier.contains(version), (line, version)
