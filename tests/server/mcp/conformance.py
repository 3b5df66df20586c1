"""A server for the conformance suite of the protocol: workflows that do what its scenarios ask for, as far as workflows can.

The suite wants tools of fixed names. What they cannot be here is told in `EXPECTED`: resources, prompts, sampling and
pictures, which a server of workflows does not offer.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from interlace.flows.settings import Settings
from tests.server.mcp.conftest import flow, publish
from tests.server.served import served

_SCHEMA = """
$schema: "https://json-schema.org/draft/2020-12/schema"
type: object
$defs:
  address: {$anchor: addressDef, type: object, properties: {street: {type: string}, city: {type: string}}}
properties: {name: {type: string}, address: {$ref: "#/$defs/address"}, contactMethod: {type: string, enum: [phone, email]}, phone: {type: string}, email: {type: string}}
allOf: [{anyOf: [{required: [phone]}, {required: [email]}]}]
if: {properties: {contactMethod: {const: phone}}, required: [contactMethod]}
then: {required: [phone]}
else: {required: [email]}
additionalProperties: false
"""


def human(name: str, title: str, fields: str, more: str = "") -> str:
    """A node that asks for some texts."""
    properties = ", ".join(f"{field}: {{type: string}}" for field in fields.split())
    return (
        f"  - {{id: {name}, type: HUMAN, config: {{title: '{title}', actions: [ok],"
        f" form: {{type: object, properties: {{{properties}}}}}}}{more}}}\n"
    )


def end(outputs: str) -> str:
    return f"  - {{id: done, type: END, config: {{outputs: {{text: '{outputs}'}}}}}}"


def asking(name: str, title: str, fields: str, outputs: str, inputs: str = "") -> str:
    return flow(
        name,
        human("ask", title, fields) + end(outputs),
        "start -> ask, ask.ok -> done, ask.timeout -> done",
        inputs,
    )


WAIT = 'wait: {until: "{{ now() | add_time(seconds=inputs.seconds) }}"}'
FLOWS = [
    flow("greet", end("Hello, {{ inputs.name }}!"), "start -> done", "name: {type: string}"),
    flow(
        "slow_compute", f"  - {{id: work, type: TEMPLATE, {WAIT}, config: {{template: 'done {{{{ inputs.label }}}}'}}}}\n" + end("{{ work.text }}"),
        "start -> work, work -> done", "seconds: {type: number}, label: {type: string, default: it}",
    ),
    flow(
        "failing_job", "  - {id: rest, type: TEMPLATE, wait: {for: 1s}, config: {template: x}}\n"
        '  - {id: bad, type: VARIABLE_ASSIGN, config: {assignments: [{variable: n, op: set, value: "{{ rest.text | int }}"}]}}\n' + end("{{ vars.n }}"),
        "start -> rest, rest -> bad, bad -> done", "", "variables: {n: {type: integer, default: 0}}",
    ),
    asking("confirm_delete", "Delete {{ inputs.filename }}?", "note", "deleted", "filename: {type: string}"),
    flow(
        "multi_input", human("one", "First?", "a") + human("two", "Second?", "b") + end("{{ one.form.a | default(1) }} {{ two.form.b | default(2) }}"),
        "start -> one, start -> two, one.ok -> done, two.ok -> done, one.timeout -> done, two.timeout -> done",
    ),
    flow("test_simple_text", end("This is a simple text response for testing."), "start -> done"),
    flow(
        "test_error_handling", '  - {id: bad, type: VARIABLE_ASSIGN, config: {assignments: [{variable: n, op: set, value: "{{ run.id | int }}"}]}}\n' + end("{{ vars.n }}"),
        "start -> bad, bad -> done", "", "variables: {n: {type: integer, default: 0}}",
    ),
    flow(
        "test_tool_with_progress", "  - {id: a, type: TEMPLATE, config: {template: x}}\n  - {id: b, type: TEMPLATE, config: {template: x}}\n" + end("{{ b.text }}"),
        "start -> a, a -> b, b -> done",
    ),
    asking("test_elicitation", "{{ inputs.message }}", "username email", "User response: {{ ask.form.username | default(1) }}", "message: {type: string}"),
    asking("test_input_required_result_elicitation", "What is your name?", "name", "Hello, {{ ask.form.name | default(1) }}!"),
    asking("test_input_required_result_request_state", "Please confirm", "name", "state-ok {{ ask.form.name | default(1) }}"),
    asking("test_input_required_result_tampered_state", "Please confirm", "name", "state-ok"),
    flow(
        "test_input_required_result_multi_round", human("one", "Step 1: What is your name?", "name") + human("two", "Step 2: What is your favorite color?", "color")
        + end("{{ one.form.name | default(1) }} {{ two.form.color | default(2) }}"),
        "start -> one, one.ok -> two, one.timeout -> done, two.ok -> done, two.timeout -> done",
    ),
    flow(
        "test_elicitation_sep1034_defaults", "  - {id: ask, type: HUMAN, config: {title: Defaults, actions: [ok], form: {type: object, properties: {"
        "name: {type: string, default: John Doe}, age: {type: integer, default: 30}, score: {type: number, default: 95.5},"
        " status: {type: string, enum: [active, inactive, pending], default: active}, verified: {type: boolean, default: true}}}}}\n"
        + end("{{ ask.action }}"), "start -> ask, ask.ok -> done, ask.timeout -> done",
    ),
    flow(
        "test_elicitation_sep1330_enums", "  - {id: ask, type: HUMAN, config: {title: Choices, actions: [ok], form: {type: object, properties: {"
        "untitledSingle: {type: string, enum: [option1, option2, option3]},"
        " titledSingle: {type: string, oneOf: [{const: value1, title: First Option}, {const: value2, title: Second Option}, {const: value3, title: Third Option}]},"
        " legacyEnum: {type: string, enum: [opt1, opt2, opt3], enumNames: [Option One, Option Two, Option Three]},"
        " untitledMulti: {type: array, items: {type: string, enum: [option1, option2, option3]}},"
        " titledMulti: {type: array, items: {anyOf: [{const: value1, title: First Choice}, {const: value2, title: Second Choice}, {const: value3, title: Third Choice}]}}}}}}\n"
        + end("{{ ask.action }}"), "start -> ask, ask.ok -> done, ask.timeout -> done",
    ),
    f"name: json_schema_2020_12_tool\ninputs:{_SCHEMA.replace(chr(10), chr(10) + '  ').rstrip()}\nnodes:\n  - {{id: start, type: START}}\n{end('ok')}\nedges: [start -> done]\n",
]  # fmt: skip


@contextlib.asynccontextmanager
async def conforming(home: Path) -> AsyncIterator[str]:
    """The address of a server that takes every request as its owner's: the suite sends no keys."""
    keys: list[str] = []

    def wrap(app: FastAPI) -> Any:
        async def with_key(scope: Any, receive: Any, send: Any) -> None:
            headers = [*scope.get("headers", ()), (b"authorization", f"Bearer {keys[0]}".encode())]
            await app({**scope, "headers": headers}, receive, send)

        return with_key

    settings = Settings(home=home, prefect="off")
    async with served(settings, wrap) as (app, url):
        for text in FLOWS:
            await publish(app.state.platform, text)
        _, key = await app.state.platform.store.keys.create("suite")
        keys.append(key)
        yield f"{url}/mcp"
