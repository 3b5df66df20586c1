from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from interlace.engine.expressions import restore_clock, use_clock


@pytest.fixture
def frozen():
    token = use_clock(lambda: datetime(2026, 3, 1, 12, 30, tzinfo=UTC))
    yield
    restore_clock(token)


@pytest.mark.usefixtures("frozen")
def test_now_reads_the_clock_of_the_run(value):
    assert value("now()") == "2026-03-01T12:30:00+00:00"
    assert value("now('Asia/Tokyo')") == "2026-03-01T21:30:00+09:00"
    assert value("now(tz='Asia/Tokyo') | date") == "2026-03-01"
    assert value("now() > '2026-02-28'") is True


def test_without_a_clock_now_is_the_present(value):
    moment = datetime.fromisoformat(value("now()"))
    assert abs(datetime.now(UTC) - moment) < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("'2026-11-30' | to_datetime", "2026-11-30T00:00:00+00:00"),
        ("'2026-11-30T10:00:00Z' | datetime", "2026-11-30T10:00:00+00:00"),
        ("'20261130' | to_datetime", "2026-11-30T00:00:00+00:00"),
        ("'30.11.2026' | to_datetime('%d.%m.%Y')", "2026-11-30T00:00:00+00:00"),
        ("'2026-11-30 09:00' | to_datetime(tz='Asia/Tokyo')", "2026-11-30T09:00:00+09:00"),
        ("0 | to_datetime", "1970-01-01T00:00:00+00:00"),
        ("1700000000000 | to_datetime", "2023-11-14T22:13:20+00:00"),
        ("'1700000000' | to_datetime", "2023-11-14T22:13:20+00:00"),
        ("'2026-11-30T23:30:00Z' | date(tz='Asia/Tokyo')", "2026-12-01"),
        ("'2026-11-30T23:30:00Z' | format_date('%d/%m/%y %H:%M', 'Europe/Berlin')", "01/12/26 00:30"),
        ("'2026-11-30' | strftime('%Y')", "2026"),
        ("'2026-11-30' | format_date('100%%')", "100%"),
        ("'2026-11-30' | format_date('%9999999d')", "30"),
        ("'2026-11-30T00:00:00Z' | to_tz('America/New_York')", "2026-11-29T19:00:00-05:00"),
        ("'2026-11-30T00:00:00Z' | timestamp", int(datetime(2026, 11, 30, tzinfo=UTC).timestamp())),
        ("'2026-01-31' | add_time(months=1)", "2026-02-28T00:00:00+00:00"),
        ("'2024-02-29' | add_time(years=1)", "2025-02-28T00:00:00+00:00"),
        ("'2026-01-01' | add_time(days=-1, hours=1.5)", "2025-12-31T01:30:00+00:00"),
        ("'2026-03-28T12:00:00+01:00' | add_time(days=1, tz='Europe/Berlin')", "2026-03-29T12:00:00+02:00"),
        ("'2026-03-29T00:30:00+01:00' | add_time(hours=2, tz='Europe/Berlin')", "2026-03-29T03:30:00+02:00"),
        ("'2026-01-02' | date_diff('2026-01-01', 'hours')", 24.0),
    ],
)
def test_dates(value, source, expected):
    assert value(source) == expected
