"""What a prompt says of resources before anybody asks: names, what they are for, counts; within a budget of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from interlace.agents.search.words import spaced, words
from interlace.resources.models.tokens import count

MOST_NAMES: Final = 200
"""Names that a schema lists; of more, names are checked at the call."""
_LINE: Final = 1
"""Tokens of the end of a line."""
_SHORTEST: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What stubs of one kind may take.

    Args:
        each: tokens for each resource.
        least: tokens for all, however few there are.
        most: tokens for all, however many there are.
        text: characters of a description at most.
    """

    each: int
    least: int
    most: int
    text: int = 120

    def of(self, resources: int) -> int:
        """Tokens for so many resources."""
        return min(max(self.each * resources, self.least), self.most)


CONNECTORS: Final = Allowance(each=25, least=60, most=1500)
DATABASES: Final = Allowance(each=78, least=78, most=1500)
SERVERS: Final = Allowance(each=95, least=95, most=1500)
SKILLS: Final = Allowance(each=29, least=60, most=1500)
AGENTS: Final = Allowance(each=32, least=60, most=1500)
TOOLS: Final = Allowance(each=20, least=60, most=1500, text=80)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stub:
    """One resource in a catalogue.

    Args:
        label: what the model calls it by.
        description: what it is for.
        parts: names of its actions, tools or tables, the ones to be told first first.
        what: what the parts are, `actions`.
        total: how many there are; None where it is not known.
        note: what else has to be known: that it cannot be reached.
    """

    label: str
    description: str = ""
    parts: Sequence[str] = ()
    what: str = ""
    total: int | None = None
    note: str = ""


def told(stubs: Sequence[Stub], allowance: Allowance, *, names: bool = True) -> str:
    """The catalogue, a line a resource, within the allowance; names in the schema's enum count too.

    What does not fit is shortened for all alike: first fewer names of parts, then shorter descriptions, then counts
    alone; at last only as many resources are told as fit, and how many more there are.
    """
    budget = allowance.of(len(stubs))
    if names:
        budget -= sum(_tokens(f'"{stub.label}",') for stub in stubs[:MOST_NAMES])
    share = budget / max(1, len(stubs))
    lines: list[str] = []
    left = float(budget)
    for at, stub in enumerate(stubs):
        mine = max(share, left / (len(stubs) - at))
        line = _line(stub, mine - _LINE, allowance.text)
        cost = _tokens(line) + _LINE
        if cost > left and lines:
            lines.append(f"… and {len(stubs) - at} more")
            break
        lines.append(line)
        left -= cost
    return "\n".join(lines)


def _line(stub: Stub, tokens: float, text: int) -> str:
    """The fullest line that fits."""
    tail = f" ({stub.note})" if stub.note else ""
    bare = f"- {stub.label}{tail}"
    counted = _counted(stub)
    for length in dict.fromkeys((text, text * 2 // 3, text // 2, text // 3, _SHORTEST, 0)):
        about = shortened(stub.description, length)
        line = f"- {stub.label}{': ' if about or counted else ''}{'; '.join(p for p in (about, counted) if p)}{tail}"
        room = tokens - _tokens(line)
        enough = not stub.parts or length <= text // 2 or room >= tokens / 4
        if room >= 0 and enough:
            return line if not stub.parts else _with_parts(line, tail, stub, room)
    return bare


def _counted(stub: Stub) -> str:
    return "" if stub.total is None else f"{stub.total} {stub.what}"


def _with_parts(line: str, tail: str, stub: Stub, room: float) -> str:
    kept: list[str] = []
    room -= 2
    for name in stub.parts:
        cost = _tokens(f", {name}")
        if cost > room:
            break
        room -= cost
        kept.append(name)
    if not kept:
        return line
    whole = stub.total is not None and len(kept) == stub.total
    listed = f"{': ' if whole else ', e.g. '}{', '.join(kept)}"
    return f"{line.removesuffix(tail) if tail else line}{listed}{tail}"


def shortened(text: str, length: int) -> str:
    """The first sentence, or as much of it as fits into so many characters, cut between words."""
    line = " ".join(text.split())
    if len(line) <= length:
        return line.rstrip(".")
    for end in (". ", "。", "; "):
        head = line.partition(end)[0]
        if _SHORTEST <= len(head) <= length:
            return head.rstrip(".")
    if length < _SHORTEST:
        return ""
    cut = line[: length - 1]
    head = cut.rpartition(" ")[0]
    return (head if len(head) > length // 2 else cut).rstrip(" ,;:.-") + "…"


def telling(names: Iterable[str], most: int = 40) -> list[str]:
    """Names in an order in which the first ones tell most of what there is: short ones with words not told yet."""
    left = {name: frozenset(words(spaced(name))) for name in dict.fromkeys(names)}
    seen: set[str] = set()
    chosen: list[str] = []
    while left and len(chosen) < most:
        best = max(left, key=lambda name: (len(left[name] - seen) / (2 + len(left[name])), -len(name)))
        seen |= left.pop(best)
        chosen.append(best)
    return chosen


@lru_cache(maxsize=50_000)
def _tokens(text: str) -> int:
    return count(text)
