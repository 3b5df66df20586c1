"""Knowledge bases: documents in chunks, found by meaning and by words, quoted with their source."""

from __future__ import annotations

from interlace.resources.knowledge.definition import KnowledgeBase
from interlace.resources.knowledge.embedding import EmbeddedModel
from interlace.resources.knowledge.knowledge import KIND, KnowledgeBases, Query
from interlace.resources.knowledge.result import Retrieved

__all__ = ["KIND", "EmbeddedModel", "KnowledgeBase", "KnowledgeBases", "Query", "Retrieved"]
