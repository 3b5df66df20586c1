"""CONDITION: take the branches whose condition holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from interlace.engine.absence import value_or_missing
from interlace.engine.document import Identifier, NodeSpec
from interlace.engine.errors import ExpressionError
from interlace.engine.expressions import Names, compile_expression, compile_value
from interlace.engine.expressions.filters.data import regex
from interlace.engine.fields import Data, Expression, Lazy
from interlace.engine.node import Config, Finding, Node, Output, RunContext, TypeContext
from interlace.engine.rules import NO_RIGHT, OPERATORS, SEES_MISSING, Operator, failure, reason
from interlace.engine.schema import Schema

ELSE = "else"


class Rule(Config):
    """One comparison."""

    left: Lazy[Data] = Field(
        title="Left", description="The value that is looked at.", examples=["{{ inputs.amount }}"]
    )
    operator: Operator = Field(
        title="Operator",
        description="How the two compare. Numbers and numeric texts compare as numbers, dates as dates, texts by their"
        " characters; `matches` takes a regular expression; `between` takes [from, to], both included; `is empty` holds for"
        " null, empty text, list and object, and a missing value; `exists` for all but a missing value; `is true` and"
        " `is false` also for the texts true and false.",
        examples=[">"],
    )
    right: Lazy[Data] = Field(
        None,
        title="Right",
        description="What it is compared with; not for operators of one value.",
        examples=[1000],
    )

    @model_validator(mode="after")
    def _sides(self) -> Rule:
        given = "right" in self.model_fields_set
        if self.operator in NO_RIGHT and given and self.right is not None:
            raise ValueError(f"operator {self.operator!r} takes no 'right'")
        if self.operator not in NO_RIGHT and not given:
            raise ValueError(f"operator {self.operator!r} needs 'right'")
        return self


def _kind(entry: Any) -> str:
    if isinstance(entry, Group):
        return "group"
    return "group" if isinstance(entry, Mapping) and ("all" in entry or "any" in entry) else "rule"


Entry = Annotated[Annotated[Rule, Tag("rule")] | Annotated["Group", Tag("group")], Discriminator(_kind)]


class Group(Config):
    """Rules of which all, or any, must hold."""

    all: list[Entry] | None = Field(
        None, min_length=1, title="All", description="Rules that must all hold.",
        examples=[[{"left": "{{ inputs.amount }}", "operator": ">", "right": 1000}]],
    )  # fmt: skip
    any: list[Entry] | None = Field(
        None, min_length=1, title="Any", description="Rules of which at least one must hold.",
        examples=[[{"left": "{{ inputs.vendor }}", "operator": "is empty"}]],
    )  # fmt: skip

    @model_validator(mode="after")
    def _one(self) -> Group:
        if (self.all is None) == (self.any is None):
            raise ValueError("give exactly one of 'all' and 'any'")
        return self


class Case(Config):
    """One branch and its condition."""

    id: Identifier = Field(title="Id", description="Name of the branch's handle.", examples=["large"])
    when: Annotated[str | None, Expression("expression", lazy=True)] = Field(
        None, title="When", description="The condition, as an expression.", examples=["inputs.amount > 1000"]
    )
    rules: Group | None = Field(
        None, title="Rules", description="The condition, as rules.",
        examples=[{"all": [{"left": "{{ inputs.amount }}", "operator": ">", "right": 1000}]}],
    )  # fmt: skip

    @model_validator(mode="after")
    def _one(self) -> Case:
        if (self.when is None) == (self.rules is None):
            raise ValueError("give exactly one of 'when' and 'rules'")
        return self


class ConditionConfig(Config):
    """The cases, in the order in which they are looked at."""

    cases: list[Case] = Field(
        min_length=1, title="Cases", description="The branches, each with its condition; looked at in order.",
        examples=[[{"id": "large", "when": "inputs.amount > 1000"}]],
    )  # fmt: skip
    mode: Literal["first", "every"] = Field(
        "first",
        title="Mode",
        description="first: only the first case that holds is taken. every: all that hold are. Without any, `else` is.",
        examples=["every"],
    )


class ConditionOutput(Output):
    """Which case matched."""

    matched: str | list[str] = Field(description="Id of the case, or else; in mode every the list of ids.")


class Condition(Node[ConditionConfig, ConditionOutput]):
    """Choose the branch whose condition holds."""

    kind = "CONDITION"
    group, icon = "logic", "split"
    example: ClassVar[dict[str, Any]] = {"cases": [{"id": "large", "when": "inputs.amount > 1000"}]}

    @cached_property
    def _tests(self) -> list[tuple[str, _Test]]:
        return [(case.id, _compile(case)) for case in self.config.cases]

    def handles(self) -> tuple[str, ...]:
        """One a case, and else."""
        return (*(case.id for case in self.config.cases), ELSE)

    def exclusive(self) -> bool:
        """In mode first."""
        return self.config.mode == "first"

    def output_schema(self, types: TypeContext) -> Schema:
        """The ids that `matched` can hold."""
        del types
        ids = [case.id for case in self.config.cases]
        if self.config.mode == "every":
            matched: Schema = {"type": "array", "items": {"type": "string", "enum": ids}}
        else:
            matched = {"type": "string", "enum": [*ids, ELSE]}
        return {"type": "object", "properties": {"matched": matched}, "required": ["matched"]}

    def handles_of(self, outputs: Mapping[str, Any]) -> tuple[str, ...] | None:
        """Those of the cases that matched; `else` when none did."""
        matched = outputs.get("matched")
        chosen = tuple(matched) if isinstance(matched, list) else (matched,)
        known = self.handles()
        return (chosen or (ELSE,)) if all(case in known for case in chosen) else None

    def check(self, spec: NodeSpec) -> Iterator[Finding]:
        """Ids once and not reserved; patterns and ranges that are written out are right."""
        del spec
        seen: set[str] = set()
        for index, case in enumerate(self.config.cases):
            where = f"config.cases[{index}]"
            if case.id in (ELSE, "error"):
                yield Finding(
                    code="case_id",
                    field=f"{where}.id",
                    message=f"a case cannot be called {case.id!r}, the handle has that name.",
                )
            elif case.id in seen:
                yield Finding(
                    code="case_id", field=f"{where}.id", message=f"two cases are called {case.id!r}."
                )
            seen.add(case.id)
            if case.rules is not None:
                yield from _check_group(case.rules, f"{where}.rules")

    def run(self, config: ConditionConfig, ctx: RunContext) -> ConditionOutput:
        """Test the cases in order and take the handles of those that hold.

        Raises:
            NodeError: a comparison cannot be made (text against a number, a missing value).
        """
        names, every = ctx.names, config.mode == "every"
        matched: list[str] = []
        for case, test in self._tests:
            if matched and not every:
                ctx.explain(case, f"case {matched[0]} matched first")
            elif test.holds(names):
                matched.append(case)
            else:
                ctx.explain(case, test.why(names))
        if not matched:
            ctx.take(ELSE)
            return ConditionOutput.model_construct(matched=[] if every else ELSE)
        ctx.explain(ELSE, f"{', '.join(matched)} matched")
        ctx.take(*matched)
        return ConditionOutput.model_construct(matched=matched if every else matched[0])


# -- compiled conditions -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Test:
    """A condition, compiled: whether it holds, and why it does not."""

    holds: Callable[[Names], bool]
    why: Callable[[Names], str]


def _compile(case: Case) -> _Test:
    if case.rules is not None:
        return _compile_group(case.rules)
    assert case.when is not None
    evaluate = compile_expression(case.when).evaluate
    return _Test(lambda names: bool(evaluate(names)), reason(case.when))


def _compile_group(group: Group) -> _Test:
    if group.all is not None:
        tests = [_compile_entry(entry) for entry in group.all]

        def why_not_all(names: Names) -> str:
            return next(test.why(names) for test in tests if not test.holds(names))

        return _Test(lambda names: all(test.holds(names) for test in tests), why_not_all)
    tests = [_compile_entry(entry) for entry in group.any or ()]
    return _Test(
        lambda names: any(test.holds(names) for test in tests),
        lambda names: "; ".join(test.why(names) for test in tests),
    )


def _compile_entry(entry: Rule | Group) -> _Test:
    if isinstance(entry, Group):
        return _compile_group(entry)
    compare, operator, source = OPERATORS[entry.operator], entry.operator, entry.left
    left, right = compile_value(entry.left), compile_value(entry.right)
    one, other = left.evaluate, right.evaluate
    if operator in SEES_MISSING:
        one, other = partial(value_or_missing, left), partial(value_or_missing, right)
    return _Test(
        lambda names: compare(one(names), other(names)),
        lambda names: failure(source, one(names), operator, other(names)),
    )


# -- the static check --------------------------------------------------------------------------------------------------


def _check_group(group: Group, where: str) -> Iterator[Finding]:
    for name, entries in (("all", group.all), ("any", group.any)):
        for index, entry in enumerate(entries or ()):
            at = f"{where}.{name}[{index}]"
            if isinstance(entry, Group):
                yield from _check_group(entry, at)
            else:
                yield from _check_rule(entry, at)


def _check_rule(rule: Rule, where: str) -> Iterator[Finding]:
    right = rule.right
    if isinstance(right, str) and "{{" in right:
        return
    if rule.operator == "matches":
        try:
            regex(right)
        except ExpressionError as error:
            yield Finding(code="pattern", field=f"{where}.right", message=error.message)
    elif rule.operator == "between" and not (isinstance(right, list) and len(right) == 2):  # noqa: PLR2004 - from and to
        yield Finding(
            code="range", field=f"{where}.right", message="between takes a list of two values, [from, to]."
        )
