"""Names that every reading system accepts: ids that are XML names, file names that are plain ASCII."""

from __future__ import annotations

from string import ascii_letters, digits
from xml.etree.ElementTree import Element

from bookbuild import trees
from bookbuild.adapt.common import ID_LISTS, URL_REFERENCE

_START = frozenset(ascii_letters)
_PLAIN = frozenset(ascii_letters + digits + "-.")


def xml_name(name: str) -> str:
    """An ASCII XML name for any id; different ids keep different names.

    What does not fit becomes its code point between underscores, so `fnref:1` is `fnref_3a_1`. No link needs
    percent signs then, which reading systems decode once, twice or never.
    """
    return "".join(_escaped(c, allowed=_PLAIN if i else _START) for i, c in enumerate(name))


def _escaped(char: str, allowed: frozenset[str]) -> str:
    if char in allowed:
        return char
    return "__" if char == "_" and allowed is _PLAIN else f"_{ord(char):x}_"


class FileNames:
    """Gives out file names that differ even where upper and lower case are one."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, stem: str, suffix: str) -> str:
        """`stem` and `suffix` (with its dot) as a free, plain ASCII name; a number follows a taken stem."""
        plain = "".join(c if c in _PLAIN or c == "_" else f"_{ord(c):x}_" for c in stem).strip(".") or "file"
        name, count = f"{plain}{suffix}", 1
        while name.lower() in self._taken:
            count += 1
            name = f"{plain}-{count}{suffix}"
        self._taken.add(name.lower())
        return name


def name_ids(tree: Element) -> None:
    """Every id becomes an XML name, and whatever refers to one follows; a second use of an id is dropped."""
    seen: set[str] = set()
    for element in tree.iter():
        foreign = trees.split_tag(element.tag)[0] != ""
        for key, value in list(element.items()):
            local = trees.split_tag(key)[1]
            if key == "id":
                if not value or value in seen:
                    del element.attrib["id"]
                    continue
                seen.add(value)
                element.set("id", xml_name(value))
            elif key in ID_LISTS:
                element.set(key, " ".join(xml_name(v) for v in value.split()))
            elif "url(" in value:
                element.set(key, URL_REFERENCE.sub(lambda m: f"url(#{xml_name(m[2])})", value))
            elif local == "href" and value.startswith("#") and (foreign or element.tag == "a"):
                element.set(key, "#" + xml_name(value[1:]))
