"""Calls outside any run: what they give, and what they say when they fail, without the secrets they used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from interlace.engine.errors import InterlaceError, NodeError
from interlace.engine.run.secrets import Secrets


@contextmanager
def concealing() -> Iterator[Secrets]:
    """What is told to `hide` is kept out of the messages of errors; give results through `redact`."""
    secrets = Secrets()
    try:
        yield secrets
    except InterlaceError as error:
        error.args = tuple(map(secrets.redact, error.args))
        if isinstance(error, NodeError):
            error.message = secrets.redact(error.message)
        raise
