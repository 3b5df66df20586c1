"""How well knowledge bases find: `python -m bench.retrieval [--corpus FOLDER] [--scale N …] [--write]`.

nDCG@10 and recall@10 on question sets of three languages, through the product: documents are added, ingested and
searched as users do it. Then questions in other words than the documents', questions that nothing answers, and how
time and memory grow with the number of chunks.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import hashlib
import json
import math
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import structlog

from bench.bm25 import Bm25
from bench.results import Row, write_section
from interlace.engine.chat import CallSite
from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.resources.documents.source import Source
from interlace.resources.knowledge import Query
from interlace.resources.knowledge.definition import Fusion
from interlace.resources.knowledge.index import Index
from interlace.resources.knowledge.segment import Part, packed_terms
from interlace.store.knowledge_rows import Generation, Segment

SETS = ("xquad_en", "xquad_zh", "jaquad_ja")
MODES = ("hybrid", "text", "dense")
PLAIN = "plain"
LABELS = {"hybrid": "hybrid", "text": "words alone", "dense": "meaning alone", PLAIN: "plain BM25"}
WEIGHTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
"""Of the meaning, where the words have 1."""
RETRIEVAL = "Knowledge bases"
TEXT = """\
Written by `python -m bench.retrieval --write`: questions of XQuAD (English, Chinese) and JaQuAD (Japanese), to be answered by the
paragraph that each was asked of. The questions are parted by their paragraph: the weight of the meaning was chosen on one half, what
stands here was found with the other half. Plain BM25 has words in lower case, and pairs of characters in Chinese and Japanese."""
Question = tuple[str, frozenset[str]]
HANDBOOK = Path(__file__).parent / "retrieval_sets" / "handbook.tsv"
SITE = CallSite(principal=LOCAL)


def memory_mb() -> float:
    """Most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def corpus(given: Path | None) -> Path | None:
    """The folder of question sets."""
    named = given or os.environ.get("INTERLACE_CORPUS")
    places = [Path(named)] if named else [p / "shared" / "corpus" for p in Path(__file__).resolve().parents]
    return next((place / "rag" for place in places if (place / "rag").is_dir()), None)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]


async def fill(platform: Platform, name: str, documents: Sequence[tuple[str, str, str]]) -> tuple[int, float]:
    """Add and ingest documents of (key, title, text); gives chunks and seconds."""
    await platform.knowledge.add(name, {"duplicates": 1}, by=LOCAL)
    started = time.perf_counter()
    for key, title, text in documents:
        metadata = {"title": title} if title else {}
        source = Source(content=text.encode(), name=f"{key}.txt")
        await platform.knowledge.put(name, source, by=LOCAL, metadata=metadata, key=key)
    await platform.ingestion.drain()
    seconds = time.perf_counter() - started
    return (await platform.knowledge.progress(name, by=LOCAL))["chunks"], seconds


def gain_of(ranked: Sequence[str], right: frozenset[str]) -> float:
    """nDCG@10 of one question, each right document counting the same."""
    gain = sum(1 / math.log2(place + 2) for place, key in enumerate(ranked[:10]) if key in right)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(10, len(right))))


async def judge(
    platform: Platform, name: str, questions: Sequence[Question], mode: str
) -> tuple[float, float, float]:
    """Mean nDCG@10 and recall@10, and the median milliseconds of a search."""
    gains, recalls, times = [], [], []
    for text, right in questions:
        started = time.perf_counter()
        query = Query(text=text, mode=mode, top_k=40)  # type: ignore[arg-type]
        found = await platform.knowledge.search([name], query, site=SITE)
        times.append((time.perf_counter() - started) * 1000)
        ranked = list(dict.fromkeys(chunk.source for chunk in found.chunks))[:10]
        gains.append(gain_of(ranked, right))
        recalls.append(len(right & set(ranked)) / len(right))
    return statistics.mean(gains), statistics.mean(recalls), statistics.median(times)


@dataclass(slots=True)
class Found:
    """What one set of questions gave. Weights are judged on one half, everything else is stated of the other."""

    name: str
    documents: int
    chunks: int
    seconds: float
    memory: float
    questions: int
    weights: dict[float, float] = field(default_factory=dict)
    modes: dict[str, tuple[float, float, float]] = field(default_factory=dict)


