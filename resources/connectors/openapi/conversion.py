"""A description of any version as a connector: every operation an action, or in the report with the reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from interlace.resources.connectors.definition import MAX_ACTIONS, READING, Action, Connector, Parameter
from interlace.resources.connectors.names import action_name, clean_name, free_name
from interlace.resources.connectors.openapi import lines
from interlace.resources.connectors.openapi.bodies import Bodies
from interlace.resources.connectors.openapi.export import EXTENSION
from interlace.resources.connectors.openapi.parameters import Parameters
from interlace.resources.connectors.openapi.reading import read
from interlace.resources.connectors.openapi.references import References, Unresolved
from interlace.resources.connectors.openapi.schema import Schemas
from interlace.resources.connectors.openapi.security import Security
from interlace.resources.connectors.openapi.servers import Servers
from interlace.resources.connectors.openapi.swagger import upgraded
from interlace.resources.connectors.report import Imported, NotImported, Report

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
_LONGEST_DESCRIPTION = 2000
_OF_CONNECTOR = ("headers", "timeout", "rate_limit", "pagination", "credentials")
_OF_ACTION = ("extract", "pagination", "body_name", "body_template", "body_media_type")


@dataclass(frozen=True, slots=True)
class _Operation:
    method: str
    path: str
    item: dict[str, Any]
    value: Any

    @property
    def place(self) -> str:
        return f"{self.method.upper()} {self.path}"


def import_openapi(text: str, *, name: str | None = None, source_url: str | None = None) -> Imported:
    """The connector that an OpenAPI description (2.0, 3.0, 3.1, 3.2; JSON or YAML) stands for. Pure.

    Args:
        text: the description.
        name: the connector's name; by the description's title where none is given.
        source_url: where the text came from; relative servers are relative to it.

    Raises:
        NotImported: it cannot be read, is no OpenAPI description, or goes over a limit; with the line.
    """
    report = Report()
    data = read(text, report)
    version = _version(text, data)
    if version == "2.0":
        data = upgraded(data)
    paths = data.get("paths")
    if paths is not None and not isinstance(paths, dict):
        raise NotImported("`paths` is no mapping.", line=lines.line(text, ["paths"]))
    references = References(data)
    schemas = Schemas(references, report)
    servers = Servers(report, source_url)
    security = Security(data, references, report)
    reader = _Reader(references, schemas, servers, security, report)
    found = list(_operations(paths or {}, references, report))
    if len(found) > MAX_ACTIONS:
        raise NotImported(
            f"it has {len(found):,} operations, the limit is {MAX_ACTIONS:,}; import a part of it."
        )
    actions = reader.actions(found)
    webhooks = data.get("webhooks")
    if isinstance(webhooks, dict) and webhooks:
        report.add(
            "info",
            "webhooks",
            "webhooks",
            f"{len(webhooks)} webhooks are calls by the API, not to it; they are no actions.",
        )
    info = data.get("info") if isinstance(data.get("info"), dict) else {}
    assert isinstance(info, dict)
    title = str(info.get("title") or "")
    connector = _connector(
        {
            **_own(data, _OF_CONNECTOR),
            "name": clean_name(
                name or str(_own(data, ("name",)).get("name") or re.sub(r"\W+", "-", title.lower()))
            )
            or "api",
            "title": title[:200],
            "description": _text(info.get("description") or info.get("summary")),
            "base_url": servers.general(data.get("servers")),
            "auth": security.auth,
            "variables": servers.variables,
            "actions": actions,
            "schemas": schemas.definitions,
            "source": f"OpenAPI {version}" + (f", version {info['version']}" if info.get("version") else ""),
        }
    )
    return Imported(connector=connector, entries=report.entries, operations=len(found))


def _own(value: Any, names: Sequence[str]) -> dict[str, Any]:
    """What an export of ours said beside the standard's words; never anything that opens a gate."""
    extra = value.get(EXTENSION) if isinstance(value, dict) else None
    return {name: extra[name] for name in names if name in extra} if isinstance(extra, dict) else {}


def _connector(raw: dict[str, Any]) -> Connector:
    try:
        return Connector.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise NotImported(f"the description makes no connector: {where}: {first['msg']}.") from None


def _version(text: str, data: dict[str, Any]) -> str:
    version = data.get("openapi", data.get("swagger"))
    known = str(version) if isinstance(version, (str, int, float)) else ""
    if known == "2.0" and "swagger" in data:
        return "2.0"
    if known.startswith(("3.0", "3.1", "3.2")):
        return known
    if known:
        key = "openapi" if "openapi" in data else "swagger"
        raise NotImported(
            f"version {known!r} of OpenAPI is not known; 2.0, 3.0, 3.1 and 3.2 are.",
            line=lines.line(text, [key]),
        )
    raise NotImported(
        "this is no OpenAPI description: neither `openapi` nor `swagger` says a version.", line=1
    )


