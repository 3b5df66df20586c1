"""Which nodes use which variables, and whether two uses can collide in one run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from interlace.engine.validate.conditions import NEVER, Conditions
from interlace.engine.validate.graph import Entry, Scope
from interlace.engine.validate.report import Report

_PARALLEL = "ITERATION"


@dataclass(frozen=True, slots=True)
class Access:
    """One use of a variable by a field of a node."""

    entry: Entry
    field: str
    writes: bool


@dataclass(slots=True, eq=False)
class Accesses:
    """All uses, by the scope that the variable belongs to (the document's for run variables) and its name."""

    found: dict[tuple[Scope, str], list[Access]] = field(default_factory=lambda: defaultdict(list))
    whole: list[tuple[Scope, Access]] = field(default_factory=list)
    """Reads of all run variables at once."""

    def add(self, home: Scope, name: str | None, access: Access) -> None:
        """Note a use; of all variables where no name is given."""
        if name is None:
            self.whole.append((home, access))
        else:
            self.found[home, name].append(access)


def check_races(accesses: Accesses, conditions: Conditions, report: Report) -> None:
    """Report uses of one variable that no path orders and that can both happen in one run."""
    for (home, name), uses in accesses.found.items():
        if any(use.writes for use in uses):
            extra = [use for scope, use in accesses.whole if scope is home]
            _check(name, home, [use for use in (*uses, *extra) if _counts(use.entry)], conditions, report)


def _counts(entry: Entry) -> bool:
    return entry.certain and not entry.spec.disabled and entry.condition != NEVER


def _check(name: str, home: Scope, uses: list[Access], conditions: Conditions, report: Report) -> None:
    """Two uses meet in the innermost scope that holds both; there their nodes (or containers) must be ordered."""
    levels: dict[Scope, dict[Entry, list[Access]]] = {}
    reported: set[Access] = set()
    for use in uses:
        for scope, holder in _holders(use.entry, home):
            levels.setdefault(scope, {}).setdefault(holder, []).append(use)
            if use.writes and scope is not home and _is_parallel(scope.container):
                _report_parallel(name, use, scope, reported, report)
    for holders in levels.values():
        if len(holders) > 1:
            _check_level(name, holders, conditions, reported, report)


def _holders(entry: Entry, home: Scope) -> Iterator[tuple[Scope, Entry]]:
    """The node and the containers around it, each with its scope, out to the variable's own scope."""
    here: Entry | None = entry
    while here is not None:
        yield here.scope, here
        if here.scope is home:
            return
        here = here.scope.container


def _is_parallel(container: Entry | None) -> bool:
    if container is None or container.spec.type != _PARALLEL:
        return False
    parallel = container.spec.config.get("parallel", 1)
    return isinstance(parallel, str) or (isinstance(parallel, int) and parallel > 1)


def _report_parallel(name: str, use: Access, scope: Scope, reported: set[Access], report: Report) -> None:
    if use in reported or scope.container is None:
        return
    reported.add(use)
    report.add(
        "variable_race",
        f"{use.entry.id!r} sets the variable {name!r} in the body of {scope.container.id!r}, whose items run in parallel:"
        " which of them comes last is chance.",
        node=use.entry.id, field=use.field,
        fix="Set parallel: 1, or collect the values in the ITERATION's output and assign after it.",
    )  # fmt: skip


def _check_level(
    name: str,
    holders: dict[Entry, list[Access]],
    conditions: Conditions,
    reported: set[Access],
    report: Report,
) -> None:
    everyone = 0
    by_index = {}
    for holder in holders:
        everyone |= 1 << holder.index
        by_index[holder.index] = holder
    for holder, uses in holders.items():
        write = next((use for use in uses if use.writes), None)
        if write is None or write in reported:
            continue
        other = _colliding(holder, everyone & ~holder.ancestors & ~(1 << holder.index), by_index, conditions)
        if other is not None:
            reported.add(write)
            use = next((use for use in holders[other] if use.writes), holders[other][0])
            reported.update(use for use in holders[other] if use.writes)
            _report_pair(name, write, use, report)


def _colliding(
    holder: Entry, others: int, by_index: dict[int, Entry], conditions: Conditions
) -> Entry | None:
    bit = 1 << holder.index
    while others:
        lowest = others & -others
        others ^= lowest
        other = by_index[lowest.bit_length() - 1]
        if not other.ancestors & bit and conditions.can_both(holder.condition, other.condition):
            return other
    return None


def _report_pair(name: str, write: Access, use: Access, report: Report) -> None:
    does = "sets" if use.writes else "reads"
    report.add(
        "variable_race",
        f"{write.entry.id!r} sets the variable {name!r} while {use.entry.id!r} {does} it: no path orders the two, so the"
        " result would be chance.",
        node=write.entry.id, field=write.field,
        fix=f"Add an edge so that one of {write.entry.id!r} and {use.entry.id!r} comes first.",
    )  # fmt: skip
