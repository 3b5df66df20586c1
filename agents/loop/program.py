"""`run_program`: a short program whose only functions are the tools that the model sees.

Each call in it takes the way of every call: schema, hooks, gate, record. The program itself changes nothing. When its
node is run again it is run again from its first line, and what it called before gives what it gave before; so it waits
for people, and survives a crash, like everything else.
"""

from __future__ import annotations

import asyncio
import builtins
import itertools
import json
import keyword
import re
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from interlace.agents.loop.arguments import print_of
from interlace.agents.loop.work import CallContext, Work
from interlace.engine.chat import ToolCall
from interlace.engine.document import Effects
from interlace.engine.errors import NodeError
from interlace.engine.protocols import CodeResult, ProgramRunner
from interlace.engine.schema import Schema
from interlace.engine.waits import Suspend, Wanted
from interlace.resources.tools.tool import Category, Gate, ToolContext, ToolResult

if TYPE_CHECKING:
    from interlace.agents.loop.job import Job

NAME: Final = "run_program"
_SECONDS: Final = 20.0
_MEMORY_MB: Final = 128
_CALL: Final = re.compile(r"(\d+)\.0\??")
"""The name of a call of a program, or of a question about one."""
_TAKEN: Final = frozenset({*keyword.kwlist, *dir(builtins), "asyncio", "datetime", "json", "math", "re"})
"""Names that mean something else in programs."""
_QUIET_SECONDS: Final = 0.2
"""A program that has made no call for so long, and waits for people, makes none before they have answered."""


class RunProgram:
    """Runs programs of one agent. Implements `Tool`."""

    name = NAME
    _about: ClassVar[str] = (
        "Run a short Python program whose only functions are your other tools, by their names and with keyword arguments:"
        " `await search(query='x')`. Await each call; asyncio.gather makes several at once. A call gives the tool's value and"
        " raises where it fails. Print what you want to see; the value of a last expression is shown too. There are no files, no"
        " network and only a few modules (json, re, math, datetime, asyncio)."
    )
    category: ClassVar[Category] = "code"
    parameters_schema: ClassVar[Schema] = {
        "type": "object",
        "properties": {"code": {"type": "string", "description": "The program."}},
        "required": ["code"],
        "additionalProperties": False,
    }

    def __init__(self, job: Callable[[], Job]) -> None:
        self._job = job

    @property
    def description(self) -> str:
        """How it is used, and which tools have other names in programs."""
        other = [
            f"{name} is {own}" for name, own in names_of(self._job().tools.active).items() if name != own
        ]
        return f"{self._about} Names that Python does not take: {', '.join(other)}." if other else self._about

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """It is run again from its beginning; its calls are not."""
        del arguments
        return "idempotent"

    async def gate(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Gate | None:
        """Its calls ask."""
        del arguments, ctx
        return None

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext) -> ToolResult:
        """Run the program.

        Raises:
            NodeError: it failed.
            Suspend: a call in it waits for a person.
        """
        assert isinstance(ctx, CallContext)
        running = _Running(self._job(), ctx)
        budget = self._job().budget
        program = ctx.service(ProgramRunner).program(
            str(arguments["code"]), running.functions(), seconds=_SECONDS, memory_mb=_MEMORY_MB,
            total=max(budget.work_left(ctx.now()), 1.0), now=ctx.began, seed=ctx.idempotency_key,
        )  # fmt: skip
        try:
            result = await running.finish(program)
        except NodeError as error:
            printed = str(getattr(error, "stdout", "") or "")
            text = f"{error.message}\nPrinted before:\n{printed}" if printed else error.message
            raise NodeError(text, kind=error.kind, retryable=False) from None
        value = result.value["value"]
        shown = "" if value is None else f"\nValue: {json.dumps(value, ensure_ascii=False)}"
        text = f"{result.stdout}{shown}".strip() or "(nothing was printed)"
        return ToolResult(value={"printed": result.stdout, "value": value}, text=text)


