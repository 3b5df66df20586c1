"""Dify's knowledge retrieval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from interlace.importers.build import Graph, spread
from interlace.importers.dify.context import Context, Kind
from interlace.importers.dify.file import DifyNode
from interlace.importers.dify.nodes.common import apply_policies, outputs
from interlace.importers.expressions import Ref, worded
from interlace.importers.foreign import Json, at, mapping, number, texts, whole

_FIELDS: Final = {"content": "text", "title": "source", "url": "source", "metadata": "metadata"}
_OUTPUT = outputs({"result": ("chunks",)}, texts=frozenset())


def convert(node: DifyNode, ctx: Context, graph: Graph) -> str:
    """KB_RETRIEVAL over slots: Dify's data sets are not those of this installation."""
    slots = knowledge_slots(node.data.get("dataset_ids"), node, ctx)
    settings = mapping(node.data.get("multiple_retrieval_config"))
    query = worded([ctx.ref(node.data.get("query_variable_selector"), node)])
    config = {"knowledge_bases": slots, "query": query, **retrieval(settings)}
    if at(node.data, "metadata_filtering_mode") in ("automatic", "manual"):
        ctx.say(
            "decision",
            "metadata_filter",
            "The filter by metadata was left out, so more is found than in the file; write it as `filter`.",
            node,
        )
    step = ctx.step(node, "KB_RETRIEVAL", spread(config))
    apply_policies(step, node, ctx)
    graph.add(step)
    return node.name


def knowledge_slots(ids: Any, node: DifyNode | None, ctx: Context) -> list[str]:
    """Names for data sets; the report says which they were."""
    given = texts(ids)
    names = ["knowledge"] if len(given) < 2 else [f"knowledge_{index}" for index in range(1, len(given) + 1)]  # noqa: PLR2004 - one needs no number
    for name, theirs in zip(names, given or ["(none)"], strict=True):
        ctx.say(
            "decision",
            "bind_knowledge_base",
            f"Put a knowledge base in place of {name!r}; Dify's data set was {theirs}.",
            node,
        )
    return names


def retrieval(settings: Json) -> Json:
    """How many chunks, and how good they have to be."""
    top = whole(settings.get("top_k"))
    least = number(settings.get("score_threshold"))
    return spread({
        "top_k": top if top and top > 0 else None,
        "min_score": max(0.0, min(least, 1.0)) if least else None,
        "rerank": True if settings.get("reranking_enable") is True else None,
    })  # fmt: skip


def output(node: DifyNode, keys: Sequence[str], ctx: Context) -> Ref:
    """The chunks; the names of their fields differ."""
    known = [_FIELDS.get(key, key) if index > 0 else key for index, key in enumerate(keys)]
    if keys and keys[0] == "result":
        ctx.say(
            "changed", "chunk_fields",
            "A chunk is {text, score, source, position, metadata} here; Dify's is {content, title, url, metadata}.", node,
        )  # fmt: skip
    return _OUTPUT(node, known, ctx)


KINDS: Final = {"knowledge-retrieval": Kind(convert, output, fallback="knowledge")}
