"""Small node types with the shapes that matter to the validator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from interlace.engine.document import NodeSpec
from interlace.engine.fields import Bare, Data, Dynamic, Expression, In, Lazy, Secret
from interlace.engine.node import Config, Finding, Node, OpenOutput, Output, TypeContext
from interlace.engine.registry import Registry
from interlace.engine.schema import Schema


class Empty(Config):
    pass


class Start(Node[Empty, OpenOutput]):
    kind = "START"

    def output_schema(self, types: TypeContext) -> Schema:
        return types.document.inputs


class EndConfig(Config):
    outputs: Dynamic[dict[str, Data]] = Field(default_factory=dict)


class End(Node[EndConfig, OpenOutput]):
    kind = "END"

    def handles(self) -> tuple[str, ...]:
        return ()

    def output_schema(self, types: TypeContext) -> Schema:
        return types.infer(self.config.outputs)


class TemplateConfig(Config):
    template: Annotated[str, Expression("template", lazy=True)]
    format: Literal["text", "html"] = "text"


class Text(Output):
    text: str


class Template(Node[TemplateConfig, Text]):
    kind = "TEMPLATE"


class CaseConfig(Config):
    id: str
    when: Bare | None = None
    left: Lazy[Data] = None
    operator: str | None = None


class ConditionConfig(Config):
    cases: list[CaseConfig] = Field(min_length=1)
    mode: Literal["first", "every"] = "first"


class Matched(Output):
    matched: str


class Condition(Node[ConditionConfig, Matched]):
    kind = "CONDITION"

    def handles(self) -> tuple[str, ...]:
        return (*(case.id for case in self.config.cases), "else")

    def exclusive(self) -> bool:
        return self.config.mode == "first"


class HumanConfig(Config):
    title: Dynamic[str]
    form: dict[str, Any] | None = None
    actions: list[str] = Field(default_factory=lambda: ["approve", "reject"])


class Human(Node[HumanConfig, OpenOutput]):
    kind = "HUMAN"

    def handles(self) -> tuple[str, ...]:
        return (*self.config.actions, "timeout")

    def output_schema(self, types: TypeContext) -> Schema:
        form = self.config.form or {"type": "object"}
        return {
            "type": "object",
            "properties": {"action": {"type": "string"}, "form": form},
            "required": ["action"],
        }


class HttpConfig(Config):
    url: Dynamic[str]
    headers: Secret[dict[str, str]] = Field(default_factory=dict)
    attempts: Dynamic[int] = Field(1, ge=1, le=5)
    tags: Dynamic[list[str]] | None = None
    response_schema: dict[str, Any] | None = None


class HttpOutput(Output):
    status: int
    body: Data


class Http(Node[HttpConfig, HttpOutput]):
    kind = "HTTP"

    def output_schema(self, types: TypeContext) -> Schema:
        body = self.config.response_schema or {}
        return {
            "type": "object",
            "properties": {"status": {"type": "integer"}, "body": body},
            "required": ["status", "body"],
        }

    def check(self, spec: NodeSpec) -> Iterator[Finding]:
        if not isinstance(self.config.url, str) or not self.config.url.startswith(("http", "{{")):
            yield Finding(code="bad_url", field="config.url", message="no URL", fix="Write https://….")


class ListConfig(Config):
    input: Dynamic[list[Any]]
    filter: Annotated[Bare | None, In("item")] = None


class ListOutput(Output):
    result: list[Any]


class ListOperation(Node[ListConfig, ListOutput]):
    kind = "LIST_OPERATION"


class IterationConfig(Config):
    items: Dynamic[list[Any]]
    output: Annotated[Data, Expression(lazy=True), In("body")] = None
    parallel: Dynamic[int] = 1


class Iteration(Node[IterationConfig, OpenOutput]):
    kind = "ITERATION"
    container = True

    def body_names(self, types: TypeContext) -> Mapping[str, Schema]:
        return {"item": types.infer(self.config.items).get("items", {}), "index": {"type": "integer"}}

    def output_schema(self, types: TypeContext) -> Schema:
        entry = types.infer_in_body(self.config.output)
        return {
            "type": "object",
            "properties": {"results": {"type": "array", "items": entry}},
            "required": ["results"],
        }


class LoopConfig(Config):
    variables: Dynamic[dict[str, Data]] = Field(default_factory=dict)
    until: Annotated[Bare | None, In("body")] = None
    max_rounds: int


class Loop(Node[LoopConfig, OpenOutput]):
    kind = "LOOP"
    container = True

    def body_names(self, types: TypeContext) -> Mapping[str, Schema]:
        loop = {"type": "object", "properties": {"round": {"type": "integer"}, "first": {"type": "boolean"}}}
        return {**{name: {} for name in self.config.variables}, "loop": loop}

    def output_schema(self, types: TypeContext) -> Schema:
        names = [*self.config.variables, "rounds"]
        return {"type": "object", "properties": {name: {} for name in names}, "required": names}


class Assignment(Config):
    variable: str
    op: Literal["set", "append", "increment", "merge", "remove"] = "set"
    value: Lazy[Data] = None


class AssignConfig(Config):
    assignments: list[Assignment] = Field(min_length=1)


class Assign(Node[AssignConfig, OpenOutput]):
    kind = "VARIABLE_ASSIGN"


class AggregatorConfig(Config):
    values: Lazy[list[Data]]


class Aggregator(Node[AggregatorConfig, OpenOutput]):
    kind = "VARIABLE_AGGREGATOR"


class CallConfig(Config):
    workflow: str
    version: Literal["published", "latest"] | int = "published"
    inputs: Dynamic[dict[str, Data]] = Field(default_factory=dict)


class Call(Node[CallConfig, OpenOutput]):
    kind = "SUB_WORKFLOW"

    def output_schema(self, types: TypeContext) -> Schema:
        return types.child_outputs(self.config.workflow, self.config.version)


TYPES = (
    Start,
    End,
    Template,
    Condition,
    Human,
    Http,
    ListOperation,
    Iteration,
    Loop,
    Assign,
    Aggregator,
    Call,
)


def make_registry() -> Registry:
    """All of them."""
    registry = Registry()
    for node_type in TYPES:
        registry.add(node_type)
    return registry
