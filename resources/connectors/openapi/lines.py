"""Where a value stands in the text, for errors: found only when one has to be shown."""

from __future__ import annotations

from collections.abc import Sequence

from interlace.engine.source.places import compose, line_of


def line(text: str, path: Sequence[str | int]) -> int | None:
    """Line (from 1) of the value at a path, None where the text cannot be composed."""
    return line_of(compose(text), list(path))
