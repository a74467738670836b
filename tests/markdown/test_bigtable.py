"""A table of 2,000 rows is complete, and its cost grows with its rows and no faster."""

from __future__ import annotations

import cProfile
import pstats

from bigtable import write_bigtable

from bookbuild.markdown.context import Context, set_context
from bookbuild.render import render
from bookbuild.trees import text_of


def test_every_row_is_there(tmp_path):
    book = render(write_bigtable(tmp_path), tmp_path / "site")
    assert book.problems == ()
    [chapter] = book.parts[0].chapters
    rows = chapter.tree.findall(".//tbody/tr")
    assert len(rows) == 2_000
    assert [text_of(cell) for cell in rows[1999][1:4]] == ["1999", "2998.5", "299"]
    assert rows[1999].get("id") == "tab-rows-row-1999"
    assert len(chapter.tree.findall(".//ol[@class='sources']/li")) == 7


def test_the_work_grows_in_proportion(tmp_path):
    """Counted in function calls, which no other load on the machine changes."""
    assert calls(tmp_path / "four", 1_200) <= 4.4 * calls(tmp_path / "one", 300)


def calls(folder, rows: int) -> int:
    import markdown

    config = write_bigtable(folder, rows)
    text = (folder / "docs" / "rows.md").read_text(encoding="utf-8")
    md = markdown.Markdown(extensions=["bookbuild.markdown", "pymdownx.superfences", "md_in_html", "abbr"])
    set_context(md, Context(config, "rows.md"))
    profile = cProfile.Profile()
    profile.runcall(md.convert, text)
    return pstats.Stats(profile).total_calls
