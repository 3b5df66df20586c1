"""What a knowledge base is told: how documents are cut, which model embeds them, how results are put in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from interlace.engine.errors import NodeError
from interlace.resources.knowledge.embedding import EMBEDDED


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Chunking(_Part):
    """How documents are cut; a change needs a new index."""

    size: int = Field(256, ge=32, le=4096, description="Most tokens of a chunk, about.")
    overlap: int = Field(32, ge=0, le=1024, description="Tokens that one chunk repeats of the one before.")

    @model_validator(mode="after")
    def _smaller(self) -> Chunking:
        if self.overlap * 2 > self.size:
            raise ValueError("overlap may be half of size at most")
        return self


class Fusion(_Part):
    """How meaning (dense) and words (text) become one order."""

    method: Literal["score", "rrf"] = Field(
        "score", description="By the scores of both, or by their ranks (reciprocal rank fusion)."
    )
    dense: float = Field(0.3, ge=0, le=100, description="Weight of the meaning.")
    text: float = Field(1.0, ge=0, le=100, description="Weight of the words.")
    k: int = Field(10, ge=1, le=1000, description="Of rrf: a larger one lets first ranks count less.")

    @model_validator(mode="after")
    def _some(self) -> Fusion:
        if not self.dense and not self.text:
            raise ValueError("one of dense and text must have a weight")
        return self


class KnowledgeBase(_Part):
    """The definition of a knowledge base."""

    description: str = Field("", max_length=2000, description="What it is about; agents choose by it.")
    embedding: str = Field(
        EMBEDDED,
        min_length=1,
        description="Model that embeds: `embedded`, or one of the installation's models.",
    )
    chunking: Chunking = Field(default_factory=Chunking)
    fusion: Fusion = Field(default_factory=Fusion)
    refuse_below: float = Field(
        0.25, ge=0, le=1, description="In grounded mode nothing is answered below this confidence."
    )
    duplicates: float = Field(
        0.97,
        ge=0.5,
        le=1,
        description="Chunks that are more alike than this, and differ in no word, number or negation, are given once; 1 gives all.",
    )

    def index_settings(self) -> dict[str, Any]:
        """What an index depends on: another value needs a new one."""
        return {"embedding": self.embedding, **self.chunking.model_dump()}


def read_definition(definition: Mapping[str, Any] | KnowledgeBase) -> KnowledgeBase:
    """A definition, checked.

    Raises:
        NodeError: `knowledge_definition`, naming each field that is wrong.
    """
    if isinstance(definition, KnowledgeBase):
        return definition
    try:
        return KnowledgeBase.model_validate(definition)
    except ValidationError as error:
        said = "; ".join(
            f"{'.'.join(str(part) for part in entry['loc']) or 'definition'}: {entry['msg']}"
            for entry in error.errors()
        )
        raise NodeError(
            f"this is no knowledge base: {said}", kind="knowledge_definition", retryable=False
        ) from None
