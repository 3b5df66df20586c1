"""Values of run variables: each must be of the type that the document declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlace.engine.document import Variable
from interlace.engine.errors import NodeError
from interlace.engine.expressions.values import described
from interlace.engine.problems import nearest


def check_value(name: str, value: Any, declared: Mapping[str, Variable]) -> None:
    """Check a value that is about to be assigned to a run variable.

    Null fits type `any`, and any variable that begins as null.

    Raises:
        NodeError: the document declares no such variable, or another type.
    """
    variable = declared.get(name)
    if variable is None:
        raise unknown_variable(name, declared)
    if not _fits(variable.type, value) and not (value is None and variable.default is None):
        raise NodeError(
            f"variable {name!r} has type {variable.type}, which {described(value)} does not fit",
            kind="variable_type",
        )


def unknown_variable(name: str, declared: Mapping[str, Variable]) -> NodeError:
    """The error for a variable that the document does not declare."""
    guess = nearest(name, declared)
    hint = f"did you mean {guess!r}?" if guess else "declare it under the document's variables"
    return NodeError(f"there is no variable {name!r}; {hint}", kind="unknown_variable")


def _fits(kind: str, value: Any) -> bool:
    if kind == "any":
        return True
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer":
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    wanted = _TYPES.get(kind)
    return wanted is not None and isinstance(value, wanted)


_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "number": (int, float),
    "array": (list, tuple),
    "object": Mapping,
}
