"""What rendering keeps of each page."""

from __future__ import annotations

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
