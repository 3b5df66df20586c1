"""How much one evaluation may make: sizes of single values, and the sum over the whole evaluation.

Source text is capped, so the number of operations is small; what could explode is the size of what they make. Small
results are free (their number is bounded by the source), large ones are charged to a meter of the evaluating thread.
"""

from __future__ import annotations

import sys
import threading
from typing import Any, Final

from interlace.engine.errors import ExpressionError

MAX_TEXT: Final = 24 * 1024 * 1024
MAX_ITEMS: Final = 1_000_000
MAX_STEPS: Final = 2_000_000
MAX_RANGE: Final = 100_000
_ALLOWANCE: Final = 128 * 1024 * 1024
_SMALL_TEXT: Final = 32 * 1024
_SMALL_LIST: Final = 512
_BYTES_PER_ITEM: Final = 64
_BYTES_PER_STEP: Final = 32
_CONTAINER_STEPS: Final = 3


class _Meter(threading.local):
    """Bytes that the current evaluation of this thread may still make."""

    left = _ALLOWANCE


_meter: Final = _Meter()


def refill() -> None:
    """Start a new evaluation on this thread."""
    _meter.left = _ALLOWANCE


def too_large(what: str) -> ExpressionError:
    """Make the error for a result beyond the limits."""
    return ExpressionError(
        f"{what}; expressions are for small work, use a CODE node for more", kind="expression_limit"
    )


def charge(amount: int) -> None:
    """Take bytes from the meter.

    Raises:
        ExpressionError: the evaluation has used up its allowance.
    """
    _meter.left -= amount
    if _meter.left < 0:
        raise too_large(f"the expression makes more than {_ALLOWANCE >> 20} MB of data")


def charge_steps(steps: int) -> None:
    """Take work from the meter that makes no data, in items looked at."""
    charge(steps * _BYTES_PER_ITEM)


def checked_text(text: str) -> str:
    """Give the text back if it is within the limits, and charge it if it is large."""
    if len(text) > _SMALL_TEXT:
        if len(text) > MAX_TEXT:
            raise too_large(f"the text is longer than {MAX_TEXT:,} characters")
        charge(sys.getsizeof(text))
    return text


def reserve_text(length: int) -> None:
    """Refuse a text of this many characters before it is made."""
    if length > _SMALL_TEXT:
        if length > MAX_TEXT:
            raise too_large(f"the text would be longer than {MAX_TEXT:,} characters")
        charge(length)


def reserve_items(count: int) -> None:
    """Refuse a list of this many items before it is made."""
    if count > _SMALL_LIST:
        if count > MAX_ITEMS:
            raise too_large(f"the list would have more than {MAX_ITEMS:,} items")
        charge(count * _BYTES_PER_ITEM)


def check_size(value: object) -> None:
    """Refuse a structure that would be too large when written out; the look itself is charged.

    A list may hold one large value many times; in memory that is nothing, as JSON it is everything.
    """
    if not isinstance(value, dict | list | tuple):
        return
    steps = 0
    characters = 0
    waiting: list[Any] = [value]
    while waiting:
        container = waiting.pop()
        parts = container.values() if isinstance(container, dict) else container
        steps += len(container) + _CONTAINER_STEPS
        for part in parts:
            if part.__class__ is str:
                characters += len(part)
            elif isinstance(part, dict | list | tuple):
                waiting.append(part)
        if steps + len(waiting) > MAX_STEPS or characters > MAX_TEXT * 2:
            raise too_large("the structure is too large to be written out")
    if steps > _SMALL_LIST:
        charge(steps * _BYTES_PER_STEP)
