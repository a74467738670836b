"""The command line on tiny books: exit codes, messages of one line, and what is left on disk."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import zipfile
from pathlib import Path

import pikepdf
import pytest
from oddbook import DOTS

ROOT = Path(__file__).resolve().parent.parent
CONFIG = """\
site_name: Tiny book
docs_dir: docs
theme: {name: material, font: false}
plugins: [search]
validation: {links: {anchors: warn}}
markdown_extensions:
  - bookbuild.markdown
  - attr_list
  - md_in_html
  - tables
nav:
  - index.md
  - Part:
      - one.md
      - two.md
"""
PAGES = {
    "index.md": "# Tiny book\n\nStart with [one](one.md).\n",
    "one.md": "# One\n\nWords.\n\n## Details\n\nMore words.\n",
    "two.md": "# Two\n\nBack to the [details](one.md#details).\n",
}


def run(*arguments: object, cwd: Path = ROOT, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "build.py"), *map(str, arguments), "--no-bootstrap"]
    clean = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "NO_COLOR")}
    return subprocess.run(
        command, cwd=cwd, env={**clean, **env}, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """The folder of a book of three pages without a fault."""
    return write_book(tmp_path / "tiny", PAGES)


def write_book(folder: Path, pages: dict[str, str], config: str = CONFIG) -> Path:
    for name, text in pages.items():
        path = folder / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "mkdocs.yml").write_text(config, encoding="utf-8")
    return folder


def build(book: Path, *arguments: object, **env: str) -> subprocess.CompletedProcess[str]:
    return run(*arguments, "--config", book / "mkdocs.yml", **env)


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def leftovers(folder: Path) -> list[str]:
    return sorted(
        path.name for path in folder.iterdir() if path.name.startswith(".") and path.name != ".cache"
    )


# ---- what a build leaves ----


def test_the_default_command_writes_site_pdf_and_epub_beside_the_configuration(tiny):
    done = build(tiny)
    assert (done.returncode, done.stdout) == (0, "")
    site = tiny / "site"
    assert (site / "one" / "index.html").is_file()
    assert (site / "downloads" / "tiny-book.pdf").read_bytes().startswith(b"%PDF-")
    assert (site / "downloads" / "tiny-book.epub").read_bytes()[30:58] == b"mimetypeapplication/epub+zip"
    assert leftovers(tiny) == []


def test_another_book_is_built_into_another_folder(tmp_path):
    done = run("--config", "tests/minibook/mkdocs.yml", "--output", tmp_path / "out", "--no-strict")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "index.html").is_file()
    assert {p.name for p in (tmp_path / "out" / "downloads").glob("mini-book.*")} == {
        "mini-book.pdf",
        "mini-book.epub",
    }
    assert not (ROOT / "tests" / "minibook" / "site").exists()


def test_site_alone_has_no_downloads(tiny):
    assert build(tiny, "site").returncode == 0
    assert (tiny / "site" / "index.html").is_file()
    assert not list(tiny.glob("site/**/*.pdf"))


def test_check_writes_nothing(tiny):
    done = build(tiny, "check")
    assert done.returncode == 0, done.stdout
    assert not (tiny / "site").exists()


def test_pdf_of_some_chapters_has_a_name_of_its_own(tiny):
    done = build(tiny, "pdf", "--chapter", "tw*", "--paper", "letter")
    assert done.returncode == 0, done.stderr
    assert [p.name for p in (tiny / "site" / "downloads").iterdir()] == ["tiny-book-excerpt.pdf"]
    with pikepdf.open(tiny / "site" / "downloads" / "tiny-book-excerpt.pdf") as pdf:
        sizes = {tuple(round(float(x)) for x in page.mediabox) for page in pdf.pages}
    assert sizes == {(0, 0, 612, 792)}, "8.5 by 11 inches in points"


@pytest.mark.parametrize(("maths", "elements"), [(None, "math"), ("mathml", "math"), ("images", "img")])
def test_formulas_of_the_epub_are_mathml_or_pictures(tmp_path, maths, elements):
    """Either way with the formula's source as the words in its place."""
    book = write_book(tmp_path / "tiny", {**PAGES, "one.md": f"{PAGES['one.md']}\nThe sum $a^2+b$.\n"})
    done = build(book, "epub", *(["--epub-maths", maths] if maths else []))
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(book / "site" / "downloads" / "tiny-book.epub") as archive:
        page = archive.read("EPUB/one.xhtml").decode()
    [element] = re.findall(r"<(math|img)\b([^>]*)", page)
    assert element[0] == elements
    assert 'alttext="a^2+b"' in element[1] or 'alt="a^2+b"' in element[1]


