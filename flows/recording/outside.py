"""How a wrapped service asks what is outside: the same call for recorded runs and for offline ones."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import orjson

from interlace.engine.errors import NodeError
from interlace.engine.recording import Caller
from interlace.store.encoding import decode, encode

T = TypeVar("T")

CALL = "call.recorded"


@dataclass(frozen=True, slots=True)
class Form(Generic[T]):
    """How an answer is kept: as JSON, and back."""

    kept: Callable[[T], Any]
    restored: Callable[[Any], T]


class Outside(Protocol):
    """The outside, as one attempt of a node meets it."""

    caller: Caller
    offline: bool

    async def ask(
        self, service: str, request: Mapping[str, Any], perform: Callable[[], Awaitable[T]], form: Form[T],
        *, local: bool = False,
    ) -> T:  # fmt: skip
        """The answer to a request, which is JSON and holds nothing that changes from run to run.

        A `local` call reaches nothing outside: offline it is performed where the record has no answer to it.

        Raises:
            NodeError: what the call raised, or `record_mismatch`.
        """
        ...

    def hide(self, text: str, mask: str) -> None:
        """Let requests of this node show a mask instead of a text that is new in each run."""
        ...


def plain(value: Any) -> Any:
    """A value as it is read back from the journal."""
    return decode(encode(value))


def hash_of(request: Any) -> str:
    """What says whether two requests are the same."""
    return hashlib.sha256(orjson.dumps(request, option=orjson.OPT_SORT_KEYS)).hexdigest()


def masked(value: Any, masks: Mapping[str, str]) -> Any:
    """JSON data with texts replaced."""
    if not masks:
        return value
    if isinstance(value, str):
        for text, mask in masks.items():
            value = value.replace(text, mask)
        return value
    if isinstance(value, Mapping):
        return {masked(key, masks): masked(entry, masks) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [masked(entry, masks) for entry in value]
    return value


def error_kept(error: NodeError) -> dict[str, Any]:
    """A failed call as it is kept."""
    return {
        "type": error.kind, "message": error.message, "retryable": error.retryable, "retry_after": error.retry_after,
        "outcome_known": error.outcome_known,
    }  # fmt: skip


def error_restored(kept: Mapping[str, Any]) -> NodeError:
    """The error that a failed call raised."""
    return NodeError(
        str(kept["message"]), kind=str(kept["type"]), retryable=kept.get("retryable"),
        retry_after=kept.get("retry_after"), outcome_known=kept.get("outcome_known"),
    )  # fmt: skip


UNANSWERED = {"type": "unanswered", "message": "no answer came before the attempt was ended"}
