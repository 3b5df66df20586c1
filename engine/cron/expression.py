"""A cron expression: checked, and walked through as if there were no time zones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from interlace.engine.errors import InterlaceError

if TYPE_CHECKING:
    from croniter import croniter

_MAX_CHARACTERS: Final = 255
_FIVE, _SIX = 5, 6
_HOUR_FROM_THE_END: Final = -4
_ALIASES: Final = {
    "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}  # fmt: skip
_DAYS: Final = {
    name: str(number) for number, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))
}
_LAST_DAY: Final = re.compile(r"(?:l(?P<after>[a-z]{3})|(?P<before>[0-7]|[a-z]{3})l)")
_HASHED: Final = re.compile(r"(?:^|,)[hr](?:$|[/(,])")


_PLACES: Final = (
    (0, "second", "0 to 59"), (0, "minute", "0 to 59"), (1, "hour", "0 to 23"), (2, "day of the month", "1 to 31"),
    (3, "month", "1 to 12, or JAN to DEC"), (4, "weekday", "0 to 7, or SUN to SAT"),
)  # fmt: skip


class CronError(InterlaceError):
    """A cron expression or time zone that cannot be used."""

    code = "bad_cron"


class Expression:
    """Five fields, or six with the seconds first, or a name such as `@daily`.

    Local times are counted in seconds since 1970-01-01T00:00:00 of the wall clock.

    Args:
        text: the expression.

    Raises:
        CronError: it cannot be read, or no time ever fits it.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        fields = _fields(text)
        self.with_seconds = len(fields) == _SIX
        hour = fields[_HOUR_FROM_THE_END].split(",")
        self.elapsed = any(part.startswith("*") or "/" in part for part in hour)
        """Whether it follows elapsed time: the hour is `*` or a step."""
        self._fields = " ".join(fields)
        from croniter import CroniterBadDateError, CroniterError  # noqa: PLC0415 - slow, and few documents have schedules

        try:
            self.after(0.0)
        except CroniterBadDateError:
            raise CronError(
                f"no time ever fits the cron expression {text!r}; look at its day and month"
            ) from None
        except (CroniterError, ValueError, KeyError, TypeError) as error:
            raise CronError(
                f"the cron expression {text!r} cannot be read: {_wrong(fields) or error}"
            ) from None

    def after(self, local: float) -> float:
        """The first local time after another one that fits."""
        return float(self._walk(local).get_next(float))

    def times(self, local: float) -> Iterator[float]:
        """The local times after another one that fit, without end or until none fits any more."""
        from croniter import CroniterBadDateError  # noqa: PLC0415

        walk = self._walk(local)
        while True:
            try:
                yield float(walk.get_next(float))
            except CroniterBadDateError:
                return

    def _walk(self, local: float) -> croniter:
        from croniter import croniter  # noqa: PLC0415

        return croniter(self._fields, local, second_at_beginning=self.with_seconds)


def _wrong(fields: list[str]) -> str | None:
    """The first field that cannot be read by itself, in words."""
    from croniter import croniter  # noqa: PLC0415 - slow, and few documents have schedules

    for field, (place, name, values) in zip(fields, _PLACES[-len(fields) :], strict=True):
        alone = ["*"] * _FIVE
        alone[place] = field
        if not croniter.is_valid(" ".join(alone)):
            return f"{field!r} is no {name} ({values})"
    return None


def _fields(text: str) -> list[str]:
    """The fields as the reader of expressions takes them."""
    if len(text) > _MAX_CHARACTERS:
        raise CronError(
            f"a cron expression has at most {_MAX_CHARACTERS} characters, this one has {len(text)}"
        )
    lowered = text.strip().lower()
    fields = _ALIASES.get(lowered, lowered).split()
    if len(fields) not in (_FIVE, _SIX):
        raise CronError(
            f"the cron expression {text!r} has {len(fields)} field{'' if len(fields) == 1 else 's'}; write 5 (minute"
            " hour day month weekday), or 6 with the seconds first"
        )
    if any(_HASHED.search(field) for field in fields):
        raise CronError(
            f"the cron expression {text!r} uses H or R; write the times, and `jitter` to spread the load"
        )
    fields[-1] = ",".join(_weekday(part) for part in fields[-1].split(","))
    return fields


def _weekday(part: str) -> str:
    """`5L` and `friL` mean the last Friday of the month, as `L5` does."""
    match = _LAST_DAY.fullmatch(part)
    if match is None:
        return part
    day = match["after"] or match["before"]
    return f"l{_DAYS.get(day, day)}"
