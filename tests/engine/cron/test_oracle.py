"""Schedules against the oracle: every zone around its clock changes, and over two years."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import takewhile
from zoneinfo import available_timezones

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from interlace.engine.cron import Cron
from tests.engine.cron.oracle import changes, firings, same_clock, walk

BEGIN, END = datetime(2025, 6, 1, tzinfo=UTC), datetime(2027, 6, 1, tzinfo=UTC)
ZONES = [
    "Europe/Berlin", "Europe/London", "America/New_York", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Chatham",
    "Africa/Casablanca", "Africa/Cairo", "Asia/Beirut", "Asia/Gaza", "Antarctica/Troll", "America/Santiago", "Asia/Tokyo",
    "America/Havana", "America/Asuncion", "Atlantic/Azores", "UTC", "Asia/Kathmandu", "America/Nuuk",
]  # fmt: skip
MINUTELY = [
    "* * * * *", "*/30 * * * *", "0 */2 * * *", "15 1-23/3 * * *", "* 1-6 * * *", "*/20 2 * * *", "0,45 0,1,2,3 * * *",
    "30 0-23 * * *", "59 23 * * *", "0 0 * * *", "0 3 * * *", "10 1,2 L * *", "5 4 1,15 * sun", "30 2 * mar-nov mon-fri/2",
]  # fmt: skip
DAILY = ["30 2 * * *", "0 0 * * mon", "5 1,2,3 1-7,L * *", "59 23 31 * ?", "0 3 * 3,10,11 0"]
SECONDLY = ["30 59 1,2 * * *", "*/20 0,30 */2 * * *", "59 59 23 * * *"]


def ours(expression: str, zone: str, begin: datetime, end: datetime) -> list[int]:
    until = end.timestamp()
    return list(takewhile(lambda at: at <= until, Cron(expression, zone).after(begin.timestamp())))


def compare(expressions: Sequence[str], zone: str, begin: datetime, end: datetime) -> None:
    agree(walk(expressions, zone, begin, end), zone, begin, end)


def agree(oracle: Mapping[str, list[int]], zone: str, begin: datetime, end: datetime) -> None:
    for expression, wanted in oracle.items():
        found = ours(expression, zone, begin, end)
        differing = [datetime.fromtimestamp(at, UTC) for at in sorted(set(found) ^ set(wanted))]
        assert found == wanted, (expression, zone, begin, differing[:10])


@pytest.mark.parametrize("zone", ZONES)
def test_around_the_clock_changes_of_a_year(zone: str) -> None:
    for at in changes(zone, BEGIN, BEGIN + timedelta(days=365)) or [BEGIN]:
        compare(MINUTELY, zone, at - timedelta(hours=9), at + timedelta(hours=9))


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"])
def test_seconds_around_the_clock_changes(zone: str) -> None:
    for at in changes(zone, BEGIN, BEGIN + timedelta(days=365)):
        compare(SECONDLY, zone, at - timedelta(hours=2), at + timedelta(hours=3))


@st.composite
def field(draw: st.DrawFn, low: int, high: int) -> str:
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        first = draw(st.integers(low, high - 1))
        last = draw(st.integers(first + 1, high))
        step = draw(st.integers(1, high))
        parts.append(
            draw(st.sampled_from(["*", str(first), f"{first}-{last}", f"{first}-{last}/{step}", f"*/{step}"]))
        )
    return "*" if "*" in parts else ",".join(parts)


@given(
    minute=field(0, 59), hour=field(0, 23), day=st.sampled_from(["*", "*", "1-7", "L", "28-31"]),
    weekday=st.sampled_from(["*", "*", "sun", "6,0"]), zone=st.sampled_from(ZONES), change=st.integers(0, 3),
    before=st.integers(1, 1500),
)  # fmt: skip
@settings(max_examples=60, phases=[Phase.explicit, Phase.reuse, Phase.generate])
def test_any_expression(
    minute: str, hour: str, day: str, weekday: str, zone: str, change: int, before: int
) -> None:
    found = changes(zone, BEGIN, BEGIN + timedelta(days=365)) or [BEGIN]
    begin = found[change % len(found)] - timedelta(minutes=before)
    compare([f"{minute} {hour} {day} * {weekday}"], zone, begin, begin + timedelta(hours=27))


def test_a_start_at_any_second_gives_the_same_times() -> None:
    cron, zone = Cron("*/20 1,2 * * *", "Europe/Berlin"), "Europe/Berlin"
    for at in changes(zone, BEGIN, BEGIN + timedelta(days=365)):
        wanted = list(firings("*/20 1,2 * * *", zone, at - timedelta(hours=4), at + timedelta(hours=30)))
        for seconds in range(-3 * 3600, 3 * 3600, 599):
            start = at.timestamp() + seconds + 0.25
            assert cron.next(start) == next(one for one in wanted if one > start)


@lru_cache(maxsize=64)
def _two_years(clock: Hashable, zone: str) -> dict[str, list[int]]:
    return walk(DAILY, zone, BEGIN, END)


_KNOWN: dict[Hashable, str] = {}


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("zone", sorted(available_timezones()))
def test_every_zone_over_two_years(zone: str) -> None:
    for at in changes(zone, BEGIN, END) or [BEGIN]:
        compare(MINUTELY, zone, at - timedelta(hours=9), at + timedelta(hours=9))
    clock = same_clock(zone, BEGIN, END)
    agree(_two_years(clock, _KNOWN.setdefault(clock, zone)), zone, BEGIN, END)
