from __future__ import annotations

import datetime as dt
import decimal
import uuid
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlace.engine.protocols import FileValue
from interlace.store.encoding import decode, encode, escape
from interlace.store.errors import NotJsonError

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=30)


@given(JSON)
def test_json_comes_back_exactly(value: Any) -> None:
    text = encode(value)
    assert decode(text) == value
    assert decode(text.decode()) == value
    assert repr(decode(text)) == repr(value)  # also 1 against 1.0 and True, -0.0, and the order of keys


@pytest.mark.parametrize("number", [2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**400])
def test_integers_of_any_size_come_back(number: int) -> None:
    assert decode(encode({"n": [number]})) == {"n": [number]}


def test_deep_nesting_comes_back_until_it_is_refused() -> None:
    def nested(depth: int) -> Any:
        value: Any = 1
        for _ in range(depth):
            value = [value]
        return value

    assert decode(encode(nested(400))) == nested(400)
    with pytest.raises(NotJsonError, match="nested too deeply"):
        encode(nested(100_000))


class Colour(StrEnum):
    RED = "red"


NAN, INFINITY = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (NAN, r"^the value: nan is not a JSON number"),
        ({"a": [None, {"b": INFINITY}]}, r"^a\[1\]\.b: inf is not a JSON number"),
        ({"a": {1: "x"}}, r"^a: the key 1 \(int\) is not text"),
        ({"a": {Colour.RED: 1}}, r"^a: the key .* \(Colour\) is not text"),
        ({"a": {None: "x"}}, r"^a: the key None \(NoneType\) is not text"),
        ({"a": [b"x"]}, r"^a\[0\]: a bytes has no JSON form"),
        ({"a": {"b": {1, 2}}}, r"^a\.b: a set has no JSON form"),
        ([dt.datetime(2026, 1, 1, tzinfo=dt.UTC)], r"^\[0\]: a datetime has no JSON form"),
        ({"price": decimal.Decimal("1.5")}, r"^price: a Decimal has no JSON form"),
        ({"a": "half \ud800"}, r"^a: the text has a lone surrogate"),
        ({"half \ud800": 1}, r"^the value: the key 'half \\ud800' \(str\) is not text"),
        ({"big": 2**70, "bad": object()}, r"^bad: a object has no JSON form"),
        ({"big": 2**70, "bad": NAN}, r"^bad: nan is not"),
    ],
)
def test_what_is_not_json_is_refused_with_its_place(value: Any, place: str) -> None:
    with pytest.raises(NotJsonError, match=place) as caught:
        encode(value)
    assert caught.value.code == "not_json"


def test_what_contains_itself_is_refused() -> None:
    loop: list[Any] = [1]
    loop.append({"again": [loop, loop]})
    with pytest.raises(NotJsonError, match=r"again\[\d\]: the value contains itself"):
        encode({"a": loop})


def test_a_value_that_occurs_twice_does_not_contain_itself() -> None:
    shared = {"x": [None]}
    assert decode(encode([shared, shared, 2**70])) == [shared, shared, 2**70]


def test_what_stands_for_json_is_written_as_it() -> None:
    file = FileValue(name="a.txt", media_type="text/plain", size=1, sha256="0", ref="sha256-0")
    value = {
        "file": file,
        "tuple": (1, None),
        "enum": Colour.RED,
        "map": MappingProxyType({"k": 1}),
        "id": uuid.UUID(int=5),
    }
    decoded = decode(encode(value))
    assert decoded == {
        "file": {"name": "a.txt", "media_type": "text/plain", "size": 1, "sha256": "0", "ref": "sha256-0"},
        "tuple": [1, None], "enum": "red", "map": {"k": 1}, "id": str(uuid.UUID(int=5)),
    }  # fmt: skip
    assert isinstance(value["map"], Mapping)
    assert decode(encode({**value, "big": 2**70})) == {**decoded, "big": 2**70}


@given(st.text())
def test_escaping_piecewise_is_escaping(text: str) -> None:
    assert b"".join(escape(text)) == orjson.dumps(text)


def test_escaping_piecewise_crosses_pieces() -> None:
    text = 'a"\\\n\x00é漢😀' * 50_000
    assert b"".join(escape(text)) == orjson.dumps(text)
    with pytest.raises(NotJsonError, match="surrogate"):
        b"".join(escape("x" * 200_000 + "\udfff"))