def keep_vectors(platform: Platform) -> dict[str, Any]:
    """Let questions that are asked again keep their vectors, in what is given; for judging weights, not for times."""
    embedders = platform.knowledge._embedders  # noqa: SLF001 - there is no other place between search and model
    real, kept = embedders.vectors, dict[str, Any]()

    async def vectors(texts: Sequence[str], *, model: str, site: CallSite) -> Any:
        if len(texts) > 1:
            return await real(texts, model=model, site=site)
        if texts[0] not in kept:
            kept[texts[0]] = await real(texts, model=model, site=site)
        return kept[texts[0]]

    embedders.vectors = vectors  # type: ignore[method-assign]
    return kept


def halves(questions: Sequence[Question]) -> tuple[list[Question], list[Question]]:
    """Two parts that share no document: one to tune on, one to state."""
    parts: tuple[list[Question], list[Question]] = ([], [])
    for question in questions:
        first = min(question[1])
        parts[hashlib.sha256(first.encode()).digest()[0] % 2].append(question)
    return parts


async def of_set(platform: Platform, folder: Path, kept: dict[str, Any]) -> Found:
    """One set of documents and questions."""
    documents = [(d["_id"], d.get("title", ""), d["text"]) for d in lines(folder / "corpus.jsonl")]
    right: dict[str, set[str]] = {}
    for row in list(csv.reader((folder / "qrels.tsv").open(encoding="utf-8"), delimiter="\t"))[1:]:
        right.setdefault(row[0], set()).add(row[1])
    asked = lines(folder / "queries.jsonl")
    tuned, stated = halves([(q["text"], frozenset(right[q["_id"]])) for q in asked if q["_id"] in right])
    name = folder.name
    chunks, seconds = await fill(platform, name, documents)
    found = Found(name, len(documents), chunks, seconds, memory_mb(), len(stated))
    print(
        f"{name}: {len(documents)} documents, {chunks} chunks, {len(tuned)} questions to tune on, {len(stated)} to state;"
        f" ingested at {chunks / seconds:.1f} chunks/s, {len(documents) / seconds:.1f} documents/s; {memory_mb():.0f} MB"
    )
    for weight in WEIGHTS:
        await platform.knowledge.update(name, {"duplicates": 1, "fusion": {"dense": weight}}, by=LOCAL)
        found.weights[weight] = (await judge(platform, name, tuned, "hybrid"))[0]
    await platform.knowledge.update(name, {"duplicates": 1}, by=LOCAL)
    print("  weight of the meaning: " + "  ".join(f"{w:g} {g:.4f}" for w, g in found.weights.items()))
    plain = Bm25([(key, f"{title}\n{text}") for key, title, text in documents])
    ranked = [(plain.best(text, 10), right) for text, right in stated]
    recall = statistics.mean(len(right & set(keys)) / len(right) for keys, right in ranked)
    found.modes[PLAIN] = (statistics.mean(gain_of(keys, right) for keys, right in ranked), recall, 0.0)
    for mode in MODES:
        kept.clear()
        found.modes[mode] = await judge(platform, name, stated, mode)
    for mode, (gain, part, median) in found.modes.items():
        print(f"  {mode:10} nDCG@10 {gain:.4f}  recall@10 {part:.4f}  {median:.1f} ms a search", flush=True)
    return found


def tuned_weight(sets: Sequence[Found]) -> float:
    """The weight that is best on the halves for tuning, each language counting the same."""
    return max(WEIGHTS, key=lambda weight: statistics.mean(found.weights[weight] for found in sets))


def rows_of(sets: Sequence[Found]) -> list[Row]:
    """The section of RESULTS.md."""
    rows = [Row("", "weight of the meaning that is best on the halves for tuning", tuned_weight(sets), "")]
    for found in sets:
        best = max(gain for mode, (gain, _, _) in found.modes.items() if mode != "hybrid")
        for mode, (gain, recall, _) in found.modes.items():
            met = gain >= best if mode == "hybrid" else None
            what = f"{found.name}, {found.questions} questions: {LABELS[mode]}, recall@10 {recall:.3f}"
            target = f"≥ {best:.3f}" if mode == "hybrid" else ""
            rows.append(Row("", what, gain, "nDCG@10", target=target, met=met))
        rows.append(Row("", f"{found.name}: a search, hybrid, median", found.modes["hybrid"][2]))
        rows.append(
            Row("", f"{found.name}: ingestion with embedding", found.chunks / found.seconds, "chunks/s")
        )
    rows.append(Row("", "memory of the process after all three", max(found.memory for found in sets), "MB"))
    return rows


