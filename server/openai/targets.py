"""Whom the caller can talk to: `auto`, every agent, and every published chat workflow, by the names of models."""

from __future__ import annotations

from typing import Any, Final

from interlace.engine.document import Document
from interlace.engine.errors import InterlaceError
from interlace.engine.principal import Principal
from interlace.flows.platform import Platform
from interlace.flows.stateless import Target
from interlace.server.openai.errors import WireError
from interlace.store.errors import NotFoundError
from interlace.store.resources import Resource
from interlace.store.workflows import Workflow

AUTO: Final = "auto"
OWNED_BY: Final = "interlace"
_PAGE = 200


async def list_models(platform: Platform, by: Principal) -> list[dict[str, Any]]:
    """The models of a caller. A workflow whose name an agent has is `workflow/NAME`, an agent called auto `agent/auto`."""
    taken = {AUTO}
    found = [_model(AUTO, 0)]
    for agent in await _agents(platform, by):
        name = (
            agent.name
            if agent.name not in taken
            else f"agent/{agent.name if agent.name == AUTO else agent.id}"
        )
        taken.add(name)
        found.append(_model(name, agent.created_at))
    for workflow in await _chat_workflows(platform, by):
        name = workflow.name if workflow.name not in taken else f"workflow/{workflow.name}"
        name = name if name not in taken else f"workflow/{workflow.id}"
        taken.add(name)
        found.append(_model(name, workflow.created_at))
    return found


async def _agents(platform: Platform, by: Principal) -> list[Resource]:
    found: list[Resource] = []
    cursor: str | None = None
    while True:
        page = await platform.store.resources.list("agent", by=by, active=True, limit=_PAGE, after=cursor)
        found += page.items
        cursor = page.cursor
        if cursor is None:
            return found


async def _chat_workflows(platform: Platform, by: Principal) -> list[Workflow]:
    found: list[Workflow] = []
    cursor: str | None = None
    while True:
        page = await platform.store.workflows.list(owner=by, limit=_PAGE, cursor=cursor)
        for workflow in page.items:
            if workflow.published_version is None:
                continue
            try:
                pinned = await platform.documents.stored(workflow.id, owner=by)
            except InterlaceError:
                continue  # a node type of it is not installed any more
            if pinned.document.settings.chat:
                found.append(workflow)
        cursor = page.cursor
        if cursor is None:
            return found


async def resolve(platform: Platform, name: str, by: Principal) -> tuple[Target, Document | None]:
    """Whom a model's name stands for, and the workflow's document.

    Raises:
        WireError: the caller has no model of that name.
    """
    kind, _, rest = name.partition("/")
    if name == AUTO:
        return Target(name=AUTO), None
    if kind != "workflow":
        try:
            agent = await platform.store.resources.find(
                "agent", rest if kind == "agent" and rest else name, by=by
            )
        except NotFoundError:
            pass
        else:
            return Target(name=name, agent_id=agent.id), None
    if kind != "agent":
        try:
            pinned = await platform.documents.stored(rest if kind == "workflow" and rest else name, owner=by)
        except InterlaceError:
            pass
        else:
            if pinned.document.settings.chat:
                return Target(name=name, workflow_id=pinned.workflow_id), pinned.document
    raise WireError(
        404, f"the model {name!r} does not exist: models are `auto`, agents and published chat workflows that you see;"
        " GET /v1/models lists them", code="model_not_found", param="model",
    )  # fmt: skip


def _model(name: str, created: float) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": int(created), "owned_by": OWNED_BY}
