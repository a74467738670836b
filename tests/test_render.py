"""What rendering keeps of each page."""

from __future__ import annotations

import pytest

from bookbuild.model import BookError
from bookbuild.render import render

CONFIG = "site_name: Keys\ndocs_dir: docs\nplugins: []\nmarkdown_extensions: [bookbuild.markdown]\n"


def test_pages_of_look_alike_paths_have_different_keys(tmp_path):
    """a/b.md and a-b.md once shared ids and file names."""
    for path in ("index.md", "a/b.md", "a-b.md", "a--b.md"):
        (tmp_path / "docs" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs" / path).write_text(f"# Page {path}\n", encoding="utf-8")
    (tmp_path / "mkdocs.yml").write_text(CONFIG, encoding="utf-8")
    keys = [chapter.key for chapter in render(tmp_path / "mkdocs.yml", tmp_path / "site").chapters]
    assert len(keys) == 4 and len(set(keys)) == 4


def test_titles_are_words_without_marks(minibook):
    titles = {chapter.path: chapter.title for chapter in minibook.chapters}
    assert titles["first/constructs.md"] == "Constructs"
    assert all("<" not in title and "¶" not in title for title in titles.values())


PLUGIN = """\
def on_page_markdown(markdown, page, **_):
    return markdown[page.meta["no-such-key"]] if "boom" in markdown else markdown
"""


@pytest.mark.parametrize(
    ("page", "more", "expected"),
    [
        ("---\ntitle: T\ntemplate: nope.html\n---\n\n# T\n", {}, r"docs/index\.md:3: page-failed no template nope\.html \("),
        ("# T\n\nboom\n", {"hooks.py": PLUGIN}, r"docs/index\.md: page-failed .*no-such-key.* \(KeyError in hooks\.py, line 2\)$"),
        ("# T\n", {"theme/main.html": "{{ 1 / 0 }}"}, r"docs/index\.md: page-failed .*zero \(ZeroDivisionError in main\.html"),
        ("# T\n", {"theme/main.html": "{% if %}"}, r"docs/index\.md: page-failed .* \(TemplateSyntaxError in "),
        ("# T\n", {"theme/404.html": "{{ 1 / 0 }}"}, r"mkdocs\.yml: page-failed .*zero \(ZeroDivisionError in 404\.html"),
    ],
    ids=["template", "hook", "theme", "syntax", "no page"],
)  # fmt: skip
def test_whatever_fails_in_a_page_is_one_line_with_its_place(tmp_path, page, more, expected):
    config = (
        CONFIG
        + "theme: {name: mkdocs, custom_dir: theme}\n"
        + ("hooks: [hooks.py]\n" if "hooks.py" in more else "")
    )
    for path, text in {"docs/index.md": page, "mkdocs.yml": config, "theme/x": "", **more}.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    with pytest.raises(BookError, match=rf"^{expected}") as caught:
        render(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert "\n" not in str(caught.value)
