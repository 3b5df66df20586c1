"""What the engine needs from outside, as protocols; `store` and `resources` implement them, flows wire them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from interlace.engine.principal import Principal
from interlace.engine.schema import Schema
from interlace.engine.variables import Change

S = TypeVar("S")


class Journal(Protocol):
    """The record of one run. Appended events become durable, in order, at the next commit."""

    def append(
        self, kind: str, path: str = "", attempt: int = 0, data: Mapping[str, Any] | None = None
    ) -> None:
        """Add an event; its data is encoded at once, so later changes of the values do not matter.

        Raises:
            StoreError: the data is not JSON, naming where.
        """
        ...

    def commit(self) -> Awaitable[None] | None:
        """Make all appended events durable; None when there is nothing to do. Commits of many runs are grouped."""
        ...

    def change(self, change: Change) -> Awaitable[None]:
        """Change kept variables, and add the event that tells of it, in one commit.

        The change is computed within the commit, from the newest values there are, while nobody else can write them.
        """
        ...


class Clock(Protocol):
    """Time, injectable in tests."""

    def now(self) -> float:
        """Unix time in seconds."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Pause."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FileValue:
    """A value of type `file`: it passes by reference through every node."""

    name: str
    media_type: str
    size: int
    sha256: str
    ref: str


class FileStream(Protocol):
    """A file that is written piece by piece."""

    value: FileValue | None
    """The value that refers to it; None until it is complete."""

    async def write(self, content: bytes) -> None:
        """Add to the end.

        Raises:
            StoreError: there is no room.
        """
        ...


class Files(Protocol):
    """Files of a run, content-addressed."""

    def stream(self, *, name: str, media_type: str) -> AbstractAsyncContextManager[FileStream]:
        """Store a file of any size: at the end of the block it is complete, and by an error nothing is left of it."""
        ...

    async def save(self, content: bytes, *, name: str, media_type: str) -> FileValue:
        """Store the bytes and give the value that refers to them."""
        ...

    async def load(self, ref: str) -> bytes:
        """The bytes of a reference."""
        ...


class Environment(Protocol):
    """Non-secret settings and secrets of the environment that a run acts in (dev, staging, prod)."""

    def settings(self) -> Mapping[str, Any]:
        """The values of `env`."""
        ...

    def secret(self, name: str) -> str:
        """One secret.

        Raises:
            NodeError: there is none of that name; the message says how to set it.
        """
        ...


class Places(Protocol):
    """Which pools this process serves."""

    def serves(self, pool: str) -> bool:
        """Whether nodes of a pool run here."""
        ...


