"""The cases of other libraries' own tests; where the answer differs from ours, the reason stands here."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from interlace.engine.cron import Cron, CronError

FILE = next(
    (
        found
        for up in Path(__file__).parents
        if (found := up / "shared/corpus/cron/cron_cases.jsonl").is_file()
    ),
    None,
)
RANGE = "the hour is a range, which is as fixed as a list of its hours: it follows the wall clock"
WITH_SECONDS = (
    "that library moves no time out of a gap where there is a seconds field; our rule is one for both forms"
)
STAR_STEP = (
    "a day or weekday that begins with * restricts there in addition; here, as in croniter, either may fit"
)
DIFFERENT = {
    "cron-0280": "a range of days over the end of the month is understood here, as in croniter",
    "cron-0285": STAR_STEP, "cron-0380": STAR_STEP, "cron-0381": STAR_STEP, "cron-0404": STAR_STEP, "cron-0473": STAR_STEP,
    "cron-0292": "LW is no day that croniter knows",
    "cron-0326": RANGE, "cron-0331": RANGE, "cron-0389": RANGE, "cron-0411": RANGE, "cron-0444": RANGE,
    "cron-0329": WITH_SECONDS, "cron-0387": WITH_SECONDS,
    "cron-0505": "that library leaves a time that does not exist out; here it runs right after the gap",
}  # fmt: skip


def _cases() -> list[dict[str, Any]]:
    cases = [json.loads(line) for line in FILE.read_text().splitlines()] if FILE is not None else []
    return [case for case in cases if _is_ours(case)]


def _is_ours(case: dict[str, Any]) -> bool:
    """Seconds stand first here, years do not exist, and a day or a weekday is enough."""
    options = case.get("opts", {})
    if options.get("day_or") is False:
        return False
    if case["dialect"] == "croniter" and case["fields"] > 5:
        return bool(options.get("second_at_beginning")) and case["fields"] == 6
    return case["fields"] in (1, 4, 5, 6)


def _moment(text: str, case: dict[str, Any]) -> float:
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(_zone(case)))).timestamp()


def _zone(case: dict[str, Any]) -> str:
    start = datetime.fromisoformat(case["start"]) if "start" in case else datetime.now(UTC)
    offset = start.utcoffset()
    if case.get("tz") is None and offset:
        return {5.5: "Asia/Kolkata"}[offset.total_seconds() / 3600]
    return case.get("tz") or "UTC"


def _answer(case: dict[str, Any]) -> Any:
    """What we say: instants, whether it is due, or `never` where the expression cannot be used."""
    try:
        cron = Cron(case["expr"], _zone(case))
    except CronError:
        return "never"
    if case["kind"] in ("invalid", "no_match"):
        return "sometimes"
    start = _moment(case["start"], case) if "start" in case else 0.0
    if case["kind"] == "next":
        return list(islice(cron.after(start), len(case["expected"])))
    if case["kind"] == "is_due":
        return cron.next(start - 1) == start
    found: list[int] = []
    while len(found) < len(case.get("expected", [])):
        latest = cron.latest(0, math.ceil(found[-1] if found else start) - 1)
        assert latest is not None
        found.append(latest)
    return found


@pytest.mark.parametrize("case", _cases(), ids=lambda case: case["id"])
def test_a_case(case: dict[str, Any]) -> None:
    wanted: Any = [_moment(one, case) for one in case.get("expected", [])]
    if case["kind"] not in ("next", "prev"):
        wanted = case.get("due", "never")
    assert (_answer(case) == wanted) == (case["id"] not in DIFFERENT), DIFFERENT.get(case["id"], "")


def test_most_cases_are_covered() -> None:
    if FILE is None:
        pytest.skip("the corpus is not here")
    cases = _cases()
    assert len(cases) > 160
    assert {case["id"] for case in cases} >= set(DIFFERENT)
