"""What can go wrong, as one tree.

InterlaceError
├── InvalidDocument          the document or the inputs have problems; carries all of them
├── NodeError                an attempt of a node failed; the only error a node raises on purpose
│   ├── ExpressionError      an expression could not be evaluated
│   ├── NodeTimeout          the attempt took longer than its time-out
│   └── BodyError            a node inside a container's body failed; carries that node's error
├── RunCancelled             somebody cancelled the run
├── Detached                 this process let go of the run; it goes on elsewhere
└── StoreError               the journal or the payload store refused
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from interlace.engine.problems import Problem

RETRYABLE_KINDS = frozenset(
    {"timeout", "connection", "rate_limit", "http_408", "http_425", "http_429", "http_5xx", "overloaded"}
)


class InterlaceError(Exception):
    """Something went wrong; the class docstring is the message when none is given."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message or (self.__doc__ or "").strip())


class InvalidDocument(InterlaceError):  # noqa: N818 - the name users see
    """The document has problems."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        first = next((p for p in self.problems if p.severity == "error"), None)
        more = len([p for p in self.problems if p.severity == "error"]) - 1
        text = str(first) if first else "The document has problems."
        super().__init__(f"{text} (and {more} more)" if more > 0 else text)


class NodeError(InterlaceError):
    """The node failed.

    Args:
        message: what happened and what to do, in plain words.
        kind: the stable type a user can branch on (`http_404`, `timeout`, `ValueError`).
        retryable: whether another attempt may succeed; by default decided by the kind.
        retry_after: seconds the other side asked to wait (Retry-After), if it did.
        outcome_known: whether the work surely was not done; by default only time-outs and lost connections leave
            that open. A node with effects `once` is not repeated when it is open.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str = "node_error",
        retryable: bool | None = None,
        retry_after: float | None = None,
        outcome_known: bool | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.retryable = is_retryable(kind) if retryable is None else retryable
        self.retry_after = retry_after
        self.outcome_known = kind not in ("timeout", "connection") if outcome_known is None else outcome_known


class ExpressionError(NodeError):
    """An expression could not be evaluated."""

    def __init__(self, message: str, *, kind: str = "expression") -> None:
        super().__init__(message, kind=kind, retryable=False)


class NodeTimeout(NodeError):  # noqa: N818 - the name users see
    """The attempt took longer than its time-out."""

    def __init__(self, message: str) -> None:
        super().__init__(message, kind="timeout")


class BodyError(NodeError):
    """A node inside the body failed; the run reports that node, not the container."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(
            str(error["message"]), kind=str(error["type"]), retryable=bool(error.get("retryable"))
        )
        self.error = dict(error)


class RunCancelled(InterlaceError):  # noqa: N818 - the name users see
    """The run was cancelled."""


class Detached(InterlaceError):  # noqa: N818 - not a failure of the run
    """This process let go of the run; it goes on where its journal ends."""


class StoreError(InterlaceError):
    """The store refused an operation."""

    code: ClassVar[str] = "store"
    breaks_run: ClassVar[bool] = True
    """Whether the run cannot go on in this process; otherwise it is a failure of the node that asked."""


def is_retryable(kind: str) -> bool:
    """Whether errors of this kind are retried by default (`http_503` counts as `http_5xx`)."""
    return kind in RETRYABLE_KINDS or (kind.startswith("http_5") and len(kind) == len("http_500"))


def matches_kind(kind: str, wanted: str) -> bool:
    """Whether an error kind falls under one that `retry.on` names; `http_5xx` and `http_4xx` are families."""
    return kind == wanted or (
        wanted.endswith("xx") and kind.startswith(wanted[:-2]) and len(kind) == len(wanted)
    )
