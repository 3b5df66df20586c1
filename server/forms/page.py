"""Pages as HTML: strict about what a browser may load, which is nothing."""

from __future__ import annotations

import base64
import hashlib
import html
from typing import Any, Final

from fastapi.responses import HTMLResponse
from markdown_it import MarkdownIt

from interlace.server.encoding import to_json

_STYLE: Final = """
:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{max-width:42rem;margin:2rem auto;padding:0 1rem}
label,legend{display:block;font-weight:600;margin-top:1.2rem}.hint{opacity:.75;font-size:.9em}
input:not([type=checkbox]):not([type=radio]),select,textarea{width:100%;box-sizing:border-box;font:inherit;padding:.5rem;
border:1px solid #8888;border-radius:.4rem}textarea{min-height:6rem}button{font:inherit;padding:.6rem 1.2rem;margin:1.2rem .6rem 0 0;
border-radius:.4rem;border:1px solid #8888;cursor:pointer}.wrong{color:#cf222e}.done{color:#1a7f37}pre{white-space:pre-wrap;
overflow-wrap:anywhere;background:#8881;padding:1rem;border-radius:.4rem}fieldset{border:0;padding:0;margin:0}
"""
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_CSP = f"default-src 'none'; style-src 'sha256-{_HASH}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).disable("image")
_REFRESH_SECONDS: Final = 2


def page(title: str, body: str, status: int = 200, *, again: bool = False) -> HTMLResponse:
    """A page; with `again` the browser asks for it anew by and by."""
    refresh = f'<meta http-equiv="refresh" content="{_REFRESH_SECONDS}">' if again else ""
    text = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width,initial-scale=1">{refresh}<title>{html.escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body><main><h1>{html.escape(title)}</h1>{body}</main></body></html>"
    )
    headers = {
        "content-security-policy": _CSP, "referrer-policy": "no-referrer", "cache-control": "no-store",
        "x-content-type-options": "nosniff", "x-frame-options": "DENY",
    }  # fmt: skip
    return HTMLResponse(text, status_code=status, headers=headers)


def prose(text: Any) -> str:
    """A text of people as HTML: Markdown, in which HTML is text and pictures are links."""
    return str(_MARKDOWN.render(str(text)))


def value(given: Any) -> str:
    """A value as HTML."""
    text = given if isinstance(given, str) else to_json(given, indent=True).decode()
    return f"<pre>{html.escape(text)}</pre>"


def paragraph(text: str, kind: str = "") -> str:
    """A line of text."""
    mark = f' class="{kind}"' if kind else ""
    role = ' role="alert"' if kind == "wrong" else ""
    return f"<p{mark}{role}>{html.escape(text)}</p>"