def test_a_chapter_that_does_not_exist_is_named_with_those_that_do(tiny):
    done = build(tiny, "epub", "--chapter", "three*", "--quiet")
    assert done.returncode == 1
    assert lines(done.stderr) == [
        "--chapter three*: no chapter has such a path; there are index.md, one.md, two.md"
    ]


def test_a_pdf_made_alone_is_the_one_that_the_site_speaks_of(tiny):
    """Another paper makes another file: the site's list has the checksum of that one."""
    pdf = tiny / "site" / "downloads" / "tiny-book.pdf"
    assert build(tiny, "site").returncode == build(tiny, "pdf").returncode == 0
    first = pdf.read_bytes()
    assert build(tiny, "pdf", "--paper", "letter").returncode == 0
    assert pdf.read_bytes() != first
    [entry] = json.loads((pdf.parent / "index.json").read_text())["files"]
    assert (entry["path"], entry["sha256"]) == (
        "downloads/tiny-book.pdf", hashlib.sha256(pdf.read_bytes()).hexdigest(),
    )  # fmt: skip
    assert 'href="downloads/tiny-book.pdf"' in (tiny / "site" / "index.html").read_text()


def test_a_later_whole_build_takes_over_a_folder_that_a_pdf_was_put_in(tiny):
    assert build(tiny, "epub").returncode == 0
    assert build(tiny, "site").returncode == 0
    assert (tiny / "site" / "index.html").is_file()


def test_clean_removes_output_and_cache_but_not_the_environment(tiny):
    assert build(tiny, "site").returncode == 0
    for name in (".cache", ".venv"):
        (tiny / name).mkdir(exist_ok=True)
    assert build(tiny, "clean").returncode == 0
    assert sorted(p.name for p in tiny.iterdir()) == [".venv", "docs", "mkdocs.yml"]


def test_no_cache_forgets_earlier_results(tiny):
    (tiny / ".cache").mkdir()
    (tiny / ".cache" / "result").touch()
    assert build(tiny, "check").returncode == 0
    assert (tiny / ".cache" / "result").exists()
    assert build(tiny, "check", "--no-cache").returncode == 0
    assert not (tiny / ".cache" / "result").exists()


def test_one_job_and_two_write_the_same_bytes(tiny):
    """A picture in it: where it lies while a build goes on has another name each time."""
    (tiny / "docs" / "dots.png").write_bytes(DOTS)
    (tiny / "docs" / "one.md").write_text(PAGES["one.md"] + '\n![Coloured dots](dots.png "Dots.")\n')
    written = []
    for jobs in (1, 2):
        assert build(tiny, "--jobs", jobs, SOURCE_DATE_EPOCH="1700000000").returncode == 0
        written.append(
            [(tiny / "site/downloads" / f"tiny-book.{kind}").read_bytes() for kind in ("pdf", "epub")]
        )
    assert written[0] == written[1]


def test_the_epub_has_the_pages_of_the_finished_pdf_of_the_same_text(tiny):
    """`all` and `pdf` before `epub` give the same bytes; alone, or after a change of the text, it has no list of pages."""

    def epub(*commands: str) -> bytes:
        for command in commands:
            assert build(tiny, command, SOURCE_DATE_EPOCH="1700000000").returncode == 0
        return (tiny / "site/downloads/tiny-book.epub").read_bytes()

    def has_pages(data: bytes) -> bool:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return b"page-list" in archive.read("EPUB/nav.xhtml")

    alone = epub("epub")
    assert not has_pages(alone)
    after = epub("pdf", "epub")
    assert has_pages(after)
    assert epub("all") == epub("all") == after
    (tiny / "docs" / "one.md").write_text("# One\n\nOther words.\n\n## Details\n\nMore words.\n")
    assert not has_pages(epub("epub"))


