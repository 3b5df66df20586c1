"""When a schedule fires: cron expressions in a time zone, under a stated rule for clock changes.

Fields with a fixed hour follow the wall clock: a time that does not exist is moved to the first instant after the gap
and merges with another firing there, a time that comes twice counts at its first occurrence. Where the hour is `*` or
a step, every instant counts whose wall-clock time matches: hourly stays hourly through both changes.
"""

from interlace.engine.cron.expression import CronError, Expression
from interlace.engine.cron.firings import Cron, Firing
from interlace.engine.cron.zone import Zone, zone_of

__all__ = ["Cron", "CronError", "Expression", "Firing", "Zone", "zone_of"]
