"""Expressions and zones that can be used, those that cannot, and what people are told of clock changes."""

from __future__ import annotations

import re
from datetime import datetime
from itertools import islice

import pytest

from interlace.engine.cron import Cron, CronError


def at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def shown(expression: str, zone: str, after: str, count: int = 3) -> list[str]:
    cron = Cron(expression, zone)
    return [cron.firing(found).local for found in islice(cron.after(at(after)), count)]


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("* * * *", "has 4 fields; write 5"), ("* * * * * * *", "has 7 fields"), ("60 0 * * *", "'60' is no minute (0 to 59)"),
        ("a * * * *", "cannot be read"), ("0 0 31 2 *", "no time ever fits"), ("H * * * *", "uses H or R"),
        ("0 R(0-5) * * *", "uses H or R"), ("5-5/0 * * * *", "cannot be read"), ("@reboot", "has 1 field;"),
        ("* 0 26 * * *", "'26' is no hour (0 to 23)"), ("", "has 0 fields"), ("1" * 300, "at most 255"), ("0 0 LW * *", "cannot be read"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_says_why(expression: str, words: str) -> None:
    with pytest.raises(CronError, match=re.escape(words)):
        Cron(expression)


@pytest.mark.parametrize(
    ("zone", "hint"),
    [("Europe/Berln", "Did you mean 'Europe/Berlin'"), ("../etc", "no time zone"), ("", "no time zone")],
)
def test_unknown_zone(zone: str, hint: str) -> None:
    with pytest.raises(CronError, match=hint):
        Cron("* * * * *", zone)


def test_names_and_last_days() -> None:
    assert shown("@daily", "UTC", "2026-01-01T00:00:00Z", 1) == ["2026-01-02T00:00:00+00:00"]
    for last_friday in ("0 9 * * L5", "0 9 * * 5L", "0 9 * * friL", "0 9 * * Lfri", "0 9 * * FRIL"):
        assert shown(last_friday, "UTC", "2026-01-01T00:00:00Z", 2) == [
            "2026-01-30T09:00:00+00:00",
            "2026-02-27T09:00:00+00:00",
        ]
    assert shown("0 9 L FEB *", "UTC", "2027-01-01T00:00:00Z", 2) == [
        "2027-02-28T09:00:00+00:00",
        "2028-02-29T09:00:00+00:00",
    ]
    assert shown("30 0 9 * * MON#2", "UTC", "2026-01-01T00:00:00Z", 1) == ["2026-01-12T09:00:30+00:00"]


def test_a_time_that_does_not_exist_runs_right_after_the_gap_and_says_so() -> None:
    cron = Cron("*/20 2 * * *", "America/New_York")
    first = cron.firing(next(cron.after(at("2026-03-08T01:00:00-05:00"))))
    assert (first.local, first.change, first.wanted) == (
        "2026-03-08T03:00:00-04:00",
        "moved",
        ("02:00", "02:20", "02:40"),
    )
    assert first.note == "02:00, 02:20, 02:40 do not exist on this day: it runs once, right after the gap"
    # One that is meant for that moment is no moved one, though another merges with it.
    cron = Cron("0 2,3 * * *", "America/New_York")
    merged = cron.firing(next(cron.after(at("2026-03-08T01:00:00-05:00"))))
    assert (merged.local, merged.change, merged.note) == ("2026-03-08T03:00:00-04:00", None, None)


def test_a_time_that_comes_twice_says_which_it_is() -> None:
    daily, hourly = Cron("30 1 * * *", "Europe/London"), Cron("30 * * * *", "Europe/London")
    begin = at("2026-10-25T00:45:00+01:00")
    once = [daily.firing(found) for found in islice(daily.after(begin), 2)]
    assert [(f.local, f.change) for f in once] == [
        ("2026-10-25T01:30:00+01:00", "first_of_two"), ("2026-10-26T01:30:00+00:00", None),
    ]  # fmt: skip
    both = [hourly.firing(found) for found in islice(hourly.after(begin), 3)]
    assert [(f.local, f.change) for f in both] == [
        ("2026-10-25T01:30:00+01:00", "first_of_two"), ("2026-10-25T01:30:00+00:00", "second_of_two"),
        ("2026-10-25T02:30:00+00:00", None),
    ]  # fmt: skip
    assert both[1].note == "this time comes twice on this day; this is the second"


def test_a_day_that_never_was() -> None:
    # Samoa went from the 29th to the 31st of December 2011.
    assert shown("0 9 * * *", "Pacific/Apia", "2011-12-29T08:00:00-10:00") == [
        "2011-12-29T09:00:00-10:00", "2011-12-31T00:00:00+14:00", "2011-12-31T09:00:00+14:00",
    ]  # fmt: skip
    assert shown("0 */6 * * *", "Pacific/Apia", "2011-12-29T17:00:00-10:00") == [
        "2011-12-29T18:00:00-10:00", "2011-12-31T00:00:00+14:00", "2011-12-31T06:00:00+14:00",
    ]  # fmt: skip


def test_the_latest_time_of_a_span() -> None:
    cron = Cron("0 0 29 2 *")
    assert cron.latest(at("2020-03-01T00:00:00Z"), at("2028-03-01T00:00:00Z")) == at("2028-02-29T00:00:00Z")
    assert cron.latest(at("2024-02-29T00:00:00Z"), at("2028-02-28T00:00:00Z")) is None
    assert Cron("* * * * * *").latest(0, at("2026-01-01T00:00:00Z")) == at("2026-01-01T00:00:00Z")
