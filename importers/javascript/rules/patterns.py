"""Regular expressions."""

import re
from typing import Any

from interlace.importers.javascript.rules.values import js_apply, js_text, undefined


class Expression:
    """A regular expression, and where the last search with the flag `g` ended."""

    def __init__(self, pattern: str, flags: str) -> None:
        chosen = re.IGNORECASE * ("i" in flags) | re.MULTILINE * ("m" in flags) | re.DOTALL * ("s" in flags)
        self.compiled = re.compile(pattern, chosen)
        self.every = "g" in flags
        self.last = 0

    def search(self, words: str) -> Any:
        found = self.compiled.search(words, self.last if self.every else 0)
        self.last = (found.end() + (found.end() == found.start())) if found and self.every else 0
        return found


def js_groups(found: Any) -> list[Any]:
    return [undefined if part is None else part for part in (found.group(), *found.groups())]


def js_test(pattern: Any, value: Any) -> bool:
    return pattern.search(js_text(value)) is not None


def js_exec(pattern: Any, value: Any) -> Any:
    found = pattern.search(js_text(value))
    return None if found is None else js_groups(found)


def js_match(words: Any, pattern: Any) -> Any:
    pattern = pattern if isinstance(pattern, Expression) else Expression(re.escape(js_text(pattern)), "")
    if not pattern.every:
        return js_exec(pattern, words)
    found = [one.group() for one in pattern.compiled.finditer(words)]
    return found or None


def js_match_all(words: Any, pattern: Any) -> list[Any]:
    return [js_groups(one) for one in pattern.compiled.finditer(words)]


def js_replace(words: Any, what: Any, by: Any, *, everywhere: bool = False) -> str:
    if not isinstance(words, str):
        raise TypeError("replace is not a function")
    pattern = (
        what
        if isinstance(what, Expression)
        else Expression(re.escape(js_text(what)), "g" if everywhere else "")
    )

    def one(found: Any) -> str:
        if callable(by):
            return js_text(js_apply(by, *js_groups(found), found.start(), words))
        return js_filled(js_text(by), found)

    return pattern.compiled.sub(one, words, count=0 if pattern.every else 1)


def js_replace_all(words: Any, what: Any, by: Any) -> str:
    return js_replace(words, what, by, everywhere=True)


def js_filled(template: str, found: Any) -> str:
    """A replacement with `$1`, `$&`, `$<name>` and `$$` in it."""

    def part(mark: Any) -> str:
        name = mark[1]
        if name == "$":
            return "$"
        if name == "&":
            return str(found.group())
        key = int(name) if name.isdigit() else name[1:-1]
        if isinstance(key, int) and not 0 < key <= found.re.groups:
            return str(mark[0])
        return found.group(key) or ""

    return re.sub(r"\$(\$|&|\d\d?|<\w+>)", part, template)


def js_split(words: Any, separator: Any = undefined, limit: Any = undefined) -> list[Any]:
    if not isinstance(words, str):
        raise TypeError("split is not a function")
    if separator is undefined:
        made = [words]
    elif isinstance(separator, Expression):
        made = ["" if part is None else part for part in separator.compiled.split(words)]
    else:
        made = words.split(separator) if separator else list(words)
    return made if limit is undefined else made[: int(limit)]


def js_search(words: Any, pattern: Any) -> int:
    found = pattern.compiled.search(words)
    return -1 if found is None else found.start()
