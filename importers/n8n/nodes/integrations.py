"""Nodes that call a product: CONNECTOR slots, DATABASE for SQL, and the transforms of texts and documents."""

from __future__ import annotations

from typing import Any, Final

from interlace.importers.build import spread
from interlace.importers.expressions import path, shown
from interlace.importers.foreign import Json, mapping, objects, text
from interlace.importers.n8n.context import Site, param
from interlace.importers.n8n.fields import unwrapped
from interlace.importers.n8n.file import N8nNode
from interlace.importers.n8n.kinds import Each, Outcome
from interlace.importers.n8n.nodes.html_code import EXTRACT
from interlace.importers.n8n.nodes.sql import statement
from interlace.importers.n8n.structure import structured
from interlace.importers.n8n.values import Value, record, shaped
from interlace.importers.naming import slug
from interlace.importers.placeholder import failing_code, settings_text

_SQL: Final = frozenset(
    {
        "postgres",
        "mySql",
        "microsoftSql",
        "sqlite",
        "snowflake",
        "timescaleDb",
        "crateDb",
        "questDb",
        "mariaDb",
        "cockroachDb",
    }
)
_OWN: Final = frozenset(
    {
        "resource",
        "operation",
        "authentication",
        "options",
        "additionalFields",
        "requestOptions",
        "otherOptions",
    }
)
_NOT_CALLS: Final = frozenset({
    "markdown", "convertToFile", "spreadsheetFile", "moveBinaryData", "readWriteFile", "readBinaryFile", "writeBinaryFile",
    "compression", "editImage", "executeCommand", "ssh", "localFileTrigger", "readPDF", "iCalendar", "ai", "n8nTrainingCustomerDatastore",
    "readBinaryFiles", "totp", "jwt",
})  # fmt: skip


def connector(node: N8nNode, site: Site) -> Outcome:
    """CONNECTOR with the product's name, the operation as action, and the node's own parameters."""
    name, action = slug(_spaced(node.kind)) or "connector", _action(node)
    fields = site.fields(node)
    parameters = {
        key: fields.any(value)
        for key, value in _flat(node.parameters).items()
        if key not in _OWN and value not in ("", None, {}, [])
    }
    site.ctx.say(
        "decision", "bind_connector",
        f"Make a connector {name!r} with an action {action!r} for what n8n's node {node.kind} did, and check the parameters:"
        " interlace connectors add …", node,
    )  # fmt: skip
    step = site.add(
        node, "CONNECTOR", spread({"connector": name, "action": action, "parameters": parameters})
    )
    return _answer(node, site, step.id)


def _answer(node: N8nNode, site: Site, step: str) -> Outcome:
    body = path(step, "body")
    code = f"{body} if {body} is sequence else [{body} if {body} is mapping else {{'data': {body}}}]"
    made = site.add(node, "TRANSFORM", {"input": shown(code)}, suffix="items")
    return Outcome(Value(path(made.id, "result"), "items"), listed=True)


def _spaced(kind: str) -> str:
    return "".join(f"_{letter}" if letter.isupper() else letter for letter in kind)


def _action(node: N8nNode) -> str:
    parts = [text(node.parameters.get(key)) for key in ("resource", "operation")]
    return slug("_".join(_spaced(part) for part in parts if part)) or "call"


def _flat(parameters: Json) -> Json:
    """The parameters, those of the usual groups of options beside the others."""
    made = dict(parameters)
    for group in ("additionalFields", "options", "otherOptions", "updateFields", "filters"):
        made = {
            **dict(mapping(parameters.get(group)).items()),
            **{k: v for k, v in made.items() if k != group},
        }
    return made


def database(node: N8nNode, site: Site) -> Outcome:
    """DATABASE; values of a query are bound, never pasted in."""
    given = node.parameters
    name = (
        slug(text(mapping(next(iter(node.credentials.values()), None)).get("name")) or node.kind)
        or "database"
    )
    site.ctx.say(
        "decision", "bind_database", f"Add the database {name!r}: interlace databases add {name} …", node
    )
    operation = text(given.get("operation")) or ("executeQuery" if given.get("query") else "insert")
    table = text(unwrapped(given.get("table"))).removeprefix("=")
    config: Json = {"connector": name}
    if operation == "executeQuery" and text(given.get("query")).strip("= \n"):
        sql = statement(node, site)
        config |= {"operation": "query" if _reads(sql) else "execute", "sql": sql}
    elif operation == "insert" and table:
        config |= {"operation": "insert_many", "table": table, "rows": _rows(node, site)}
    else:
        message = f"{node.name!r} did {operation!r} on a table in n8n; write it as SQL."
        site.ctx.say("unsupported", "sql_operation", message, node)
        step = site.add(node, "CODE", failing_code(message, settings_text(given), language="n8n's settings"))
        return Outcome(Value(path(step.id, "rows"), "items"), listed=True)
    step = site.add(node, "DATABASE", config)
    return Outcome(Value(path(step.id, "rows"), "items"), listed=True)


