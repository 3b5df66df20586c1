"""The reference pages of commands, settings, validation codes, error kinds, events and HTTP routes."""

from __future__ import annotations

import ast
import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main
from markdown import as_json, code, table, type_name

from interlace.engine.errors import StoreError, is_retryable
from interlace.engine.events import EVENT_TYPES
from interlace.engine.kinds import GROUPS
from interlace.engine.validate import codes
from interlace.flows.platform import Platform
from interlace.flows.settings import CONFIG_FILE, Settings
from interlace.server.app import create_app
from interlace.server.cli.main import app
from interlace.server.problems import _STATUS
from interlace.server.scopes import SCOPES, declared, routes_of

ROOT = Path(__file__).resolve().parent.parent


# -- commands ----------------------------------------------------------------------------------------------------------


def commands_page() -> str:
    """Every command of `interlace` with its arguments and options."""
    found = list(commands())
    text = "# Commands\n\nExit codes: 0 done, 1 the run or check failed, 2 wrong use or a bad document, 3 not reachable or suspended.\n\n"
    text += table(
        ["command", "does"], [(f"[`{path}`](#{path.replace(' ', '-')})", _first(c.help)) for path, c in found]
    )
    for path, command in found:
        text += f"\n## {path}\n\n{command.help}\n\n{_parameters(command.params)}"
    return text


def commands() -> Iterator[tuple[str, Any]]:
    """Every command with its whole name."""
    yield from _below(typer.main.get_command(app), "interlace")


