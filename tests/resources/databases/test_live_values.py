"""What becomes of each server's own types, on the servers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from interlace.resources.databases import Databases

TYPES: list[tuple[str, str, object]] = [
    ("postgresql", "1.50::numeric", 1.5),
    ("postgresql", "12345678901234567890.5::numeric", "12345678901234567890.5"),
    ("postgresql", "'NaN'::numeric", None),
    ("postgresql", "'NaN'::float8", None),
    ("postgresql", "'infinity'::date", "infinity"),
    ("postgresql", "'0044-03-15 BC'::date", "0044-03-15 BC"),
    ("postgresql", "'2024-01-02 03:04:05.5+02'::timestamptz", "2024-01-02T01:04:05.5+00:00"),
    ("postgresql", "'2024-01-02 03:04'::timestamp", "2024-01-02T03:04:00"),
    ("postgresql", "'1 month 2 hours'::interval", "P1MT2H"),
    ("postgresql", "'\\x00ff'::bytea", "AP8="),
    ("postgresql", "'{\"a\": [1, null]}'::jsonb", {"a": [1, None]}),
    ("postgresql", "ARRAY[1.5, 2]::numeric[]", [1.5, 2]),
    ("postgresql", "ARRAY['a', NULL]", ["a", None]),
    ("postgresql", "'10.0.0.1'::inet", "10.0.0.1"),
    ("postgresql", "int4range(1, 5)", "[1,5)"),
    ("postgresql", "'00000000-0000-0000-0000-000000000001'::uuid", "00000000-0000-0000-0000-000000000001"),
    ("postgresql", "(1 = 1)", True),
    ("postgresql", ":v", "text"),
    ("mysql", "1.50", 1.5),
    ("mysql", "cast('2024-01-02 03:04:05' AS datetime)", "2024-01-02T03:04:05"),
    ("mysql", "cast('-30:00:01' AS time)", "-30:00:01"),
    ("mysql", "x'00ff'", "AP8="),
    ("mysql", "18446744073709551615", "18446744073709551615"),
    ("mysql", ":v", "text"),
    ("sqlite", "x'00ff'", "AP8="),
    ("sqlite", "1e999", None),
    ("sqlite", "'2024-01-02'", "2024-01-02"),
    ("sqlite", ":v", "text"),
    ("duckdb", "1.50::decimal(10, 2)", 1.5),
    ("duckdb", "170141183460469231731687303715884105727::hugeint", "170141183460469231731687303715884105727"),
    ("duckdb", "'NaN'::double", None),
    ("duckdb", "'2024-01-02 03:04:05.5+02'::timestamptz", "2024-01-02T01:04:05.500000+00:00"),
    ("duckdb", "'2024-01-02 03:04'::timestamp", "2024-01-02T03:04:00"),
    ("duckdb", "date '2024-02-29'", "2024-02-29"),
    ("duckdb", "interval 26 hours", "26:00:00"),
    ("duckdb", "unhex('00FF')", "AP8="),
    ("duckdb", "'{\"a\": [1, null]}'::json", {"a": [1, None]}),
    ("duckdb", "[1.5, 2]", [1.5, 2]),
    ("duckdb", "struct_pack(a := 1, b := ['x'])", {"a": 1, "b": ["x"]}),
    ("duckdb", "map([1], ['x'])", {"1": "x"}),
    ("duckdb", "'00000000-0000-0000-0000-000000000001'::uuid", "00000000-0000-0000-0000-000000000001"),
    ("duckdb", "(1 = 1)", True),
    ("duckdb", ":v", "text"),
]


@pytest.mark.parametrize(("dialect", "expression", "expected"), TYPES)
async def test_values_of_each_server(
    request: pytest.FixtureRequest,
    databases: Databases,
    tmp_path: Path,
    dialect: str,
    expression: str,
    expected: object,
) -> None:
    urls: dict[str, Callable[[], str]] = {
        "postgresql": lambda: str(request.getfixturevalue("postgres_url")),
        "mysql": lambda: str(request.getfixturevalue("mysql_url")),
        "sqlite": lambda: "sqlite:///v.db",
        "duckdb": lambda: "duckdb:///t.db",
    }
    (tmp_path / "v.db").touch()
    if dialect == "duckdb":
        await databases.execute(urls[dialect](), "CREATE TABLE made (a INT)", allow_ddl=True)
    values = {"v": "text"} if ":v" in expression else {}
    found = await databases.query(urls[dialect](), f"SELECT {expression} AS x", values)
    assert found.rows == [{"x": expected}]
