"""Dates, zones, calendars and schedules."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlace.engine.expressions import restore_clock, use_clock
from tests.resources.tools.calling import call, fault, value


async def test_the_present_by_the_runs_clock() -> None:
    found = await call("current_time", time_zone="Asia/Tokyo")
    assert found.value == {
        "time": "2026-12-01T19:04:05.500000+09:00", "date": "2026-12-01", "weekday": "Tuesday", "week": 49,
        "time_zone": "Asia/Tokyo", "unix": 1796119445.5,
    }  # fmt: skip
    assert found.text == "2026-12-01T19:04:05.500000+09:00 (Tuesday, Asia/Tokyo)"


async def test_the_present_of_a_recorded_run_is_the_recorded_one() -> None:
    token = use_clock(lambda: datetime(2020, 2, 29, 12, tzinfo=UTC))
    try:
        assert (await value("current_time"))["date"] == "2020-02-29"
    finally:
        restore_clock(token)


async def test_reading_moving_and_writing() -> None:
    found = await value(
        "convert_time", time="01.12.2026 09:30", read_as="%d.%m.%Y %H:%M", from_zone="Europe/Berlin",
        to_zone="America/New_York", write_as="%A %H:%M",
    )  # fmt: skip
    assert (found["time"], found["text"], found["unix"]) == (
        "2026-12-01T03:30:00-05:00",
        "Tuesday 03:30",
        1796113800,
    )
    assert (await value("convert_time", time=0))["time"] == "1970-01-01T00:00:00+00:00"
    assert (await fault("convert_time", time="soon"))[0] == "bad_date"
    kind, words = await fault("current_time", time_zone="Mars/Base")
    assert (kind, "no time zone 'Mars/Base'" in words) == ("bad_date", True)


async def test_adding_by_the_calendar_and_by_the_clock() -> None:
    assert (await value("add_time", time="2026-01-31T10:00", months=1))["date"] == "2026-02-28"
    zone = "Europe/Berlin"  # the clocks change on 29 March
    day = await value("add_time", time="2026-03-28T12:00", days=1, time_zone=zone)
    hours = await value("add_time", time="2026-03-28T12:00", hours=24, time_zone=zone)
    assert (day["time"], hours["time"]) == ("2026-03-29T12:00:00+02:00", "2026-03-29T13:00:00+02:00")
    assert (await value("add_time", weeks=-1))["date"] == "2026-11-24"
    assert (await fault("add_time", time="2026-01-01", years=9000))[0] == "bad_date"


async def test_between_two_moments() -> None:
    found = await value("time_between", start="2024-02-29", end="2026-12-01T05:00:00")
    assert found == {
        "seconds": 86936400, "days": pytest.approx(1006.2083), "text": "1006 days 5 hours", "years": 2, "months": 9,
        "rest_days": 2,
    }  # fmt: skip
    back = await value("time_between", start="2026-12-01", end="2026-11-30T23:59:58")
    assert (back["seconds"], back["text"]) == (-2, "-2 seconds")


async def test_working_days() -> None:
    later = await value("business_days", start="2026-12-01", days=5, holidays=["2026-12-03"])
    assert later == {"days": 5, "date": "2026-12-09", "weekday": "Wednesday"}
    assert (await value("business_days", start="2026-12-01", end="2026-12-31"))["days"] == 22
    assert (await value("business_days", start="2026-12-31", end="2026-12-01"))["days"] == -22
    friday_off = await value("business_days", start="2026-12-03", days=1, weekend=["fri", "sat"])
    assert friday_off["date"] == "2026-12-06"
    assert "exactly one of end and days" in (await fault("business_days", start="2026-12-01"))[1]
    assert (await fault("business_days", start="0001-01-01", end="9999-01-01"))[0] == "bad_date"


@given(st.integers(-300, 300))
@settings(max_examples=60, deadline=None)
async def test_going_and_counting_agree(days: int) -> None:
    there = await value("business_days", start="2026-12-01", days=days)
    assert (await value("business_days", start="2026-12-01", end=there["date"]))["days"] == days


async def _due(expression: str, after: str, count: int = 4, zone: str = "Europe/Berlin") -> list[str]:
    found = await value("cron_next", expression=expression, after=after, count=count, time_zone=zone)
    return [text[5:16] + text[-6:] for text in found["times"]]


async def test_schedules() -> None:
    found = await value("cron_next", expression="30 9 * * mon-fri", time_zone="Asia/Tokyo", count=4)
    assert [text[:16] for text in found["times"]] == [
        "2026-12-02T09:30", "2026-12-03T09:30", "2026-12-04T09:30", "2026-12-07T09:30",
    ]  # fmt: skip
    assert await _due("@daily", "2026-12-01T12:00:00Z", 1, "UTC") == ["12-02T00:00+00:00"]


async def test_a_repeated_hour_counts_twice_for_open_hours_and_once_for_fixed_ones() -> None:
    assert await _due("30 * * * *", "2026-10-25T00:40:00+02:00") == [
        "10-25T01:30+02:00", "10-25T02:30+02:00", "10-25T02:30+01:00", "10-25T03:30+01:00",
    ]  # fmt: skip
    assert await _due("30 2 * * *", "2026-10-24T12:00:00+02:00", 2) == [
        "10-25T02:30+02:00",
        "10-26T02:30+01:00",
    ]
    assert await _due("30 * * * *", "2026-10-25T02:45:00+02:00", 1) == ["10-25T02:30+01:00"]


async def test_an_hour_that_is_left_out_moves_fixed_times_and_no_others() -> None:
    assert await _due("30 2 * * *", "2026-03-28T12:00:00+01:00", 2) == [
        "03-29T03:30+02:00",
        "03-30T02:30+02:00",
    ]
    assert await _due("*/30 * * * *", "2026-03-29T01:10:00+01:00", 3) == [
        "03-29T01:30+01:00", "03-29T03:00+02:00", "03-29T03:30+02:00",
    ]  # fmt: skip


@pytest.mark.parametrize("wrong", ["* * * *", "61 * * * *", "0 0 30 2 *", "x y z a b", "", "@never"])
async def test_what_is_no_schedule(wrong: str) -> None:
    kind, words = await fault("cron_next", expression=wrong)
    assert (kind, "write five fields" in words) == ("bad_cron", True)
