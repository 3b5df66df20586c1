"""Vectors of texts, made once: kept by the text's digest in memory, and in a file where there is a folder for it."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog

from interlace.resources.knowledge.embedding import DIMENSIONS, EmbeddedModel

if TYPE_CHECKING:
    import numpy as np

log = structlog.get_logger("interlace.search")

_FILE: Final = "tool-vectors-1.bin"
_KEY: Final = 16
_RECORD: Final = _KEY + 2 * DIMENSIONS
_MOST: Final = 200_000
"""Vectors in a file (200 MB); a fuller one is begun anew."""
_AT_ONCE: Final = 256


class Vectors:
    """Vectors of unit length by the embedded model, as 16-bit numbers.

    Args:
        model: makes those that are not known.
        folder: where they outlive the process; several processes may share it.
    """

    def __init__(self, model: EmbeddedModel, folder: Path | None = None) -> None:
        self._model = model
        self._file = None if folder is None else folder / _FILE
        self._known: dict[bytes, np.ndarray] = {}
        self._read = False
        self._turn = asyncio.Lock()
        self._working: set[asyncio.Task[None]] = set()
        self.made = 0
        """Texts that were embedded so far."""

    async def of(self, texts: Sequence[str], *, wait: bool = True) -> np.ndarray | None:
        """The vectors of texts, one a row.

        Without `wait` None where many of them have to be made; they are then made meanwhile.
        """
        import numpy as np  # noqa: PLC0415 - loaded by the first search

        await self._load()
        keys = [_digest(text) for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if missing and not wait and len(missing) > _AT_ONCE:
            task = asyncio.create_task(self._make(missing), name="tool vectors")
            self._working.add(task)
            task.add_done_callback(self._working.discard)
            return None
        if missing:
            await self._make(missing)
        if not keys:
            return np.zeros((0, DIMENSIONS), dtype=np.float32)
        return np.stack([self._known[key] for key in keys]).astype(np.float32)

    async def asked(self, texts: Sequence[str]) -> np.ndarray:
        """The vectors of requests, which are not kept."""
        self.made += len(texts)
        return await self._model.vectors(texts)

    async def close(self) -> None:
        """Stop what is being made."""
        for task in list(self._working):
            task.cancel()
        await asyncio.gather(*self._working, return_exceptions=True)

    async def _make(self, missing: dict[bytes, str]) -> None:
        import numpy as np  # noqa: PLC0415 - see above

        async with self._turn:
            wanted = [(key, text) for key, text in missing.items() if key not in self._known]
            for start in range(0, len(wanted), _AT_ONCE):
                some = wanted[start : start + _AT_ONCE]
                found = (await self._model.vectors([text for _, text in some])).astype(np.float16)
                self.made += len(some)
                fresh = {key: found[at] for at, (key, _) in enumerate(some)}
                self._known |= fresh
                if self._file is not None:
                    await asyncio.to_thread(_append, self._file, fresh)

    async def _load(self) -> None:
        if self._read:
            return
        async with self._turn:
            await self._read_file()

    async def _read_file(self) -> None:
        if not self._read and self._file is not None:
            self._known |= await asyncio.to_thread(_held, self._file)
        self._read = True


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:_KEY]


def _held(file: Path) -> dict[bytes, np.ndarray]:
    """What a file holds; a record that was cut off by a crash is left out."""
    import numpy as np  # noqa: PLC0415 - see above

    try:
        content = file.read_bytes()
    except OSError:
        return {}
    whole = len(content) // _RECORD
    if whole > _MOST or len(content) % _RECORD:
        file.unlink(missing_ok=True)
    rows = np.frombuffer(content[: whole * _RECORD], dtype=np.uint8).reshape(whole, _RECORD)
    vectors = rows[:, _KEY:].copy().view(np.float16)
    return {rows[at, :_KEY].tobytes(): vectors[at] for at in range(whole) if np.isfinite(vectors[at]).all()}


def _append(file: Path, vectors: dict[bytes, np.ndarray]) -> None:
    content = b"".join(key + vector.tobytes() for key, vector in vectors.items())
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(
            os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab", buffering=0
        ) as out:
            out.write(content)
    except OSError as error:  # they are made again next time
        log.warning("vectors of tools could not be kept", file=str(file), error=str(error))
