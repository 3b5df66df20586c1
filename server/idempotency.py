"""`Idempotency-Key`: the same request twice makes one thing, and is answered with the same words."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import re
import tempfile
from collections.abc import AsyncIterator, Iterator
from typing import IO, Final

import orjson
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from interlace.server.auth import credential_of, identify, platform_of
from interlace.server.problems import problem
from interlace.store.answers import CLAIM_SECONDS, Answer, AnswerRepository

HEADER: Final = "idempotency-key"
_KEPT_SECONDS: Final = 86_400.0
_MAX_KEY: Final = 255
_MAX_ANSWER: Final = 1 << 20
_IN_MEMORY: Final = 1 << 20
_PIECE: Final = 1 << 16
_NONCE: Final = 12
_OWN: Final = re.compile(
    r"/api/v1/(runs|workflows/[^/]+/run|runs/[^/]+/replay|sessions/[^/]+/messages|session|invitations/[^/]+/accept)"
)
"""Routes that keep the key with what they start, in the same commit; and those that sign somebody in."""
_BOUNDARY: Final = re.compile(r"""boundary="?([^";,]+)"?""", re.IGNORECASE)


class Idempotency:
    """ASGI middleware. An answer is kept for a day, encrypted with the caller's own key or cookie, which nobody else has.

    Only what succeeded is kept: a request that was refused or failed may be mended and sent again with its key.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer what was answered before, pass the rest on."""
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        key, path = headers.get(HEADER), scope.get("path", "")
        wanted = scope["type"] == "http" and scope["method"] == "POST" and path.startswith("/api/v1/")
        if key is None or not wanted or _OWN.fullmatch(path):
            await self._app(scope, receive, send)
            return
        if not 0 < len(key) <= _MAX_KEY or not key.isprintable():
            detail = f"an Idempotency-Key has 1 to {_MAX_KEY} printable characters"
            await problem(422, "bad_request", detail)(scope, receive, send)
            return
        caller = await identify(Request(scope))
        if caller is None:
            await self._app(scope, receive, send)
            return
        with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as body:
            try:
                if not await _collect(receive, body):
                    return
            except HTTPException as error:  # the limit on sizes
                await problem(error.status_code, "too_large", str(error.detail))(scope, receive, send)
                return
            request = _Kept(scope, headers, body, f"{caller.id}\n{key}")
            await self._once(request, receive, send)

    async def _once(self, request: _Kept, receive: Receive, send: Send) -> None:
        answers = platform_of(Request(request.scope)).store.answers
        known = await answers.claim(request.id, request.fingerprint)
        if known is not None:
            await request.repeat(known)(request.scope, receive, send)
            return
        taken = _Taken(send)
        async with _holding(answers, request.id):
            try:
                await self._app(request.scope, request.receive, taken)
            except BaseException:
                await asyncio.shield(answers.forget(request.id))
                raise
        if taken.is_good:
            await answers.keep(request.id, taken.status, request.seal(taken), lasts=_KEPT_SECONDS)
        else:
            await answers.forget(request.id)
        await taken.release()


class _Kept:
    """A request whose body was read: what it is known by, and the body once more for the application."""

    def __init__(self, scope: Scope, headers: Headers, body: IO[bytes], key: str) -> None:
        self.scope = scope
        self._body = body
        self._secret = hashlib.sha256(b"interlace answer\n" + credential_of(Request(scope)).encode()).digest()
        self.id = hashlib.sha256(key.encode()).hexdigest()
        kind = headers.get("content-type", "")
        found = _BOUNDARY.search(kind)
        boundary = found[1].encode() if found is not None and kind.lower().startswith("multipart/") else b""
        asked = hashlib.sha256(b"\n".join((scope["path"].encode(), scope["query_string"])))
        for piece in _without(body, boundary):
            asked.update(piece)
        self.fingerprint = asked.hexdigest()
        body.seek(0)
        self._ended = False

    async def receive(self) -> Message:
        """The body in pieces, then silence: whoever waits for a disconnect waits as long as the request takes."""
        if self._ended:
            await asyncio.Event().wait()
        piece = self._body.read(_PIECE)
        self._ended = len(piece) < _PIECE
        return {"type": "http.request", "body": piece, "more_body": not self._ended}

    def seal(self, taken: _Taken) -> bytes:
        """An answer as it is kept."""
        nonce = os.urandom(_NONCE)
        plain = orjson.dumps([taken.kept_headers, taken.body.decode("latin-1")])
        return nonce + AESGCM(self._secret).encrypt(nonce, plain, self.id.encode())

    def repeat(self, known: Answer) -> Response:
        """What a request is answered whose key was used before."""
        if known.fingerprint != self.fingerprint:
            return problem(422, "idempotency_mismatch", "this Idempotency-Key was used for another request")
        if known.status is None or known.content is None:
            answer = problem(
                409, "idempotency_at_work", "the first request with this Idempotency-Key is still at work"
            )
            answer.headers["retry-after"] = "1"
            return answer
        plain = AESGCM(self._secret).decrypt(known.content[:_NONCE], known.content[_NONCE:], self.id.encode())
        headers, body = orjson.loads(plain)
        headers["idempotency-replayed"] = "true"
        return Response(body.encode("latin-1"), status_code=known.status, headers=headers)


class _Taken:
    """Holds an answer back until it is kept; one that is long, or a stream, is let through as it comes."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._held: list[Message] = []
        self._through = False
        self.status = 0
        self.body = b""
        self.kept_headers: dict[str, str] = {}

    @property
    def is_good(self) -> bool:
        """Whether it is to be kept."""
        return not self._through and 200 <= self.status < 300  # noqa: PLR2004 - what succeeded

    async def __call__(self, message: Message) -> None:
        """Take a message of the application."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            found = MutableHeaders(scope=message)
            self.kept_headers = {
                n: found[n] for n in ("content-type", "location", "x-interlace-run") if n in found
            }
            self._through = found.get("content-type", "").startswith("text/event-stream")
        elif message["type"] == "http.response.body":
            self.body += message.get("body", b"")
            self._through = self._through or len(self.body) > _MAX_ANSWER
        self._held.append(message)
        if self._through:
            await self.release()

    async def release(self) -> None:
        """Send on what is held."""
        held, self._held = self._held, []
        for message in held:
            await self._send(message)


async def _collect(receive: Receive, body: IO[bytes]) -> bool:
    """Read a body; False when the caller has gone before its end."""
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return False
        body.write(message.get("body", b""))
        more = message.get("more_body", False)
    body.seek(0)
    return True


def _without(body: IO[bytes], boundary: bytes) -> Iterator[bytes]:
    """A body without a form's boundary, which is another one at each try."""
    rest = b""
    while piece := body.read(_PIECE):
        if not boundary:
            yield piece
            continue
        rest = (rest + piece).replace(boundary, b"")
        keep = len(boundary) - 1
        if len(rest) > keep:
            yield rest[: len(rest) - keep]
            rest = rest[len(rest) - keep :]
    yield rest


@contextlib.asynccontextmanager
async def _holding(answers: AnswerRepository, answer_id: str) -> AsyncIterator[None]:
    """Renew the claim on a request while it is at work."""

    async def renew() -> None:
        while True:
            await asyncio.sleep(CLAIM_SECONDS / 3)
            await answers.renew(answer_id)

    task = asyncio.create_task(renew(), name="interlace-idempotency")
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
