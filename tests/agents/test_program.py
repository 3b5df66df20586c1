"""`run_program`: calls in programs take the way of every call, and a program waits and goes on like everything else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from interlace.engine.protocols import ProgramRunner
from interlace.engine.waits import Answer
from interlace.flows.platform import SandboxedPrograms
from interlace.resources.models.testing import Asked, Rule
from interlace.resources.sandbox import Sandbox
from interlace.resources.tools.tool import Gate, Tool
from tests.agents.hosting import SmallTool, Stage, World, add, call, calls, send, stage


@asynccontextmanager
async def programs(code: str, **more: Any) -> AsyncIterator[Stage]:
    """A run whose model writes one program and then answers."""

    def reply(asked: Asked) -> Any:
        seen = [message for message in asked.messages if message["role"] == "tool"]
        return f"saw: {seen[0]['content']}" if seen else calls(call("run_program", code=code))

    sandbox = Sandbox()
    more.setdefault("tools", lambda world: [add(world), send(world)])
    async with stage(rules=[Rule(reply=reply)], how={"code_mode": True}, **more) as run:
        run.services.register(ProgramRunner, SandboxedPrograms(sandbox))
        try:
            yield run
        finally:
            await sandbox.close()


SUM = "total = 0\nfor n in range(5):\n    total = await add(a=total, b=n)\nprint('sum', total)\ntotal * 2"


async def test_a_program_calls_tools() -> None:
    async with programs(SUM) as run:
        outputs = await run.outputs()
    assert outputs["text"] == "saw: sum 10\n\nValue: 20"
    assert [key for _, _, key in run.world.done] == [f"r:n:1.0/{n}.0" for n in range(1, 6)]
    names = [tool["function"]["name"] for tool in run.asked[0].body["tools"]]
    assert names == ["add", "send", "run_program"]
    [made] = outputs["calls"]
    assert made["result"] == {"printed": "sum 10\n", "value": 20}


async def test_faults_of_programs_are_observations() -> None:
    faults = {
        "nope(1)": "NameError",
        "x = (": "SyntaxError",
        "await add(1, 2)": "keyword arguments only",
        "await add(a=1, b='x')": "arguments.b",
        "print('before')\n1 / 0": "before",
        "import os\nprint(os.environ)": "",
        "open('/etc/passwd').read()": "",
        "import socket": "",
        "while True:\n    pass": "20 s",
    }
    for code, said in faults.items():
        if "while" in code:
            continue  # takes as long as it may
        async with programs(code) as run:
            outputs = await run.outputs()
        [made] = outputs["calls"]
        if "environ" not in code:
            assert made["is_error"], (code, made)
        assert said in outputs["text"], (code, outputs["text"])
        assert "/root" not in outputs["text"]
        assert run.world.names() == []


async def test_a_tool_that_fails_can_be_caught() -> None:
    code = "try:\n    await add(a=1, b='x')\nexcept Exception as error:\n    print('caught')\nawait add(a=1, b=2)"
    async with programs(code) as run:
        assert (await run.outputs())["text"] == "saw: caught\n\nValue: 3"


MAILS = """
import asyncio
n = await add(a=1, b=1)
print('sending')
try:
    said = await asyncio.gather(send(to='ada'), send(to='bob'))
except Exception as error:
    said = ['refused', str(error)]
    await send(to='eve')
