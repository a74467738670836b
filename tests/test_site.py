"""The website: the same from every tool, from this host alone, readable in the dark and on a phone."""

from __future__ import annotations

import json
import shutil
import statistics
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from sitetree import article, content, copy_book, css_loads, loads, pages, parse_page, run_tool
from support import REALBOOK, ROOT

from bookbuild import trees
from bookbuild.publish import page_file, publish
from bookbuild.render import render

SCHEMES = {"light": "default", "dark": "slate"}


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The site of plain `mkdocs build --strict` on a copy of the tree, without web fonts."""
    root = tmp_path_factory.mktemp("plain")
    copy_book(ROOT, root)
    run_tool("mkdocs", "build", "--strict", "--quiet", cwd=root)
    return root / "site"


@pytest.fixture(scope="module")
def published(tmp_path_factory, webfonts):
    """The site as build.py leaves it, with fonts and files; the downloads are stand-ins."""
    root = tmp_path_factory.mktemp("published")
    config = copy_book(ROOT, root)
    shutil.copytree(webfonts[0].parent, root / "book" / "assets" / "fonts")
    site = root / "site"
    book = render(config, site)
    made = [site / "downloads" / f"{book.slug}.{kind}" for kind in ("pdf", "epub")]
    made[0].parent.mkdir()
    for path in made:
        path.write_bytes(b"stand-in")
    publish(book, made)
    return book


def test_plain_mkdocs_gives_the_same_pages_text_and_anchors(plain, realbook):
    """`mkdocs build --strict` succeeds without build.py, and no page differs from build.py's rendering."""
    ours = pages(realbook.site_dir)
    theirs = pages(plain)
    assert list(theirs) == list(ours)
    for place in ours:
        assert content(article(theirs[place])) == content(article(ours[place])), place


def test_publishing_changes_nothing_but_what_it_adds(published, realbook):
    """Every word and anchor of a rendered page is still there, in its order, after the files were linked."""
    for chapter in realbook.chapters:
        words, ids = content(article(realbook.site_dir / page_file(chapter)))
        after = article(published.site_dir / page_file(chapter))
        for parent, child in trees.with_parents(after):
            if trees.classes(child) & {"downloads", "tool-get", "table-files"} and child in list(parent):
                trees.replace(parent, child)
        assert content(after) == (words, ids), chapter.path


def test_nothing_is_loaded_from_elsewhere(published):
    """No page and no style sheet names a file on another host; links to read on are no loads."""
    files = [p for p in published.site_dir.rglob("*") if p.suffix in (".html", ".css")]
    assert len(files) > 5
    foreign = {
        (file.relative_to(published.site_dir).as_posix(), url)
        for file in files
        for url in loads(file)
        if urlsplit(url).netloc or urlsplit(url).scheme not in ("", "data")
    }
    assert not foreign


def test_everything_that_is_loaded_is_there(published):
    """Each picture, script, style sheet and font that a page or a style sheet names is a file of the site."""
    for file in published.site_dir.rglob("*"):
        if file.suffix not in (".html", ".css"):
            continue
        for url in loads(file):
            parts = urlsplit(url)
            if parts.scheme == "data" or not parts.path:
                continue
            base = published.site_dir if parts.path.startswith("/") else file.parent
            assert (base / parts.path.lstrip("/")).is_file(), f"{file.relative_to(published.site_dir)}: {url}"


@pytest.mark.parametrize(
    ("css", "found"),
    [
        ('@import "https://a.example/x.css";', ["https://a.example/x.css"]),
        ("@import url(https://a.example/x.css);", ["https://a.example/x.css"]),
        ("a{background:url('b.png')}", ["b.png"]),
        ("@media print{a{background:url(c.png)}}", ["c.png"]),
        ("@font-face{src:local(x),url(d.woff2)}", ["d.woff2"]),
        ('a::after{content:"https://a.example/"}', []),
    ],
)
def test_the_reader_of_style_sheets_sees_every_load(css, found):
    assert sorted(set(css_loads(css))) == found


