"""The smallest document that still shows a disagreement: parts are left out one by one while it does."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from interlace.engine.errors import InterlaceError

from .comparison import Disagreement, compare

Spec = dict[str, Any]
OPTIONAL = ("join", "on_error", "default_output", "retry", "disabled")
WAYS, TRIES = 8, 6


async def shrink(seed: int, document: Spec, inputs: Spec) -> tuple[int, Spec]:
    """The document with all left out that the disagreement does not need, and a seed that shows it."""
    smaller = True
    while smaller:
        smaller = False
        for candidate in candidates(document):
            if (shown_by := await disagreeing(seed, candidate, inputs)) is not None:
                seed, document, smaller = shown_by, candidate, True
                break
    return seed, document


async def disagreeing(seed: int, document: Spec, inputs: Spec) -> int | None:
    """A seed that runs the document the same way and elsewhere cut, and shows a disagreement."""
    for another in range(seed, seed + WAYS * TRIES, WAYS):
        try:
            await compare(another, document, inputs)
        except Disagreement:
            return another
        except (InterlaceError, KeyError, TypeError):
            return None
    return None


def candidates(document: Spec) -> Iterator[Spec]:
    """Documents with one node, one edge or one setting less, or without a body; every node still has a way from START."""
    for path in bodies(document, ()):
        for index in range(len(within(document, path)["nodes"])):
            yield from kept(document, path, "nodes", index)
        for index in range(len(within(document, path)["edges"])):
            yield from kept(document, path, "edges", index)
        for index, node in enumerate(within(document, path)["nodes"]):
            if "body" in node:
                candidate = copy.deepcopy(document)
                within(candidate, path)["nodes"][index] = {
                    "id": node["id"],
                    "type": "ECHO",
                    "config": {"value": 1},
                }
                yield candidate
            for name in OPTIONAL:
                if name in node:
                    candidate = copy.deepcopy(document)
                    del within(candidate, path)["nodes"][index][name]
                    yield candidate


def bodies(body: Spec, path: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    yield path
    for index, node in enumerate(body["nodes"]):
        if "body" in node:
            yield from bodies(node["body"], (*path, index))


def within(document: Spec, path: tuple[int, ...]) -> Spec:
    for index in path:
        document = document["nodes"][index]["body"]
    return document


def kept(document: Spec, path: tuple[int, ...], part: str, index: int) -> Iterator[Spec]:
    candidate = copy.deepcopy(document)
    body = within(candidate, path)
    del body[part][index]
    here = {node["id"] for node in body["nodes"]}
    body["edges"] = [e for e in body["edges"] if e["from"] in here and (e["to"] in here or e["to"][0] == "$")]
    reached = {edge["to"] for edge in candidate["edges"]}
    if not body["nodes"]:
        return
    unreached = [node["type"] for node in candidate["nodes"] if node["id"] not in reached]
    if unreached == ["START"]:
        yield candidate
