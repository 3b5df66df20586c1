"""Dify's code: Python is kept word for word, JavaScript is translated; a placeholder where that is not certain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from interlace.importers.build import Graph, spread
from interlace.importers.dify.context import Context, Kind
from interlace.importers.dify.file import DifyNode
from interlace.importers.dify.nodes.common import apply_policies, nullable, outputs, schema_of
from interlace.importers.expressions import Ref, whole
from interlace.importers.foreign import Json, at, mapping, objects, text
from interlace.importers.javascript.python import NotPython, with_main
from interlace.importers.javascript.python.expressions import Writer
from interlace.importers.javascript.syntax import Js
from interlace.importers.placeholder import failing_code
from interlace.importers.python_code import fault_of, foreign_imports, tidy_code

_OUTPUT = outputs({}, texts=frozenset())


def convert(node: DifyNode, ctx: Context, graph: Graph) -> str:
    """CODE with the same `main`."""
    source = text(node.data.get("code"))
    language = text(node.data.get("code_language")) or "python3"
    config = _config(source, language, node, ctx)
    inputs = {
        text(entry.get("variable")): whole(ctx.ref(entry.get("value_selector"), node))
        for entry in objects(node.data.get("variables"))
        if text(entry.get("variable"))
    }
    schema = _schema(node)
    step = ctx.step(node, "CODE", spread({**config, "inputs": inputs, "output_schema": schema}))
    apply_policies(step, node, ctx)
    graph.add(step)
    return node.name


def _config(source: str, language: str, node: DifyNode, ctx: Context) -> Json:
    if language.startswith("python"):
        fault = fault_of(source)
        if fault is None:
            return _python(source, node, ctx)
        reason = f"its Python cannot be used: {fault}"
    else:
        made, why = _translated(source, node)
        if made:
            ctx.say(
                "changed", "javascript_to_python",
                "The JavaScript was translated to Python, with JavaScript's rules below it; local time is UTC.", node,
            )  # fmt: skip
            return {"code": made}
        reason = f"it is written in {language}; write it anew in Python ({why})"
    message = f"The code of {node.title!r} was not carried over: {reason}."
    ctx.say(
        "unsupported", "code_language" if not language.startswith("python") else "code_syntax", message, node
    )
    return failing_code(message, source, language=language)


def _python(source: str, node: DifyNode, ctx: Context) -> Json:
    """The code as it is, without imports of what it does not use and the sandbox does not have."""
    kept, dropped, needed = foreign_imports(source)
    wanted = sorted(
        {
            *needed,
            *(
                text(one.get("name"))
                for one in objects(node.data.get("dependencies"))
                if text(one.get("name"))
            ),
        }
    )
    if dropped:
        ctx.say(
            "changed",
            "unused_import",
            f"Imports that the code does not use were left out: {', '.join(dropped)}.",
            node,
        )
    if wanted:
        ctx.say(
            "decision", "packages",
            f"The code uses packages that an operator has to allow: {', '.join(wanted)}. They stand under `packages`.", node,
        )  # fmt: skip
    return spread({"code": tidy_code(kept), "packages": wanted})


class _NoNames:
    """A program of Dify's has no names but its own."""

    def value(self, js: Js, writer: Writer) -> None:
        """Nothing."""
        del js, writer


def _translated(source: str, node: DifyNode) -> tuple[str, str]:
    """JavaScript as Python, and why there is none."""
    names = [text(entry.get("variable")) for entry in objects(node.data.get("variables"))]
    try:
        return with_main(source, _NoNames(), names), ""
    except NotPython as error:
        return "", str(error)


def _schema(node: DifyNode) -> Json | None:
    fields = {
        name: nullable(schema_of(at(entry, "type"), children=at(entry, "children")))
        for name, entry in mapping(node.data.get("outputs")).items()
    }
    return {"type": "object", "required": list(fields), "properties": fields} if fields else None


def output(node: DifyNode, keys: Sequence[str], ctx: Context) -> Ref:
    """The fields of the result."""
    found = _OUTPUT(node, keys, ctx)
    declared = text(at(mapping(node.data.get("outputs")).get(keys[0] if keys else ""), "type"))
    if keys and declared == "string" and len(keys) == 1:
        return Ref(found.code, written=True)
    if not keys or declared or keys[0] in ("error_message", "error_type"):
        return found
    ctx.say(
        "changed",
        "dangling_reference",
        f"{keys[0]} of {node.title!r} is read, which its code does not declare.",
        node,
    )
    return Ref("none")


KINDS: Final = {"code": Kind(convert, output, fallback="code")}
