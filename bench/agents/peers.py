"""Agents of others at the same task, where their packages are installed; they are none of ours.

`uv pip install langchain langchain-openai langgraph-checkpoint-sqlite` brings LangGraph's.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

Run = Callable[[], Awaitable[str]]


@asynccontextmanager
async def langgraph(url: str, system: str, prompt: str) -> AsyncIterator[dict[str, Run]]:
    """LangGraph's ReAct agent by what it keeps its state in; none where it is not installed."""
    packages = ("langchain", "langchain_openai", "langgraph.checkpoint.sqlite.aio")
    if not all(map(_installed, packages)):
        yield {}
        return
    agents, openai, sqlite = map(importlib.import_module, ("langchain.agents", *packages[1:]))
    memory = importlib.import_module("langgraph.checkpoint.memory")

    def add(a: int, b: int) -> int:
        """Adds two whole numbers."""
        return a + b

    def agent(checkpointer: Any) -> Run:
        model = openai.ChatOpenAI(base_url=f"{url}/v1", api_key="none", model="scripted")
        made = agents.create_agent(model, [add], system_prompt=system, checkpointer=checkpointer)
        threads = count()

        async def run() -> str:
            settings = {"configurable": {"thread_id": str(next(threads))}, "recursion_limit": 100}
            asked = {"messages": [{"role": "user", "content": prompt}]}
            answer = await made.ainvoke(asked, settings)
            return str(answer["messages"][-1].content)

        return run

    async with AsyncExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="interlace-bench-"))
        saver = sqlite.AsyncSqliteSaver.from_conn_string(str(Path(folder) / "checkpoints.db"))
        yield {
            "in memory": agent(memory.InMemorySaver()),
            "SQLite checkpoints": agent(await stack.enter_async_context(saver)),
        }


def _installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
