"""Knowledge bases as recorded and offline runs see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from interlace.engine.chat import CallSite
from interlace.engine.principal import Principal
from interlace.flows.recording.outside import Form, Outside
from interlace.resources.knowledge import KnowledgeBases, Query, Retrieved

_LISTING: Form[list[dict[str, str]]] = Form(list, list)
_FORM: Form[Retrieved] = Form(lambda found: found.as_json(), Retrieved.from_json)


class RecordedKnowledge(KnowledgeBases):
    """The searches of one attempt of a node."""

    def __init__(self, knowledge: KnowledgeBases, outside: Outside) -> None:
        self._knowledge = knowledge
        self._outside = outside

    async def listing(self, *, by: Principal) -> list[dict[str, str]]:
        """All bases that `by` sees."""
        return await self._outside.ask(
            "knowledge", {"listing": True}, lambda: self._knowledge.listing(by=by), _LISTING
        )

    async def search(self, names: Sequence[str], query: Query, *, site: CallSite) -> Retrieved:
        """Search some knowledge bases together."""
        request = {"knowledge_bases": list(names), **asdict(query)}
        return await self._outside.ask(
            "knowledge", request, lambda: self._knowledge.search(names, query, site=site), _FORM
        )
