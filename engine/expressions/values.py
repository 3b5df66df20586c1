"""The values of the language: plain data, the missing value, the outputs of nodes, and how each reads as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, TypeAlias

import orjson

from interlace.engine.errors import ExpressionError
from interlace.engine.expressions.budget import check_size

# JSON is recursive and mypy would ask for a narrowing at every step; the language checks every value itself.
JsonValue: TypeAlias = Any


class Missing:
    """Stands for a value that is not there; falsy, and never leaves the language.

    Args:
        reason: why it is missing, in plain words (`ask was skipped: edge size.large not taken`), or a function that
            says it: most missing values get a default, and nobody asks why.
        reference: the reference that led here, as it is written; set by the evaluator.
        advice: what helps.
    """

    __slots__ = ("_reason", "advice", "reference")

    def __init__(
        self,
        reason: str | Callable[[], str],
        reference: str = "",
        advice: str = "use default(…) to allow that",
    ) -> None:
        self._reason = reason
        self.reference = reference
        self.advice = advice

    @property
    def reason(self) -> str:
        """Why it is missing."""
        return self._reason if isinstance(self._reason, str) else self._reason()

    def at(self, reference: str) -> Missing:
        """Give the same with the reference that led here."""
        return Missing(self._reason, self.reference or reference, self.advice)

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"Missing({self.reason!r})"


class Names(Protocol):
    """Where an expression finds the names it starts from."""

    def lookup(self, root: str) -> object:
        """Give the value of a name, or `Missing` with the reason."""
        ...


class NodeOutputs(dict[str, Any]):
    """What a node gave; `error` reads null where the node did not fail."""

    __slots__ = ()

    def __missing__(self, key: str) -> None:
        if key != "error":
            raise KeyError(key)


class NullOutputs(NodeOutputs):
    """The outputs of a node that failed and was passed over: every field it does not have reads null."""

    __slots__ = ()

    def __missing__(self, key: str) -> None:
        return None


def missing_error(value: Missing, use: str = "") -> ExpressionError:
    """Make the error for a missing value that was used without a default.

    Args:
        value: the missing value.
        use: what it was used for, such as "as a filter's input"; empty for the result.
    """
    what = f"`{value.reference}` is missing" if value.reference else "the value is missing"
    asks = value.reason.endswith("?")
    advice = f" {value.advice[:1].upper()}{value.advice[1:]}" if asks else f"; {value.advice}"
    return ExpressionError(f"{what}{' ' + use if use else ''}: {value.reason}{advice}", kind="missing")


_SHOWN: Final = 40
_KINDS: Final = {
    str: "text",
    int: "number",
    float: "number",
    bool: "boolean",
    type(None): "null",
    list: "list",
    tuple: "list",
    dict: "mapping",
    Missing: "missing",
}


def kind_of(value: object) -> str:
    """Name the kind of a value as users know it: text, number, boolean, null, list, mapping."""
    found = _KINDS.get(type(value))
    if found is None:
        for plain, name in (
            (str, "text"),
            (Mapping, "mapping"),
            (list, "list"),
            (float, "number"),
            (int, "number"),
        ):
            if isinstance(value, plain):
                return name
        return type(value).__name__
    return found


def described(value: object) -> str:
    """Name a value in a message: its kind, and the value itself where it is short."""
    if value is None or isinstance(value, Missing):
        return kind_of(value)
    if isinstance(value, str):
        # Never a part of a text: what hides secrets in messages knows only whole ones.
        return f"text {value!r}" if len(value) <= _SHOWN else f"text of {len(value):,} characters"
    return f"{kind_of(value)} {to_text(value)}" if isinstance(value, int | float) else kind_of(value)


def to_text(value: object) -> str:
    """Give the text of a value: text as it is, null as nothing, lists and mappings as JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Missing):
        raise missing_error(value)
    return to_json(value)


def to_json(value: object, *, indent: bool = False, sort: bool = False) -> str:
    """Give compact JSON, non-ASCII characters as they are.

    Raises:
        ExpressionError: the value holds something that JSON has no form for, or is too large.
    """
    check_size(value)
    options = (orjson.OPT_INDENT_2 if indent else 0) | (orjson.OPT_SORT_KEYS if sort else 0)
    try:
        return orjson.dumps(value, default=_plain, option=options | orjson.OPT_NON_STR_KEYS).decode()
    except (orjson.JSONEncodeError, RecursionError) as error:
        raise ExpressionError(f"the value cannot be written as JSON: {error}") from error


def _plain(value: object) -> object:
    """Turn what orjson does not know into plain data."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Missing):
        raise missing_error(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
