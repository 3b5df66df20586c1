"""What runs in the processes that are killed while an agent works: the product, an agent, and a person who answers.

`serve` forks once a line of its input, as `tests.crash.child` does.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from interlace.agents.outfit import Outfitter
from interlace.flows.answering import Given
from interlace.flows.orphans import take_over
from interlace.flows.people import Person
from interlace.flows.platform import Platform
from interlace.flows.request import Request
from interlace.flows.settings import Settings
from interlace.store.run_row import FINAL
from interlace.store.wait_row import Wait
from tests.agents.hosting import Hosted, SmallTool, World, add, send
from tests.crash.faults import Writes

ADA = Person(name="ada")
DOCUMENT = """
name: Killed
nodes:
  - {id: start, type: START}
  - {id: n, type: HOSTED}
  - {id: done, type: END, config: {outputs: {text: "{{ n.text }}", calls: "{{ n.tool_calls }}"}}}
edges: [start -> n, n -> done]
"""


class Written:
    """A file to which tools write what they do, one line each, at once."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, line: str) -> str:
        file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(file, f"{line}\n".encode())
        os.close(file)
        return line

    def lines(self) -> list[str]:
        return self._path.read_text().splitlines() if self._path.exists() else []


def world(done: Written) -> World:
    """An agent that adds, notes and sends."""
    text = {"text": {"type": "string"}}
    return World(
        tools=lambda made: [
            add(made),
            SmallTool(made, "note", lambda text: done.write(f"note {text}"), text, kind="idempotent"),
            send(made, does=lambda to: done.write(f"send {to}")),
        ]
    )


async def work(case: dict[str, Any]) -> dict[str, Any]:
    """Open the home, start the run or take it over, answer what is asked, until it has ended."""
    writes = Writes(case["die_at"], case["point"])
    writes.install()
    settings = Settings(
        home=Path(case["home"]), prefect="off", http_allow=["127.0.0.1/32"],
        models={"providers": [
            {"name": "p", "base_url": case["url"], "retries": 0, "models": [{"name": "scripted"}], "roles": {"general": "scripted"}}
        ]},
    )  # fmt: skip
    done = Written(Path(case["done"]))
    platform = await Platform.open(settings)
    platform.registry.add(Hosted)
    platform.services.register(Outfitter, world(done))
    await take_over(platform.store, platform.runner)
    pinned = await platform.documents.from_text(DOCUMENT)
    run_id = await platform.runner.start(pinned, Request(idempotency_key="case"))
    end = time.monotonic() + 60
    while (run := await platform.store.runs.get(run_id)).status not in FINAL:
        assert time.monotonic() < end, run
        await take_over(platform.store, platform.runner)
        await platform.waits.look()
        for wait in (await platform.store.waits.list(run_id=run_id, limit=50)).items:
            await platform.waits.answer(wait.id, _answer(wait, done), ADA)
        await asyncio.sleep(0.004)
    await platform.runner.idle()
    outputs = (await platform.store.runs.resolve(run)).outputs
    await platform.close()
    return {"writes": writes.count, "status": run.status, "outputs": outputs}


def _answer(wait: Wait, done: Written) -> Given:
    """Agree to everything; of an interrupted call, look whether it did its work."""
    if "happened" not in wait.request["actions"]:
        return Given(action="approve")
    line = f"send {wait.request['config']['arguments']['to']}"
    happened = line in done.lines()
    return Given(action="happened", form={"result": line}) if happened else Given(action="not_happened")


async def _empty_home(folder: Path) -> None:
    await (await Platform.open(Settings(home=folder, prefect="off"))).close()


def serve() -> None:
    """Fork once a line (a case as JSON); answer with how it ended.

    The first case runs here: what is loaded and compiled then is there for all that are forked.
    """
    import openai  # noqa: F401 - loaded once, and not in each process

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        case = json.loads(line)
        if case["warm_up"]:
            asyncio.run(_empty_home(Path(case["template"])))
            asyncio.run(work(case))
            print(0, file=answers, flush=True)
            continue
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                result = asyncio.run(work(case))
                Path(case["result"]).write_text(json.dumps(result))
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), file=answers, flush=True)