class Callbacks(Protocol):
    """Where other systems call back."""

    def of(self, key: str) -> tuple[str, str]:
        """The token of an idempotency key, which nobody else can make, and the URL that ends the wait of it.

        A request that is repeated after a crash gives the same URL as before: whoever does its work once only may call
        the first one.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildResult:
    """How a child run ended."""

    run_id: str
    status: str
    outputs: Mapping[str, Any] = field(default_factory=dict)
    error: Mapping[str, Any] | None = None


class Children(Protocol):
    """Starts the child runs of SUB_WORKFLOW."""

    async def run(
        self,
        workflow: str,
        version: str | int,
        inputs: Mapping[str, Any],
        *,
        parent: str,
        path: str,
        wait: bool,
    ) -> ChildResult:
        """Start (or after a crash find again) the child of `parent` at `path` and wait until it ends or is suspended.

        Cancelling the call cancels the child.
        """
        ...

    async def result(self, run_id: str, *, parent: str) -> ChildResult:
        """How a child that was suspended ended; it may be suspended again."""
        ...


class CodeResult(Protocol):
    """What a piece of user code did."""

    @property
    def value(self) -> Any:
        """What `main` returned, as plain JSON data."""
        ...

    @property
    def stdout(self) -> str:
        """What it printed."""
        ...

    @property
    def stderr(self) -> str:
        """What it wrote to standard error."""
        ...

    @property
    def cpu_seconds(self) -> float:
        """Processor time it took."""
        ...


class CodeRunner(Protocol):
    """Runs user code where it cannot harm: no secrets, no environment, no files of the platform."""

    async def run(
        self,
        code: str,
        inputs: Mapping[str, Any],
        *,
        seconds: float,
        memory_mb: int,
        output_mb: float,
        fast: bool = False,
        packages: Sequence[str] = (),
        network: bool = False,
    ) -> CodeResult:
        """Call `main(**inputs)` of the code and give what it returned. Cancelling the call ends the code.

        Raises:
            NodeError: the code failed (kind: the class name of its exception, message: the traceback at the user's
                lines), went over a limit, or no sandbox is available.
        """
        ...


class ProgramRunner(Protocol):
    """Runs short programs that may call functions of this process, and nothing else."""

    async def program(
        self,
        code: str,
        functions: Mapping[str, Callable[..., Awaitable[Any]]],
        *,
        seconds: float,
        memory_mb: int,
        total: float,
        now: float,
        seed: str,
    ) -> CodeResult:
        """Run a program from its first line to its last; its result has its last value under `value`.

        `seconds` are of its own work between two calls, `total` with its calls. Its clock stands at `now` and its chance
        follows from `seed`, so that it does the same when it is run again.

        Raises:
            NodeError: as `CodeRunner.run`.
        """
        ...


class Embedder(Protocol):
    """Turns texts into vectors; texts of like meaning have vectors that lie near each other."""

    async def embed(self, texts: Sequence[str], *, model: str | None = None) -> list[list[float]]:
        """The vectors of texts, in their order; all of one length.

        Raises:
            NodeError: the model cannot be asked.
        """
        ...


class Workflows(Protocol):
    """What validation may know of other workflows."""

    def signature(self, workflow: str, version: str | int) -> tuple[Schema, Schema] | None:
        """Input and output schema of a stored workflow, None when it is unknown."""
        ...

    def callees(self, workflow: str, version: str | int) -> frozenset[str]:
        """Names of the workflows that this one calls."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a person said to a run at work; ids grow."""

    id: str
    text: str


class Inbox(Protocol):
    """What people say to runs while these are at work."""

    async def after(self, run_id: str, last: str = "") -> Sequence[Said]:
        """What was said to a run after the entry of that id, in order.

        Whoever takes an entry up records its id under `injected` in a `model.finished` event: what nobody has taken up
        when the run ends becomes the next question of the session.
        """
        ...


class Conversations(Protocol):
    """The chat sessions of users."""

    async def history(self, session: str, *, by: Principal) -> list[dict[str, Any]]:
        """What was said in a session of `by`, as `{role, content}`, the oldest first; answers with the names of their `tools`.

        Raises:
            NodeError: `resource_not_found`: `by` has no such session.
        """
        ...


class Services:
    """What nodes ask for by type: `ctx.service(Files)`."""

    def __init__(self, entries: Mapping[type[Any], Any] | None = None) -> None:
        self._entries: dict[type[Any], Any] = dict(entries or {})

    def register(self, protocol: type[S], implementation: S) -> None:
        """Offer an implementation of a protocol."""
        self._entries[protocol] = implementation

    def with_service(self, protocol: type[S], implementation: S) -> Services:
        """The same services and one more, for one run."""
        return Services({**self._entries, protocol: implementation})

    def offered(self) -> frozenset[type[Any]]:
        """The protocols that are registered."""
        return frozenset(self._entries)

    def get(self, protocol: type[S]) -> S:
        """The implementation of a protocol.

        Raises:
            LookupError: none is registered; a mistake of the wiring, not of a workflow.
        """
        try:
            found: S = self._entries[protocol]
        except KeyError:
            raise LookupError(f"no service registered for {protocol.__name__}") from None
        return found
