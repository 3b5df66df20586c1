"""Differences of two texts by lines, in bounded time: Myers' algorithm, and a plain replacement beyond its limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

_MOST_EDITS: Final = 600
"""Edits that are looked for; the work grows with the square of them."""

Opcode = tuple[str, int, int, int, int]


def line_diff(before: str, after: str, *, context: int = 3) -> tuple[str, int, int]:
    """The difference in unified form, and how many lines were added and removed."""
    a, b = before.splitlines(), after.splitlines()
    opcodes = list(_opcodes(a, b))
    grouping: SequenceMatcher[str] = SequenceMatcher(None, (), ())
    grouping.opcodes = opcodes  # type: ignore[attr-defined]
    lines: list[str] = []
    for group in grouping.get_grouped_opcodes(context):
        first, last = group[0], group[-1]
        lines.append(f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@")
        for tag, start, end, other, other_end in group:
            if tag == "equal":
                lines += [f" {line}" for line in a[start:end]]
                continue
            lines += [f"-{line}" for line in a[start:end]]
            lines += [f"+{line}" for line in b[other:other_end]]
    added = sum(entry[4] - entry[3] for entry in opcodes if entry[0] != "equal")
    removed = sum(entry[2] - entry[1] for entry in opcodes if entry[0] != "equal")
    return "\n".join(lines), added, removed


def _range(start: int, end: int) -> str:
    count = end - start
    return f"{start + (count > 0)}" if count == 1 else f"{start + (count > 0)},{count}"


def _opcodes(a: Sequence[str], b: Sequence[str]) -> Iterator[Opcode]:
    """What turns one list into the other, as `difflib` names it."""
    head = 0
    while head < min(len(a), len(b)) and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < min(len(a), len(b)) - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    if head:
        yield ("equal", 0, head, 0, head)
    yield from _middle(a[head : len(a) - tail], b[head : len(b) - tail], head)
    if tail:
        yield ("equal", len(a) - tail, len(a), len(b) - tail, len(b))


def _middle(a: Sequence[str], b: Sequence[str], offset: int) -> Iterator[Opcode]:
    matches = _matches(a, b)
    x = y = 0
    for start, other, length in [*matches, (len(a), len(b), 0)]:
        if start > x or other > y:
            tag = "replace" if start > x and other > y else "delete" if start > x else "insert"
            yield (tag, offset + x, offset + start, offset + y, offset + other)
        if length:
            yield ("equal", offset + start, offset + start + length, offset + other, offset + other + length)
        x, y = start + length, other + length


def _matches(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int, int]]:
    """Runs of equal lines of a shortest edit; none where it takes too many edits."""
    if not a or not b:
        return []
    reach, trace = {1: 0}, []
    for edits in range(min(len(a) + len(b), _MOST_EDITS) + 1):
        trace.append(dict(reach))
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and reach[k - 1] < reach[k + 1])
            x = reach[k + 1] if down else reach[k - 1] + 1
            while x < len(a) and x - k < len(b) and a[x] == b[x - k]:
                x += 1
            reach[k] = x
            if x >= len(a) and x - k >= len(b):
                return _backwards(trace, len(a), len(b))
    return []


def _backwards(trace: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int, int]]:
    found = []
    for edits in range(len(trace) - 1, -1, -1):
        reach, k = trace[edits], x - y
        down = k == -edits or (k != edits and reach[k - 1] < reach[k + 1])
        before = k + 1 if down else k - 1
        from_x = reach[before]
        start = from_x if down else from_x + 1
        if x > start and edits:
            found.append((start, start - k, x - start))
        elif not edits and x:
            found.append((0, 0, x))
        x, y = from_x, from_x - before
    return found[::-1]
