"""Checks what the document declares outside its nodes: inputs, variables, triggers."""

from __future__ import annotations

from typing import Any

from interlace.engine.document import Variable
from interlace.engine.expressions import ExpressionError, SyntaxProblem, compile_text
from interlace.engine.source.wording import described
from interlace.engine.validate.graph import END, Graph
from interlace.engine.validate.names import closed_properties
from interlace.engine.validate.report import Report
from interlace.engine.validate.schemas import flaws

TRIGGERS = ("manual", "cron", "webhook", "chat", "event")
_STARTED_BY_HAND = frozenset({"manual", "chat"})
_TRIGGER_NAMES = frozenset({"trigger", "env", "run"})
_PYTHON: dict[str, tuple[type, ...]] = {
    "string": (str,), "number": (int, float), "integer": (int,), "boolean": (bool,), "array": (list,), "object": (dict,),
}  # fmt: skip


def check_declarations(graph: Graph, report: Report) -> None:
    """Check the schema of the inputs, the defaults of variables and the fields of triggers; note a sound schema."""
    document = graph.document
    kind = document.inputs.get("type", "object")
    if kind != "object":
        report.add(
            "bad_schema",
            f"inputs must be the schema of an object, not of {kind!r}.",
            field="inputs.type",
            fix="Write type: object.",
        )
    found = list(flaws(document.inputs))
    for flaw in found:
        field = f"inputs.{flaw.path}" if flaw.path else "inputs"
        report.add(flaw.code, flaw.message, field=field, fix=flaw.fix)
    if not any(flaw.code == "bad_schema" for flaw in found):
        graph.inputs = document.inputs
    for name, variable in document.variables.items():
        if not _fits(variable):
            report.add(
                "bad_default", f"The variable {name!r} is declared as {variable.type}, but its default is {described(variable.default)}.",
                field=f"variables.{name}.default",
            )  # fmt: skip
    if document.settings.chat:
        _check_chat(graph, report)
    for index, trigger in enumerate(document.triggers):
        _check_trigger(trigger, f"triggers[{index}]", report)


def _check_chat(graph: Graph, report: Report) -> None:
    """A session gives `message` and shows `answer`."""
    properties = closed_properties(graph.inputs)
    if properties is not None and "message" not in properties:
        report.add(
            "chat_message", "settings.chat is true, but the inputs do not declare 'message', which every turn gives.",
            field="inputs.properties", fix="Add message: {type: string}.",
        )  # fmt: skip
    ends = [spec.config.get("outputs") for spec in graph.document.nodes if spec.type == END]
    if ends and all(isinstance(outputs, dict) and "answer" not in outputs for outputs in ends):
        report.add(
            "chat_answer", "settings.chat is true, but no END gives the output 'answer', which the session shows.",
            field="settings.chat", fix="Add answer: … to the outputs of an END.",
        )  # fmt: skip


def _fits(variable: Variable) -> bool:
    value = variable.default
    if value is None or variable.type == "any":
        return True
    if isinstance(value, bool):
        return variable.type == "boolean"
    if variable.type == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _PYTHON[variable.type])


def _check_trigger(trigger: dict[str, Any], field: str, report: Report) -> None:
    kind = trigger.get("type")
    if kind not in TRIGGERS:
        guess = report.nearest(kind, TRIGGERS) if isinstance(kind, str) else None
        report.add(
            "bad_trigger", f"A trigger's type is one of {', '.join(TRIGGERS)}, not {described(kind)}.", field=f"{field}.type",
            fix=f"Did you mean {guess!r}?" if guess else None,
        )  # fmt: skip
    elif kind not in _STARTED_BY_HAND:
        report.add(
            "inactive_trigger", f"Triggers are kept, but this version does not start runs by them: {kind}.", field=field,
            fix="Start runs with interlace run or over the HTTP API.",
        )  # fmt: skip
    inputs = trigger.get("inputs")
    if inputs is not None and not isinstance(inputs, dict):
        report.add(
            "bad_trigger",
            f"inputs of a trigger is a mapping of names to values, not {described(inputs)}.",
            field=f"{field}.inputs",
        )
        return
    for name, value in (inputs or {}).items():
        if isinstance(value, str) and "{{" in value:
            _check_mapping(value, f"{field}.inputs.{name}", report)


def _check_mapping(value: str, field: str, report: Report) -> None:
    try:
        references = compile_text(value).references
    except SyntaxProblem as error:
        report.add("expression_syntax", f"{error.problem}.", field=field, inner=error.line - 1)
        return
    except ExpressionError as error:
        report.add("expression_syntax", f"{error.message}.", field=field)
        return
    for reference in references:
        if reference.root == "secrets":
            report.add(
                "secret_leak", "A secret would flow into the inputs of runs, where it is shown.", field=field
            )
        elif reference.root not in _TRIGGER_NAMES:
            report.add(
                "unknown_name",
                f"A trigger cannot read {reference.root!r}.",
                field=field,
                fix="It reads trigger, env and run.",
            )
