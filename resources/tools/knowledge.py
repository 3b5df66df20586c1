"""Tools over knowledge bases: two that an agent gets for the bases of its scope, and what they share with TOOL nodes'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from pydantic import Field

from interlace.engine.chat import CallSite
from interlace.engine.errors import NodeError
from interlace.engine.problems import nearest
from interlace.engine.schema import Schema
from interlace.resources.knowledge import KnowledgeBases, Query, Retrieved
from interlace.resources.tools.tool import Category, ToolContext, ToolResult
from interlace.resources.tools.typed import Arguments, TypedTool

_TOP_K: Final = 5
_SHOWN: Final = 120
_NOTHING: Final = "Nothing fits the question. Say so; do not answer from memory as if it stood there."

RESULT: Final[Schema] = {
    "type": "object",
    "properties": {
        "chunks": {"type": "array", "items": {"type": "object"}}, "context": {"type": "string"},
        "citations": {"type": "array", "items": {"type": "object"}}, "confidence": {"type": "number"},
    },
    "required": ["chunks", "context", "citations", "confidence"],
}  # fmt: skip
GROUNDED: Final[Schema] = {
    **RESULT,
    "properties": {
        **RESULT["properties"], "quotes": {"type": "array", "items": {"type": "object"}},
        "conflicts": {"type": "array", "items": {"type": "object"}}, "refused": {"type": ["string", "null"]},
    },
    "required": [*RESULT["required"], "quotes", "conflicts", "refused"],
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A knowledge base of an agent's scope."""

    id: str
    name: str
    description: str = ""


class RetrieveArguments(Arguments):
    """A question, and where it is looked for."""

    query: str = Field(min_length=1, max_length=4000, description="What is looked for, in words.")
    knowledge_bases: list[str] | None = Field(None, max_length=50, description="Only these; all by default.")
    top_k: int = Field(_TOP_K, ge=1, le=30, description="Most passages.")
    filter: dict[str, Any] | None = Field(None, description="Metadata of documents, as {year: {gte: 2024}}.")


class KbRetrieve(TypedTool[RetrieveArguments]):
    """Passages of the knowledge bases of a scope, with citations.

    Args:
        bases: the scope; others cannot be named. Whether the caller still sees them is decided at each call.
    """

    name = "kb_retrieve"
    category: ClassVar[Category] = "knowledge"
    result = RESULT
    grounded: ClassVar[bool] = False
    _lead: ClassVar[str] = "Find passages in knowledge bases; cite what you use by its number, as [1]."

    def __init__(self, bases: Sequence[Base]) -> None:
        self._bases = tuple(bases)

    @property
    def description(self) -> str:  # type: ignore[override]
        """What it does, and what each base is about."""
        listed = "; ".join(
            f"{base.name}{': ' + _short(base.description) if base.description else ''}"
            for base in self._bases
        )
        return f"{self._lead} Bases: {listed}."

    @property
    def parameters_schema(self) -> Schema:
        """With the names of the scope; a scope of one base takes none."""
        schema = super().parameters_schema
        fields = dict(schema["properties"])
        if len(self._bases) > 1:
            names = [base.name for base in self._bases]
            fields["knowledge_bases"] = {
                **fields["knowledge_bases"],
                "items": {"type": "string", "enum": names},
            }
        else:
            fields.pop("knowledge_bases")
        return {**schema, "properties": fields}

    async def call(self, arguments: RetrieveArguments, ctx: ToolContext) -> ToolResult:
        """Search.

        Raises:
            NodeError: `resource_not_found`: a base of another scope is named; `knowledge_query`, `knowledge_filter`.
        """
        query = Query(
            text=arguments.query, top_k=arguments.top_k, filter=arguments.filter, grounded=self.grounded
        )
        return await retrieve(self._ids(arguments.knowledge_bases), query, ctx)

    def _ids(self, names: Sequence[str] | None) -> list[str]:
        if not names:
            return [base.id for base in self._bases]
        known = {base.name: base.id for base in self._bases} | {base.id: base.id for base in self._bases}
        for name in names:
            if name not in known:
                guess = nearest(name, [base.name for base in self._bases])
                hint = (
                    f"did you mean {guess!r}?"
                    if guess
                    else f"there are {', '.join(b.name for b in self._bases)}"
                )
                raise NodeError(
                    f"there is no knowledge base {name!r}; {hint}", kind="resource_not_found", retryable=False
                )
        return [known[name] for name in names]


class GroundedRetrieve(KbRetrieve):
    """The same with quotes word for word, conflicts named, and nothing below a confidence."""

    name = "grounded_retrieve"
    result = GROUNDED
    grounded = True
    arguments_type = RetrieveArguments
    _lead = (
        "Find evidence in knowledge bases: quotes word for word, conflicts between documents, or a refusal where they do not"
        " answer. Answer from the quotes alone and cite them, as [1]."
    )


async def retrieve(names: Sequence[str], query: Query, ctx: ToolContext) -> ToolResult:
    """A search with the rights of the caller, as a result with citations.

    Raises:
        NodeError: `resource_not_found`, `knowledge_query`, `knowledge_filter`; those of the embedding model.
    """
    site = CallSite(principal=ctx.principal, run_id=ctx.run.id or None, path=ctx.path, hide=ctx.hide)
    found = await ctx.service(KnowledgeBases).search(names, query, site=site)
    kept = found.as_json()
    value = {name: kept[name] for name in ("context", "citations", "confidence")}
    value["chunks"] = [
        {name: chunk[name] for name in ("n", "text", "score", "source", "position", "metadata")}
        for chunk in kept["chunks"]
    ]
    if query.grounded:
        value |= {name: kept[name] for name in ("quotes", "conflicts", "refused")}
    return ToolResult(value=value, text=_text(found, grounded=query.grounded), citations=_citations(found))


def _citations(found: Retrieved) -> tuple[Mapping[str, Any], ...]:
    texts = {chunk.n: chunk.text for chunk in found.chunks}
    made = []
    for citation in found.citations:
        n = citation["n"]
        quotes = citation.get("quotes") or [texts.get(n, "")]
        made.append({**citation, "quote": quotes[0]})
    return tuple(made)


def _text(found: Retrieved, *, grounded: bool) -> str:
    if found.refused is not None or not found.chunks:
        return f"{_NOTHING} ({found.refused})" if found.refused else _NOTHING
    if not grounded:
        return found.context
    lines = [f'[{quote.n}] "{quote.text}"' for quote in found.quotes]
    parts = ["Quotes:\n" + "\n".join(lines)] if lines else []
    if found.conflicts:
        told = [
            f"[{c.between[0]}] and [{c.between[1]}] disagree ({c.reason}): {c.quotes[0]!r} / {c.quotes[1]!r}"
            for c in found.conflicts
        ]
        parts.append("Conflicts to be named in the answer:\n" + "\n".join(told))
    return "\n\n".join([*parts, f"Passages:\n{found.context}", f"Confidence: {found.confidence:.2f}"])


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
