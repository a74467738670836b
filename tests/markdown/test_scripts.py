"""The `script` fence: a tool's link, its summary and the help that it prints today."""

from __future__ import annotations

import pytest

from bookbuild import trees

SCRIPT = '''\
"""Measure nothing.

More that is not shown.
"""
import argparse

parser = argparse.ArgumentParser(description="Measure nothing.")
parser.add_argument("--size", type=int, default=8, help="how much <of> it")
parser.parse_args()
'''
PAGE = "# P\n\n```script\nnet/tool.py\n```\n"


@pytest.fixture
def book(desk):
    desk.write("tools/net/tool.py", SCRIPT)
    return desk


def test_the_box_has_link_summary_and_live_help(book):
    box = book.tree(PAGE).find("div[@class='script']")
    link = box.find("p/a")
    assert (link.text, link.get("class"), link.get("data-tool")) == ("tools/net/tool.py", "tool-file", "net/tool.py")
    assert trees.text_of(box.find("p[@class='script-summary']")) == "Measure nothing."
    help_text = "".join(box.find(".//pre").itertext())
    assert help_text.startswith("usage: tool.py [-h] [--size SIZE]\n")
    assert "how much <of> it" in help_text


def test_without_a_repository_the_name_leads_nowhere_yet(book):
    """build.py makes it a link to the published file; plain site tools publish none."""
    assert book.tree(PAGE).find(".//a[@data-tool]").get("href") is None


@pytest.mark.parametrize(
    ("repo", "href"),
    [
        ("https://github.com/o/r", "https://github.com/o/r/blob/HEAD/tools/net/tool.py"),
        ("https://gitlab.com/o/r/", "https://gitlab.com/o/r/-/blob/HEAD/tools/net/tool.py"),
    ],
)
def test_with_a_repository_the_name_leads_to_the_source(book, repo, href):
    config = (book.root / "mkdocs.yml").read_text()
    book.write("mkdocs.yml", f"repo_url: {repo}\n{config}")
    assert book.tree(PAGE).find(".//a[@data-tool]").get("href") == href


def test_the_help_follows_the_script(book):
    assert "--size" in trees.text_of(book.tree(PAGE).find(".//pre"))
    book.write("tools/net/tool.py", SCRIPT.replace("--size", "--other-size"))
    assert "--other-size" in trees.text_of(book.tree(PAGE).find(".//pre"))


def test_the_same_content_is_asked_once(book):
    """The second time, in a new process, the answer lies in the cache."""
    from bookbuild.markdown import scripts

    counting = SCRIPT.replace("import argparse", f"open({str(book.root / 'runs')!r}, 'a').write('x')\nimport argparse")
    book.write("tools/net/tool.py", counting)
    for _ in range(3):
        book.html(PAGE)
        scripts._help_of.cache_clear()
    assert (book.root / "runs").read_text() == "x"


def test_a_missing_script_is_reported_with_its_line(book):
    assert book.wrong(PAGE.replace("tool.py", "tol.py")) == [
        "docs/page.md:4: script-missing no file tools/net/tol.py (did you mean net/tool.py?)"
    ]


def test_nothing_outside_of_tools_is_run(book):
    book.write("secret.py", "print('ran')")
    [problem] = book.wrong(PAGE.replace("net/tool.py", "../secret.py"))
    assert problem.startswith("docs/page.md:4: script-missing no file tools/../secret.py")


def test_a_help_that_fails_is_reported(book):
    book.write("tools/net/tool.py", "import no_such_module\n")
    [problem] = book.wrong(PAGE)
    assert problem.startswith("docs/page.md:4: script-help tools/net/tool.py --help: exit status 1, ")
    assert problem.endswith("ModuleNotFoundError: No module named 'no_such_module'")


def test_a_help_that_hangs_is_given_up(book, monkeypatch):
    monkeypatch.setattr("bookbuild.markdown.scripts.TIMEOUT", 1)
    book.write("tools/net/tool.py", "import time\ntime.sleep(60)\n")
    assert book.wrong(PAGE) == ["docs/page.md:4: script-help tools/net/tool.py --help: no answer within 1 s"]


def test_a_shell_script_shows_the_comment_at_its_top(book):
    book.write("tools/run.sh", "#!/bin/bash\n# Start it\n# on all nodes.\n#\n# Details.\n\nset -e\n")
    box = book.tree("```script\nrun.sh\n```\n").find("div[@class='script']")
    assert trees.text_of(box.find("p[@class='script-summary']")) == "Start it on all nodes."
    assert box.find(".//pre") is None
