"""TEMPLATE: text made from a template and earlier outputs."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

import orjson
from pydantic import Field

from interlace.engine.errors import NodeError
from interlace.engine.expressions import compile_template
from interlace.engine.fields import Expression
from interlace.engine.json_text import read_json
from interlace.engine.node import Config, Node, OpenOutput, RunContext, TypeContext
from interlace.engine.schema import Schema

Format = Literal["text", "markdown", "html", "json"]
_SHOWN = 60


class TemplateConfig(Config):
    """The template and what it makes."""

    template: Annotated[str, Expression("template", lazy=True)] = Field(
        title="Template",
        description="Text with {{ expressions }}, {% if %} and {% for %}.",
        examples=["Dear {{ inputs.name }},\n{% for line in order.lines %}- {{ line.title }}\n{% endfor %}"],
        json_schema_extra={"widget": "template"},
    )
    format: Format = Field(
        "text",
        title="Format",
        description="What the template makes: text, markdown, html (values are escaped) or json (the text is parsed into"
        " `data`; write values with `| tojson`).",
        examples=["markdown"],
    )


class TemplateOutput(OpenOutput):
    """`text`, or `data` where the format is json."""


class Template(Node[TemplateConfig, TemplateOutput]):
    """Write a text from a template and earlier results."""

    kind = "TEMPLATE"
    group, icon = "data", "file-text"
    example: ClassVar[dict[str, Any]] = {"template": "Hello {{ inputs.name }}!", "format": "text"}

    @cached_property
    def _template(self) -> Any:
        return compile_template(self.config.template, autoescape=self.config.format == "html")

    def output_schema(self, types: TypeContext) -> Schema:
        """`text`, or `data` of unknown type for json."""
        del types
        if self.config.format == "json":
            return {"type": "object", "properties": {"data": {}}, "required": ["data"]}
        return {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}

    def run(self, config: TemplateConfig, ctx: RunContext) -> TemplateOutput:
        """Render the template.

        Raises:
            NodeError: a reference is missing, the template fails, or its result is no JSON where JSON is asked for.
        """
        text: str = self._template.evaluate(ctx.names)
        if config.format != "json":
            return TemplateOutput(text=text)
        try:
            return TemplateOutput(data=read_json(text))
        except orjson.JSONDecodeError as error:
            raise _no_json(text, error) from None


def _no_json(text: str, error: orjson.JSONDecodeError) -> NodeError:
    near = text[max(0, error.pos - _SHOWN // 2) : error.pos + _SHOWN // 2]
    return NodeError(
        f"the template made no valid JSON: {error.msg.partition(':')[0]} near {near!r}; write values with the filter tojson:"
        " {{ name | tojson }}, without quotes around it",
        kind="invalid_json",
    )
