"""JavaScript statements as lines of Python."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from interlace.importers.javascript.python.binding import bind
from interlace.importers.javascript.python.counting import counted
from interlace.importers.javascript.python.expressions import Code, Host, Writer
from interlace.importers.javascript.python.scopes import NotPython, Scope, python_name
from interlace.importers.javascript.syntax import (
    Assign,
    Await,
    Bind,
    BindFields,
    Block,
    Call,
    Const,
    Declare,
    Delete,
    Do,
    For,
    ForEach,
    Function,
    If,
    Js,
    Jump,
    Member,
    Name,
    Return,
    Statement,
    Switch,
    Target,
    Throw,
    Try,
    Update,
)

Lines = list[str]
_LAZY: Final = {"??": "js_missing({})", "||": "not js_truthy({})", "&&": "js_truthy({})"}


@dataclass(slots=True)
class Body:
    """Writes the statements of one function. `steps` is what a `continue` has to do first in each loop around."""

    scope: Scope
    host: Host
    steps: list[Lines] = field(default_factory=list)

    def writer(self) -> Writer:
        """A writer of expressions for one statement."""
        return Writer(self.scope, self.host, written_function)

    def block(self, statements: Sequence[Statement], *, names: Sequence[str] = ()) -> Lines:
        """The lines of a block; functions first, as JavaScript has them from the beginning."""
        self.scope.blocks.append({})
        for name in names:
            self.scope.declare(name)
        made = self.flow(statements)
        self.scope.blocks.pop()
        return made or ["pass"]

    def flow(self, statements: Sequence[Statement]) -> Lines:
        """The lines of statements whose names stay known after them."""
        for statement in statements:
            self._announce(statement)
        made: Lines = []
        for statement in sorted(statements, key=lambda one: not isinstance(one, Function)):
            made += self.statement(statement)
        return made

    def _announce(self, statement: Statement) -> None:
        if isinstance(statement, Function) and statement.name:
            self.scope.declare(statement.name)
        elif isinstance(statement, Declare):
            for target, _ in statement.bindings:
                for name in names_of(target):
                    self.scope.declare(name, everywhere=statement.word == "var")

    def statement(self, statement: Statement) -> Lines:
        """The lines of one statement, after the functions that it needs."""
        return _WRITE[type(statement)](self, statement)

    # -- the kinds -----------------------------------------------------------------------------------------------------

    def declare(self, statement: Declare) -> Lines:
        """`const`, `let`, `var`."""
        made: Lines = []
        for target, value in statement.bindings:
            writer = self.writer()
            for name in names_of(target):
                self.scope.declare(name, everywhere=statement.word == "var")
            code = Code("undefined") if value is None else writer.value(value)
            if isinstance(target, Bind) and value is not None and statement.word == "const":
                self.scope.kinds[self.scope.own(target.name)] = code.kind
            made += [*writer.before, *bind(target, code.text, self)]
        return made

    def do(self, statement: Do) -> Lines:
        """An expression for what it does."""
        writer, js = self.writer(), statement.value
        while isinstance(js, Await):
            js = js.value
        if isinstance(js, Assign):
            lines = self.assigned(js, writer)
        elif isinstance(js, Update):
            lines = self.assigned(Assign(js.target, "+" if js.step > 0 else "-", Const(1)), writer)
        elif isinstance(js, Delete) and isinstance(js.target, Member):
            lines = [f"js_delete({writer.text(js.target.base)}, {_key(js.target, writer)})"]
        elif isinstance(js, Call) and (pushed := self._pushed(js, writer)) is not None:
            lines = [pushed]
        else:
            lines = [writer.text(js)]
        return [*writer.before, *lines]

    def _pushed(self, js: Call, writer: Writer) -> str | None:
        """`list.push(x)`, where it is certainly a list."""
        if not isinstance(js.callee, Member) or js.callee.key != Const("push") or len(js.arguments) != 1:
            return None
        owner = writer.value(js.callee.base)
        entry = writer.entry(js.arguments[0])
        return f"{owner.text}.append({entry})" if owner.kind == "list" and not entry.startswith("*") else None

    def assigned(self, js: Assign, writer: Writer) -> Lines:
        """An assignment."""
        if js.operator in _LAZY:
            test = _LAZY[js.operator].format(writer.text(js.target))
            return [f"if {test}:", *_in(self.assigned(Assign(js.target, "", js.value), writer))]
        value = writer.value(js.value)
        if js.operator:
            value = writer.arithmetic(writer.value(js.target), js.operator, value)
        if isinstance(js.target, Name):
            return [f"{self.scope.assigned(js.target.name)} = {value.text}"]
        if not isinstance(js.target, Member) or js.target.optional:
            raise NotPython("an assignment to something that is no field")
        return [f"js_put({writer.text(js.target.base)}, {_key(js.target, writer)}, {value.text})"]

    def nested(self, statement: Block) -> Lines:
        """A block of its own."""
        return self.block(statement.statements)

    def condition(self, statement: If) -> Lines:
        """`if`."""
        writer = self.writer()
        test = writer.truth(statement.test)
        made = [*writer.before, f"if {test}:", *_in(self.block(statement.then.statements))]
        if statement.otherwise is not None:
            rest = self.block(statement.otherwise.statements)
            chained = len(statement.otherwise.statements) == 1 and rest[0].startswith("if ")
            made += [f"el{rest[0]}", *rest[1:]] if chained else ["else:", *_in(rest)]
        return made

    def loop(self, statement: For) -> Lines:
        """`for`, `while`, `do`."""
        simple = counted(statement, self)
        if simple is not None:
            return simple
        self.scope.blocks.append({})
        made: Lines = []
        if statement.start is not None:
            self._announce(statement.start)
            made += self.statement(statement.start)
        step = [line for one in statement.step for line in self.do(Do(one))]
        writer = self.writer()
        test = writer.truth(statement.test) if statement.test is not None else "True"
        if writer.before:
            raise NotPython("a function in the condition of a loop")
        if statement.first:
            body = self.looped(statement.body, [*step, f"if not {test}:", "    break"])
            made += ["while True:", *_in(body)]
        else:
            made += [f"while {test}:", *_in(self.looped(statement.body, step))]
        self.scope.blocks.pop()
        return made

    def looped(
        self, body: Block, step: Lines, *, names: Sequence[str] = (), first: Lines | None = None
    ) -> Lines:
        """The body of a loop, with what each round ends with."""
        self.steps.append(step)
        made = [*(first or ()), *self.block(body.statements, names=names), *step]
        self.steps.pop()
        return made

    def each(self, statement: ForEach) -> Lines:
        """`for … of` and `for … in`."""
        writer = self.writer()
        source = writer.value(statement.source)
        many = (
            f"js_keys({source.text})"
            if statement.word == "in"
            else source.text
            if source.kind == "list"
            else f"js_iterate({source.text})"
        )
        self.scope.blocks.append({})
        for name in names_of(statement.target):
            self.scope.declare(name)
        if isinstance(statement.target, Bind):
            head, first = self.scope.declare(statement.target.name), []
        else:
            head = self.scope.fresh("entry")
            first = bind(statement.target, head, self)
        made = [*writer.before, f"for {head} in {many}:", *_in(self.looped(statement.body, [], first=first))]
        self.scope.blocks.pop()
        return made

    def returned(self, statement: Return) -> Lines:
        """`return`."""
        writer = self.writer()
        code = "undefined" if statement.value is None else writer.text(statement.value)
        return [*writer.before, f"return {code}"]

    def thrown(self, statement: Throw) -> Lines:
        """`throw` of an error."""
        writer = self.writer()
        code = writer.text(statement.value)
        known = isinstance(statement.value, Name) or code.startswith("Error(")
        if not known:
            raise NotPython("`throw` of something that is no Error")
        return [*writer.before, f"raise {code}"]

    def tried(self, statement: Try) -> Lines:
        """`try`."""
        made = ["try:", *_in(self.block(statement.body.statements))]
        if statement.handler is not None:
            self.scope.blocks.append({})
            name = "" if statement.caught is None else f" as {self.scope.declare(statement.caught)}"
            made += [f"except Exception{name}:", *_in(self.block(statement.handler.statements))]
            self.scope.blocks.pop()
        if statement.final is not None:
            made += ["finally:", *_in(self.block(statement.final.statements))]
        return made

    def switch(self, statement: Switch) -> Lines:
        """`switch`, where every case ends with `break` or leaves."""
        writer = self.writer()
        held = self.scope.fresh("chosen")
        made = [f"{held} = {writer.text(statement.value)}"]
        tests: list[str] = []
        word = "if"
        for number, (test, body) in enumerate(statement.cases):
            is_last = number == len(statement.cases) - 1
            if test is None and not is_last:
                raise NotPython("a switch whose default is not last")
            tests.append("True" if test is None else f"js_same({held}, {writer.text(test)})")
            if not body.statements and not is_last:
                continue
            statements = _without_break(body.statements, is_last=is_last)
            line = "else:" if "True" in tests and word == "elif" else f"{word} {' or '.join(tests)}:"
            made += [line, *_in(self.block(statements))]
            word, tests = "elif", []
        return [*writer.before, *made]

    def jump(self, statement: Jump) -> Lines:
        """`break` or `continue`."""
        if statement.word == "break":
            return ["break"]
        return [*(self.steps[-1] if self.steps else ()), "continue"]

    def function(self, statement: Function) -> Lines:
        """A function with a name."""
        assert statement.name is not None
        return function_lines(statement, self.scope.declare(statement.name), self.scope, self.host)


def _without_break(statements: Sequence[Statement], *, is_last: bool) -> Sequence[Statement]:
    flat = list(statements)
    if len(flat) == 1 and isinstance(flat[0], Block):
        flat = list(flat[0].statements)
    ends = bool(flat) and isinstance(flat[-1], Jump | Return | Throw)
    if not ends and not is_last:
        raise NotPython("a switch that falls from one case into the next")
    kept = flat[:-1] if flat and flat[-1] == Jump("break") else flat
    if any(_breaks(one) for one in kept):
        raise NotPython("a `break` inside a case of a switch")
    return kept


def _breaks(statement: Statement) -> bool:
    """Whether a `break` in it would leave a switch around it."""
    if isinstance(statement, Jump):
        return statement.word == "break"
    if isinstance(statement, If):
        parts = [*statement.then.statements, *(statement.otherwise.statements if statement.otherwise else ())]
        return any(_breaks(one) for one in parts)
    if isinstance(statement, Try):
        blocks = [one for one in (statement.body, statement.handler, statement.final) if one is not None]
        return any(_breaks(one) for block in blocks for one in block.statements)
    return isinstance(statement, Block) and any(_breaks(one) for one in statement.statements)


def names_of(target: Target) -> list[str]:
    """The names that a pattern binds."""
    if isinstance(target, Bind):
        return [target.name]
    parts: Sequence[Target | None] = (
        [one for _, one in target.fields] if isinstance(target, BindFields) else target.entries
    )
    found = [name for part in parts if part is not None for name in names_of(part)]
    return [*found, target.rest] if target.rest else found


def _in(lines: Lines) -> Lines:
    return textwrap.indent("\n".join(lines), "    ").split("\n")


def _key(js: Member, writer: Writer) -> str:
    return (
        repr(str(js.key.value))
        if isinstance(js.key, Const) and isinstance(js.key.value, str)
        else writer.text(js.key)
    )


def function_lines(js: Function, name: str, scope: Scope, host: Host) -> Lines:
    """A function as a `def`."""
    inner = Scope(parent=scope)
    body = Body(inner, host)
    parameters, first = [], []
    for target in js.parameters:
        if isinstance(target, Bind):
            made = inner.declare(target.name)
            parameters.append(made if target.default is None else f"{made}=undefined")
            if target.default is not None:
                first += [f"if {made} is undefined:", f"    {made} = {body.writer().text(target.default)}"]
        else:
            made = inner.fresh("given")
            parameters.append(made if target.default is None else f"{made}=undefined")
            for bound in names_of(target):
                inner.declare(bound)
            first += bind(target, made, body)
    if js.rest:
        parameters.append(f"*{inner.declare(js.rest)}")
        first.append(f"{inner.declare(js.rest)} = list({inner.declare(js.rest)})")
    if isinstance(js.body, Block):
        lines = body.block(js.body.statements)
        lines = lines if _leaves(js.body) else [*lines, "return undefined"]
    else:
        writer = body.writer()
        lines = [f"return {writer.text(js.body)}"]
        lines = [*writer.before, *lines]
    outer = [f"nonlocal {', '.join(sorted(inner.outer))}"] if inner.outer else []
    required = [one for one in parameters if "=" not in one and not one.startswith("*")]
    if parameters[: len(required)] != required:
        raise NotPython("a parameter with a default before one without")
    return [f"def {name}({', '.join(parameters)}):", *_in([*outer, *first, *lines])]


def _leaves(block: Block) -> bool:
    """Whether the end of a block is never reached."""
    last = block.statements[-1] if block.statements else None
    if isinstance(last, If):
        return last.otherwise is not None and _leaves(last.then) and _leaves(last.otherwise)
    if isinstance(last, Try):
        return _leaves(last.body) and (last.handler is None or _leaves(last.handler))
    return isinstance(last, Return | Throw)


def written_function(js: Function, writer: Writer) -> Code:
    """A function as a value: a lambda, or a `def` before the statement."""
    simple = all(isinstance(one, Bind) and one.default is None for one in js.parameters) and js.rest is None
    if simple and not isinstance(js.body, Block) and not isinstance(js.body, Assign | Update):
        inner = Scope(parent=writer.scope)
        names = [inner.declare(one.name) for one in js.parameters if isinstance(one, Bind)]
        within = Writer(inner, writer.host, writer.function)
        code = within.text(js.body)
        if not within.before and not inner.outer:
            return Code(f"(lambda {', '.join(names)}: {code})", "function")
    name = writer.scope.fresh(python_name(js.name or "each"))
    if isinstance(js.body, Assign | Update):
        js = Function(js.name, js.parameters, js.rest, Block((Do(js.body),)))
    writer.before += function_lines(js, name, writer.scope, writer.host)
    return Code(name, "function")


def leaves(statements: Sequence[Statement]) -> bool:
    """Whether a program never runs past its last statement."""
    return _leaves(Block(tuple(statements)))


def is_list_of_one(js: Js | None) -> bool:
    """Whether an expression is a list of exactly one entry."""
    from interlace.importers.javascript.syntax import Array, Spread  # noqa: PLC0415 - for this alone

    return isinstance(js, Array) and len(js.items) == 1 and not isinstance(js.items[0], Spread)


_WRITE: Final[dict[type, Callable[..., Lines]]] = {
    Declare: Body.declare, Do: Body.do, Block: Body.nested, If: Body.condition, For: Body.loop, ForEach: Body.each, Return: Body.returned,
    Throw: Body.thrown, Try: Body.tried, Switch: Body.switch, Jump: Body.jump, Function: Body.function,
}  # fmt: skip
