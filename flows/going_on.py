"""Many runs are gone on with one after the other, and one that cannot go on keeps no other from it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import structlog

from interlace.engine.errors import InterlaceError

log = structlog.get_logger("interlace.runner")


@contextlib.contextmanager
def apart(what: str, **about: object) -> Iterator[None]:
    """Whatever fails in the block is said in the log under `what`, and ends there; a fault of ours with its trace."""
    try:
        yield
    except InterlaceError as error:
        log.warning(what, **about, error=str(error))
    except Exception:
        # Every run depends on the loop that this stands in: its end would be noticed by nobody.
        log.exception(what, **about)
