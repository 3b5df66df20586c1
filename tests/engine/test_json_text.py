from __future__ import annotations

import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlace.engine.json_text import read_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(VALUES)
def test_what_is_written_is_read(value: object) -> None:
    assert read_json(json.dumps(value)) == value


@pytest.mark.parametrize("text", ['{"id": 123456789012345678901}', "[-9223372036854775809, 1.5e300]"])
def test_long_numbers_stay_what_they_are(text: str) -> None:
    assert json.dumps(read_json(text)) == text.replace("1.5e300", "1.5e+300")


@pytest.mark.parametrize(
    "text", ["[12345678901234567890, NaN]", "[12345678901234567890", "{1: 12345678901234567890}"]
)
def test_what_is_no_json_is_told(text: str) -> None:
    with pytest.raises(orjson.JSONDecodeError):
        read_json(text)