def _operations(paths: dict[str, Any], references: References, report: Report) -> Iterator[_Operation]:
    for path, value in paths.items():
        if path.startswith("x-"):
            continue
        try:
            item = references.follow(value)
        except Unresolved as problem:
            report.add(
                "error",
                problem.code,
                str(path),
                f"the path and its operations are left out: {problem.message}",
            )
            continue
        for method in METHODS:
            if method in item:
                yield _Operation(method, path, item, item[method])
        extra = item.get("additionalOperations")
        for method, operation in extra.items() if isinstance(extra, dict) else ():
            yield _Operation(str(method), path, item, operation)


class _Reader:
    """Turns operations into actions."""

    def __init__(
        self, references: References, schemas: Schemas, servers: Servers, security: Security, report: Report
    ) -> None:
        self._references = references
        self._servers = servers
        self._security = security
        self._report = report
        self._parameters = Parameters(references, schemas, report)
        self._bodies = Bodies(references, schemas, report)

    def actions(self, operations: list[_Operation]) -> list[Action]:
        """The actions in the description's order; names do not depend on that order."""
        made: dict[int, dict[str, Any]] = {}
        for index, operation in enumerate(operations):
            try:
                made[index] = self._action(operation)
            except Unresolved as problem:
                self._report.add("error", problem.code, operation.place, f"left out: {problem.message}")
            except ValidationError as error:
                first = error.errors()[0]
                self._report.add("error", "bad_operation", operation.place, f"left out: {first['msg']}")
        taken: set[str] = set()
        for index in sorted(made, key=lambda at: (operations[at].path, operations[at].method)):
            wanted = made[index]["name"]
            free = free_name(wanted, taken)
            if free != wanted:
                self._report.add(
                    "warning",
                    "duplicate_name",
                    operations[index].place,
                    f"the name {wanted!r} is taken; it is called {free!r}.",
                )
            taken.add(free)
            made[index]["name"] = free
        found: list[Action] = []
        for index, raw in made.items():
            try:
                found.append(Action.model_validate(raw))
            except ValidationError as error:
                first = error.errors()[0]
                self._report.add(
                    "error", "bad_operation", operations[index].place, f"left out: {first['msg']}"
                )
        return found

    def _action(self, operation: _Operation) -> dict[str, Any]:
        value, item, place = self._references.follow(operation.value), operation.item, operation.place
        method = operation.method.upper()
        path = operation.path.partition("#")[0]
        parameters = self._parameters.read(item.get("parameters"), value.get("parameters"), path, place)
        bodies, required = self._bodies.request(value.get("requestBody"), place)
        schema, accept = self._bodies.answer(value.get("responses"), place)
        given = value.get("operationId")
        summary, text = _text(value.get("summary")), _text(value.get("description"))
        names = {parameter.name for parameter in parameters}
        body_name = next(n for n in ("body", "request_body", "body_content", "body_") if n not in names)
        tags = value.get("tags")
        own = _own(value, ("name", "parameters", "requires_confirmation"))
        fields = [
            Parameter.model_validate(field) for field in own.get("parameters", []) if isinstance(field, dict)
        ]
        parameters += [field for field in fields if field.place == "body"]
        given = own.get("name", given)
        return {
            "name": action_name(method, path, given if isinstance(given, str) else None),
            "description": "\n\n".join(dict.fromkeys(part for part in (summary, text) if part)),
            "method": method,
            "path": path,
            "base_url": self._servers.own(value.get("servers", item.get("servers")), place),
            "parameters": parameters,
            "body_name": body_name,
            "bodies": bodies,
            "body_required": required,
            "accept": accept,
            "authenticate": self._security.applies(value, place),
            "response_schema": schema,
            "requires_confirmation": method not in READING or own.get("requires_confirmation") is True,
            "deprecated": value.get("deprecated") is True,
            "tags": [str(tag) for tag in tags] if isinstance(tags, list) else [],
            **_own(value, _OF_ACTION),
        }


def _text(value: Any) -> str:
    text = re.sub(r"[ \t\r]+\n", "\n", value.strip()) if isinstance(value, str) else ""
    return text if len(text) <= _LONGEST_DESCRIPTION else text[: _LONGEST_DESCRIPTION - 1] + "…"
