"""What goes into the sandbox and what comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, Union

from interlace.engine.errors import NodeError

JsonValue: TypeAlias = Union[str, int, float, bool, Sequence["JsonValue"], Mapping[str, "JsonValue"], None]  # noqa: UP007 - the bar cannot join forward references


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one run may use.

    Attributes:
        seconds: wall time from the start of the code.
        memory_mb: memory beyond the interpreter's own.
        output_mb: size of the result as JSON.
        stdout_kb: how much of standard output, and of standard error, is kept; the rest is dropped.
    """

    seconds: float = 60
    memory_mb: int = 512
    output_mb: float = 10
    stdout_kb: int = 256

    def __post_init__(self) -> None:
        for name in ("seconds", "memory_mb", "output_mb"):
            if not getattr(self, name) > 0:
                raise ValueError(f"the limit {name!r} is {getattr(self, name)!r}; it must be greater than 0")
        if self.stdout_kb < 0:
            raise ValueError(f"the limit 'stdout_kb' is {self.stdout_kb!r}; it must not be negative")

    @property
    def output_bytes(self) -> int:
        """The limit of the result in bytes."""
        return int(self.output_mb * 1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a program runs in; it does the same when it is run again in the same one.

    Attributes:
        total: seconds altogether, those of its calls included.
        now: where its clock stands, Unix time.
        seed: what its chance follows from.
    """

    total: float
    now: float
    seed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeResult:
    """What a run gave back: the dict that `main` returned, what it printed, and its processor time in seconds."""

    value: JsonValue
    stdout: str
    stderr: str
    cpu_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxStatus:
    """Which engine runs code here; when none can, why, and what the operator does about it."""

    engine: str
    available: bool
    reason: str = ""
    fix: str = ""


class CodeError(NodeError):
    """The code failed.

    Args:
        message: what happened, with the line of the user's code.
        kind: the class name of the exception, or `timeout`, `memory_limit`, `output_limit`, `bad_result`,
            `missing_main`, `missing_input`, `killed`, `package_not_allowed`, `sandbox_unavailable`.
        line: the line of the user's code, if one is to blame.
        traceback: the traceback with the user's frames only.
        stdout: what the code printed before it failed.
        stderr: the same for standard error.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str,
        line: int | None = None,
        traceback: str = "",
        stdout: str = "",
        stderr: str = "",
    ) -> None:
        super().__init__(message, kind=kind)
        self.line = line
        self.traceback = traceback
        self.stdout = stdout
        self.stderr = stderr
