"""KB_RETRIEVAL: what knowledge bases say about a question."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from interlace.engine.chat import CallSite
from interlace.engine.fields import Data, Dynamic
from interlace.engine.node import Config, Node, Output, RunContext
from interlace.resources.knowledge import KnowledgeBases, Query


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


class KbRetrievalConfig(Config):
    """Where is searched, what for, and how."""

    knowledge_bases: Annotated[list[str], BeforeValidator(_listed)] = Field(
        min_length=1,
        title="Knowledge bases",
        description="Knowledge bases of yours, by name or id; they are searched together.",
        examples=[["handbook"]],
        json_schema_extra={"widget": "resource", "resource": "knowledge_base"},
    )
    query: Dynamic[str] = Field(
        title="Question",
        description="What is looked for, in words.",
        examples=["{{ inputs.question }}"],
        json_schema_extra={"widget": "textarea"},
    )
    mode: Literal["hybrid", "dense", "text"] = Field(
        "hybrid",
        title="Search",
        description="By meaning and words (hybrid), by meaning alone (dense), or by words alone (text).",
        examples=["text"],
    )
    top_k: Dynamic[Annotated[int, Field(ge=1, le=100)]] = Field(
        5, title="Most chunks", description="How many chunks are given at most.", examples=[8]
    )
    min_score: Dynamic[Annotated[float, Field(ge=0, le=1)]] = Field(
        0.0,
        title="Least score",
        description="Chunks that fit less are left out, 0 to 1.",
        examples=[0.2],
    )
    filter: Dynamic[dict[str, Data]] = Field(
        default_factory=dict,
        title="Filter",
        description="Only documents with this metadata: {field: value}, or {field: {gte: …, lt: …, in: […], contains: …}}.",
        examples=[{"department": "sales", "year": {"gte": 2024}}],
    )
    rerank: bool = Field(
        False,
        title="Rerank",
        description="Let the model of the role fast put the best results in order; costs a call.",
    )
    grounded: bool = Field(
        False,
        title="Grounded",
        description="Give quotes word for word and name conflicts; give nothing where confidence is too low.",
    )


class KbRetrievalOutput(Output):
    """What was found."""

    chunks: Annotated[
        list[dict[str, Any]],
        WithJsonSchema(
            {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["n", "text", "score", "source", "position", "metadata"],
                    "properties": {
                        "n": {"type": "integer"},
                        "text": {"type": "string"},
                        "score": {"type": "number"},
                        "source": {"type": "string"},
                        "position": {"type": "object"},
                        "metadata": {"type": "object"},
                    },
                },
            }
        ),
    ] = Field(description="The best chunks, the best first: {n, text, score, source, position, metadata}.")
    context: str = Field("", description="The chunks as one text, each under its number [n], for a prompt.")
    citations: list[dict[str, Any]] = Field(
        default_factory=list,
        description="{n, source, title, position, where}; in grounded mode with the `quotes` of each.",
    )
    confidence: float = Field(0.0, description="How sure it is that the answer stands in the chunks, 0 to 1.")
    conflicts: list[dict[str, Any]] = Field(
        default_factory=list,
        description="In grounded mode: {between, quotes, reason} of documents that disagree.",
    )
    refused: str | None = Field(None, description="In grounded mode: why nothing is given; null otherwise.")


class KbRetrieval(Node[KbRetrievalConfig, KbRetrievalOutput]):
    """Find what knowledge bases say about a question, with source and position."""

    kind = "KB_RETRIEVAL"
    group, icon = "connect", "library"
    timeout = 300.0
    effects = "idempotent"
    example: ClassVar[dict[str, Any]] = {
        "knowledge_bases": ["handbook"],
        "query": "{{ inputs.question }}",
        "top_k": 3,
    }

    async def run(self, config: KbRetrievalConfig, ctx: RunContext) -> KbRetrievalOutput:
        """Search with the rights of whoever started the run.

        Raises:
            NodeError: `knowledge_query`, `knowledge_filter`; those of the embedding model.
        """
        query = Query(
            text=config.query, mode=config.mode, top_k=config.top_k, min_score=config.min_score, filter=config.filter,
            rerank=config.rerank, grounded=config.grounded,
        )  # fmt: skip
        found = await ctx.service(KnowledgeBases).search(config.knowledge_bases, query, site=CallSite.of(ctx))
        kept = found.as_json()
        chunks = [
            {name: chunk[name] for name in ("n", "text", "score", "source", "position", "metadata")}
            for chunk in map(asdict, found.chunks)
        ]
        return KbRetrievalOutput(
            chunks=chunks, context=found.context, citations=found.citations, confidence=found.confidence,
            conflicts=kept["conflicts"], refused=found.refused,
        )  # fmt: skip
