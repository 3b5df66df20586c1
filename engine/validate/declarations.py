"""Checks what the document declares outside its nodes: inputs, variables, triggers."""

from __future__ import annotations

from interlace.engine.document import Variable
from interlace.engine.source.wording import described
from interlace.engine.validate.graph import END, Graph
from interlace.engine.validate.names import closed_properties
from interlace.engine.validate.report import Report
from interlace.engine.validate.schemas import flaws
from interlace.engine.validate.triggers import check_triggers

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
    check_triggers(graph, report)


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
