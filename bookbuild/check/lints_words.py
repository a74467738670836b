"""Words that age, that claim what nobody can check, that sell, or that say nothing; and spelling."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files

from bookbuild.check.prose import CODE, Passage
from bookbuild.model import Problem

CODES = {
    "claim-experience": "a passage that claims experience of the writers ('in our runs'); outside of labs only sources may",
    "spelling": "a word that codespell knows as a misspelling",
    "time-undated": "currently, recently, latest and the like without a date in the sentence",
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
    yield from _spelling(passage)


def _spelling(passage: Passage) -> Iterator[Problem]:
    dictionary, ours = misspellings(), field_words()
    for found in _WORD.finditer(passage.plain):
        word = found[0].replace("’", "'")
        if found.start() and passage.plain[found.start() - 1] in f"-/_.@#&{CODE}" or word.isupper():
            continue
        right = dictionary.get(word.lower())
        if right and word.lower() not in ours:
            meant = right.rstrip(", ").replace(", ", " or ")
            yield passage.problem(found.start(), "spelling", f"'{word}'", f"did you mean {meant}?", "warning")


@lru_cache(maxsize=1)
def misspellings() -> dict[str, str]:
    """codespell's dictionary: word in lower case → what is meant, several with commas between and perhaps one behind."""
    text = (files("codespell_lib") / "data" / "dictionary.txt").read_text(encoding="utf-8").lower()
    return dict(line.split("->", 1) for line in text.split("\n") if "->" in line)


@lru_cache(maxsize=1)
def field_words() -> frozenset[str]:
    """Words and names of the field, as they are written in words.txt and in lower case."""
    text = (files("bookbuild") / "check" / "words.txt").read_text(encoding="utf-8")
    words = [w for line in text.split("\n") for w in line.partition("#")[0].split()]
    return frozenset(words) | frozenset(w.lower() for w in words if w.islower())
