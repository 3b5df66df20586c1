"""When does a node run? As a bounded disjunction of conjunctions over (branching node, handle).

A condition is a set of clauses, a clause a set of literals, a literal the number of one handle of one branching node.
Where a condition grows beyond its bound it becomes one opaque literal: what follows from it is then unknown, so that
cost stays linear in the size of a document and no doubt turns into an alarm.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

Clause: TypeAlias = frozenset[int]
Condition: TypeAlias = frozenset[Clause]

ALWAYS: Condition = frozenset({frozenset()})
NEVER: Condition = frozenset()
_LITERALS_BEFORE = 4096
_LITERALS_AFTER = 256
_WORK = 3_000_000
_SPLITS = 400
_SHOWN = 3


class Conditions:
    """The branching nodes of a document and the algebra over their handles."""

    def __init__(self) -> None:
        self._branch: list[int] = []
        """Branch of each literal."""
        self._names: list[str] = []
        self._literals: list[range] = []
        self._exclusive: list[bool] = []
        self._error: set[int] = set()
        self._opaque: set[int] = set()
        self._work = _WORK
        self._unions: dict[frozenset[Condition], Condition] = {}
        self._implied: dict[tuple[Condition, Condition], bool] = {}

    def branch(self, node: str, handles: Sequence[str], *, exclusive: bool) -> dict[str, int]:
        """Add a branching node; at least one of its handles is taken, exactly one where `exclusive`."""
        first = len(self._branch)
        self._literals.append(range(first, first + len(handles)))
        self._exclusive.append(exclusive)
        self._branch.extend([len(self._literals) - 1] * len(handles))
        self._names.extend(f"{node}.{handle}" for handle in handles)
        literals = {handle: first + position for position, handle in enumerate(handles)}
        if "error" in literals:
            self._error.add(literals["error"])
        return literals

    def through(self, condition: Condition, literal: int) -> Condition:
        """The condition of an edge that leaves from a handle of a node with that condition."""
        if condition == ALWAYS:
            return frozenset({frozenset({literal})})
        self._work -= sum(map(len, condition)) + 1
        return self._bounded(frozenset(clause | {literal} for clause in condition))

    def any(self, conditions: Iterable[Condition]) -> Condition:
        """At least one of the conditions."""
        distinct = frozenset(conditions)
        if len(distinct) == 1:
            return next(iter(distinct))
        if ALWAYS in distinct:
            return ALWAYS
        known = self._unions.get(distinct)
        if known is None:
            clauses = frozenset().union(*distinct)
            known = (
                self._opaque_condition()
                if self._too_much(clauses)
                else self._bounded(self._simplified(set(clauses)))
            )
            self._unions[distinct] = known
        return known

    def all(self, conditions: Iterable[Condition]) -> Condition:
        """All of the conditions at once."""
        made = ALWAYS
        for condition in frozenset(conditions):
            if ALWAYS in (made, condition):
                made = condition if made == ALWAYS else made
                continue
            size = sum(map(len, made)) * len(condition) + sum(map(len, condition)) * len(made)
            self._work -= size
            if size > _LITERALS_BEFORE or self._work < 0:
                return self._opaque_condition()
            both = {one | other for one in made for other in condition}
            made = self._bounded(self._simplified({clause for clause in both if self._possible(clause)}))
        return made

    def implies(self, condition: Condition, other: Condition) -> bool:
        """Whether `other` holds in every run in which `condition` does; True where that is not known."""
        if other == ALWAYS or condition is other or condition == other:
            return True
        key = (condition, other)
        known = self._implied.get(key)
        if known is None:
            known = all(self._follows(clause, other) for clause in condition)
            self._implied[key] = known
        return known

    def can_both(self, one: Condition, other: Condition) -> bool:
        """Whether both can hold in one run; False where that is not known."""
        if ALWAYS in (one, other):
            return NEVER not in (one, other)
        if any(self._opaque & clause for condition in (one, other) for clause in condition):
            return False
        return any(self._possible(first | second) for first in one for second in other)

    def is_opaque(self, condition: Condition) -> bool:
        """Whether the condition grew beyond its bound."""
        return any(self._opaque & clause for clause in condition)

    def described(self, condition: Condition) -> str:
        """A condition in words: `size.large is taken`; empty where it is too long to say."""
        if len(condition) > _SHOWN or self.is_opaque(condition):
            return ""
        clauses = sorted(
            " and ".join(sorted(self._names[literal] for literal in clause)) for clause in condition
        )
        return " or ".join(clauses) + (
            " is taken" if len(condition) == 1 and len(next(iter(condition))) == 1 else " are taken"
        )

    def _possible(self, clause: Clause) -> bool:
        """Whether no two literals of a clause exclude each other."""
        taken: dict[int, int] = {}
        for literal in clause:
            branch = self._branch[literal]
            before = taken.setdefault(branch, literal)
            if before != literal and (
                self._exclusive[branch] or before in self._error or literal in self._error
            ):
                return False
        return True

    def _too_much(self, clauses: Condition) -> bool:
        size = sum(map(len, clauses))
        self._work -= size
        return size > _LITERALS_BEFORE or self._work < 0

    def _bounded(self, condition: Condition) -> Condition:
        return (
            self._opaque_condition()
            if sum(map(len, condition)) > _LITERALS_AFTER or self._work < 0
            else condition
        )

    def _opaque_condition(self) -> Condition:
        literal = len(self._branch)
        self._names.append("")
        self._branch.append(len(self._literals))
        self._literals.append(range(literal, literal + 1))
        self._exclusive.append(False)
        self._opaque.add(literal)
        return frozenset({frozenset({literal})})

    def _simplified(self, clauses: set[Clause]) -> Condition:
        """Merge clauses that differ only in the handle of one node and cover all its handles; drop implied clauses."""
        fresh = clauses
        while fresh:
            seen: dict[tuple[Clause, int], set[int]] = {}
            for clause in clauses:
                self._work -= len(clause) * len(clause)
                for literal in clause:
                    seen.setdefault((clause - {literal}, self._branch[literal]), set()).add(literal)
            fresh = {
                rest for (rest, branch), found in seen.items() if len(found) == len(self._literals[branch])
            } - clauses
            clauses = self._minimal(clauses | fresh) if fresh else clauses
        return frozenset(self._minimal(clauses))

    def _minimal(self, clauses: set[Clause]) -> set[Clause]:
        kept: list[Clause] = []
        for clause in sorted(clauses, key=len):
            if not any(shorter <= clause for shorter in kept):
                kept.append(clause)
        self._work -= len(kept) * len(kept)
        return set(kept)

    def _follows(self, clause: Clause, condition: Condition) -> bool:
        if clause & self._opaque:
            return True
        self._splits = _SPLITS
        return self._always(condition, set(clause), set())

    def _always(self, condition: Iterable[Clause], true: set[int], false: set[int]) -> bool:
        """Whether a condition holds whatever the open branches choose (by splitting on them, within a bound)."""
        self._splits -= 1
        if self._splits < 0:
            return True
        rest: list[Clause] = []
        for clause in condition:
            values = {literal: self._value(literal, true, false) for literal in clause}
            if False in values.values():
                continue
            open_literals = frozenset(literal for literal, value in values.items() if value is None)
            if not open_literals:
                return True
            rest.append(open_literals)
        if not rest:
            return False
        if any(clause & self._opaque for clause in rest):
            return True
        shortest = min(rest, key=lambda clause: len(clause))  # noqa: PLW0108 - mypy cannot type the bare len
        literal = next(iter(shortest))
        return self._always(rest, true | {literal}, false) and self._always(rest, true, false | {literal})

    def _value(self, literal: int, true: set[int], false: set[int]) -> bool | None:
        if literal in true:
            return True
        if literal in false:
            return False
        branch = self._branch[literal]
        siblings = self._literals[branch]
        chosen = [other for other in siblings if other in true]
        if chosen and (self._exclusive[branch] or literal in self._error or self._error.intersection(chosen)):
            return False
        if (
            not chosen
            and all(other in false for other in siblings if other != literal)
            and literal not in self._opaque
        ):
            return True
        return None
