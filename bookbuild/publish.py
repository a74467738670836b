"""Files that only build.py makes, and the links to them: added to the site after MkDocs has rendered it.

PDF and EPUB under `downloads/`, every script of `tools/` as a file to fetch, each data table as CSV and JSON, and
`downloads/index.json` which lists them with size and SHA-256. The pages that speak of them are read as trees, get
their links, and are written back; all other pages stay as MkDocs wrote them. Plain `mkdocs build` knows nothing of
this, so a link to such a file can never be broken: it appears only where the file does.
"""

from __future__ import annotations

import hashlib
import json
import os
import posixpath
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urljoin
from xml.etree.ElementTree import Element, SubElement

import tinyhtml5

from bookbuild import trees
from bookbuild.model import Book, Chapter
from bookbuild.tabledata import TableData, table_data

MANIFEST = "downloads/index.json"
_LABELS = {".pdf": "PDF", ".epub": "EPUB"}


@dataclass(frozen=True)
class File:
    """One published file; `path` is below the site's root, '/' separated."""

    path: str
    bytes: int
    sha256: str

    @property
    def name(self) -> str:
        return PurePosixPath(self.path).name

    @property
    def size(self) -> str:
        """Size for people, in decimal units: '87 kB', '2.4 MB'."""
        if self.bytes < 1_000:
            return f"{self.bytes} B"
        if self.bytes < 999_500:
            return f"{self.bytes / 1e3:.0f} kB"
        return f"{self.bytes / 1e6:.1f} MB"


Edit = Callable[[Element], None]  # changes the tree of one whole page


def publish(book: Book, made: Iterable[Path] = ()) -> tuple[File, ...]:
    """Put the files into `book.site_dir` and link them; `made` are the downloads that already lie there."""
    site = book.site_dir
    downloads = [_file(site, path) for path in made if path.is_relative_to(site)]
    tools = {file.path.removeprefix("tools/"): file for file in _copy_tools(book)}
    files = [*downloads, *tools.values()]
    for chapter in book.chapters:
        edits: list[Edit] = []
        if downloads and page_file(chapter) == "index.html":
            edits.append(lambda page: _link_downloads(page, downloads))
        if tools and any(_is_tool_link(e) for e in chapter.tree.iter("a")):
            edits.append(lambda page, here=chapter: _link_tools(page, book, here, tools))
        tables = {table.name: [_write(site, *part) for part in _parts(table)] for table in table_data(chapter)}
        if tables:
            files += [file for pair in tables.values() for file in pair]
            edits.append(lambda page, here=chapter, found=tables: _link_tables(page, here, found))
        if edits:
            _edit_page(site / page_file(chapter), edits)
    if files:
        _write_manifest(site, files)
    return tuple(sorted(files, key=lambda file: file.path))


def renew(site: Path, made: Iterable[Path]) -> None:
    """Tell a finished site of downloads that were put into it later: their links and sizes on its home page, the manifest.

    What else the two list is taken anew from the files that lie there.
    """
    home, manifest = site / "index.html", site / MANIFEST
    if not home.is_file():  # a folder of downloads alone
        return
    listed = json.loads(manifest.read_text(encoding="utf-8"))["files"] if manifest.is_file() else []
    paths = {site / entry["path"] for entry in listed} | set(made)
    files = [_file(site, path) for path in paths if path.is_file()]
    downloads = [file for file in files if file.path.startswith("downloads/")]
    _edit_page(home, [lambda page: _link_downloads(page, downloads)])
    _write_manifest(site, files)


def page_file(chapter: Chapter) -> str:
    """Where a chapter's page lies below the site's root: 'compute/' is the file compute/index.html."""
    url = chapter.url.removeprefix("./")
    return url + "index.html" if not url or url.endswith("/") else url


# ---- files ----


def _file(site: Path, path: Path) -> File:
    content = path.read_bytes()
    place = path.relative_to(site).as_posix()
    return File(place, len(content), hashlib.sha256(content).hexdigest())


def _write(site: Path, place: str, text: str) -> File:
    path = site / place
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_text(text, encoding="utf-8", newline="")
    os.replace(partial, path)
    return _file(site, path)


def _write_manifest(site: Path, files: Iterable[File]) -> None:
    listing = {"files": [asdict(file) for file in sorted(files, key=lambda file: file.path)]}
    _write(site, MANIFEST, json.dumps(listing, indent=1) + "\n")


def _parts(table: TableData) -> Iterator[tuple[str, str]]:
    """(place, content) of a table's two files."""
    yield f"data/{table.name}.csv", table.csv()
    yield f"data/{table.name}.json", table.json()