class _Running:
    """The calls of one run of one program."""

    def __init__(self, job: Job, ctx: CallContext) -> None:
        from interlace.agents.loop.calls import Calls  # noqa: PLC0415 - a program makes calls, and is one

        self._job = job
        self._calls = Calls(replace(job, work=ctx.work, program=None))
        self._calls_work = ctx.work
        self._begun = self._active = self._held = 0
        self._known, most = _recorded(ctx.work)
        self._fresh = itertools.count(most + 1)
        self._wanted: list[Wanted] = []
        self._failure: BaseException | None = None
        self._stuck = asyncio.Event()

    def functions(self) -> dict[str, Callable[..., Awaitable[Any]]]:
        """The tools as functions; names become those of Python."""
        names = names_of(self._job.tools.active)
        return {own: self._function(name) for name, own in names.items()}

    async def finish(self, program: Awaitable[CodeResult]) -> CodeResult:
        """Wait for the end of the program, or until all that it waits for are people.

        Raises:
            NodeError: the program failed.
            Suspend: people are asked about calls in it; what it did besides is void.
        """
        task = asyncio.ensure_future(program)
        waiter = asyncio.ensure_future(self._stuck.wait())
        try:
            await asyncio.wait((task, waiter), return_when=asyncio.FIRST_COMPLETED)
            begun = -1
            while not task.done() and not (begun == self._begun and self._held == self._active):
                begun = self._begun
                await asyncio.wait((task,), timeout=_QUIET_SECONDS)  # it may be about to make more calls
        finally:
            waiter.cancel()
            task.cancel()
            await asyncio.wait((task,))
        if self._failure is not None:
            raise self._failure
        if self._wanted:
            raise Suspend(self._wanted[0], also=self._wanted[1:])
        return task.result()

    def _function(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def call(*given: Any, **arguments: Any) -> Any:
            self._begun += 1
            return await self._call(name, given, arguments)

        return call

    async def _call(self, name: str, given: tuple[Any, ...], arguments: dict[str, Any]) -> Any:
        if given:
            raise TypeError(f"{name} takes keyword arguments only")
        number = self._number(name, arguments)
        call = ToolCall(id=str(number), name=name, arguments=json.dumps(arguments))
        self._active += 1
        try:
            (found,) = await self._calls.perform(number, [call])
        except Suspend as suspend:
            self._wanted += [suspend.wanted, *suspend.also]
            await self._hold()
        except Exception as failure:  # noqa: BLE001 - it is the node's, and no program may catch it
            self._failure = failure
            await self._hold()
        self._active -= 1
        if found.is_error:
            raise RuntimeError(found.text.removeprefix("Error: "))
        value = found.record.get("value")
        return found.text if value is None else value

    def _number(self, name: str, arguments: dict[str, Any]) -> int:
        """The number of a call: of the same one when the program ran before, else the next one.

        Not the place in the order of calls: of several lines of work at once now one is first and now the other.
        """
        asked = self._calls_work.steps.redact({"arguments": arguments})["arguments"]
        known = self._known.get(print_of(name, asked))
        return known.popleft() if known else next(self._fresh)

    async def _hold(self) -> None:
        """Let a call have no end: the program cannot go on as if it had failed."""
        self._held += 1
        self._stuck.set()
        await asyncio.get_running_loop().create_future()


def names_of(tools: Iterable[str]) -> dict[str, str]:
    """What programs call tools by: their names, made such that Python takes them, each one once and always the same."""
    every = sorted(name for name in tools if name != NAME)
    found = {name: name for name in every if name.isidentifier() and name not in _TAKEN}
    used = set(found)
    for name in every:
        if name in found:
            continue
        own = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
        own = own if own.isidentifier() and own not in _TAKEN else f"{own}_" if own in _TAKEN else f"_{own}"
        own = (
            own if own not in used else next(o for n in itertools.count(2) if (o := f"{own}_{n}") not in used)
        )
        found[name] = own
        used.add(own)
    return found


def _recorded(work: Work) -> tuple[dict[str, deque[int]], int]:
    """The numbers of the calls that the program made when it ran before, by what they are, and the highest."""
    found: dict[str, deque[int]] = defaultdict(deque)
    numbers = {int(match[1]) for name in work.names() if (match := _CALL.fullmatch(name))}
    for number in sorted(numbers):
        step, request = work.get(f"{number}.0"), work.request(f"{number}.0")
        if step is not None:
            data = step.started or step.finished or {}
            name = data.get("name")
        else:
            data = {} if request is None else request.state
            name = data.get("tool")
        found[print_of(str(name), data.get("asked", data.get("arguments")))].append(number)
    return found, max(numbers, default=0)
