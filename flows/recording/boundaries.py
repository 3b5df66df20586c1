"""The services at which a run meets the outside, as recorded and offline runs see them.

A service joins with a wrapper whose methods go through `Outside.ask`, and a line in `BOUNDARIES`. A request must hold
what decides the answer and nothing that is new in each run; secrets that fields read are masked by `ask`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, Final

from interlace.agents.meta.call_agent import Delegates
from interlace.agents.outfit import Outfitter
from interlace.agents.resolve import Sources
from interlace.engine.chat import ChatModel
from interlace.engine.protocols import (
    Callbacks,
    Children,
    ChildResult,
    CodeResult,
    CodeRunner,
    Conversations,
    Environment,
    Inbox,
    Places,
    ProgramRunner,
)
from interlace.flows.recording.agents import RecordedOutfitter
from interlace.flows.recording.connectors import RecordedConnectors
from interlace.flows.recording.databases import RecordedDatabases, RecordedStored
from interlace.flows.recording.http import RecordedHttp
from interlace.flows.recording.inbox import RecordedConversations, RecordedInbox
from interlace.flows.recording.knowledge import RecordedKnowledge
from interlace.flows.recording.mail import RecordedMailer
from interlace.flows.recording.mcp import RecordedMcp
from interlace.flows.recording.models import RecordedModels
from interlace.flows.recording.outside import Form, Outside
from interlace.resources.agents.agents import Agents
from interlace.resources.connectors.connectors import Connectors
from interlace.resources.databases import Databases
from interlace.resources.databases.stored import StoredDatabases
from interlace.resources.documents.extractor import Extractor
from interlace.resources.http import HttpClient
from interlace.resources.knowledge import KnowledgeBases
from interlace.resources.mail import Mailer
from interlace.resources.mcp import McpServers
from interlace.resources.notices import Notices
from interlace.resources.secrets import Secrets
from interlace.resources.skills.skills import Skills
from interlace.resources.tools import BuiltinTools
from interlace.resources.tools.folder import RunFolders
from interlace.store.resources import ResourceRepository

CALLBACK_URL = "[callback]"


def _as_it_is(service: Any, outside: Outside) -> Any:
    """Of a service that reaches nothing outside and gives the same for the same."""
    del outside
    return service


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCode:
    """What a piece of code did. Implements `CodeResult`."""

    value: Any
    stdout: str
    stderr: str
    cpu_seconds: float


def _kept_code(result: CodeResult) -> dict[str, Any]:
    return {
        "value": result.value, "stdout": result.stdout, "stderr": result.stderr, "cpu_seconds": result.cpu_seconds,
    }  # fmt: skip


_CODE: Form[CodeResult] = Form(_kept_code, lambda kept: KeptCode(**kept))
_CHILD: Form[ChildResult] = Form(asdict, lambda kept: ChildResult(**kept))


class RecordedCode:
    """Implements `CodeRunner`: the result is kept, as code may read clock and chance.

    Code without network reaches nothing, so that changed code, or code with other inputs, runs offline too.
    """

    def __init__(self, code: CodeRunner, outside: Outside) -> None:
        self._code = code
        self._outside = outside

    async def run(
        self, code: str, inputs: Mapping[str, Any], *, seconds: float, memory_mb: int, output_mb: float,
        fast: bool = False, packages: Sequence[str] = (), network: bool = False,
    ) -> CodeResult:  # fmt: skip
        """Call `main(**inputs)` of the code."""
        request = {
            "code": code, "inputs": dict(inputs), "fast": fast, "packages": list(packages), "network": network,
        }  # fmt: skip
        return await self._outside.ask(
            "code", request,
            lambda: self._code.run(
                code, inputs, seconds=seconds, memory_mb=memory_mb, output_mb=output_mb, fast=fast, packages=packages,
                network=network,
            ),
            _CODE, local=not network,
        )  # fmt: skip


class RecordedChildren:
    """Implements `Children`: a child's result is kept; offline no child is started."""

    def __init__(self, children: Children, outside: Outside) -> None:
        self._children = children
        self._outside = outside

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
        """Start a child and wait until it ends or is suspended."""
        request = {"workflow": workflow, "version": version, "inputs": dict(inputs), "wait": wait}
        return await self._outside.ask(
            "workflow", request,
            lambda: self._children.run(workflow, version, inputs, parent=parent, path=path, wait=wait),
            _CHILD,
        )  # fmt: skip

    async def result(self, run_id: str, *, parent: str) -> ChildResult:
        """How a child that was suspended ended."""
        return await self._outside.ask(
            "workflow", {"run_id": run_id}, lambda: self._children.result(run_id, parent=parent), _CHILD
        )


class RecordedCallbacks:
    """Implements `Callbacks`: the one-time URL is never kept, and offline there is none."""

    def __init__(self, callbacks: Callbacks, outside: Outside) -> None:
        self._callbacks = callbacks
        self._outside = outside

    def of(self, key: str) -> tuple[str, str]:
        """The token of an idempotency key, and the URL that ends its wait."""
        if self._outside.offline:
            return f"offline:{self._outside.caller.run_id}:{self._outside.caller.path}", CALLBACK_URL
        token, url = self._callbacks.of(key)
        self._outside.hide(url, CALLBACK_URL)
        return token, url


class RecordedNotices(Notices):
    """Announcements: offline nobody is told."""

    def __init__(self, notices: Notices, outside: Outside) -> None:
        self._notices = notices
        self._outside = outside

    async def post(
        self, channel: Mapping[str, Any], request: Mapping[str, Any], wait_id: str, *, reminder: bool = False
    ) -> str | None:
        """Announce a request."""
        if self._outside.offline:
            return None
        return await self._notices.post(channel, request, wait_id, reminder=reminder)


BOUNDARIES: Final[Mapping[Any, Callable[[Any, Outside], Any]]] = MappingProxyType(
    {
        HttpClient: RecordedHttp,
        ChatModel: RecordedModels,
        Connectors: RecordedConnectors,
        Databases: RecordedDatabases,
        StoredDatabases: RecordedStored,
        CodeRunner: RecordedCode,
        Children: RecordedChildren,
        Callbacks: RecordedCallbacks,
        Extractor: _as_it_is,
        ProgramRunner: _as_it_is,  # what it calls is recorded
        KnowledgeBases: RecordedKnowledge,
        Notices: RecordedNotices,
        McpServers: RecordedMcp,
        Outfitter: RecordedOutfitter,
        Inbox: RecordedInbox,
        Conversations: RecordedConversations,
        Mailer: RecordedMailer,
        BuiltinTools: _as_it_is,
        RunFolders: _as_it_is,
    }
)
_OF_TOOLS: Final = (
    "agents reach it through their outfit and their tools, of which a replay has what they gave"
)
INNER: Final[Mapping[Any, str]] = MappingProxyType(
    {
        Environment: "the recorder keeps `env`, and a replay gives it from there",
        Places: "only the engine asks where nodes run",
        Secrets: "what nodes read of them is part of their calls",
        ResourceRepository: _OF_TOOLS,
        Agents: _OF_TOOLS,
        Skills: _OF_TOOLS,
        Delegates: _OF_TOOLS,
        Sources: _OF_TOOLS,
    }
)
"""Services that need no boundary, and why: no node asks for them but `Environment`. An offline run is refused them."""
