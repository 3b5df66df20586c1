"""Pausing Python's cycle collector while many objects that stay are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """Collect no cycles inside.

    Every full collection walks all of a document that grows under it: for 10,000 nodes a third of the time of loading
    and validating. Threads may overlap: whoever leaves last finds collection on again.
    """
    paused = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if paused:
            gc.enable()