last = await add(a=n, b=1)
said + [last]
"""


async def test_gates_hold_and_a_program_waits() -> None:
    async with programs(MAILS) as run:
        first = await run.turn()
        assert first.status == "suspended"
        assert sorted(run.requests()) == ["1.0/2.0", "1.0/3.0"]
        assert run.world.names() == ["add"]
        run.answer("1.0/2.0")
        second = await run.turn()
        assert len(second.waiting) == 1
        assert run.world.done[-1] == ("send", {"to": "ada"}, "r:n:1.0/2.0")
        run.answer("1.0/3.0")
        outputs = await run.outputs()
    assert outputs["calls"][0]["result"]["value"] == ["sent to ada", "sent to bob", 3]
    assert run.world.names() == ["add", "send", "send", "add"]  # none of them twice
    assert len(run.asked) == 2


async def test_a_refusal_is_an_exception_in_the_program() -> None:
    async with programs(MAILS) as run:
        await run.turn()
        run.answer("1.0/2.0", "reject", by="kim")
        run.answer("1.0/3.0", "reject", by="kim")
        result = await run.turn()
        assert result.status == "suspended"  # the next mail is asked about as well
        [left] = [key for key in run.requests() if key not in ("1.0/2.0", "1.0/3.0")]
        run.answer(left, "reject")
        outputs = await run.outputs()
    assert "send" not in run.world.names()
    assert outputs["calls"][0]["is_error"]


async def test_hooks_and_limits_hold_in_programs() -> None:
    deny = [{"event": "pre_tool_use", "match": "add", "do": "deny", "message": "no sums"}]
    async with programs("await add(a=1, b=2)", hooks=deny) as run:
        outputs = await run.outputs()
    assert "no sums" in outputs["text"]
    assert run.world.names() == []
    async with programs(SUM, limits={"tool_calls": 3}) as run:
        outputs = await run.outputs()
    assert len(run.world.done) <= 3
    assert outputs["why"] == "tool_calls"


async def test_a_crash_at_every_event_of_a_program() -> None:
    code = "a = await add(a=1, b=2)\nb = await send(to='ada')\nc = await add(a=a, b=4)\n[a, b, c]"

    def tools(world: World) -> list[Tool]:
        return [add(world), send(world, asks=lambda arguments: None)]

    async with programs(code, tools=tools) as run:
        whole = await run.outputs()
        for length in range(2, len(run.journal.events)):
            run.world.done.clear()
            again = run.cut(length)
            finished = {event.data["step"] for event in again.of("tool.finished")}
            result = await again.turn()
            if result.status == "suspended":
                again.answers[result.waiting[0]] = Answer(action="happened", form={"result": "sent to ada"})
                result = await again.turn()
            assert result.outputs == whole, length
            made = [key.partition("r:n:")[2] for _, _, key in run.world.done]
            assert len(made) == len(set(made))
            assert not finished & set(made), length


def in_the_other_order(world: World) -> list[Tool]:
    """Ada, who was looked for first, is found when Bob has been asked about."""
    asked = asyncio.Event()

    async def look(text: str) -> str:
        if text == "ada":
            await asked.wait()
        return text

    def asks(arguments: Mapping[str, Any]) -> Gate:
        asked.set()
        return Gate(title=f"Send to {arguments['to']}", reason="Mail leaves the house.")

    return [send(world, asks=asks), SmallTool(world, "look", look, {"text": {"type": "string"}})]


TWO = """
import asyncio
async def one(name):
    return await send(to=await look(text=name))
await asyncio.gather(one('ada'), one('bob'))
"""


async def test_calls_at_once_get_their_own_results_when_the_program_is_run_again() -> None:
    async with programs(TWO, tools=in_the_other_order) as run:
        assert (await run.turn()).status == "suspended"
        asked = {key: wait["request"]["config"]["arguments"]["to"] for key, wait in run.requests().items()}
        assert sorted(asked.values()) == ["ada", "bob"]
        for key, to in asked.items():
            run.answer(key, "approve" if to == "ada" else "reject", by="kim")
        outputs = await run.outputs()
    assert [entry[1] for entry in run.world.done if entry[0] == "send"] == [{"to": "ada"}]
    assert "kim refused this call of send" in outputs["text"]
    async with programs(TWO, tools=in_the_other_order) as run:
        await run.turn()
        for key in run.requests():
            run.answer(key)
        outputs = await run.outputs()
    assert outputs["calls"][0]["result"]["value"] == ["sent to ada", "sent to bob"]
    assert sorted(run.world.names()) == ["look", "look", "send", "send"]


async def test_the_clock_and_chance_of_a_program_stand_still() -> None:
    code = (
        "import random, datetime\nwho = f'{datetime.datetime.now()} {random.random()}'\n"
        "await send(to=who) == f'sent to {who}'"
    )
    async with programs(code) as run:
        assert (await run.turn()).status == "suspended"
        [key] = run.requests()
        run.answer(key)
        outputs = await run.outputs()
    assert outputs["calls"][0]["result"]["value"] is True
    assert run.world.names() == ["send"]


async def test_tools_whose_names_python_does_not_take() -> None:
    """Two names that become one, a word of the language, a digit at the beginning: each has a function of its own."""
    names = ("a-b", "a_b", "a__b", "import", "print", "2fa")

    def tools(world: World) -> list[Tool]:
        return [SmallTool(world, name, lambda name=name: name, {}) for name in names]

    code = "[await a_b_2(), await a_b(), await a__b(), await import_(), await print_(), await _2fa()]"
    async with programs(code, tools=tools) as run:
        outputs = await run.outputs()
    assert outputs["calls"][0]["result"]["value"] == list(names)
    [about] = [t["function"] for t in run.asked[0].body["tools"] if t["function"]["name"] == "run_program"]
    assert "a-b is a_b_2" in about["description"]
    assert "a_b is" not in about["description"]


async def test_without_code_mode_there_is_none() -> None:
    async with stage(calls(call("run_program", code="1")), "no") as run:
        outputs = await run.outputs()
    assert "there is no tool 'run_program'" in outputs["calls"][0]["result"]
