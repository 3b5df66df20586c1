"""Properties that hold for generated sources and values."""

from __future__ import annotations

import math
import operator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlace.engine.expressions import (
    ExpressionError,
    Missing,
    SyntaxProblem,
    compile_expression,
    compile_template,
    compile_text,
    infer,
    rename_root,
)
from interlace.engine.expressions.syntax import (
    Binary,
    Call,
    Comparison,
    Concat,
    Conditional,
    Filter,
    Item,
    Literal,
    Path,
    Record,
    Sequence,
    Slice,
    Unary,
)
from interlace.engine.expressions.syntax import Test as Check
from interlace.engine.expressions.unparse import unparse

# Hypothesis warns of the long text form of the generated trees, which nobody reads.
pytestmark = pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisWarning")
settings.register_profile("expressions", deadline=None, max_examples=80)
settings.load_profile("expressions")

NAMES = {"a": 3, "b": "text", "c": None, "rows": [1, "2", 3.5], "m": {"k": 1, "x-y": "7"}}


class Names:
    def lookup(self, root: str) -> object:
        return NAMES[root] if root in NAMES else Missing(f"{root} was skipped")


def outcome(source: str) -> Any:
    """Give the value of an expression, or the error it ends with."""
    try:
        return compile_expression(source).evaluate(Names())
    except ExpressionError as error:
        return error


words = st.sampled_from(["a", "b", "c", "rows", "m", "gone", "件"])
keys = st.one_of(st.sampled_from(["k", "x-y", "if", "zz", "日 本", "it's"]), st.integers(-3, 3))
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1000, 1000),
    st.floats(-1e6, 1e6).map(lambda f: f + 0.0),
    st.text(max_size=6),
)
constants = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=4,
)


def literal(value: Any) -> Literal:
    return Literal(value)


def no_constant(nodes: Any) -> bool:
    return not all(isinstance(node, Literal) for node in nodes)


