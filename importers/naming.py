"""Ids out of titles: readable, in ASCII, unique in the document."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from interlace.engine.document import RESERVED
from interlace.engine.expressions import WORDS

LONGEST: Final = 48
_TAKEN: Final = RESERVED | WORDS | {"range", "dict", "now", "namespace", "error", "rounds", "reason"}
_CYRILLIC: Final = dict(
    zip(
        "абвгдеёжзийклмнопрстуфхцчшщъыьэюяіїєґў",
        "a b v g d e e zh z i y k l m n o p r s t u f kh ts ch sh shch - y - e yu ya i yi ye g u".split(" "),  # noqa: SIM905 - in step with the letters
        strict=True,
    )
)
_GREEK: Final = dict(
    zip(
        "αβγδεζηθικλμνξοπρσςτυφχψω",
        "a v g d e z i th i k l m n x o p r s s t y f ch ps o".split(" "),  # noqa: SIM905 - in step with the letters
        strict=True,
    )
)
_LETTERS: Final = {
    **_CYRILLIC, **_GREEK, "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ł": "l", "þ": "th", "\u0131": "i",
}  # fmt: skip
_NAMED: Final = re.compile(r"(?:HIRAGANA|KATAKANA) LETTER (?:SMALL )?(\w+)|HANGUL SYLLABLE (\w+)")


def slug(title: str, *, longest: int = LONGEST) -> str:
    """A title as an identifier, empty where no letter of it can be written in ASCII."""
    letters = "".join(_ascii(letter) for letter in unicodedata.normalize("NFC", title).lower())
    words = re.sub(r"[^a-z0-9]+", "_", letters).strip("_")
    if not re.search(r"[a-z]", words):
        return ""
    if words[0].isdigit():
        words = f"n_{words}"
    return words[:longest].rstrip("_")


def _ascii(letter: str) -> str:
    if letter.isascii():
        return letter
    known = _LETTERS.get(letter)
    if known is not None:
        return known.strip("-")
    plain = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode().lower()
    if plain:
        return plain
    named = _NAMED.fullmatch(unicodedata.name(letter, ""))
    if named is not None:
        return (named[1] or named[2]).lower()
    return "_"


class Ids:
    """The ids of one document."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def mark(self) -> frozenset[str]:
        """The ids given so far, to come back to."""
        return frozenset(self._used)

    def reset(self, mark: frozenset[str]) -> None:
        """Forget the ids given since."""
        self._used = set(mark)

    def give(self, title: str, fallback: str) -> str:
        """An id that no other node has.

        Args:
            title: what people call the node.
            fallback: an identifier for titles that cannot be written in ASCII.
        """
        wanted = slug(title) or fallback
        if wanted in _TAKEN:
            wanted = (
                f"{wanted}_{fallback}" if fallback not in _TAKEN and fallback != wanted else f"{wanted}_1"
            )
        name, count = wanted, 1
        while name in self._used or name in _TAKEN:
            count += 1
            name = f"{wanted}_{count}"
        self._used.add(name)
        return name


def unique(wanted: str, used: set[str]) -> str:
    """A name that is not among the used ones; it is added to them."""
    name, count = wanted, 1
    while name in used:
        count += 1
        name = f"{wanted}_{count}"
    used.add(name)
    return name
