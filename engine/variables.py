"""Values of variables: each must be of the type that the document declares; those that are kept beyond a run."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from interlace.engine.document import Document, Variable
from interlace.engine.errors import NodeError, StoreError
from interlace.engine.expressions.values import Missing, Names, described
from interlace.engine.problems import nearest

ABSENT: Final = object()
"""Stands for a value that was never written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a change comes to: the event that tells of it, and the new values of variables that are kept."""

    kind: str
    data: Mapping[str, Any]
    values: Mapping[str, Any] = field(default_factory=dict)


class Change(Protocol):
    """A change of kept variables by the node at `path`. It may be computed several times; the last time counts."""

    names: Sequence[str]
    """The variables that it reads or writes."""
    path: str
    attempt: int
    written: Written | None
    """What it came to, once it is durable."""

    def compute(self, latest: Mapping[str, Any] | None) -> Written:
        """What the newest values, those that were ever written, come to; never raises.

        None says that the workflow is gone: the run goes on with its own values, and nothing is kept.
        """
        ...

    def refuse(self, error: StoreError) -> Written:
        """What is recorded instead, where the computed values cannot be kept."""
        ...


class VariableView(Protocol):
    """Variables as a node that writes them sees them; a `RunContext` is one."""

    names: Names

    def variable(self, name: str) -> Any:
        """Value of the nearest loop variable of that name, else of the run variable."""
        ...

    def assign(self, variable: str, value: Any) -> None:
        """Set it; what is assigned later sees it."""
        ...


def kept_names(document: Document) -> frozenset[str]:
    """The variables whose values last from run to run."""
    return frozenset(name for name, variable in document.variables.items() if variable.scope == "workflow")


def kept_value(name: str, variable: Variable, stored: Any = ABSENT) -> Any:
    """What a kept variable is read as: the stored value, the declared one before it was ever written.

    A stored value of another type than the one declared now is `Missing`: a version that expects something else must
    not take it for its own, nor forget it unasked.
    """
    if stored is ABSENT:
        return copy.deepcopy(variable.default)
    if fits(variable, stored):
        return stored
    return Missing(
        f"the kept value of variable {name!r} is {described(stored)}, and this version declares {variable.type}; set it"
        " anew with: interlace workflows variables NAME --set"
    )


def readable(name: str, value: Any) -> Any:
    """A variable's value for an operation that works with it.

    Raises:
        NodeError: it cannot be read.
    """
    if isinstance(value, Missing):
        raise NodeError(f"variable {name!r} cannot be read: {value.reason}", kind="variable_type")
    return value


def check_value(name: str, value: Any, declared: Mapping[str, Variable]) -> None:
    """Check a value that is about to be assigned to a run variable.

    Null fits type `any`, and any variable that begins as null.

    Raises:
        NodeError: the document declares no such variable, or another type.
    """
    variable = declared.get(name)
    if variable is None:
        raise unknown_variable(name, declared)
    if not fits(variable, value):
        raise NodeError(
            f"variable {name!r} has type {variable.type}, which {described(value)} does not fit",
            kind="variable_type",
        )


def unknown_variable(name: str, declared: Mapping[str, Variable]) -> NodeError:
    """The error for a variable that the document does not declare."""
    guess = nearest(name, declared)
    hint = f"did you mean {guess!r}?" if guess else "declare it under the document's variables"
    return NodeError(f"there is no variable {name!r}; {hint}", kind="unknown_variable")


def fits(variable: Variable, value: Any) -> bool:
    """Whether a variable may hold a value: null fits any that begins as null."""
    return _is_of(variable.type, value) or (value is None and variable.default is None)


def _is_of(kind: str, value: Any) -> bool:
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