# ---- faults of the text ----


def fault(tmp_path: Path, page: str, **more: str) -> Path:
    return write_book(tmp_path / "faulty", {**PAGES, "two.md": page, **more})


@pytest.mark.parametrize(
    ("page", "line", "word"),
    [
        ("# Two\n\nWords.\n\nSee [one](on.md).\n", 5, "on.md"),
        ("# Two\n\nSee [it](one.md#detials).\n", 3, "details"),
        ('# Two\n\n\n\n![A plot](plot.svg "A plot.")\n', 5, "plot.svg"),
    ],
    ids=["wrong link", "wrong anchor", "missing picture"],
)
def test_a_fault_is_one_line_with_file_and_line_and_exit_1(tmp_path, page, line, word):
    done = build(fault(tmp_path, page), "check", "--quiet")
    assert done.returncode == 1
    assert [text for text in lines(done.stdout) if text.startswith(f"docs/two.md:{line}: ") and word in text]
    assert len(lines(done.stdout)) == 1, "the same fault is told once"
    assert done.stderr == ""


def test_a_data_record_without_source_is_an_error_at_its_line(tmp_path):
    data = "records:\n  - id: a\n    name: A\n    sources: [{url: https://example.org, checked: 2026-01-01}]\n  - id: b\n    name: B\n"
    page = "# Two\n\n```table\nlabel: tab-x\ncaption: Parts\ndata: parts\ncolumns: [name]\n```\n"
    book = fault(tmp_path, page, **{"data/parts.yml": data})
    done = build(book, "check", "--quiet")
    assert done.returncode == 1
    assert [text for text in lines(done.stdout) if re.match(r"docs/data/parts\.yml:5: .*source", text)], (
        done.stdout
    )


def test_errors_in_the_text_fail_the_build_but_leave_the_outputs_to_look_at(tmp_path):
    book = fault(tmp_path, "# Two\n\nSee [one](on.md).\n")
    done = build(book, "site")
    assert done.returncode == 1
    assert (book / "site" / "two" / "index.html").is_file()
    assert build(book, "site", "--no-strict").returncode == 0


def test_strict_writes_nothing_where_anything_is_wrong(tmp_path):
    book = fault(tmp_path, "# Two\n\nSee [one](on.md).\n")
    (book / "site").mkdir()
    done = build(book, "--strict")
    assert done.returncode == 1
    assert re.match(r"strict: .*, nothing written$", lines(done.stderr)[-1])
    assert not list((book / "site").iterdir())
    assert leftovers(book) == []


def test_strict_fails_on_a_warning_that_a_plain_build_only_prints(tmp_path):
    book = write_book(tmp_path / "odd", PAGES, CONFIG + "surplus: 1\n")
    plain, strict = build(book, "check"), build(book, "check", "--strict")
    assert (plain.returncode, strict.returncode) == (0, 1)
    line = CONFIG.count("\n") + 1
    assert re.match(rf"mkdocs\.yml:{line}: .*surplus", plain.stdout)
    assert plain.stdout == strict.stdout


def test_problems_as_json_are_one_document_with_place_and_severity(tmp_path):
    done = build(fault(tmp_path, "# Two\n\nSee [one](on.md).\n"), "check", "--format", "json")
    [problem] = json.loads(done.stdout)["problems"]
    assert (problem["file"], problem["line"], problem["severity"]) == ("docs/two.md", 3, "error")


def test_problems_for_github_are_its_workflow_commands(tmp_path):
    done = build(fault(tmp_path, "# Two\n\nSee [one](on.md).\n"), "check", "--format", "github")
    assert re.match(r"::error file=docs/two\.md,line=3(,title=[^:]+)?::.*on\.md", done.stdout)


