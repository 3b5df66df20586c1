"""CODE: Python of the user's own, in a sandbox."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from interlace.engine.document import Effects, JsonSchema, NodeSpec
from interlace.engine.errors import NodeError
from interlace.engine.expressions.values import described
from interlace.engine.fields import Data, Dynamic
from interlace.engine.json_schema import problems_of
from interlace.engine.node import Config, Finding, Node, OpenOutput, RunContext, TypeContext
from interlace.engine.protocols import CodeRunner
from interlace.engine.schema import Schema

META: Schema = {
    "type": "object",
    "description": "What the code printed and what it cost.",
    "properties": {"stdout": {"type": "string"}, "stderr": {"type": "string"}, "cpu_ms": {"type": "number"}},
    "required": ["stdout", "stderr", "cpu_ms"],
}
_MAX_CODE = 256 * 1024
_FunctionDef = ast.FunctionDef | ast.AsyncFunctionDef


class CodeLimits(Config):
    """What one run of the code may use."""

    seconds: float = Field(
        60,
        gt=0,
        le=86_400,
        title="Time",
        description="Longest time of one run.",
        examples=[120],
        json_schema_extra={"unit": "s"},
    )
    memory_mb: int = Field(
        512, ge=16, le=65_536, title="Memory", description="Most memory the code may hold.", examples=[2048],
        json_schema_extra={"unit": "MB"},
    )  # fmt: skip
    output_mb: float = Field(
        10,
        gt=0,
        le=1024,
        title="Output",
        description="Largest result, as JSON.",
        examples=[50],
        json_schema_extra={"unit": "MB"},
    )


class CodeConfig(Config):
    """The code, its inputs and what it may do."""

    language: Literal["python"] = Field(
        "python", title="Language", description="Language of the code.", examples=["python"]
    )
    code: str = Field(
        min_length=1,
        max_length=_MAX_CODE,
        title="Code",
        description="Python with a function `main`; its parameters are the inputs by name, and the object it returns gives the"
        " outputs. What it prints is kept beside them in `meta.stdout`.",
        examples=["def main(orders):\n    return {'total': sum(order['price'] for order in orders)}"],
        json_schema_extra={"widget": "code", "code_language": "python"},
    )
    inputs: Dynamic[dict[str, Data]] = Field(
        default_factory=dict,
        title="Inputs",
        description="Arguments of `main` by name. The code sees these values and nothing else of the run.",
        examples=[{"orders": "{{ fetch.body.orders }}"}],
    )
    output_schema: JsonSchema | None = Field(
        None,
        title="Output schema",
        description="JSON Schema of the returned object; enforced, and used to check the references to this node. Without it"
        " every field is allowed.",
        examples=[{"type": "object", "required": ["total"], "properties": {"total": {"type": "number"}}}],
        json_schema_extra={"widget": "schema"},
    )
    sandbox: Literal["full", "fast"] = Field(
        "full",
        title="Sandbox",
        description="full: all of CPython and its standard library. fast: a subset of Python that starts at once, for short"
        " snippets.",
        examples=["fast"],
    )
    packages: list[str] = Field(
        default_factory=list,
        title="Packages",
        description="Further packages the code imports, out of those the operator allows; sandbox `full` only.",
        examples=[["numpy"]],
    )
    network: bool = Field(
        False,
        title="Network",
        description="Let the code open connections; refused unless the operator sets `INTERLACE_CODE_NETWORK`. The node then counts as acting outside:"
        " an interrupted attempt is not repeated by itself.",
        examples=[True],
    )
    limits: CodeLimits = Field(
        default_factory=CodeLimits,
        title="Limits",
        description="What one run may use.",
        examples=[{"seconds": 120}],
    )


class CodeOutput(OpenOutput):
    """The fields of the returned object, and `meta`."""


class Code(Node[CodeConfig, CodeOutput]):
    """Run Python of your own in a sandbox."""

    kind = "CODE"
    group, icon = "code", "code"
    incidental = ("meta.cpu_ms",)
    timeout = None  # limits.seconds ends the code, whatever it waited for before
    example: ClassVar[dict[str, Any]] = {
        "code": "def main(amount):\n    return {'double': amount * 2}",
        "inputs": {"amount": 21},
    }

    def effect(self) -> Effects:
        """Code with network may act outside; without, it can only compute."""
        return "once" if self.config.network else "none"

    def output_schema(self, types: TypeContext) -> Schema:
        """The declared schema, or any fields, with `meta` beside them."""
        del types
        declared = self.config.output_schema or {"type": "object", "additionalProperties": True}
        properties = {**declared.get("properties", {}), "meta": META}
        return {**declared, "properties": properties, "required": [*declared.get("required", ()), "meta"]}

    def check(self, spec: NodeSpec) -> Iterator[Finding]:
        """Read the code without running it: its syntax, its `main`, and whether the inputs fit."""
        del spec
        tree = _parse(self.config.code)
        if isinstance(tree, str):
            yield Finding(code="code_syntax", field="config.code", message=tree)
            return
        yield from _check_main(tree, self.config.inputs)
        if self.config.sandbox == "fast" and self.config.packages:
            yield Finding(
                code="code_packages",
                field="config.packages",
                message="sandbox 'fast' has no packages.",
                fix="Use sandbox: full.",
            )

    async def run(self, config: CodeConfig, ctx: RunContext) -> CodeOutput:
        """Run the code.

        Raises:
            NodeError: the code failed, went over a limit, or returned something else than its schema says.
        """
        result = await ctx.service(CodeRunner).run(
            config.code,
            config.inputs,
            seconds=config.limits.seconds,
            memory_mb=config.limits.memory_mb,
            output_mb=config.limits.output_mb,
            fast=config.sandbox == "fast",
            packages=config.packages,
            network=config.network,
        )
        value = result.value
        if not isinstance(value, Mapping):
            raise NodeError(
                f"main() must return an object (a dict), whose keys are the outputs; it returned {described(value)}",
                kind="bad_result",
            )
        if "meta" in value:
            raise NodeError(
                "main() returned a field 'meta', which is taken; give it another name", kind="bad_result"
            )
        if config.output_schema is not None:
            _enforce(config.output_schema, value)
        meta = {
            "stdout": result.stdout,
            "stderr": result.stderr,
            "cpu_ms": round(result.cpu_seconds * 1000, 3),
        }
        return CodeOutput(**{**value, "meta": meta})


def _enforce(schema: JsonSchema, value: Any) -> None:
    problems = problems_of(schema, value, "result")
    if problems:
        raise NodeError(
            f"what main() returned does not fit output_schema: {'; '.join(str(problem) for problem in problems)}",
            kind="output_schema",
        )


# -- the static check --------------------------------------------------------------------------------------------------


def _parse(code: str) -> ast.Module | str:
    """The syntax tree, or the problem in words."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code, "main.py")
    except SyntaxError as error:
        text = f": {error.text.strip()!r}" if error.text else ""
        return f"line {error.lineno}: {error.msg}{text}."
    except (ValueError, RecursionError, MemoryError) as error:
        return f"the code cannot be read: {str(error) or type(error).__name__}."


