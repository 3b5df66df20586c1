"""Stored connectors as recorded and offline runs see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from interlace.engine.principal import Principal
from interlace.flows.recording.outside import Form, Outside
from interlace.resources.connectors.adapter import Options
from interlace.resources.connectors.connectors import Connectors
from interlace.resources.connectors.credentials import Hide
from interlace.resources.connectors.definition import Action, Connector
from interlace.resources.connectors.loaded import Loaded
from interlace.resources.connectors.result import ConnectorResult
from interlace.resources.http import HttpClient

_RESULT: Form[ConnectorResult] = Form(asdict, lambda kept: ConnectorResult(**kept))


def _action_kept(found: tuple[Loaded, Action]) -> dict[str, Any]:
    """The action with the schemas it needs; where and how it is called stays out, as a replay calls nothing."""
    loaded, action = found
    connector = {
        "name": loaded.connector.name, "confirmation": loaded.connector.confirmation,
        "actions": [action.model_dump(mode="json", by_alias=True, exclude_defaults=True)],
        "schemas": loaded.parameters(action).get("$defs", {}),
    }  # fmt: skip
    return {"id": loaded.id, "version": loaded.version, "org_id": loaded.org_id, "connector": connector}


def _action_restored(kept: Any) -> tuple[Loaded, Action]:
    connector = Connector.model_validate(kept["connector"])
    return Loaded(connector, kept["id"], kept["version"], kept["org_id"]), connector.actions[0]


_ACTION: Form[tuple[Loaded, Action]] = Form(_action_kept, _action_restored)


class RecordedConnectors(Connectors):
    """What one attempt of a node asks of connectors: one answer a call, with all its retries and pages."""

    def __init__(self, connectors: Connectors, outside: Outside) -> None:
        self._connectors = connectors
        self._outside = outside

    async def action(self, name_or_id: str, action: str, *, by: Principal) -> tuple[Loaded, Action]:
        """A connector and an action of it, as they were."""
        return await self._outside.ask(
            "connector", {"connector": name_or_id, "action": action},
            lambda: self._connectors.action(name_or_id, action, by=by),
            _ACTION,
        )  # fmt: skip

    async def call(
        self, name_or_id: str, action: str, parameters: Mapping[str, Any], *, by: Principal,
        options: Options | None = None, hide: Hide | None = None, http: HttpClient | None = None,
    ) -> ConnectorResult:  # fmt: skip
        """Call an action. The requests it takes are not recorded one by one; files that come are, by reference."""
        del http
        request = {
            "connector": name_or_id, "action": action, "parameters": dict(parameters), **_shown(options or Options()),
        }  # fmt: skip
        return await self._outside.ask(
            "connector.call", request,
            lambda: self._connectors.call(
                name_or_id, action, parameters, by=by, options=options, hide=hide
            ),
            _RESULT,
        )  # fmt: skip


def _shown(options: Options) -> dict[str, Any]:
    """What of the options decides the answer."""
    paginate = options.paginate
    rule = paginate if isinstance(paginate, bool) else paginate.model_dump(mode="json", exclude_defaults=True)
    return {"paginate": rule, "most_characters": options.most_characters}