def _reads(sql: str) -> bool:
    return sql.lstrip().lower().startswith(("select", "with", "show", "values", "explain"))


def _rows(node: N8nNode, site: Site) -> Any:
    fields, columns = site.fields(node), param(node, "columns", "value")
    if isinstance(columns, dict) and columns:
        return [{name: fields.any(value) for name, value in columns.items()}]
    names = [name.strip() for name in text(node.parameters.get("columns")).split(",") if name.strip()]
    item = site.scope.current()
    return [{name: shown(item.get(name).code) for name in names}] if names else shown(f"[{item.code}]")


def xml(node: N8nNode, site: Site) -> Outcome:
    """TRANSFORM that reads XML."""
    name = text(node.parameters.get("dataPropertyName")) or "data"
    if text(node.parameters.get("mode")) == "jsonToxml":
        return unknown(node, site)
    step = site.add(
        node, "TRANSFORM", {"input": shown(site.scope.current().get(name).code), "steps": [{"parse": "xml"}]}
    )
    site.ctx.say(
        "changed",
        "xml",
        "Attributes of elements are read as `@name` here; n8n puts them beside the elements.",
        node,
    )
    return Outcome(Value(path(step.id, "result")))


def html(node: N8nNode, site: Site) -> Outcome:
    """CODE that reads HTML by CSS selectors; templates and tables have no counterpart."""
    if node.kind == "html" and text(node.parameters.get("operation")) in ("", "generateHtmlTemplate"):
        page = site.fields(node).value("=" + text(node.parameters.get("html")).removeprefix("="))
        step = site.add(node, "TRANSFORM", structured(record({"html": page})))
        return Outcome(shaped(path(step.id, "result"), {"html": "text"}))
    if node.kind == "html" and text(node.parameters.get("operation")) != "extractHtmlContent":
        return unknown(node, site)
    if text(node.parameters.get("sourceData")) == "binary":
        return unknown(node, site)
    name = text(node.parameters.get("dataPropertyName")).removeprefix("=") or "data"
    trims = mapping(node.parameters.get("options")).get("trimValues") is not False
    fields = [
        {"name": text(entry.get("key")), "selector": text(entry.get("cssSelector")), "value": text(entry.get("returnValue")) or "text",
         "attribute": text(entry.get("attribute")), "list": entry.get("returnArray") is True, "trim": trims}
        for entry in objects(param(node, "extractionValues", "values"))
    ]  # fmt: skip
    source = site.scope.current().get(*name.split("."))
    step = site.add(node, "CODE", {"code": EXTRACT, "inputs": {"html": shown(source.code), "fields": fields}})
    names = {str(field["name"]): Value(path(step.id, "found", str(field["name"]))) for field in fields}
    return Outcome(Value(path(step.id, "found"), "object", names))


def extract(node: N8nNode, site: Site) -> Outcome:
    """DOCUMENT_EXTRACTOR, or TRANSFORM for JSON."""
    operation = text(node.parameters.get("operation"))
    name = text(node.parameters.get("binaryPropertyName")) or "data"
    source = shown(site.scope.current().get(name).code)
    if operation in ("csv", "xlsx", "xls", "ods", "rtf"):
        step = site.add(node, "DOCUMENT_EXTRACTOR", {"file": source, "mode": "tables"})
        return Outcome(Value(f"{step.id}.tables[0].rows", "items"), listed=True)
    step = site.add(node, "DOCUMENT_EXTRACTOR", {"file": source, "mode": "text"})
    return Outcome(
        record({"text": Value(path(step.id, "text"), "text"), "data": Value(path(step.id, "text"), "text")})
    )


def unknown(node: N8nNode, site: Site) -> Outcome:
    """A CODE node that fails when it is reached."""
    message = f"{node.name!r} was a node {node.package}.{node.kind} in n8n, which has no counterpart here; put another node in its place."
    site.ctx.say("unsupported", "unknown_kind", message, node)
    config = {
        **failing_code(message, settings_text(node.parameters), language="n8n's parameters"),
        "inputs": {"item": shown(site.scope.current().code)},
    }
    step = site.add(node, "CODE", config)
    return Outcome(Value(step.id))


def kind_of_product(node: N8nNode) -> Each:
    """By what is known of a node without a converter of its own."""
    if node.kind in _SQL:
        return Each(convert=database, lists=True)
    if node.kind in _NOT_CALLS or (
        not node.credentials
        and not {"resource", "operation"} & set(node.parameters)
        and node.package != "n8n-nodes-base"
    ):
        return Each(convert=unknown)
    return Each(convert=connector, lists=True)


KINDS: Final = {
    "xml": Each(convert=xml), "extractFromFile": Each(convert=extract), "html": Each(convert=html), "htmlExtract": Each(convert=html),
}  # fmt: skip
