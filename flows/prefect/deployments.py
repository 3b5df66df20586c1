"""Where a workflow stands in Prefect: one flow and one deployment each, in a work pool of our own type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx2

from interlace.flows.prefect.connection import PrefectApi, PrefectRefused

POOL_KIND = "interlace"
# With a dot: with a colon, Prefect's own workers would copy the working directory as the flow's code first.
ENTRYPOINT = "interlace.flows.prefect.flow.workflow_run"

# Any inputs: what a workflow takes is checked by us; the schema only draws Prefect's form.
_ANY_INPUTS: Mapping[str, Any] = {"type": "object", "title": "Inputs"}
_FORBIDDEN = str.maketrans(dict.fromkeys("/%&<>", "-"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """A workflow's deployment and flow in Prefect, by id."""

    id: str
    flow_id: str
    workflow_id: str
    workflow_name: str


class Deployments:
    """The deployments of one work pool, found or made and remembered.

    Args:
        api: the client to use.
        pool: the work pool's name; it is made when missing.
    """

    def __init__(self, api: PrefectApi, pool: str) -> None:
        self._api = api
        self.pool = pool
        self._known: dict[str, Deployment] = {}
        self._written: dict[str, tuple[str, Mapping[str, Any] | None, tuple[str, ...]]] = {}

    async def ensure_pool(self) -> Mapping[str, Any]:
        """Find the work pool, or make it; its description as Prefect gives it."""
        path = f"/work_pools/{quote(self.pool, safe='')}"
        found = await self._api.find(path)
        if found is None:
            wanted = {"name": self.pool, "type": POOL_KIND}
            try:
                found = await self._api.post("/work_pools/", wanted)
            except PrefectRefused as refusal:
                if refusal.status != httpx2.codes.CONFLICT:
                    raise
                found = await self._api.get(path)
        pool: Mapping[str, Any] = found
        return pool

    async def ensure(
        self,
        workflow_id: str,
        name: str,
        parameter_schema: Mapping[str, Any] | None = None,
        tags: Sequence[str] = (),
    ) -> Deployment:
        """Write a workflow's deployment as it should be now.

        Args:
            workflow_id: the workflow; also the deployment's name, so that two owners' workflows of one name differ.
            name: the workflow's name; also the flow's.
            parameter_schema: JSON Schema of the workflow's inputs, for the form of Prefect's pages.
            tags: the deployment's tags, inherited by its runs.
        """
        await self.ensure_pool()
        flow = await self._api.post("/flows/", {"name": plain_name(name), "tags": ["interlace"]})
        properties = {
            "inputs": dict(parameter_schema or _ANY_INPUTS),
            "run_id": {
                "type": "string",
                "title": "Run",
                "description": "Leave it out: Interlace numbers its runs.",
            },
            "workflow_id": {"type": "string", "title": "Workflow", "default": workflow_id},
        }
        written = await self._api.post(
            "/deployments/",
            {
                "name": plain_name(workflow_id),
                "flow_id": flow["id"],
                "work_pool_name": self.pool,
                "entrypoint": ENTRYPOINT,
                "pull_steps": [],
                "parameter_openapi_schema": {
                    "type": "object",
                    "title": "Parameters",
                    "properties": properties,
                },
                "parameters": {"workflow_id": workflow_id},
                "enforce_parameter_schema": False,
                "tags": sorted({"interlace", *tags}),
            },
        )
        return self._remember(workflow_id, name, written)

    async def written(
        self, workflow_id: str, name: str, parameter_schema: Mapping[str, Any] | None, tags: Sequence[str]
    ) -> Deployment:
        """Give a deployment, written with the first call and when it has to be another."""
        wanted = (name, parameter_schema, tuple(tags))
        known = self._known.get(workflow_id)
        if known is not None and self._written.get(workflow_id) == wanted:
            return known
        made = await self.ensure(workflow_id, name, parameter_schema, tags)
        self._written[workflow_id] = wanted
        return made

    async def write_again(self, workflow_id: str) -> None:
        """Write a deployment that Prefect has lost as it was written before; nothing where it never was."""
        wanted = self._written.get(workflow_id)
        self.forget()
        if wanted is not None:
            await self.written(workflow_id, *wanted)

    async def find(self, workflow_id: str, name: str) -> Deployment:
        """Give a workflow's deployment as it is, made with an open schema when missing."""
        known = self._known.get(workflow_id)
        if known is not None and known.workflow_name == name:
            return known
        found = await self._api.find(
            f"/deployments/name/{quote(plain_name(name))}/{quote(plain_name(workflow_id))}"
        )
        return (
            await self.ensure(workflow_id, name)
            if found is None
            else self._remember(workflow_id, name, found)
        )

    async def lookup(self, workflow_id: str) -> Deployment:
        """Give a workflow's deployment without knowing the workflow's name.

        Raises:
            PrefectRefused: it has none (HTTP 404); call `ensure` first.
        """
        known = self._known.get(workflow_id)
        if known is not None:
            return known
        wanted = {
            "deployments": {"name": {"any_": [plain_name(workflow_id)]}},
            "work_pools": {"name": {"any_": [self.pool]}},
            "sort": "UPDATED_DESC",
            "limit": 1,
        }
        found = await self._api.post("/deployments/filter", wanted)
        if not found:
            raise PrefectRefused(
                f"Workflow {workflow_id!r} has no deployment in work pool {self.pool!r}; call ensure_deployment first.",
                status=httpx2.codes.NOT_FOUND,
            )
        flow = await self._api.get(f"/flows/{found[0]['flow_id']}")
        return self._remember(workflow_id, flow["name"], found[0])

    def forget(self) -> None:
        """Look everything up anew: Prefect's database is another one than before."""
        self._known.clear()
        self._written.clear()

    def _remember(self, workflow_id: str, name: str, written: Mapping[str, Any]) -> Deployment:
        made = Deployment(
            id=written["id"], flow_id=written["flow_id"], workflow_id=workflow_id, workflow_name=name
        )
        self._known[workflow_id] = made
        return made


def plain_name(text: str) -> str:
    """Give a name without the characters Prefect forbids in names."""
    return text.translate(_FORBIDDEN).strip() or "unnamed"