@pytest.mark.parametrize(
    ("variables", "address"),
    [
        ({"REPO_URL": "https://github.com/o/r"}, "https://github.com/o/r/edit/main/book/conventions.md"),
        ({"REPO_URL": "https://gitlab.com/o/r"}, "https://gitlab.com/o/r/-/edit/main/book/conventions.md"),
        ({"REPO_URL": "https://gitlab.example.org/o/r/"}, "https://gitlab.example.org/o/r/-/edit/main/book/conventions.md"),
        (
            {"REPO_URL": "https://git.example.org/o/r", "EDIT_URI": "_edit/trunk/book/"},
            "https://git.example.org/o/r/_edit/trunk/book/conventions.md",
        ),
        ({"REPO_URL": "https://git.example.org/o/r"}, None),
        ({}, None),
    ],
)
def test_edit_link_follows_the_repository(tmp_path, variables, address):
    """REPO_URL alone gives the right address on GitHub and GitLab; without a repository there is no link."""
    one_page(tmp_path)
    run_tool("mkdocs", "build", "--strict", "--quiet", cwd=tmp_path, **variables)
    page = parse_page(tmp_path / "site" / "conventions" / "index.html")
    links = [e.get("href") for e in page.iter("a") if "edit" in (e.get("rel") or "").split()]
    assert links == ([address] if address else [])


def one_page(folder: Path) -> None:
    """The book's configuration and theme around a single page of text, for quick builds."""
    shutil.copytree(ROOT / "bookbuild" / "theme", folder / "bookbuild" / "theme")
    config, _, _ = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")
    (folder / "mkdocs.yml").write_text(f"{config}\nnav: [index.md, conventions.md]\n", encoding="utf-8")
    for name in ("book", "tools"):
        (folder / name).mkdir()
    for name in ("index.md", "conventions.md"):
        (folder / "book" / name).write_text("# A page\n", encoding="utf-8")


def test_no_script_of_the_theme_asks_the_repository_host(tmp_path):
    """Material's script fetches stars and forks wherever it finds this mark; our pages have none."""
    one_page(tmp_path)
    run_tool("mkdocs", "build", "--quiet", cwd=tmp_path, REPO_URL="https://github.com/o/r")
    page = parse_page(tmp_path / "site" / "index.html")
    assert any(e.get("href") == "https://github.com/o/r" for e in page.iter("a"))
    assert not [e for e in page.iter() if e.get("data-md-component") == "source"]


def test_missing_page_says_so_and_leads_home(published):
    """404.html is ours: it works at every depth, as its addresses start at the root."""
    page = parse_page(published.site_dir / "404.html")
    main = next(page.iter("article"))
    assert "does not exist" in trees.text_of(main)
    links = [e.get("href", "") for e in main.iter("a") if "headerlink" not in trees.classes(e)]
    assert links and all(link.startswith("/") for link in links)
    assert all(url.startswith(("/", "data:")) for url in loads(published.site_dir / "404.html"))


def test_home_offers_the_downloads(published):
    links = [e.get("href") for e in article(published.site_dir / "index.html").iter("a")]
    assert {"downloads/ml-engineering.pdf", "downloads/ml-engineering.epub"} <= set(links)


# ---- in a browser ----


def requests(browser) -> list[str]:
    """Addresses that the browser asked for since the last call."""
    sent = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [m["params"]["request"]["url"] for m in sent if m["method"] == "Network.requestWillBeSent"]
    return [url for url in urls if urlsplit(url).scheme in ("http", "https", "ws", "wss")]  # not its own chrome://


def show(browser, address: str, scheme: str = "light", width: int = 1280, height: int = 900) -> None:
    """Open a page as a reader with this window and this system setting sees it, and wait for its fonts."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    browser.get(address)
    browser.execute_async_script("document.fonts.ready.then(arguments[0])")


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("place", ["", "compute/", "no/such/page/"])
def test_a_browser_asks_this_host_only(browser, serve, published, place, scheme):
    """Home, a chapter and the 404 page, in both schemes: every request goes to the site's own server and is answered."""
    address = serve(published.site_dir)
    requests(browser)
    browser.get_log("browser")
    show(browser, f"{address}/{place}", scheme)
    asked = requests(browser)
    assert any(url.endswith(".css") for url in asked)
    assert any(url.endswith(".woff2") for url in asked)
    assert {urlsplit(url).netloc for url in asked} == {urlsplit(address).netloc}
    assert browser.execute_script("return document.body.dataset.mdColorScheme") == SCHEMES[scheme]
    said = [e["message"] for e in browser.get_log("browser") if e["level"] == "SEVERE"]
    assert [m for m in said if "no/such/page" not in m] == []  # the missing page itself is logged as a 404


