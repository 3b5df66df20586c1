"""JavaScript's regular expressions as Python writes them."""

from __future__ import annotations

import re
import warnings
from typing import Final

from interlace.importers.javascript.python.scopes import NotPython

_OUTSIDE: Final = {"d": "[0-9]", "w": "[A-Za-z0-9_]", "D": "[^0-9]", "W": "[^A-Za-z0-9_]", "/": "/"}
_INSIDE: Final = {"d": "0-9", "w": "A-Za-z0-9_", "/": "/"}


def python_pattern(source: str, flags: str) -> str:
    """The pattern in Python's form.

    Raises:
        NotPython: it uses what Python's patterns do not have.
    """
    if set(flags) - set("gimsu"):
        raise NotPython(f"the flags {flags!r} of a regular expression")
    made, at, inside = "", 0, False
    while at < len(source):
        letter, after = source[at], source[at + 1 : at + 2]
        if letter == "\\":
            if after in ("p", "P"):
                raise NotPython("classes of characters by their properties in a regular expression")
            piece = (_INSIDE if inside else _OUTSIDE).get(after, letter + after)
            at += 2
        elif source.startswith("(?<", at) and source[at + 3 : at + 4] not in ("=", "!") and not inside:
            piece, at = "(?P<", at + 3
        elif source.startswith("[^]", at) and not inside:
            piece, at = "[\\s\\S]", at + 3
        else:
            piece = (
                "\\Z"
                if letter == "$" and not inside and "m" not in flags
                else "\\["
                if letter == "[" and inside
                else letter
            )
            inside = letter == "[" or (inside and letter != "]")
            at += 1
        made += piece
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(made)
    except (re.error, OverflowError, RecursionError) as error:
        raise NotPython(f"a regular expression that Python does not read ({error})") from None
    return made
