from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlace.engine.errors import NodeError
from interlace.resources.databases.parameters import bind
from interlace.resources.databases.text import pieces
from interlace.resources.databases.url import DIALECTS, Dialect


@pytest.mark.parametrize(
    ("dialect", "sql", "rendered"),
    [
        ("postgresql", "SELECT :a, :b, :a", "SELECT $1, $2, $1"),
        ("sqlite", "SELECT :a, :b, :a", "SELECT ?1, ?2, ?1"),
        ("mysql", "SELECT :a, :b, :a, '5%'", "SELECT %s, %s, %s, '5%%'"),
        ("postgresql", "SELECT :a::int, ':b', \":b\" /*:b*/, $$:b$$, E'\\':b', x[1:2] -- :b", None),
        ("mysql", "SELECT :a, \":b\", `:b`, '\\':b' # :b", None),
        ("sqlite", "SELECT :a, [:b], `:b`, \":b\", ':b' -- :b", None),
    ],
)
def test_names_become_binds_outside_quotes_only(dialect: Dialect, sql: str, rendered: str | None) -> None:
    values = {"a": 1, "b": "x"} if ":b, :a" in sql else {"a": 1}
    bound = bind(dialect, sql, values)
    assert (
        bound.values
        == {"postgresql": (1, "x"), "sqlite": (1, "x"), "mysql": (1, "x", 1)}[dialect][: len(bound.values)]
    )
    if rendered is not None:
        assert bound.sql == rendered
    else:
        assert bound.sql.count(":b") == sql.count(":b") - ("/*" in sql) - ("-- :b" in sql) - ("# :b" in sql)


@pytest.mark.parametrize(
    ("dialect", "sql", "rendered", "values"),
    [
        ("postgresql", "a IN (:ids)", "a IN ($1, $2)", [1, 2]),
        ("postgresql", "a NOT IN ( :ids )", "a <> ALL ('{}' )", []),
        ("postgresql", "a IN (:ids)", "a = ANY ('{}')", []),
        ("postgresql", "a = ANY(:ids)", "a = ANY($1)", [1, 2]),
        ("mysql", "a in (:ids)", "a in (%s, %s)", [1, "x"]),
        ("sqlite", "a IN (:ids)", "a IN (?1, ?2)", [1, None]),
        ("sqlite", "a IN (:ids)", "a IN (SELECT NULL FROM (SELECT 1) AS none_given WHERE 1 = 0)", []),
        ("sqlite", "json(:ids)", "json(?1)", [1, 2]),
    ],
)
def test_lists(dialect: Dialect, sql: str, rendered: str, values: list[object]) -> None:
    assert bind(dialect, sql, {"ids": values}).sql == rendered


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({}, "no value for :a"),
        ({"a": 1, "aa": 2}, "Did you mean 'a'"),
        ({"a": 1, "b": 2}, "'b' is given but the SQL has no :b; it has :a"),
        ({"a": float("nan")}, "nan"),
        ({"a": float("inf")}, "inf"),
        ({"a": 2**63}, "64 bits"),
        ({"a": object()}, "'a' is a object"),
        ({"a": b"x"}, "'a' is a bytes"),
        ({"a": "half \ud800"}, "surrogate"),
        ({"a": ["x\ud800"]}, "surrogate"),
        ({"a": [[1]]}, "plain values"),
        ({"a": list(range(10_001))}, "10,001 items"),
    ],
)
def test_what_does_not_fit_is_named(values: dict[str, object], text: str) -> None:
    with pytest.raises(NodeError, match=text) as caught:
        bind("postgresql", "SELECT 1 WHERE a IN (:a)", values)
    assert caught.value.kind == "parameters"


def test_a_list_among_others_is_refused() -> None:
    with pytest.raises(NodeError, match="stand alone"):
        bind("sqlite", "SELECT 1 WHERE a IN (1, :ids)", {"ids": [1]})


def test_positions_lead_back_to_the_authors_text() -> None:
    sql = "SELECT :first,\n  :second_one, nope"
    bound = bind("postgresql", sql, {"first": 1, "second_one": [2]})
    assert bound.position(bound.sql.index("nope")) == "line 2, column 16"
    assert bind("sqlite", "nope", {}).position(2) == "line 1, column 3"


LITERAL = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\x00"), max_size=30)
QUOTES = {"postgresql": "'", "mysql": "'", "sqlite": "'"}


def quoted(dialect: Dialect, text: str) -> str:
    if dialect == "mysql":
        text = text.replace("\\", "\\\\")
    return "'" + text.replace("'", "''") + "'"


@given(dialect=st.sampled_from(DIALECTS), texts=st.lists(LITERAL, min_size=1, max_size=4), value=LITERAL)
def test_binding_never_changes_text_inside_literals(dialect: Dialect, texts: list[str], value: str) -> None:
    literals = [quoted(dialect, text) for text in texts]
    sql = "SELECT " + ", :p, ".join(literals) + ", :p"
    bound = bind(dialect, sql, {"p": value})
    plain = bound.sql.replace("%%", "%") if dialect == "mysql" else bound.sql
    for literal in literals:
        assert literal in plain
    assert [piece.text for piece in pieces(dialect, sql) if piece.kind == "quoted"] == literals
    assert set(bound.values) == {value}


@given(
    texts=st.lists(LITERAL, min_size=1, max_size=3),
    value=st.one_of(LITERAL, st.integers(-(2**63), 2**63 - 1), st.none()),
)
def test_sqlite_gives_back_what_was_bound_and_written(texts: list[str], value: object) -> None:
    sql = "SELECT :p, " + ", ".join(quoted("sqlite", text) for text in texts)
    bound = bind("sqlite", sql, {"p": value})
    connection = sqlite3.connect(":memory:")
    try:
        assert connection.execute(bound.sql, bound.values).fetchone() == (value, *texts)
    finally:
        connection.close()


@given(dialect=st.sampled_from(DIALECTS), sql=st.text(alphabet="ab:'\"`-#/*$[]{}\\;\n Ee", max_size=40))
def test_cutting_loses_nothing(dialect: Dialect, sql: str) -> None:
    try:
        found = pieces(dialect, sql)
    except NodeError:
        return  # refused as a whole
    assert "".join(piece.text for piece in found) == sql
    assert [piece.start for piece in found] == sorted(piece.start for piece in found)
