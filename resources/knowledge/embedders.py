"""The vectors of a knowledge base, by the embedded model or by one of the installation's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from interlace.engine.chat import CallSite, ChatModel
from interlace.resources.knowledge.embedding import EMBEDDED, EmbeddedModel, unit

if TYPE_CHECKING:
    import numpy as np

_BATCH = 64


class Embedders:
    """Embeds texts by the name that a knowledge base gives.

    Args:
        embedded: the model of this machine.
        models: all others.
    """

    def __init__(self, embedded: EmbeddedModel, models: ChatModel) -> None:
        self._embedded = embedded
        self._models = models

    async def vectors(self, texts: Sequence[str], *, model: str, site: CallSite) -> np.ndarray:
        """Vectors of unit length, one a row.

        Raises:
            NodeError: the model cannot be asked.
        """
        if model == EMBEDDED:
            return await self._embedded.vectors(texts)
        import numpy as np  # noqa: PLC0415 - only where something is embedded

        found: list[list[float]] = []
        for start in range(0, len(texts), _BATCH):
            found += await self._models.embed(texts[start : start + _BATCH], site=site, model=model)
        return unit(np.asarray(found, dtype=np.float32))
