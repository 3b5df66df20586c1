"""Whether the right tool is found: `python -m bench.agents.recall [--corpus FOLDER] [--sets FOLDER] [--write]`.

Recall at 1, 5 and 10 of the search that agents use, beside plain BM25 (k1 1.2, b 0.75, words as they are written) over
the same tools' servers, names, descriptions and parameter names. Weights were chosen on one half of each set's
questions; the other half is stated on its own.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import re
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from bench import results
from bench.agents.sets import Question, ToolSet, all_sets
from bench.results import Row
from interlace.agents.search import Entry, Finder, Vectors
from interlace.resources.knowledge.embedding import EmbeddedModel

SECTION = "Finding tools"
BETTER = 1.1
"""What recall at 5 has to reach, as a multiple of plain BM25's."""
TEXT = (
    "Written by `python -m bench.agents.recall --write`: recall of the search behind `search`, `discover` and the selection of tools."
    " `BM25` is the plain one over the same texts; *held out* is the half of the questions that no weight was chosen by."
)


class PlainBm25:
    """The figure to beat."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        told = [" ".join([e.owner, e.name, e.description, *e.parameters]) for e in entries]
        self._counts = [Counter(_words(text)) for text in told]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._mean = statistics.mean(self._lengths)
        self._holding: dict[str, list[int]] = defaultdict(list)
        for at, counts in enumerate(self._counts):
            for word in counts:
                self._holding[word].append(at)

    def find(self, text: str, limit: int) -> list[int]:
        """The places of the best entries."""
        scores: dict[int, float] = defaultdict(float)
        for word in _words(text):
            places = self._holding.get(word, [])
            weight = math.log(1 + (len(self._counts) - len(places) + 0.5) / (len(places) + 0.5))
            for at in places:
                often = self._counts[at][word]
                spread = 1.2 * (0.25 + 0.75 * self._lengths[at] / self._mean)
                scores[at] += weight * often * 2.2 / (often + spread)
        return sorted(scores, key=lambda at: (-scores[at], at))[:limit]


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def recall(found: Sequence[str], question: Question, most: int) -> float:
    """The share of the right tools among the first ones."""
    first = set(found[:most])
    return sum(bool(right & first) for right in question.right) / len(question.right)


def mean(shares: Sequence[float]) -> float:
    """The mean, of none 0."""
    return statistics.mean(shares) if shares else 0.0


async def of_set(tools: ToolSet, finder: Finder) -> list[Row]:
    """The rows of one set."""
    plain = PlainBm25(tools.entries)
    ours: list[list[str]] = []
    times = []
    await finder.find(tools.entries, "warm up")
    for question in tools.questions:
        started = time.perf_counter()
        found = await finder.find(tools.entries, question.text, limit=20)
        times.append((time.perf_counter() - started) * 1000)
        ours.append([hit.entry.key for hit in found])
    base = [[tools.entries[at].key for at in plain.find(q.text, 20)] for q in tools.questions]
    print(f"{tools.name}: {len(tools.entries)} tools, {len(tools.questions)} questions", flush=True)
    rows = []
    for most in (1, 5, 10):
        for held_out in (False, True) if most == 5 else (False,):
            chosen = [at for at, q in enumerate(tools.questions) if not held_out or q.held_out]
            here = mean([recall(ours[at], tools.questions[at], most) for at in chosen])
            there = mean([recall(base[at], tools.questions[at], most) for at in chosen])
            target = there * BETTER if most == 5 else None
            rows.append(
                Row(
                    tools.name if most == 1 else "", f"recall@{most}{', held out' if held_out else ''}", round(here, 3), "",
                    target=f"≥ {target:.3f}" if target else "", met=None if target is None else here >= target,
                    limit=there, ratio=here / there,
                )
            )  # fmt: skip
    rows.append(Row("", "a search, median", statistics.median(times)))
    return rows


async def measure(corpus: Path | None, sets: Path | None, kept: Path | None = None) -> list[Row]:
    """All rows, printed as they come."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        model = EmbeddedModel()
        finder = Finder(Vectors(model, kept or Path(folder)))
        for tools in all_sets(corpus, sets):
            for row in await of_set(tools, finder):
                rows.append(row)
                print("  ".join(text or "-" for text in results.cells(row)), flush=True)
        model.close()
    return rows


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(prog="python -m bench.agents.recall", description=__doc__)
    parser.add_argument("--corpus", type=Path, help="folder with tool_retrieval/")
    parser.add_argument("--sets", type=Path, help="folder with the unpacked packages of bench/agents/sets.py")
    parser.add_argument(
        "--vectors", type=Path, help="folder in which vectors of tools are kept between calls"
    )
    parser.add_argument("--write", action="store_true", help="renew the section of RESULTS.md")
    given = parser.parse_args()
    load = os.getloadavg()[0]
    rows = asyncio.run(measure(given.corpus, given.sets, given.vectors))
    if not rows:
        parser.error("no set of tools was found; name a folder")
    if given.write:
        results.write_section(SECTION, TEXT, rows, load)
    missed = [row for row in rows if row.met is False]
    raise SystemExit(1 if missed else 0)


if __name__ == "__main__":
    main()
