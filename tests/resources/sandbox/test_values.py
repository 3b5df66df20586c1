from __future__ import annotations

import datetime as dt
import decimal
import json
import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlace.resources.sandbox.inside.values import NotJson, to_json

_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def _wide(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_wide, value.values()))
    if isinstance(value, list):
        return any(map(_wide, value))
    return isinstance(value, int) and not -(2**63) <= value < 2**63


@given(st.dictionaries(st.text(), _json, max_size=4))
def test_round_trip(value: dict[str, Any]) -> None:
    data, wide = to_json(value)

    assert json.loads(data) == value
    assert wide == _wide(value)


@given(
    st.dictionaries(st.text(), _json, max_size=3), st.sampled_from([{1}, b"x", 1j, float("nan"), object()])
)
def test_one_foreign_value_anywhere_is_named(value: dict[str, Any], foreign: object) -> None:
    with pytest.raises(NotJson, match=r"deep\[1\]\.here is "):
        to_json({**value, "deep": [value, {"here": foreign}]})


@given(st.integers() | st.none() | st.booleans() | st.floats() | st.tuples(st.text()))
def test_key_that_is_no_text_is_named(key: object) -> None:
    with pytest.raises(NotJson, match=r"^a\[0\] has the key .* keys must be text$"):
        to_json({"a": [{key: 1}]})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((1, (2,)), "[1,[2]]"),
        (dt.date(2026, 1, 2), '"2026-01-02"'),
        (dt.datetime(2026, 1, 2, 3, tzinfo=dt.UTC), '"2026-01-02T03:00:00+00:00"'),
        (decimal.Decimal("1.50"), '"1.50"'),
        (uuid.UUID(int=5), '"00000000-0000-0000-0000-000000000005"'),
        ("é\u2028", '"é\u2028"'),
    ],
)
def test_text_forms(value: object, text: str) -> None:
    assert to_json({"x": value})[0].decode() == f'{{"x":{text}}}'


def test_long_keys_are_shortened_in_the_message() -> None:
    with pytest.raises(NotJson) as caught:
        to_json({"a": {b"x" * 10_000: 1}})

    assert len(str(caught.value)) < 200
