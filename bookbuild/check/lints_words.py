"""Words that age, that point nowhere, that claim what nobody can check, that sell, or that say nothing; and spelling."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files

from bookbuild.check.prose import CODE, LINK, Passage
from bookbuild.model import Problem

CODES = {
    "claim-experience": "a passage that claims experience of the writers ('in our runs'); outside of labs only sources may",
    "spelling": "a word that codespell knows as a misspelling",
    "time-undated": "currently, recently, latest and the like without a date in the sentence",
    "where-bare": "above or below that points across a heading or at nothing; link to the place instead",
    "word-filler": "a phrase that can be left out",
    "word-marketing": "a word that praises instead of measuring",
}
_UNDATED = re.compile(
    r"\b(currently|recently|nowadays|these days|as of (?:today|now|this writing)|at (?:the|this) (?:moment|time of writing)"
    r"|at present|today's|up[- ]to[- ]date|to date|state[- ]of[- ]the[- ]art|newest|most recent"
    r"|latest(?! (?:checkpoints?|steps?|snapshots?|iterations?|values?|saves?|tags?|samples?|batch|start|arrival|ranks?)\b))\b",
    re.IGNORECASE,
)
_DATE = re.compile(r"\b(?:19|20)\d\d\b")
_THINGS = {
    "table": "table",
    "figure": "figure",
    "plot": "figure",
    "diagram": "figure",
    "picture": "figure",
    "list": "list",
    "steps": "list",
    "points": "list",
    "code": "code",
    "script": "code",
    "command": "code",
    "commands": "code",
    "snippet": "code",
    "listing": "code",
    "example": "code",
    "output": "code",
    "formula": "maths",
    "equation": "maths",
}
_BARE_PLACE = re.compile(
    r"\b(?:(?:see|as|shown|described|mentioned|noted|discussed|explained|listed|given|introduced|defined) (above|below)\b"
    r"|the (section|chapter|part|paragraph|discussion|" + "|".join(_THINGS) + r")s? (above|below)\b"
    r"|the (above|below)[- ](?:mentioned )?(section|chapter|" + "|".join(_THINGS) + r")s?\b)",
    re.IGNORECASE,
)
_EXPERIENCE = re.compile(
    r"\b(?:(?:I|we)(?:'ve| have|'d)?(?: (?:often|also|never|once|recently|all|personally))? "
    r"(?:seen|saw|observed|noticed|witnessed|ran(?! into)|benchmarked|tested|experienced|learned the hard way|encountered"
    r"|trained|debugged|measured|deployed|operated|found(?! no\b| not\b| none\b)|spent (?:days|weeks|hours|months))\b"
    r"|in (?:my|our) (?:(?:own|case|many|first|previous|last) )?(?:experience|runs?|tests?|experiments?|trainings?|cluster|benchmarks?"
    r"|measurements?|setup|team|case)\b|(?:my|our) (?:own )?(?:cluster|experiments?|benchmarks?|measurements?|tests|experience)\b)",
    re.IGNORECASE,
)
_LAB = re.compile(r"^\W*(?:lab|try it|exercises?|run it|measure it)\b", re.IGNORECASE)
_MARKETING = re.compile(
    r"\b(blazing(?:ly)?(?:[- ]fast)?|lightning[- ]fast|cutting[- ]edge|bleeding[- ]edge|powerful|seamless(?:ly)?|effortless(?:ly)?"
    r"|game[- ]chang(?:er|ing)|revolutionary|revolutioni[sz]e[sd]?|unparalleled|unprecedented|unmatched|world[- ]class"
    r"|best[- ]in[- ]class|best[- ]of[- ]breed|industry[- ]leading|next[- ]gen(?:eration)?(?= (?:platform|solution|AI))"
    r"|groundbreaking|ground-breaking|amazing(?:ly)?|awesome|incredibl[ey]|stunning|magical(?:ly)?|supercharge[sd]?|turbocharge[sd]?"
    r"|unleash(?:es|ed)?|unlock(?:s|ed)? the|harness(?:es|ed)? the power|leverag(?:e[sd]?|ing)|robust(?:ly)? solution|feature[- ]rich"
    r"|state-of-the-art performance|enterprise[- ]grade|battle[- ]tested|super[- ]fast|beast|monster)\b",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"\b((?:it (?:is|'s) )?(?:important|worth|crucial|interesting|essential) (?:to (?:note|mention|understand|remember|point out)"
    r"|noting|mentioning)(?: that)?|(?:please )?note that|needless to say|as (?:we all|everybody) knows?|it goes without saying"
    r"|in order to|at the end of the day|when it comes to|in today's world|in the world of|the fact that|of course|obviously"
    r"|simply|basically|essentially|actually|in conclusion|let's dive|let us dive|dive into|delve[sd]?(?: into)?"
    r"|in this (?:chapter|section|article),? we will|a wide range of|plays a (?:crucial|vital|key|pivotal) role|without further ado"
    r"|as (?:mentioned|noted|stated) (?:earlier|previously|before))\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z][A-Za-z'’]+")


def run(passage: Passage) -> Iterator[Problem]:
    text = passage.plain
    for found in _UNDATED.finditer(text):
        if not _DATE.search(passage.sentence(found.start())):
            hint = "say as of when, '2026-12', or leave it out"
            yield passage.problem(
                found.start(), "time-undated", f"'{found[0]}' without a date", hint, "warning"
            )
    if not _LAB.match(passage.section) and passage.kind != "heading":
        for found in _EXPERIENCE.finditer(text):
            hint = "cite who saw it, or say that it is derived"
            yield passage.problem(
                found.start(), "claim-experience", f"'{found[0]}' claims experience", hint, "warning"
            )
    for found in _MARKETING.finditer(text):
        yield passage.problem(
            found.start(),
            "word-marketing",
            f"'{found[0]}' praises",
            "say how much, or leave it out",
            "warning",
        )
    for found in _FILLER.finditer(text):
        yield passage.problem(
            found.start(), "word-filler", f"'{found[0]}' says nothing", "leave it out", "warning"
        )
    yield from _places(passage, text)
    yield from _spelling(passage)


def _places(passage: Passage, text: str) -> Iterator[Problem]:
    for found in _BARE_PLACE.finditer(text):
        if LINK in passage.sentence(found.start()):
            continue
        thing = (found[2] or found[5] or "").lower()
        where = (found[1] or found[3] or found[4]).lower()
        if thing in _THINGS and _stands(passage, _THINGS[thing], where):
            continue
        text_ = f"'{found[0]}' does not say where"
        yield passage.problem(
            found.start(), "where-bare", text_, "link to the figure, the table or the heading", "warning"
        )


def _stands(passage: Passage, kind: str, where: str) -> bool:
    """Whether a block of the kind stands in the same section on that side of the passage, at most three blocks away."""
    tokens = passage.source.tokens
    step, place, blocks = (1 if where == "below" else -1), passage.place, 0
    while 0 <= (place := place + step) < len(tokens) and blocks < 4:
        token = tokens[place]
        if token.type in ("heading_open", "heading_close"):
            return False
        blocks += token.level == 0 and token.nesting != -step
        info = token.info.split()[0] if token.type == "fence" and token.info.split() else ""
        is_picture = token.type == "inline" and any(c.type == "image" for c in token.children or ())
        if (
            kind == "table"
            and (token.type == "table_open" or info in ("table", "worked"))
            or kind == "figure"
            and (is_picture or info == "mermaid")
            or kind == "list"
            and token.type
            in ("ordered_list_open", "bullet_list_open", "ordered_list_close", "bullet_list_close")
            or kind == "code"
            and token.type in ("fence", "code_block")
            and info not in ("table", "worked", "mermaid")
            or kind == "maths"
            and token.type == "inline"
            and "$" in token.content
        ):
            return True
    lines = passage.source.lines  # formulas in a block of their own are no tokens
    near = (
        lines[passage.line : passage.line + 6]
        if where == "below"
        else lines[max(0, passage.line - 7) : passage.line - 1]
    )
    return kind == "maths" and any(line.strip().startswith("$$") for line in near)


def _spelling(passage: Passage) -> Iterator[Problem]:
    dictionary, ours = misspellings(), field_words()
    for found in _WORD.finditer(passage.plain):
        word = found[0].replace("’", "'")
        if found.start() and passage.plain[found.start() - 1] in f"-/_.@#&{CODE}" or word.isupper():
            continue
        right = dictionary.get(word.lower())
        if right and word.lower() not in ours:
            yield passage.problem(found.start(), "spelling", f"'{word}'", f"did you mean {right}?", "warning")


@lru_cache(maxsize=1)
def misspellings() -> dict[str, str]:
    """codespell's dictionary: word in lower case → what is meant."""
    found = {}
    text = (files("codespell_lib") / "data" / "dictionary.txt").read_text(encoding="utf-8")
    for line in text.split("\n"):
        wrong, arrow, right = line.partition("->")
        if arrow:
            found[wrong.lower()] = right.rstrip(", ").replace(", ", " or ")
    return found


@lru_cache(maxsize=1)
def field_words() -> frozenset[str]:
    """Words and names of the field, as they are written in words.txt and in lower case."""
    text = (files("bookbuild") / "check" / "words.txt").read_text(encoding="utf-8")
    words = [w for line in text.split("\n") for w in line.partition("#")[0].split()]
    return frozenset(words) | frozenset(w.lower() for w in words if w.islower())