def chains(inner: Any) -> Any:
    pair = st.tuples(inner, inner)
    return st.one_of(
        st.builds(Binary, st.sampled_from(["+", "-", "*", "/", "//", "%", "**", "and", "or"]), inner, inner),
        st.builds(Concat, st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(
            Comparison,
            inner,
            st.lists(
                st.tuples(st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in", "not in"]), inner),
                min_size=1,
                max_size=2,
            ).map(tuple),
        ),
        st.builds(Conditional, inner, inner, st.one_of(st.none(), inner)),
        st.builds(Unary, st.just("not"), inner),
        st.builds(Unary, st.just("-"), inner.filter(lambda node: not isinstance(node, Literal))),
        st.builds(
            Filter, inner, st.sampled_from(["upper", "length", "first", "tojson"]), st.just(()), st.just(())
        ),
        st.builds(lambda x, y: Filter(x, "default", (y,), ()), inner, inner),
        st.builds(lambda x, y: Filter(x, "join", (), (("separator", y),)), inner, inner),
        st.builds(Check, inner, st.sampled_from(["defined", "empty", "none", "string"]), st.just(())),
        st.builds(lambda x, y: Check(x, "eq", (y,)), inner, inner),
        st.builds(Slice, inner, st.one_of(st.none(), inner), st.one_of(st.none(), inner), st.none()),
        st.builds(Item, inner.filter(lambda n: not isinstance(n, Path)), inner),
        st.lists(inner, min_size=1, max_size=3).filter(no_constant).map(lambda items: Sequence(tuple(items))),
        st.builds(
            lambda k, v: Record(((literal(k), v),)),
            st.text(max_size=3),
            inner.filter(lambda n: not isinstance(n, Literal)),
        ),
        st.builds(lambda arguments: Call("range", arguments, ()), pair),
    )


trees = st.recursive(
    st.one_of(
        scalars.map(literal),
        constants.map(literal),
        st.builds(Path, words, st.lists(keys, max_size=3).map(tuple)),
    ),
    chains,
    max_leaves=10,
)


@given(trees)
def test_what_is_written_parses_to_the_same_tree(tree):
    source = unparse(tree)
    assert compile_expression(source).node == tree


@given(trees)
def test_any_tree_gives_a_value_or_an_expression_error(tree):
    found = outcome(unparse(tree))
    assert not isinstance(found, Missing)
    if isinstance(found, ExpressionError):
        assert str(found)


@given(trees)
def test_typing_never_fails_and_never_contradicts_a_value(tree):
    compiled = compile_expression(unparse(tree))
    schemas = {
        "a": {"type": "integer"},
        "b": {"type": "string"},
        "c": {"type": "null"},
        "rows": {"type": "array"},
    }
    found = infer(compiled, schemas.get)
    try:
        value = compiled.evaluate(Names())
    except ExpressionError:
        return
    kinds = {
        str: "string",
        bool: "boolean",
        int: "integer",
        float: "number",
        list: "array",
        dict: "object",
        type(None): "null",
    }
    from interlace.engine.schema import kinds as possible

    kind = kinds[type(value)]
    assert kind in possible(found.schema) or (
        kind in ("integer", "number") and "number" in possible(found.schema)
    )


@given(trees)
def test_an_error_of_typing_is_an_error_of_running(tree):
    compiled = compile_expression(unparse(tree))
    schemas = {"a": {"const": 3}, "b": {"type": "string"}, "c": {"type": "null"}}
    errors = [finding for finding in infer(compiled, schemas.get).findings if finding.severity == "error"]
    if not errors or has_lazy_part(tree):
        return
    with pytest.raises(ExpressionError):
        compiled.evaluate(Names())


def has_lazy_part(tree: Any) -> bool:
    """Whether a part may not be computed at all, or copes with what is missing."""
    from interlace.engine.expressions.syntax import children

    lazy = (
        isinstance(tree, Conditional)
        or (isinstance(tree, Binary) and tree.operator in ("and", "or"))
        or (isinstance(tree, Filter) and tree.name == "default")
        or (isinstance(tree, Comparison) and (len(tree.links) > 1 or tree.links[0][0] in ("==", "!=")))
        or isinstance(tree, Check)
        or (isinstance(tree, Unary) and tree.operator == "not")
    )
    return lazy or any(has_lazy_part(part) for part in children(tree))


ARITHMETIC = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}
COMPARE = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
numbers = st.one_of(st.integers(-50, 50), st.integers(-100, 100).map(lambda n: n / 4))
sums = st.recursive(
    numbers.map(literal),
    lambda inner: st.builds(Binary, st.sampled_from(sorted(ARITHMETIC)), inner, inner),
    max_leaves=8,
)


def naive(tree: Any) -> Any:
    """Compute a tree of numbers as plainly as possible."""
    if isinstance(tree, Literal):
        return tree.value
    if isinstance(tree, Comparison):
        left = naive(tree.first)
        for symbol, operand in tree.links:
            right = naive(operand)
            if not COMPARE[symbol](left, right):
                return False
            left = right
        return True
    if isinstance(tree, Conditional):
        return naive(tree.then) if naive(tree.test) else naive(tree.otherwise)
    return ARITHMETIC[tree.operator](naive(tree.left), naive(tree.right))


@given(sums)
def test_arithmetic_agrees_with_a_naive_evaluator(tree):
    try:
        expected = naive(tree)
    except ZeroDivisionError:
        with pytest.raises(ExpressionError, match="divide by zero"):
            compile_expression(unparse(tree)).evaluate(Names())
        return
    if (isinstance(expected, int) and expected.bit_length() >= 64) or not math.isfinite(expected):
        return
    found = outcome(unparse(tree))
    if isinstance(found, ExpressionError):
        assert found.kind == "expression_limit"
        return
    assert found == expected
    assert type(found) is type(expected)


@given(
    st.builds(
        Conditional,
        sums,
        st.builds(
            Comparison,
            sums,
            st.lists(st.tuples(st.sampled_from(sorted(COMPARE)), sums), min_size=1, max_size=3).map(tuple),
        ),
        sums,
    )
)
def test_conditions_agree_with_a_naive_evaluator(tree):
    try:
        expected = naive(tree)
    except ZeroDivisionError:
        return
    found = outcome(unparse(tree))
    if isinstance(found, ExpressionError):
        assert found.kind == "expression_limit"
        return
    assert found == expected


@given(scalars, scalars)
def test_equality_is_symmetric_and_inequality_its_opposite(left, right):
    NAMES["l"], NAMES["r"] = left, right
    same = compile_expression("l == r").evaluate(Names())
    assert same is compile_expression("r == l").evaluate(Names())
    assert same is not compile_expression("l != r").evaluate(Names())


@given(scalars)
def test_empty_and_not_empty_are_complements(value):
    NAMES["l"] = value
    assert compile_expression("l is empty").evaluate(Names()) is not compile_expression(
        "l is not empty"
    ).evaluate(Names())


@given(st.text().filter(lambda text: "{{" not in text))
def test_text_without_braces_is_itself(text):
    compiled = compile_text(text)
    assert compiled.constant
    assert compiled.evaluate(Names()) == text


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=30))
def test_any_value_passes_through_text_unchanged(value):
    NAMES["l"] = value
    assert compile_text("{{ l }}").evaluate(Names()) is value
    assert compile_text("<{{ l }}>").evaluate(Names()) == f"<{value}>"
    assert compile_template("<{{ l }}>").evaluate(Names()) == f"<{value}>"


JUNK = st.lists(
    st.sampled_from(
        ["{{", "}}", "{%", "%}", "{#", "#}", "(", ")", "[", "]", "{", "}", "|", ".", ",", ":", "'", '"', "a", " if ", " else ",
         " not ", " in ", " is ", "1", "1.", "-", "**", "~", "==", "<", " for ", " set ", "endif", "raw", "\\", "\n", "upper", "é", "\x00"]
    ),
    max_size=14,
).map("".join)  # fmt: skip


@settings(max_examples=200)
@given(st.one_of(JUNK, st.text(max_size=40)))
def test_junk_never_crashes(source):
    for compile_it in (compile_expression, compile_text, compile_template):
        problem = None
        try:
            compile_it(source).evaluate(Names())
        except ExpressionError as error:
            problem = error
        assert problem is None or str(problem)
        if isinstance(problem, SyntaxProblem):
            assert 0 <= problem.position <= len(source)


@given(trees)
def test_rename_changes_the_root_and_nothing_else(tree):
    source = unparse(tree)
    renamed = rename_root(source, "a", "zebra", kind="expression")
    before = compile_expression(source)
    after = compile_expression(renamed)
    assert [("zebra" if r.root == "a" else r.root, r.path, r.guarded) for r in before.references] == [
        (r.root, r.path, r.guarded) for r in after.references
    ]
    assert rename_root(renamed, "zebra", "a", kind="expression") == source