def test_the_book_of_this_repository_has_no_errors():
    done = run("check", "--quiet", "--format", "json")
    errors = [p for p in json.loads(done.stdout)["problems"] if p["severity"] == "error"]
    assert (done.returncode, errors) == (0, [])


# ---- faults of the configuration ----


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("site_name: [x\nnav: 1\n", r"mkdocs\.yml:2: config-yaml "),
        ("- a\n", r"mkdocs\.yml:1: config-yaml not a mapping"),
        ("site_name: x\ntheme: unheard-of\n", r"mkdocs\.yml:2: .*unheard-of"),
        ("site_name: x\n\nplugins: [unheard-of]\n", r"mkdocs\.yml:3: .*unheard-of"),
        ("site_name: x\ndocs_dir: nowhere\n", r"mkdocs\.yml:2: .*nowhere"),
        ("docs_dir: docs\n", r"mkdocs\.yml: .*site_name"),
    ],
)
def test_a_wrong_configuration_is_one_line_with_its_place(tmp_path, config, expected):
    done = build(write_book(tmp_path / "book", PAGES, config), "check", "--quiet")
    assert (done.returncode, done.stdout) == (1, "")
    [line] = lines(done.stderr)
    assert re.match(expected, line)


def test_without_pango_the_other_outputs_are_built_and_the_install_commands_told(tiny, tmp_path):
    broken = tmp_path / "stubs" / "weasyprint"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise OSError(\"cannot load library 'libpango-1.0-0'\")\n")
    done = build(tiny, "--quiet", PYTHONPATH=str(broken.parent))
    assert done.returncode == 1
    [line] = lines(done.stderr)
    assert (
        "apt-get install libpango-1.0-0" in line
        and "dnf install pango" in line
        and "brew install pango" in line
    )
    assert (tiny / "site" / "index.html").is_file()
    assert [p.name for p in (tiny / "site/downloads").glob("tiny-book.*")] == ["tiny-book.epub"]


