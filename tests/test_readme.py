"""The files at the top say what is so: options, links, licences and what CI installs."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt
from support import NPM_INSTALL, NPM_PACKAGES, PACKAGES, require_program

ROOT = Path(__file__).resolve().parent.parent
TOP = ("README.md", "CONTRIBUTING.md", "SKILL.md")


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives a file's headings."""
    tokens = MarkdownIt().parse(text)
    titles = [after.content for token, after in pairwise(tokens) if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("name", TOP)
def test_links_to_files_and_headings_lead_somewhere(name):
    inline = [child for token in MarkdownIt().parse(read(name)) for child in token.children or ()]
    links = [
        child.attrGet("href") or child.attrGet("src")
        for child in inline
        if child.type in ("link_open", "image")
    ]
    for link in links:
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        assert (ROOT / path).exists(), link
        if anchor:
            assert anchor in anchors(read(path or name)), link


def test_the_readme_names_every_option_and_command():
    help_text = subprocess.run(
        [sys.executable, ROOT / "build.py", "--help"], capture_output=True, text=True, check=True
    ).stdout
    options = set(re.findall(r"--[a-z][a-z-]+", help_text)) - {"--help", "--version"}
    readme = read("README.md")
    assert {option for option in options if f"`{option}" not in readme} == set()
    [commands] = re.findall(r"build\.py \[([a-z|]+)\]", readme)
    assert set(commands.split("|")) == set(
        re.findall(r"^  ([a-z]+) ", help_text.split("commands:")[1].split("examples:")[0], re.MULTILINE)
    )


def test_files_and_folders_of_the_readme_exist():
    block = read("README.md").split("## What is where")[1].split("```")[1]
    for line in block.splitlines()[1:]:
        assert (ROOT / line.split()[0]).exists(), line


def test_the_readme_s_fences_of_the_book_s_own_kind_are_yaml_where_they_should_be():
    [table] = re.findall(r"^```table\n(.*?)^```", read("README.md"), re.MULTILINE | re.DOTALL)
    settings = yaml.safe_load(table)
    assert (ROOT / "book" / "data" / f"{settings['data']}.yml").is_file()


def test_build_py_stays_a_short_command_line():
    assert read("build.py").count("\n") < 150


def test_citation_agrees_with_the_project():
    import tomllib

    citation = yaml.safe_load(read("CITATION.cff"))
    project = tomllib.loads(read("pyproject.toml"))["project"]
    assert str(citation["version"]) == project["version"]
    assert citation["title"] == yaml.safe_load(read("mkdocs.yml").partition("\n")[0])["site_name"]


def test_ci_installs_every_program_that_a_test_may_ask_for():
    script = re.sub(r"#.*", "", read(".ci/run"))
    installed = set(re.findall(r"[\w.+-]+", " ".join(re.findall(r"packages\+?=\((.*?)\)", script, re.DOTALL))))
    assert set(PACKAGES.values()) <= installed
    assert f"\n{NPM_INSTALL} {' '.join(NPM_PACKAGES.values())}\n" in script
    for path in (ROOT / "tests").rglob("test_*.py"):
        if path.name == "test_skip_summary.py":  # it asks for one that does not exist
            continue
        for call in re.findall(r"require_program\(([^)]*)\)", path.read_text(encoding="utf-8")):
            assert set(re.findall(r'"([^"]+)"', call)) <= {*PACKAGES, *NPM_PACKAGES}, path


def test_ci_script_passes_shellcheck():
    require_program("shellcheck")
    done = subprocess.run(["shellcheck", ROOT / ".ci" / "run"], capture_output=True, text=True, check=False)
    assert done.stdout == ""
