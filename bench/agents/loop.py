"""W6: an agent that makes ten calls of a tool, beside the openai SDK in a loop written by hand.

The figure is milliseconds a model call beyond the server's own time. Ours is a run of a workflow START -> AGENT -> END
with its journal, as every chat turn is; the limit keeps nothing.
"""

from __future__ import annotations

import asyncio
import json
import sys
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import openai

from bench.agents.peers import langgraph
from bench.agents.server import CALLS
from bench.measure import Figures, Sample, alternate
from bench.results import Row
from interlace.flows.platform import Platform
from interlace.flows.request import Request
from interlace.flows.settings import Settings
from interlace.resources.tools import builtin_tools
from interlace.resources.tools.tool import Category, ToolContext, ToolResult
from interlace.resources.tools.typed import Arguments, TypedTool

TARGET = 1.5
PROMPT = "Add the numbers."
SYSTEM = "Use the tool."


class AddArguments(Arguments):
    a: int
    b: int


class Add(TypedTool[AddArguments]):
    name: ClassVar[str] = "add"
    description: ClassVar[str] = "Adds two numbers."
    category: ClassVar[Category] = "math"

    async def call(self, arguments: AddArguments, ctx: ToolContext) -> ToolResult:
        del ctx
        return ToolResult(value=arguments.a + arguments.b)


@asynccontextmanager
async def server() -> AsyncIterator[str]:
    """The endpoint in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.agents.server", stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(await process.stdout.readline())}"
    finally:
        process.terminate()
        await process.wait()


def by_hand(url: str, *, stream: bool) -> Callable[[], Awaitable[str]]:
    """The loop as one writes it without a framework."""
    client = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none")
    tool = {
        "type": "function",
        "function": {"name": Add.name, "description": Add.description, "parameters": Add().parameters_schema},
    }

    async def ask(messages: list[Any]) -> tuple[str | None, list[dict[str, Any]]]:
        if not stream:
            whole = await client.chat.completions.create(model="scripted", messages=messages, tools=[tool])  # type: ignore[list-item]
            said = whole.choices[0].message
            return said.content, [call.model_dump() for call in said.tool_calls or ()]
        text, calls = "", dict[int, dict[str, Any]]()
        pieces: Any = await client.chat.completions.create(
            model="scripted",
            messages=messages,
            tools=[tool],
            stream=True,  # type: ignore[list-item]
        )
        async for piece in pieces:
            for choice in piece.choices:
                text += choice.delta.content or ""
                for part in choice.delta.tool_calls or ():
                    call = calls.setdefault(
                        part.index, {"type": "function", "function": {"name": "", "arguments": ""}}
                    )
                    call["id"] = part.id or call["id"]
                    call["function"]["name"] += part.function.name or ""
                    call["function"]["arguments"] += part.function.arguments or ""
        return text, list(calls.values())

    async def run() -> str:
        messages: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": PROMPT}]
        while True:
            text, calls = await ask(messages)
            if not calls:
                return text or ""
            messages.append({"role": "assistant", "content": text, "tool_calls": calls})
            for call in calls:
                given = json.loads(call["function"]["arguments"])
                result = given["a"] + given["b"]
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": str(result)})

    return run


def document(*, stream: bool) -> str:
    config = {"instructions": SYSTEM, "prompt": PROMPT, "tools": ["add"], "stream": stream}
    return json.dumps(
        {
            "name": "agent",
            "nodes": [
                {"id": "start", "type": "START"},
                {"id": "agent", "type": "AGENT", "config": config},
                {"id": "end", "type": "END", "config": {"outputs": {"text": "{{ agent.text }}"}}},
            ],
            "edges": ["start -> agent", "agent -> end"],
        }
    )


@asynccontextmanager
async def platform(url: str) -> AsyncIterator[Platform]:
    """Ours, with the endpoint as its model."""
    provider = {
        "name": "bench", "base_url": f"{url}/v1", "models": [{"name": "scripted"}], "roles": {"general": "scripted"},
    }  # fmt: skip
    if builtin_tools().get(Add.name) is None:
        builtin_tools().add(Add())
    with TemporaryDirectory(prefix="interlace-bench-") as folder:
        settings = Settings(
            home=Path(folder), http_allow=["127.0.0.1/32"], prefect="off", models={"providers": [provider]}
        )
        opened = await Platform.open(settings)
        try:
            yield opened
        finally:
            await opened.close()


def ours(opened: Platform, pinned: Any) -> Callable[[], Awaitable[str]]:
    """One run."""

    async def run() -> str:
        run_id = await opened.runner.start(pinned, Request())
        result = await opened.runner.wait(run_id)
        assert result is not None
        assert result.outputs is not None, result.error
        return str(result.outputs["text"])

    return run


async def busy(url: str) -> float:
    """Seconds that the server has worked."""

    def read() -> float:
        with urllib.request.urlopen(f"{url}/stats") as answer:
            return float(json.load(answer)["busy_s"])

    return await asyncio.to_thread(read)


def checked(result: Any) -> None:
    assert result == "done", result


async def w6(reps: int) -> list[Row]:
    rows = []
    async with server() as url, platform(url) as opened:
        for name, stream in (("W6", False), ("W6s", True)):
            pinned = await opened.documents.from_text(document(stream=stream))
            before = await busy(url)
            figures = await alternate(
                ours(opened, pinned), by_hand(url, stream=stream), checked, reps=reps, warm_up=3
            )
            rounds = len(figures.ours) + len(figures.limit) + 6
            own = (await busy(url) - before) / rounds * 1000
            what = f"agent, ten tool calls{', streamed' if stream else ''}"
            rows.append(_row(name, what, figures, own, target=TARGET))
        rows += await _peers(url, reps)
    return rows


async def _peers(url: str, reps: int) -> list[Row]:
    rows = []
    async with langgraph(url, SYSTEM, PROMPT) as agents:
        for kept, agent in agents.items():
            before = await busy(url)
            figures = await alternate(agent, by_hand(url, stream=False), checked, reps=reps, warm_up=3)
            own = (await busy(url) - before) / (len(figures.ours) + len(figures.limit) + 6) * 1000
            rows.append(_row("W6 peer", f"LangGraph's ReAct agent, {kept}", figures, own))
    return rows


def _row(name: str, what: str, figures: Figures, own: float, target: float | None = None) -> Row:
    """Milliseconds a model call, without the server's."""
    each = Figures(
        ours=[_a_call(sample, own) for sample in figures.ours],
        limit=[_a_call(sample, own) for sample in figures.limit],
    )
    ratio = each.ratio
    return Row(
        name, f"{what}: ms a model call, beside the SDK by hand", each.wall, best=each.best, cpu=each.cpu,
        target="" if target is None else f"≤ {target} limits",
        met=None if target is None else ratio is not None and ratio <= target, limit=each.limit_wall, ratio=ratio,
    )  # fmt: skip


def _a_call(sample: Sample, own: float) -> Sample:
    return Sample((sample.wall - own) / (CALLS + 1), sample.cpu / (CALLS + 1))


AGENTS = {"W6": w6}

if __name__ == "__main__":
    from bench import results

    for row in asyncio.run(w6(int(sys.argv[1]) if len(sys.argv) > 1 else 9)):
        print("  ".join(text or "-" for text in results.cells(row)))