# ---- wrong usage ----


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--unheard-of"], "--unheard-of"),
        (["prnt"], "prnt"),
        (["--config", "/nowhere/mkdocs.yml"], "/nowhere/mkdocs.yml"),
        (["--paper", "a5"], "a5"),
        (["--epub-maths", "latex"], "latex"),
        (["--jobs", "0"], "--jobs"),
        (["--jobs", "many"], "--jobs"),
        (["site", "--chapter", "x"], "--chapter"),
        (["check", "--", "-k", "x"], "after --"),
        (["--out=x"], "--out"),
    ],
)
def test_wrong_usage_is_exit_2_and_names_the_word(arguments, word):
    done = subprocess.run(
        [sys.executable, ROOT / "build.py", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert word in lines(done.stderr)[-1]


def test_version_is_the_library_s():
    from bookbuild import __version__

    assert run("--version").stdout == f"build.py {__version__}\n"


def test_help_names_every_command():
    text = run("--help").stdout
    for command in ("all", "site", "pdf", "epub", "check", "serve", "test", "clean"):
        assert re.search(rf"^  {command} ", text, re.MULTILINE)


# ---- the output folder ----


@pytest.mark.parametrize("command", ["all", "site", "pdf", "clean"])
def test_a_folder_with_other_files_is_refused(tiny, tmp_path, command):
    thesis = tmp_path / "home" / "thesis.tex"
    thesis.parent.mkdir()
    thesis.write_text("years of work")
    done = build(tiny, command, "--output", thesis.parent, "--quiet")
    assert done.returncode == 1
    assert re.search(r"home: output-foreign ", done.stderr)
    assert [p.name for p in thesis.parent.iterdir()] == ["thesis.tex"]


def test_the_folder_of_the_book_itself_is_refused(tiny):
    before = sorted(tiny.rglob("*"))
    assert build(tiny, "--output", tiny).returncode == 1
    assert sorted(tiny.rglob("*")) == before


def test_a_build_that_stops_leaves_the_site_that_was_there(tiny):
    assert build(tiny, "site").returncode == 0
    before = {p: p.read_bytes() for p in (tiny / "site").rglob("*") if p.is_file()}
    (tiny / "docs" / "one.md").write_text("# Another\n\n## Details\n")
    with (tiny / "mkdocs.yml").open("a") as config:
        config.write("hooks: [stop.py]\n")
    (tiny / "stop.py").write_text(
        "from mkdocs.exceptions import PluginError\n\ndef on_post_build(config):\n    raise PluginError('late')\n"
    )
    done = build(tiny, "site", "--quiet")
    assert done.returncode == 1
    assert done.stderr == "mkdocs.yml: mkdocs late\n"
    assert {p: p.read_bytes() for p in (tiny / "site").rglob("*") if p.is_file()} == before
    assert leftovers(tiny) == []


WAIT = "import pathlib, time; pathlib.Path({started!r}).touch(); time.sleep(60)\n"


def slow_site(tiny: Path, stubs: Path, wait: str) -> None:
    """The site's rendering stops half-way."""
    (tiny / "slow.py").write_text(f"def on_post_build(config):\n    {wait}")
    with (tiny / "mkdocs.yml").open("a") as config:
        config.write("hooks: [slow.py]\n")


def slow_pdf(tiny: Path, stubs: Path, wait: str) -> None:
    """The PDF's layout stops half-way, while the EPUB is written beside it."""
    (stubs / "weasyprint").mkdir(parents=True)
    (stubs / "weasyprint" / "__init__.py").write_text(wait)


@pytest.mark.parametrize("slow", [slow_site, slow_pdf])
def test_ctrl_c_is_exit_130_one_line_and_no_half_site(tiny, tmp_path, slow):
    started, stubs = tmp_path / "started", tmp_path / "stubs"
    slow(tiny, stubs, WAIT.format(started=str(started)))
    command = [
        sys.executable,
        ROOT / "build.py",
        "--no-bootstrap",
        "--quiet",
        "--config",
        tiny / "mkdocs.yml",
    ]
    with subprocess.Popen(
        [*command, "--jobs", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(stubs)},
    ) as process:  # fmt: skip
        while not started.exists() and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "build.py: interrupted\n")
    assert not (tiny / "site").exists()
    assert leftovers(tiny) == []


def test_serve_shows_the_book_until_ctrl_c(tiny):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with (tiny / "mkdocs.yml").open("a") as config:
        config.write(f"dev_addr: {address}\n")
    command = [sys.executable, ROOT / "build.py", "serve", "--no-bootstrap", "--config", tiny / "mkdocs.yml"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if f"Serving on http://{address}/" in line:
                break
        with urllib.request.urlopen(f"http://{address}/one/", timeout=30) as page:
            assert "More words." in page.read().decode()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 0
    assert not (tiny / "site").exists()


# ---- what is said ----


def test_a_pipe_gets_one_plain_line_a_stage_and_the_files_written(tiny):
    said = lines(build(tiny).stderr)
    assert [line.split()[0] for line in said] == ["site", "check", "pdf", "epub", "wrote", "wrote", "wrote"]
    assert re.fullmatch(r"site +3 pages +\d+\.\d s", said[0])
    assert not any("\r" in line or "\x1b" in line for line in said)


def test_quiet_says_nothing_where_nothing_is_wrong(tiny):
    done = build(tiny, "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_reader_that_goes_away_early_is_no_traceback(tmp_path):
    page = "# Two\n\n" + "\n".join(f"[x{i}](gone{i}.md)\n" for i in range(3000))
    command = [sys.executable, ROOT / "build.py", "check", "--no-bootstrap", "--quiet"]
    command += ["--config", fault(tmp_path, page) / "mkdocs.yml"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait() == 1


def test_test_hands_its_arguments_to_pytest():
    done = run("test", "--", "--version")
    assert done.returncode == 0
    assert re.match(r"pytest \d", done.stdout + done.stderr)