def test_search_finds_a_page(browser, serve, published):
    """Typing into the search box lists a page and leads to it, all from this host."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    address = serve(published.site_dir)
    show(browser, f"{address}/")
    requests(browser)
    browser.find_element(By.CSS_SELECTOR, "input.md-search__input").send_keys("conventions")
    found = WebDriverWait(browser, 20).until(lambda b: b.find_elements(By.CSS_SELECTOR, "a.md-search-result__link"))
    assert any("conventions/" in (link.get_attribute("href") or "") for link in found)
    assert {urlsplit(url).netloc for url in requests(browser)} <= {urlsplit(address).netloc}


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_scrolls_no_page_sideways(browser, serve, published, width):
    """No page is wider than the screen; wide tables and code scroll inside their own box."""
    address = serve(published.site_dir)
    for chapter in published.chapters:
        show(browser, f"{address}/{page_file(chapter)}", width=width)
        assert browser.execute_script("return document.documentElement.scrollWidth") == width, chapter.path


def test_running_text_keeps_a_readable_measure(browser, serve, published):
    """A line of prose holds about 75 characters and no more, however wide the window is."""
    address = serve(published.site_dir)
    script = """
      const canvas = document.createElement('canvas').getContext('2d');
      return [...document.querySelectorAll('article > p')].filter(p => p.textContent.length > 200).map(p => {
        const style = getComputedStyle(p);
        canvas.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
        return p.clientWidth * p.textContent.length / canvas.measureText(p.textContent).width;
      });"""
    lines = []
    for width in (1280, 1920):
        for chapter in published.chapters:
            show(browser, f"{address}/{page_file(chapter)}", width=width)
            lines += browser.execute_script(script)
    assert 60 < statistics.median(lines) <= 75


def test_drawings_turn_over_in_the_dark_and_only_there(browser, serve, published):
    """Plots are drawn on white; on the dark page they are inverted, so that no white box shines."""
    address = serve(published.site_dir)
    script = "return [...document.querySelectorAll('figure > img')].map(i => getComputedStyle(i).filter)"
    for scheme, expected in (("light", {"none"}), ("dark", {"invert(1) hue-rotate(180deg)"})):
        show(browser, f"{address}/compute/", scheme)
        assert set(browser.execute_script(script)) == expected


def test_a_wide_table_keeps_its_first_column_in_sight_on_a_phone(browser, serve, published):
    """The table scrolls in its box, its head and rows together, while the names stay at the left edge."""
    address = serve(published.site_dir)
    show(browser, f"{address}/compute/", width=390, height=800)
    script = """
      const box = document.querySelector('.table-scroll');
      box.scrollLeft = 200;
      const left = (e) => Math.round(e.getBoundingClientRect().left - box.getBoundingClientRect().left);
      return [box.scrollWidth > box.clientWidth, left(box.querySelector('tbody th')), left(box.querySelector('thead th')),
              left(box.querySelector('tbody td')) < 150];"""
    assert browser.execute_script(script) == [True, 0, 0, True]


def test_the_head_of_a_long_table_stays_below_the_header(browser, serve, published):
    """Halfway down a table that fits the window, its head stands right under the site's header."""
    address = serve(published.site_dir)
    show(browser, f"{address}/compute/", width=1440, height=900)
    script = """
      const done = arguments[0];
      const table = document.querySelector('.table-scroll.fits > table');
      scrollTo({top: scrollY + table.getBoundingClientRect().top + table.offsetHeight / 2, behavior: 'instant'});
      setTimeout(() => done(table.querySelector('thead th').getBoundingClientRect().top
                            - document.querySelector('.md-header').getBoundingClientRect().bottom), 400);"""
    assert abs(browser.execute_async_script(script)) <= 2


def test_the_address_is_filled_in_where_the_build_did_not_know_it(browser, serve, tmp_path):
    """The site's own script completes the curl line of a tool with the address at which the page is read."""
    site = tmp_path / "s" / "deep"
    site.mkdir(parents=True)
    (site / "index.html").write_text(
        '<p id="x"><span data-site-path="../tools/a.py">SITE_URL/tools/a.py</span></p><script src="site.js"></script>'
    )
    (site / "site.js").write_bytes((ROOT / "book/assets/site.js").read_bytes())
    address = serve(site.parent)
    show(browser, f"{address}/deep/")
    assert browser.execute_script("return document.getElementById('x').textContent") == f"{address}/tools/a.py"


def test_style_and_scripts_of_the_book_exist():
    """Every file that mkdocs.yml loads into each page is in the repository."""
    from bookbuild.outline import docs_dir, read_config

    config = read_config(REALBOOK)
    for name in [*config["extra_css"], *config["extra_javascript"], config["theme"]["favicon"]]:
        assert Path(docs_dir(REALBOOK), name).is_file(), name


@pytest.mark.parametrize("name", ["readme-site.png", "readme-pdf.png"])
def test_the_readmes_pictures_are_small_and_no_part_of_the_site(plain, name):
    picture = ROOT / "book" / "assets" / name
    assert 0 < picture.stat().st_size < 150_000
    assert name in (ROOT / "README.md").read_text(encoding="utf-8")
    assert not list(plain.rglob(name))
