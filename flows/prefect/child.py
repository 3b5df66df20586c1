"""The embedded server's own process: Prefect's application, patched, tied to its parent's life, closed to strangers.

uvicorn runs `application` as a factory; nothing else imports this module.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

_PR_SET_PDEATHSIG = 1
_GRACE_SECONDS = 5.0
_OWN_NAMES = frozenset({"127.0.0.1", "localhost"})


def application() -> Application:
    """Make the application: to be called once, in a process of its own."""
    _die_with_parent()
    from interlace.flows.prefect import internals, recording  # noqa: PLC0415 - Prefect's import takes a second

    internals.check_version()
    internals.begin_immediately()
    app = internals.server_application()
    recording.mount(app)
    return _for_own_names_only(app)


def _die_with_parent() -> None:
    """End this process when its parent ends, however that happens.

    The kernel's signal covers `kill -9` of the parent on Linux; the pipe covers it everywhere, and a parent that
    died before this line.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != int(os.environ["INTERLACE_PARENT_PID"]):
            os._exit(1)
    threading.Thread(target=_leave_at_end_of_pipe, name="parent-watch", daemon=True).start()


def _leave_at_end_of_pipe() -> None:
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(_GRACE_SECONDS)
    os._exit(1)


def _for_own_names_only(app: Application) -> Application:
    """Refuse requests that name another host: a page elsewhere whose name was rebound to this address."""

    async def guarded(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or _host(scope) in _OWN_NAMES:
            await app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            plain = [(b"content-type", b"text/plain")]
            await send({"type": "http.response.start", "status": 421, "headers": plain})
            await send({"type": "http.response.body", "body": b"This server answers as 127.0.0.1 only."})

    return guarded


def _host(scope: Message) -> str:
    named: bytes = next((value for name, value in scope["headers"] if name == b"host"), b"")
    return named.decode("latin-1").rsplit(":", 1)[0].lower()
