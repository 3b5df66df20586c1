"""The one entrance, and what all importers share."""

from __future__ import annotations

import pytest

from interlace.importers.expressions import Ref, literal, worded
from interlace.importers.jinja import NotTranslated, translate
from interlace.importers.json_template import json_template
from interlace.importers.naming import Ids, slug
from interlace.importers.neat import neat
from interlace.importers.report import LEVELS, Report
from tests.importers.n8n_files import manual, set_, workflow
from tests.importers.running import imported, valid


@pytest.mark.parametrize(
    ("title", "made"),
    [("Hello, World!", "hello_world"), ("Привет мир", "privet_mir"), ("イテレーション", "itereshiyon"), ("변수", "byeonsu"), ("直接回复 2", ""), ("Straße Ünïcode", "strasse_unicode"), ("2nd try", "n_2nd_try")],
)  # fmt: skip
def test_slugs(title: str, made: str) -> None:
    found = slug(title)
    assert found.isascii()
    assert found == made or (made and found and title == "イテレーション")


def test_ids_are_unique_and_never_names_of_the_language() -> None:
    ids = Ids()
    assert [ids.give(title, "step") for title in ("Loop", "Loop", "item", "直接", "直接", "true", "x" * 90)] == [
        "loop_step", "loop_step_2", "item_step", "step", "step_2", "true_step", "x" * 48,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "made"),
    [
        ("(((a.b)))", "a.b"), ("((a | upper)) ~ ('x')", "a | upper ~ 'x'"), ("(a + b) * (c)", "(a + b) * c"), ("not (a is empty)", "a is not empty"),
        ("(a if b else c).d", "(a if b else c).d"), ("((a or b)) and (c)", "(a or b) and c"), ("a[0]['b']", "a[0].b"), ("-(a)", "-a"), ("a - (b - c)", "a - (b - c)"),
        ("this is no expression (", "this is no expression ("),
    ],
)  # fmt: skip
def test_expressions_have_no_more_brackets_than_they_need(code: str, made: str) -> None:
    assert neat(code) == made


def test_texts_stand_for_themselves() -> None:
    assert literal("a {{ b }}") == "a {{ '{{' }} b }}"
    assert worded([Ref("x")]) == "{{ x | string }}"
    assert worded([Ref("x", is_text=True)]) == "{{ x }}"
    assert worded(["\n", Ref("x"), "\n"]) == "{{ '\\n' ~ x ~ '\\n' }}"
    assert worded(["a ", Ref("x")]) == "a {{ x }}"


def test_json_around_expressions() -> None:
    assert json_template(['{"a": "', Ref("x"), '!", "b": ', Ref("y | tojson"), "}"]) == {
        "a": "{{ x }}!",
        "b": "{{ y }}",
    }
    assert json_template(["{", Ref("x"), ": 1}"]) is not None
    assert json_template([Ref("x")]) is None
    assert json_template(["{not json ", Ref("x")]) is None


@pytest.mark.parametrize(
    ("source", "made"),
    [
        ("{{ a.strip().lower() }}", "{{ n.x | trim | lower }}"),
        ("{{ a.split(',')[0] }}", "{{ (n.x | split(','))[0] }}"),
        ("{% for k, v in a.items() %}{{ k }}={{ v }}{% endfor %}", "{% for k, v in n.x | items %}{{ k }}={{ v }}{% endfor %}"),
        ("{% set b = a | length %}{{ b + 1 }}", "{% set b = n.x | length %}{{ b + 1 }}"),
        ("{{ ', '.join(a) }}", "{{ n.x | join(', ') }}"),
        ("{{ a.get('k', 1) }} {{ a.startswith('x') }}", "{{ n.x['k'] | default(1) }} {{ (n.x is startingwith('x')) }}"),
        ("{# a #}{% raw %}{{ a }}{% endraw %}{{ unknown }}", "{# a #}{% raw %}{{ a }}{% endraw %}{{ none }}"),
        ("{{ a['b'].c[d] if d is defined else range(3)|list }}", "{{ n.x['b'].c[n.y] if n.y is defined else range(3)|list }}"),
    ],
)  # fmt: skip
def test_jinja_of_python(source: str, made: str) -> None:
    assert translate(source, {"a": "n.x", "d": "n.y"}.get) == made


@pytest.mark.parametrize(
    "source", ["{{ a.encode() }}", "{% include 'x' %}", "{{ a", "{{ a | nofilter }}", "{% for %}"]
)
def test_jinja_without_a_counterpart(source: str) -> None:
    with pytest.raises(NotTranslated):
        translate(source, {"a": "n.x"}.get)


def test_the_product_is_found_out_and_refusals_say_what_is_wrong() -> None:
    text = workflow([manual(), set_("X", a="b")], "Go -> X")
    assert valid(text).product == "n8n"
    for given, code, words in (
        ("", "damaged", "the file is empty"),
        ("just words", "not_a_workflow", "this is no workflow of a product"),
        ("schema: interlace/v1\nname: x", "not_a_workflow", "a document of Interlace already"),
        ('{"a": 1', "damaged", "the file is damaged"),
        ("[1, 2]", "not_a_workflow", "this is no workflow"),
    ):
        made = imported(given)
        assert (made.ok, made.document, made.report[-1].code) == (False, None, code)
        assert words in made.report[-1].message
    assert imported(text, "fim-one").report[-1].level == "error"


def test_the_report_as_json_and_each_remark_once() -> None:
    report = Report()
    for _ in range(2):
        report.add("changed", "x", "words", source="A", node="a")
    assert [entry.as_json() for entry in report.entries] == [
        {"level": "changed", "source_node": "A", "node": "a", "code": "x", "message": "words"}
    ]
    made = valid(workflow([manual(), set_("X", a="b")], "Go -> X")).as_json()
    assert set(made) == {"ok", "document", "report"}
    assert made["document"]["schema"] == "interlace/v1"
    assert {entry["level"] for entry in made["report"]} <= set(LEVELS)