def _copy_tools(book: Book) -> Iterator[File]:
    """Every file of tools/ that git would keep, byte for byte."""
    source = book.root / "tools"
    for folder, folders, names in os.walk(source):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "__")))
        for name in sorted(names):
            if name.startswith(".") or name.endswith((".pyc", "~")):
                continue
            path = Path(folder, name)
            target = book.site_dir / "tools" / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
            yield _file(book.site_dir, target)


# ---- pages ----


def _edit_page(file: Path, edits: Iterable[Edit]) -> None:
    page = tinyhtml5.parse(file.read_text(encoding="utf-8"), namespace_html_elements=False)
    for edit in edits:
        edit(page)
    partial = file.with_suffix(".tmp")
    partial.write_text(f"<!doctype html>\n{trees.to_html(page)}\n", encoding="utf-8")
    os.replace(partial, file)


def _href(chapter: Chapter, file: File) -> str:
    folder = posixpath.dirname(page_file(chapter)) or "."
    return quote(posixpath.relpath(file.path, folder))


def _link_downloads(page: Element, downloads: list[File]) -> None:
    """Fill the home page's `data-downloads` place; a page without one gets it before its first section."""
    box = next((e for e in page.iter("div") if _is_place(e)), None)
    if box is None:
        box = Element("div", {"class": "downloads"})
        article = _article(page)
        sections = [i for i, child in enumerate(article) if child.tag == "h2"]
        article.insert(sections[0] if sections else len(article), box)
    box.attrib.pop("hidden", None)
    for old in box.findall("ul"):
        box.remove(old)
    items = SubElement(box, "ul")
    for file in sorted(downloads, key=lambda file: not file.path.endswith(".pdf")):
        suffix = PurePosixPath(file.path).suffix
        link = SubElement(SubElement(items, "li"), "a", {"href": quote(file.path)})
        link.text = f"{_LABELS.get(suffix, file.name)} "
        SubElement(link, "span", {"class": "size"}).text = file.size


def _is_place(element: Element) -> bool:
    return element.get("data-downloads") is not None or "downloads" in trees.classes(element)


def _article(page: Element) -> Element:
    """The element around the text, in Material's pages and in other themes'."""
    for wanted in (lambda e: e.tag == "article", lambda e: e.get("role") == "main", lambda e: e.tag in ("main", "body")):
        if (found := next((e for e in page.iter() if wanted(e)), None)) is not None:
            return found
    return page


def _is_tool_link(element: Element) -> bool:
    return "tool-file" in trees.classes(element) and bool(element.get("data-tool"))


def _link_tools(page: Element, book: Book, chapter: Chapter, tools: dict[str, File]) -> None:
    """Each tool's name becomes a link to its file, and the commands that fetch and verify it follow."""
    parents = {child: parent for parent in page.iter() for child in parent}
    for link in [e for e in page.iter("a") if _is_tool_link(e)]:
        file = tools.get(link.get("data-tool", "").removeprefix("tools/"))
        if file is None:
            continue  # the check has named it
        link.set("href", _href(chapter, file))
        block = link
        while parents[block].tag not in ("article", "section", "div", "aside", "figure", "body", "li", "td"):
            block = parents[block]
        container = parents[block]
        place = list(container).index(block) + 1
        while place < len(container) and "script-summary" in trees.classes(container[place]):
            place += 1  # what the tool is for comes before how to fetch it
        container.insert(place, _fetch_commands(book, chapter, file))


def _fetch_commands(book: Book, chapter: Chapter, file: File) -> Element:
    box = Element("div", {"class": "tool-get highlight"})
    code = SubElement(SubElement(box, "pre"), "code")
    verify = f'\necho "{file.sha256}  {file.name}" \\\n  | sha256sum --check\n'
    if book.url:
        code.text = f"curl -fsSLO {urljoin(book.url, quote(file.path))}{verify}"
    else:  # the page's own script puts in where it is being read
        code.text = "curl -fsSLO "
        address = SubElement(code, "span", {"data-site-path": _href(chapter, file)})
        address.text = f"SITE_URL/{quote(file.path)}"
        address.tail = verify
    return box


def _link_tables(page: Element, chapter: Chapter, tables: dict[str, list[File]]) -> None:
    """A line below each table: its CSV and its JSON."""
    parents = {child: parent for parent in page.iter() for child in parent}
    for table in [e for e in page.iter("table") if e.get("id") in tables]:
        figure = parents[table]
        while figure.tag != "figure" and figure in parents and figure.tag not in ("article", "body"):
            figure = parents[figure]
        line = Element("p", {"class": "table-files"})
        line.text = "This table as a file: "
        for file in tables[table.get("id", "")]:
            link = SubElement(line, "a", {"href": _href(chapter, file), "download": file.name})
            link.text = PurePosixPath(file.path).suffix[1:].upper()
            link.tail = f" ({file.size}), "
        link.tail = f" ({file.size})"
        figure.append(line)