async def of_handbook(platform: Platform, strange: Sequence[str]) -> None:
    """Questions in other words than the documents', keywords, and questions that nothing answers."""
    rows = list(csv.DictReader(HANDBOOK.open(encoding="utf-8"), delimiter="\t"))
    for language in ("en", "ja", "zh"):
        own = [row for row in rows if row["language"] == language]
        name = f"handbook-{language}"
        await fill(platform, name, [(row["topic"], "", row["passage"]) for row in own])
        for kind in ("paraphrase", "keywords"):
            questions = [(row[kind], frozenset([row["topic"]])) for row in own]
            gains = [f"{mode} {(await judge(platform, name, questions, mode))[0]:.3f}" for mode in MODES]
            print(f"handbook {language} {kind:10} nDCG@10 {'  '.join(gains)}", flush=True)
        for what, texts in (("paraphrase", [row["paraphrase"] for row in own]), ("unanswerable", strange)):
            refused = [
                (await platform.knowledge.search([name], Query(text=text, grounded=True), site=SITE)).refused
                for text in texts
            ]
            share = sum(one is not None for one in refused) / (len(refused) or 1)
            print(f"  grounded, {what}: {share:.0%} of {len(refused)} refused", flush=True)


def of_scale(chunks: int, texts: Sequence[str]) -> list[Row]:
    """Time and memory of an index of made-up vectors and real words."""
    chance = np.random.default_rng(7)
    packed = [packed_terms(text) for text in texts]
    rows = []
    for number in range(chunks):
        vector = chance.standard_normal(512).astype(np.float32)
        terms, length = packed[number % len(packed)]
        rows.append(
            Segment(
                f"d{number // 10}", number % 10, length, (vector / np.linalg.norm(vector)).tobytes(), terms
            )
        )
    started = time.perf_counter()
    part = Part(rows, 512)
    built = time.perf_counter() - started
    del rows
    index = Index(None, Generation("g", "kb", "current", {}, 0, 0.0), [part])  # type: ignore[arg-type]
    vector = part.vectors[0]
    times = []
    for text in [t[:80] for t in texts[:30]]:
        started = time.perf_counter()
        index.search(text, vector, mode="hybrid", fusion=Fusion())
        times.append((time.perf_counter() - started) * 1000)
    print(
        f"{chunks:,} chunks: {part.size / 1e6:.0f} MB, arranged in {built:.2f} s, a search {statistics.median(times):.1f} ms"
        f" (median), {max(times):.1f} ms (most)",
        flush=True,
    )
    return [
        Row("", f"{chunks:,} chunks: a search, hybrid, median", statistics.median(times)),
        Row("", f"{chunks:,} chunks: memory of the index", part.size / 1e6, "MB"),
    ]


async def measure(folder: Path | None, scales: Sequence[int]) -> tuple[list[Found], list[Row]]:
    """Everything: what each set gave, and how it grows."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(30))
    sets: list[Found] = []
    texts = [row["passage"] for row in csv.DictReader(HANDBOOK.open(encoding="utf-8"), delimiter="\t")]
    strange: list[str] = []
    with tempfile.TemporaryDirectory() as home:
        platform = await Platform.open(Settings(home=Path(home)))
        try:
            kept = keep_vectors(platform)
            for name in SETS if folder is not None else ():
                assert folder is not None
                sets.append(await of_set(platform, folder / name, kept))
                texts += [d["text"] for d in lines(folder / name / "corpus.jsonl")]
            if folder is not None:
                strange = [q["text"] for q in lines(folder / "xquad_en" / "queries.jsonl")[::20]]
            await of_handbook(platform, strange)
        finally:
            await platform.close()
    return sets, [row for scale in scales for row in of_scale(scale, texts)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval", description=__doc__)
    parser.add_argument(
        "--corpus",
        type=Path,
        help="folder with rag/, the question sets; found beside the repository if not given",
    )
    parser.add_argument("--scale", type=int, nargs="*", default=[1_000, 10_000, 100_000], help="chunks")
    parser.add_argument("--write", action="store_true", help="write the section of RESULTS.md")
    given = parser.parse_args()
    load = os.getloadavg()[0]
    sets, growth = asyncio.run(measure(corpus(given.corpus), given.scale))
    if sets:
        print(f"best weight of the meaning on the halves for tuning: {tuned_weight(sets):g}")
    rows = [*rows_of(sets), *growth] if sets else []
    won = all(row.met is not False for row in rows)
    if given.write and rows:
        write_section(RETRIEVAL, TEXT, rows, load)
    print("hybrid is at least as good as each way alone" if won else "hybrid is worse than one way alone")
    raise SystemExit(0 if won else 1)


if __name__ == "__main__":
    main()