def _below(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
        return
    for name, entry in inner.items():
        yield from _below(entry, f"{path} {name}")


def _first(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]


def _parameters(parameters: list[Any]) -> str:
    rows = []
    for parameter in parameters:
        if parameter.name == "help":
            continue
        names = [*parameter.opts, *parameter.secondary_opts]
        option = names[0].startswith("-")
        shown = ", ".join(code(name) for name in names) if option else code(parameter.name.upper())
        rows.append((shown, _default(parameter), getattr(parameter, "help", "") or ""))
    return table(["argument or option", "default", "meaning"], rows)


def _default(parameter: Any) -> str:
    if parameter.required:
        return "required"
    default = parameter.default
    return code(default) if isinstance(default, str | int | float) and not isinstance(default, bool) else ""


# -- settings ----------------------------------------------------------------------------------------------------------


def settings_page() -> str:
    """Every setting with its variable, type, default and meaning."""
    schema = Settings.model_json_schema()
    inner = schema.get("$defs", {})
    rows = []
    for name, field in schema["properties"].items():
        rows.append(
            (code(f"INTERLACE_{name.upper()}"), type_name(field, inner),
             as_json(field.get("default")), field.get("description", ""))
        )  # fmt: skip
    parts = [
        f"## {name}\n\n{entry.get('description', '')}\n\n"
        + table(
            ["field", "type", "default", "meaning"],
            [
                (
                    code(key),
                    type_name(field, inner),
                    as_json(field.get("default")),
                    field.get("description", ""),
                )
                for key, field in entry["properties"].items()
            ],
        )
        for name, entry in inner.items()
        if "properties" in entry
    ]
    return (
        "# Settings\n\n"
        f"Arguments of a command win over environment variables, these over `{CONFIG_FILE}` in the working folder, that over the"
        f" defaults. In `{CONFIG_FILE}` a setting has its name in lower case without the prefix: `port = 8700`."
        " `interlace doctor` prints the effective settings, secrets masked.\n\n"
        f"{table(['variable', 'type', 'default', 'meaning'], rows)}\n"
        'Lists are written `a, b` in a variable and `["a", "b"]` in the file.\n\n'
        "## Values of runs\n\n"
        "| variable | meaning |\n|---|---|\n"
        "| `INTERLACE_ENV_<NAME>` | A non-secret value, read as `env.<name>` (in lower case) and by ENV nodes;"
        f" wins over `[environments.<environment>]` of `{CONFIG_FILE}`. |\n"
        "| `INTERLACE_SECRETS_<NAME>` | A secret, read as `secrets.<name>` (in lower case) in fields marked secret. |\n\n"
        + "\n".join(parts)
    )  # fmt: skip


# -- validation codes --------------------------------------------------------------------------------------------------


def codes_page() -> str:
    """Every code of a validation problem."""
    text = (
        "# Validation codes\n\n`interlace validate FILE` reports all problems of a document at once, each with a code, the node,"
        " the field, the line and, where there is one, the fix. Errors block running and publishing, warnings do not.\n"
    )
    for title, group in codes.GROUPS.items():
        rows = [(code(name), entry.severity, entry.meaning) for name, entry in group.items()]
        text += f"\n## {title}\n\n{table(['code', 'severity', 'meaning'], rows)}"
    own = [(code(name), ", ".join(kinds)) for name, kinds in sorted(node_codes().items())]
    text += f"\n## Codes of node types\n\nA type's own check of its config; the message says what is wrong.\n\n{table(['code', 'types'], own)}"
    return text + (
        "\n## Inputs\n\n| code | severity | meaning |\n|---|---|---|\n"
        "| `inputs` | error | The inputs of a run do not fit the workflow's `inputs`. |\n"
    )


def node_codes() -> dict[str, list[str]]:
    """Codes that node types add, with the types."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "nodes").glob("*.py")):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Finding":
                for word in call.keywords:
                    if word.arg == "code" and isinstance(word.value, ast.Constant):
                        found.setdefault(str(word.value.value), set()).add(path.stem.upper())
    return {name: sorted(kinds) for name, kinds in found.items()}


# -- error kinds -------------------------------------------------------------------------------------------------------


def kinds_page() -> str:
    """Every kind of error at run time."""
    text = (
        "# Error kinds\n\n`error.type` of a failed node or run. `retry.on` names kinds and families (`http_5xx`); without `on` the"
        " kinds marked *retried* are retried ([errors and retries](../guide/errors.md)).\n"
    )
    for title, kinds in GROUPS.items():
        rows = [
            (code(kind), "retried" if is_retryable(kind) else "", meaning) for kind, meaning in kinds.items()
        ]
        text += f"\n## {title}\n\n{table(['error.type', '', 'meaning'], rows)}"
    return text + (
        "\n## Families\n\n| error.type | | meaning |\n|---|---|---|\n"
        "| `http_<status>` | 408, 425, 429 and 5xx are retried | The web server answered with that status. |\n"
        "| the class of an exception | | The code of a CODE node raised it: `ValueError`. |\n\n"
        "A database's `deadlock` and `serialization` are retried too, where the database says that nothing was changed.\n"
    )


# -- events ------------------------------------------------------------------------------------------------------------

EVENTS: dict[str, tuple[str, str]] = {
    "run.queued": ("The run exists and waits for a free place.", ""),
    "run.started": ("The run began, or a process took it over.", "inputs, variables"),
    "run.suspended": ("Everything that is left waits; no process holds the run.", "waiting, deadline"),
    "run.resumed": ("A suspended run goes on.", ""),
    "run.succeeded": ("The run ended well.", "outputs"),
    "run.failed": ("The run ended with an error.", "error"),
    "run.cancelled": ("Somebody cancelled the run.", "reason"),
    "node.started": ("An attempt began.", "effects"),
    "node.retrying": ("An attempt failed and another follows.", "error, delay"),
    "node.succeeded": ("The node has its outputs.", "outputs, handles, elapsed_ms, variables, kept, why"),
    "node.failed": ("The node failed for good.", "error, handled"),
    "node.skipped": ("The node does not run.", "reason, handles"),
    "node.suspended": (
        "The node waits: for a time, a person, a call or a child run; one with several requests gives each a `key`.",
        "id, kind, phase, until, request, hash, key, requests, …",
    ),
    "node.resumed": ("What the node waited for has come.", "id, phase, action, by, hash"),
    "node.cancelled": ("The node was interrupted.", ""),
    "node.unknown": ("An attempt was interrupted and its outcome is unknown.", "effects"),
    "node.delta": (
        "A piece of a text that is being made; what several pieces of a moment add up to.",
        "text, reasoning, restart, step",
    ),
    "node.log": ("A line of the run's log.", "message"),
    "iteration.item": ("An item of an ITERATION is done.", "index, status"),
    "loop.round": ("A round of a LOOP is done.", "round, variables"),
    "call.recorded": (
        "An answer from outside, in a recorded run.",
        "service, request, hash, answer, error",
    ),
    "model.finished": (
        "An agent's model has answered; `step` counts the model calls (`3`; those of a delegate `2.0/1`).",
        "step, text, tool_calls, finish_reason, usage, model, prompt, elapsed, before, last, opening",
    ),
    "tool.started": (
        "An agent begins a call of a tool; `step` is the model call and the call's place in it (`3.0`).",
        "step, name, call, arguments, effects",
    ),
    "tool.finished": (
        "The call is over, or was not made: refused, not allowed, wrong arguments.",
        "step, name, call, arguments, text, value, is_error, elapsed_ms, usage, citations, hooks",
    ),
}


def events_page() -> str:
    """Every event of a run's journal."""
    rows = [
        (code(kind), meaning, ", ".join(code(d) for d in data.split(", ") if d))
        for kind, (meaning, data) in EVENTS.items()
    ]
    if set(EVENTS) != EVENT_TYPES:
        raise SystemExit(
            f"docs/reference_pages.py: events to add or remove: {sorted(set(EVENTS) ^ EVENT_TYPES)}"
        )
    return (
        "# Events\n\nA run's journal is a list of events. `interlace runs events RUN`, the live progress and"
        " `GET /api/v1/runs/{run_id}/events` read the same list. An event has `seq` (from 1, without gaps), `type`, `at` (Unix"
        " seconds), `path` of the node (`each[2].call`; empty for the run), `attempt` (from 1) and `data`.\n\n"
        f"{table(['type', 'meaning', 'data'], rows)}"
    )


# -- HTTP --------------------------------------------------------------------------------------------------------------


async def api_schema() -> tuple[dict[str, Any], dict[str, str]]:
    """The OpenAPI document of a server with default settings, and the scopes by `METHOD path`."""
    with tempfile.TemporaryDirectory() as home:
        platform = await Platform.open(Settings(home=Path(home)))
        try:
            app = create_app(platform)
            scopes = {
                f"{method} {route.path_format}": ", ".join(code(scope) for scope in declared(route) or ())
                for route in routes_of(app)
                for method in route.methods or ()
            }
            return app.openapi(), scopes
        finally:
            await platform.close()


_CONVENTIONS = """Browsers send the cookie of a [session](../guide/identity.md) instead of a key.

- **Pages.** Lists answer `{items, next_cursor}`; `?cursor=` with it gives the next page, null says that there is none. `limit` is the size of a page.
- **Once.** With an `Idempotency-Key` (1 to 255 characters) a POST is done once: the same request answers the same words with `Idempotency-Replayed: true` for a
  day, another request with the key 422 `idempotency_mismatch`, the same one while the first is at work 409 `idempotency_at_work`. Keys belong to the API key or session
  that sent them. Only what succeeded is kept; runs keep their key as long as a day at least, with the run.
- **Limits.** `RateLimit` and `RateLimit-Policy` say what is left; beyond it 429 with `Retry-After` ([hardening](../guide/hardening.md#limits-of-requests)).
- **Ids.** Answers carry `X-Request-Id`, the caller's own where it sent one; lines of the log have it as `request`.
"""


def routes_page() -> str:
    """Every route of the HTTP API."""
    schema, scopes = asyncio.run(api_schema())
    definitions = schema["components"]["schemas"]
    rows, details = [], ""
    for path, entry in schema["paths"].items():
        for method, operation in entry.items():
            title = f"{method.upper()} {path}"
            rows.append((code(title), scopes[title], _first(operation.get("description"))))
            details += _route(title, operation, definitions)
    return (
        "# HTTP API\n\nJSON over HTTP at the address of `interlace serve`; the OpenAPI document is at `/openapi.json`."
        " Send an API key as `Authorization: Bearer il_…`: `interlace user key create` makes one, and `owner.key` in"
        " `INTERLACE_HOME` holds the owner's. Errors are `application/problem+json` with a stable `code`; a bad document or bad inputs"
        f" answer 422 with all `problems`.\n\n{_CONVENTIONS}\n{table(['route', 'scopes', 'does'], rows)}\n## Scopes\n\n"
        "A key made with `--scope` may do nothing else; without, it has all (`*`). `runs:*` is every scope of runs. A missing one is"
        f" answered 403 `missing_scope`.\n\n{table(['scope', 'allows'], [(code(n), m) for n, m in SCOPES.items()])}\n## Problem codes\n\n"
        f"{table(['code', 'status'], [(code(name), status) for name, status in sorted(problem_codes())])}{details}"
    )


def problem_codes() -> set[tuple[str, int]]:
    """Every `code` of the API with its status: written out in the server, or of the store's errors."""
    found = {(kind.code, _STATUS.get(kind.code, 400)) for kind in _kinds_of(StoreError)}
    for path in (ROOT / "server").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "id", getattr(call.func, "attr", "")) in {
                "ApiError",
                "problem",
            }:
                values = [argument.value for argument in call.args[:2] if isinstance(argument, ast.Constant)]
                if len(values) == 2:  # noqa: PLR2004 - status and code
                    found.add((str(values[1]), int(str(values[0]))))
    return found


def _kinds_of(kind: type[StoreError]) -> Iterator[type[StoreError]]:
    yield kind
    for inner in kind.__subclasses__():
        yield from _kinds_of(inner)


def _route(title: str, operation: dict[str, Any], definitions: dict[str, Any]) -> str:
    rows = [
        (code(p["name"]), p["in"], "required" if p.get("required") else as_json(p["schema"].get("default")),
         p.get("description", p["schema"].get("description", "")))
        for p in operation.get("parameters", ())
    ]  # fmt: skip
    for content in operation.get("requestBody", {}).get("content", {}).values():
        name = content["schema"].get("$ref", "").rpartition("/")[2]
        model = definitions.get(name, {})
        required = model.get("required", ())
        rows += [
            (
                code(field),
                "body",
                "required" if field in required else as_json(entry.get("default")),
                entry.get("description", ""),
            )
            for field, entry in model.get("properties", {}).items()
        ]
    return f"\n## {title}\n\n{operation.get('description', '')}\n\n{table(['parameter', 'in', 'default', 'meaning'], rows)}"
