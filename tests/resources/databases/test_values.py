from __future__ import annotations

import datetime as dt
import ipaddress
import json
import math
import uuid
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlace.resources.databases.result import Collector
from interlace.resources.databases.values import json_rows, json_value, number, unique_names


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (2**63 - 1, 2**63 - 1),
        (2**63, str(2**63)),
        (1.5, 1.5),
        (float("nan"), None),
        (-math.inf, None),
        (Decimal("12.30"), 12.3),
        (Decimal(12), 12),
        (Decimal("0.1000000000000000000001"), "0.1000000000000000000001"),
        (Decimal(9007199254740993), "9007199254740993"),
        (Decimal("NaN"), None),
        (Decimal("Infinity"), None),
        (b"\x00\xff", "AP8="),
        (memoryview(b"a"), "YQ=="),
        (dt.date(2024, 1, 2), "2024-01-02"),
        (dt.datetime(2024, 1, 2, 3, 4, 5, tzinfo=dt.UTC), "2024-01-02T03:04:05+00:00"),
        (dt.time(3, 4), "03:04:00"),
        (dt.timedelta(days=-1, seconds=3600), "-23:00:00"),
        (dt.timedelta(hours=30, microseconds=5), "30:00:00.000005"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (ipaddress.ip_address("::1"), "::1"),
        ([Decimal("1.5"), b"a"], [1.5, "YQ=="]),
        ({"a": (1, float("nan"))}, {"a": [1, None]}),
    ],
)
def test_values_become_json_by_the_table(value: object, expected: object) -> None:
    assert json_value(value) == expected
    assert json_rows(["x"], [(value,)], [0]) == [{"x": expected}]
    assert type(json_rows(["x"], [(None,), (value,)], [0])[1]["x"]) is type(expected)


@given(
    st.decimals(allow_nan=False, allow_infinity=False, places=6)
    | st.decimals(allow_nan=False, allow_infinity=False)
)
def test_decimals_are_exact_as_number_or_as_text(value: Decimal) -> None:
    found = number(str(value))
    exact = Decimal(found) if isinstance(found, (int, str)) else Decimal(repr(found))
    assert exact == value


@given(
    st.lists(
        st.tuples(st.one_of(st.none(), st.integers(), st.floats(), st.text(), st.booleans())), max_size=20
    )
)
def test_whole_columns_convert_as_single_values_do(rows: list[tuple[object]]) -> None:
    found = json_rows(["x"], rows, [0])
    assert found == [{"x": json_value(value)} for (value,) in rows]
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a", "a", "a"], ["a", "a_2", "a_3"]),
        (["a", "a_2", "a"], ["a", "a_2", "a_3"]),
        ([], []),
        (["a", "a", "a_2"], ["a", "a_3", "a_2"]),
    ],
)
def test_repeated_names_get_a_number(names: list[str], expected: list[str]) -> None:
    assert unique_names(names) == expected


@given(
    total=st.integers(0, 5000),
    cap=st.integers(1, 3000),
    width=st.integers(1, 400),
    budget=st.integers(1, 300_000),
)
def test_the_collector_keeps_its_caps(total: int, cap: int, width: int, budget: int) -> None:
    left = [("x" * width,)] * total
    collector = Collector(max_rows=cap, max_bytes=budget)
    collector.describe(["c"], ["text"])
    while asked := collector.wanted():
        batch, left = left[:asked], left[asked:]
        collector.take(batch, asked)
    found = collector.result()
    assert found.row_count == len(found.rows) <= cap
    assert len(json.dumps(found.rows, separators=(",", ":"))) <= budget + 2 + len(found.rows)
    assert found.truncated == (found.row_count < total)
