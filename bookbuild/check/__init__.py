"""Look for what is wrong with a book: one module a family, each yields problems with file and line.

`python -m bookbuild.check` lists every code with what it means.
"""

from __future__ import annotations

from bookbuild.check import (
    calculators,
    consistency,
    covered,
    data,
    fences,
    frontmatter,
    images,
    leftovers,
    links,
    lints,
    references,
    structure,
    sums,
    tables,
)
from bookbuild.check.merge import merged
from bookbuild.check.sources import read_sources
from bookbuild.model import Book, Problem

FAMILIES = (
    links,
    references,
    images,
    structure,
    tables,
    frontmatter,
    leftovers,
    data,
    covered,
    consistency,
    sums,
    calculators,
    fences,
    lints,
)

# found while the pages are rendered, by the Markdown extensions and by MkDocs
RENDER_CODES = {
    "caption-alone": "a caption with no table after it",
    "config": "a setting in mkdocs.yml that MkDocs refuses or warns about",
    "diagram": "a mermaid fence that cannot be drawn",
    "label-twice": "a label of a figure or table that stands in two places",
    "label-lost": "a label whose picture or caption did not become a figure, so that later numbers would be wrong",
    "label-unknown": "a label on a page that nav does not list, so that it has no number",
    "link-address": "a link or picture whose address cannot be read as one",
    "maths": "a formula that cannot be read",
    "page-failed": "a page that cannot be rendered: its template, a plugin or an extension fails",
    "reference-kind": "a reference to a table that says Figure, or the other way round",
    "reference-unknown": "a reference to a figure, table or chapter that the book does not have",
    "script-help": "a tool that does not answer --help",
    "script-missing": "a script fence that names no file below tools/",
    "snippet": "a snippet that cannot be read",
    "snippet-missing": "a snippet whose file is not there",
    "table-data": "a table fence whose data file, key or record is not there",
    "table-spec": "a table fence whose settings cannot be read",
    "config-yaml": "mkdocs.yml cannot be read as YAML",
    "mkdocs": "anything else that MkDocs says",
    "mkdocs-link": "a link that MkDocs does not follow",
    "nav-missing": "a page that nav names and that is not there",
    "sum-stale": "a sum that names a value of book/data and does not hold it",
    "sum-unread": "a sum that cannot be read, or that has no result",
    "sum-wrong": "a sum whose result is another",
    "unit-mix": "a sum that mixes decimal with binary prefixes or bits with bytes",
    "value-stale": "words that say another value than book/data; the page shows that of the data",
    "value-unit": "a value in a unit that it cannot have",
    "value-unknown": "a link to a value that book/data does not have",
    "worked-data": "a worked fence whose calculator cannot be read",
    "worked-spec": "a worked fence whose settings cannot be read, or a value that its calculator does not take",
    "nav-omitted": "a page that stands in no nav, so nobody finds it",
}


def check(book: Book) -> list[Problem]:
    """All that rendering (`book.problems`) and the families find, sorted by place, each fault once."""
    sources = read_sources(book)
    found = {problem for family in FAMILIES for problem in family.run(book, sources)}
    return sorted(merged(book, sources, found))


def codes() -> dict[str, str]:
    """Every code of the checks and what it means, sorted."""
    found = dict(RENDER_CODES)
    for family in FAMILIES:
        found |= family.CODES
    return dict(sorted(found.items()))
