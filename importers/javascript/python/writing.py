"""A whole program as Python: its `main`, and of the rules those that it needs."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Final

from interlace.importers.javascript.program_parser import parse_statements
from interlace.importers.javascript.python.calls import REQUIRED
from interlace.importers.javascript.python.expressions import Code, Host, Writer
from interlace.importers.javascript.python.scopes import NotPython, Scope
from interlace.importers.javascript.python.statements import Body, function_lines, is_list_of_one, leaves
from interlace.importers.javascript.syntax import (
    Bind,
    BindFields,
    Block,
    Declare,
    Function,
    If,
    Js,
    NotJavaScript,
    Record,
    Return,
    Statement,
    Try,
)

__all__ = ["Code", "Host", "NotPython", "Program", "Writer", "read", "translated"]
_RULES: Final = ("values", "patterns", "lists", "texts", "numbers", "objects", "dates", "items")
_LONGEST: Final = 30_000


@dataclass(frozen=True, slots=True)
class Program:
    """A program that was read. `single` tells that it always returns one object, `listed` that it stands in a list."""

    statements: tuple[Statement, ...]
    single: bool = False


def read(source: str) -> Program:
    """The program.

    Raises:
        NotPython: it cannot be read.
    """
    if len(source) > _LONGEST:
        raise NotPython("it is too long")
    try:
        statements = parse_statements(source)
    except NotJavaScript as error:
        raise NotPython(str(error)) from None
    except RecursionError:
        raise NotPython("it is nested too deep") from None
    statements = tuple(one for one in statements if not _loads_crypto(one))
    found = list(_returns(Block(statements)))
    single = (
        leaves(statements)
        and bool(found)
        and all(isinstance(one, Record) or is_list_of_one(one) for one in found)
    )
    return Program(statements, single)


def _loads_crypto(statement: Statement) -> bool:
    """`const crypto = require('crypto')`, which needs no loading here."""
    return isinstance(statement, Declare) and statement.bindings == ((Bind("crypto"), REQUIRED),)


def _returns(block: Block) -> list[Js | None]:
    """What the `return`s of a program return; those of its functions are their own."""
    made: list[Js | None] = []
    for statement in block.statements:
        if isinstance(statement, Return):
            made.append(statement.value)
        elif isinstance(statement, If):
            made += _returns(statement.then) + (_returns(statement.otherwise) if statement.otherwise else [])
        elif isinstance(statement, Try):
            blocks = [one for one in (statement.body, statement.handler, statement.final) if one is not None]
            made += [value for one in blocks for value in _returns(one)]
        elif isinstance(statement, Block):
            made += _returns(statement)
        elif hasattr(statement, "body") and not isinstance(statement, Function):
            made += _returns(statement.body)
        elif hasattr(statement, "cases"):
            made += [value for _, body in statement.cases for value in _returns(body)]
    return made


def translated(
    program: Program, host: Host, *, parameters: Sequence[str], main: str, name: str = "program"
) -> str:
    """The program as a function, `main` before it, and below it the rules that both need.

    Args:
        program: what was read.
        host: the product's own names.
        parameters: the Python names that the function takes.
        main: the text of `main`, which calls the function.
        name: what the function is called.

    Raises:
        NotPython: something of it has no certain counterpart.
    """
    scope = Scope()
    scope.used |= {*parameters, name}
    body = Body(scope, host)
    lines = body.block(program.statements)
    if not leaves(program.statements):
        lines.append("return undefined")
    text = "\n".join(f"    {line}" for line in "\n".join(lines).split("\n"))
    return finished(f"{main}\n\ndef {name}({', '.join(parameters)}):\n{text}\n")


def with_main(source: str, host: Host, names: Sequence[str]) -> str:
    """A program of functions of which one is `main`, with the parameters of our `main` by name.

    Raises:
        NotPython: there is no `main`, or something has no certain counterpart.
    """
    program = read(source)
    mains = [one for one in program.statements if isinstance(one, Function) and one.name == "main"]
    if len(mains) != 1:
        raise NotPython("it has no function main")
    main = mains[0]
    target = main.parameters[0] if len(main.parameters) == 1 else None
    fields = (
        [inner for _, inner in target.fields] if isinstance(target, BindFields) else list(main.parameters)
    )
    if main.rest or not all(isinstance(one, Bind) for one in fields):
        raise NotPython("parameters of main that are no plain names")
    scope = Scope()
    scope.used |= {"main", *names}
    body = Body(scope, host)
    renamed = Function("program", tuple(fields), None, main.body)
    lines = body.flow([one for one in program.statements if one is not main])
    lines += function_lines(renamed, "program", scope, host)
    keys = (
        [key for key, _ in target.fields]
        if isinstance(target, BindFields)
        else [one.name for one in fields if isinstance(one, Bind)]
    )
    given = ", ".join(f"inputs.get({key!r}, undefined)" for key in keys)
    return finished(
        f"def main(**inputs):\n    return js_plain(program({given}))\n\n" + "\n".join(lines) + "\n",
        rules_first=True,
    )


def finished(source: str, *, rules_first: bool = False) -> str:
    """The text with the rules that it needs below it, or above where they are needed at once; as Python is usually written."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise NotPython(f"it has no form in Python ({error})") from None
    needed = _needed({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})
    imports = [rule for rule in needed if isinstance(rule, ast.Import)]
    functions = [rule for rule in needed if not isinstance(rule, ast.Import)]
    own = _separate(tree.body)
    rules = ["# JavaScript's rules", *_separate(functions)] if functions else []
    first, second = (rules, own) if rules_first else (own, rules)
    head = [*(ast.unparse(one) for one in imports), *([""] if imports else [])]
    return "\n".join([*head, *first, "", "", *second]).strip("\n") + "\n"


def _separate(nodes: Sequence[ast.stmt]) -> list[str]:
    made: list[str] = []
    for node in nodes:
        if made and isinstance(node, ast.FunctionDef | ast.ClassDef):
            made += ["", ""]
        made.append(ast.unparse(node))
    return made


def _needed(names: set[str]) -> list[ast.stmt]:
    rules = _rules()
    found: dict[str, ast.stmt] = {}
    waiting = [name for name in names if name in rules]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = rules[name]
            waiting += [
                node.id for node in ast.walk(rules[name]) if isinstance(node, ast.Name) and node.id in rules
            ]
    unique = {id(node): node for node in found.values()}
    order = {id(node): place for place, node in enumerate(rules.values())}
    return sorted(unique.values(), key=lambda node: (not isinstance(node, ast.Import), order[id(node)]))


@lru_cache(maxsize=1)
def _rules() -> dict[str, ast.stmt]:
    """The rules by name, without annotations, in the order of the files."""
    found: dict[str, ast.stmt] = {}
    folder = resources.files("interlace.importers.javascript.rules")
    for module in _RULES:
        for node in ast.parse((folder / f"{module}.py").read_text("utf-8")).body:
            if isinstance(node, ast.Import):
                found.setdefault(node.names[0].name.split(".")[0], node)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                found[node.name] = _Plain().visit(node)
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                found[node.targets[0].id] = node
    return found


class _Plain(ast.NodeTransformer):
    """Takes annotations away."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.returns = None
        for argument in (
            *node.args.args,
            *node.args.kwonlyargs,
            *filter(None, (node.args.vararg, node.args.kwarg)),
        ):
            argument.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        assert node.value is not None
        return ast.copy_location(ast.Assign([node.target], node.value, lineno=node.lineno), node)