def _check_main(tree: ast.Module, inputs: Any) -> Iterator[Finding]:
    statements = list(_top_level(tree.body))
    mains = [s for s in statements if isinstance(s, _FunctionDef) and s.name == "main"]
    if not mains:
        if not any("main" in _bound(statement) for statement in statements):
            yield Finding(
                code="code_main",
                field="config.code",
                message="the code defines no function `main`.",
                fix="Write def main(...): and return a dict; its keys are the outputs.",
            )
        return
    if isinstance(inputs, dict):
        yield from _check_arguments(mains[-1], inputs)


def _check_arguments(main: _FunctionDef, inputs: Mapping[str, Any]) -> Iterator[Finding]:
    arguments = main.args
    plain = [*arguments.posonlyargs, *arguments.args]
    required = [a.arg for a in plain[: len(plain) - len(arguments.defaults)]]
    required += [a.arg for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is None]
    for name in required:
        if name not in inputs:
            yield Finding(
                code="code_inputs",
                field="config.inputs",
                message=f"main() on line {main.lineno} needs {name!r}, which is not among the inputs.",
                fix=f"Add {name} to inputs, or give the parameter a default.",
            )
    known = {a.arg for a in (*plain, *arguments.kwonlyargs)}
    if arguments.kwarg is None:
        for name in inputs:
            if name not in known:
                yield Finding(
                    code="code_inputs",
                    field=f"config.inputs.{name}",
                    message=f"main() on line {main.lineno} has no parameter {name!r}, so this input is not used.",
                    severity="warning",
                    fix=f"Add the parameter {name}, or remove the input.",
                )


def _top_level(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when the module is loaded, those inside if, try and with included."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If | ast.Try | ast.With):
            for name in ("body", "orelse", "finalbody"):
                yield from _top_level(getattr(statement, name, ()))
            for handler in getattr(statement, "handlers", ()):
                yield from _top_level(handler.body)


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement of another kind than def binds."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name for alias in statement.names}
    if isinstance(statement, ast.ClassDef):
        return {statement.name}
    return {
        part.id
        for part in ast.walk(statement)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
