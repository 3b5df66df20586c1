"""The web UI: the bundle that the installation brought, served under a strict policy; every other page of ours is its own.

The pages of `pages.py` stand in where the installation has no bundle.
"""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import structlog
from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.types import Receive, Scope, Send

from interlace.server.problems import problem

BUNDLE = Path(__file__).resolve().parent.parent / "web" / "dist"
"""In a checkout and in a wheel at the same place."""
CSP = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:;"
    " connect-src 'self'; font-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self';"
    " frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": CSP, "x-content-type-options": "nosniff", "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin", "permissions-policy": "camera=(), geolocation=(), microphone=()",
}  # fmt: skip
_FOR_EVER, _ASK_AGAIN = "public, max-age=31536000, immutable", "no-cache"
_NOT_PAGES = frozenset(
    ["api", "v1", "mcp", "hooks", "health", "metrics", "openapi.json", "docs", "redoc", "callbacks", "auth"]
)
"""First parts of paths that are for programs: what is not found there is a problem, never a page."""
_SMALLEST_ZIPPED = 1_000
_BROTLI = ".br"
_ZIPPED = ("text/", "application/json", "application/javascript", "image/svg+xml")

log = structlog.get_logger("interlace.server")


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of the bundle as it is sent."""

    body: bytes
    packed: Mapping[str, bytes]
    """The same by content encoding, the smallest first."""
    media_type: str
    tag: str

    def answer(self, request: Request, cache: str) -> Response:
        """The file, or that the browser's copy is current."""
        headers = {**_HEADERS, "cache-control": cache, "etag": self.tag, "vary": "accept-encoding"}
        if request.headers.get("if-none-match") == self.tag:
            return Response(status_code=304, headers=headers)
        accepted = request.headers.get("accept-encoding", "")
        body = self.body
        for encoding, packed in self.packed.items():
            if encoding in accepted:
                body, headers["content-encoding"] = packed, encoding
                break
        return Response(body, headers=headers, media_type=self.media_type)


def read_bundle(folder: Path) -> dict[str, Asset]:
    """The files of the bundle by path, compressed once; empty where there is none."""
    if not (folder / "index.html").is_file():
        return {}
    return {
        path.relative_to(folder).as_posix(): _read(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".") and path.suffix != _BROTLI
    }


def _read(path: Path) -> Asset:
    body = path.read_bytes()
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    if media_type == "application/javascript":
        media_type = "text/javascript"
    text = media_type.startswith(_ZIPPED) and len(body) >= _SMALLEST_ZIPPED
    tag = f'"{hashlib.sha256(body).hexdigest()[:20]}"'
    packed = {}
    if text:
        made = path.with_name(path.name + _BROTLI)  # by the build; Python's own library has none
        packed = {"br": made.read_bytes()} if made.is_file() else {}
        packed["gzip"] = gzip.compress(body, 9, mtime=0)
    return Asset(body, packed, media_type, tag)


def install(app: FastAPI, folder: Path) -> bool:
    """Serve the bundle for every address that no route has; gives whether there is one."""
    files = read_bundle(folder)
    if not files:
        log.info("the web UI is not part of this installation", looked_in=str(folder))
        return False
    nothing = app.router.default

    async def pages(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            await nothing(scope, receive, send)
            return
        await answer(files, Request(scope))(scope, receive, send)

    app.router.default = pages
    return True


def answer(files: Mapping[str, Asset], request: Request) -> Response:
    """A file of the bundle, or the page that shows every address of the UI."""
    path = request.url.path.lstrip("/")
    if path.startswith("assets/"):
        found = files.get(path)
        return found.answer(request, _FOR_EVER) if found else _missing(path)
    if path in files:
        return files[path].answer(request, _ASK_AGAIN)
    if path.partition("/")[0] in _NOT_PAGES:
        return _missing(path)
    return files["index.html"].answer(request, _ASK_AGAIN)


def _missing(path: str) -> Response:
    return problem(404, "not_found", f"there is nothing at /{path}")
