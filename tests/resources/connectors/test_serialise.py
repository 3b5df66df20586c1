"""Styles as the standard's own table gives them."""

from __future__ import annotations

from typing import Any

import pytest

from interlace.resources.connectors.definition import Encoding, Parameter
from interlace.resources.connectors.serialise import form_pairs, header_value, path_value, query_pairs

LIST = ["blue", "black", "brown"]
OBJECT = {"R": 100, "G": 200}


def parameter(place: str, style: str | None, explode: bool | None, **more: Any) -> Parameter:
    return Parameter.model_validate(
        {"name": "color", "in": place, "style": style, "explode": explode, **more}
    )


@pytest.mark.parametrize(
    ("style", "explode", "text", "listed", "mapped"),
    [
        ("simple", False, "blue", "blue,black,brown", "R,100,G,200"),
        ("simple", True, "blue", "blue,black,brown", "R=100,G=200"),
        ("label", False, ".blue", ".blue,black,brown", ".R,100,G,200"),
        ("label", True, ".blue", ".blue.black.brown", ".R=100.G=200"),
        ("matrix", False, ";color=blue", ";color=blue,black,brown", ";color=R,100,G,200"),
        ("matrix", True, ";color=blue", ";color=blue;color=black;color=brown", ";R=100;G=200"),
    ],
)
def test_paths(style: str, explode: bool, text: str, listed: str, mapped: str) -> None:
    one = parameter("path", style, explode)
    assert [path_value(one, value) for value in ("blue", LIST, OBJECT)] == [text, listed, mapped]


@pytest.mark.parametrize(
    ("style", "explode", "listed", "mapped"),
    [
        (None, None, "color=blue&color=black&color=brown", "R=100&G=200"),
        ("form", False, "color=blue,black,brown", "color=R,100,G,200"),
        ("spaceDelimited", False, "color=blue%20black%20brown", "color=R%20100%20G%20200"),
        ("pipeDelimited", False, "color=blue|black|brown", "color=R|100|G|200"),
        ("deepObject", True, "color[0]=blue&color[1]=black&color[2]=brown", "color[R]=100&color[G]=200"),
    ],
)
def test_queries(style: str | None, explode: bool | None, listed: str, mapped: str) -> None:
    one = parameter("query", style, explode)
    assert "&".join(query_pairs(one, LIST)) == listed
    assert "&".join(query_pairs(one, OBJECT)) == mapped
    assert query_pairs(one, "a&b=c d/é") == ["color=a%26b%3Dc%20d%2F%C3%A9"]
    assert query_pairs(one, True) == ["color=true"]
    assert query_pairs(one, None) == query_pairs(one, [None])[:0] == []


def test_commas_in_values_do_not_part_them() -> None:
    assert query_pairs(parameter("query", "form", False), ["a,b", "c|d"]) == ["color=a%2Cb,c%7Cd"]
    assert path_value(parameter("path", None, None), "a/b") == "a%2Fb"
    assert path_value(parameter("path", None, None, allow_reserved=True), "a/b") == "a/b"
    assert query_pairs(parameter("query", None, None, allow_reserved=True), "a/b:c&d") == ["color=a/b:c%26d"]


def test_nested_fields_of_forms() -> None:
    deep = Encoding.model_validate({"style": "deepObject", "explode": True})
    value = {"address": {"city": "Kyōto"}, "lines": [{"n": 1}, {"n": 2}]}
    assert form_pairs("c", value, deep) == [
        "c[address][city]=Ky%C5%8Dto",
        "c[lines][0][n]=1",
        "c[lines][1][n]=2",
    ]
    assert form_pairs("c", {"a": 1}, None) == ["c=%7B%22a%22%3A1%7D"]
    assert form_pairs("c", [1, None, 2], None) == ["c=1", "c=2"]


def test_headers() -> None:
    assert header_value(parameter("header", None, None), LIST) == "blue,black,brown"
    assert header_value(parameter("header", None, True), OBJECT) == "R=100,G=200"
