"""Plain pages for a look at runs: a list, and one run with its nodes and outputs. No script, no outside request."""

from __future__ import annotations

import html
import time
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from interlace.flows.report import run_report, summary
from interlace.server.api.oidc import PATH as OIDC
from interlace.server.auth import PlatformOf, identify
from interlace.server.encoding import to_json
from interlace.server.problems import ApiError
from interlace.server.scopes import PUBLIC, holds
from interlace.server.signing import by_key, by_password, sign_in
from interlace.store.errors import NotFoundError
from interlace.store.keys import Key

router = APIRouter(include_in_schema=False)
_STYLE = """
:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}body{max-width:70rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3rem .8rem .3rem 0;border-bottom:1px solid #8884;
vertical-align:top}pre{white-space:pre-wrap;background:#8881;padding:1rem;border-radius:.4rem}
.succeeded{color:#1a7f37}.failed,.cancelled{color:#cf222e}.skipped,.not_reached{opacity:.6}code{font-size:.9em}
"""
_ERRORS = {
    "bad_link": "This link is used up or too old; <code>interlace user link</code> makes a new one.",
    "oidc": "The sign-in through the provider failed; the server's log says why.",
    "oidc_denied": "The provider or this installation does not let this user in.",
    "oidc_stale": "The sign-in took too long, or was begun in another browser; try again.",
}
_NO_UI = (
    "<p>This installation has no web UI: when it was installed, neither npm nor a package of Node could be used to"
    " build it. In a checkout <code>python3 scripts/build_web.py</code> builds it, elsewhere install a released wheel;"
    " then start the server again. Commands and the API work as they are.</p>"
)
_CSP = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"


def _page(title: str, body: str, status: int = 200) -> HTMLResponse:
    text = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(title)} · Interlace</title><style>{_STYLE}</style>"
        f"<header><a href='/'>Interlace</a></header><main><h1>{html.escape(title)}</h1>{body}</main></html>"
    )
    return HTMLResponse(
        text, status_code=status, headers={"content-security-policy": _CSP, "referrer-policy": "no-referrer"}
    )


async def _viewer(request: Request) -> Key | Response:
    """The key of the caller, or the answer to one who may not see runs."""
    key = await identify(request)
    if key is None:
        return RedirectResponse("/login", status_code=303)
    if not holds(key.scopes, "runs:read"):
        return _page(
            "Not allowed", "<p class='failed'>This key has no scope <code>runs:read</code>.</p>", 403
        )
    return key


@router.get("/login", dependencies=[PUBLIC])
async def login_page(platform: PlatformOf, error: str = "") -> Response:
    """Ask for name and password, or for a key."""
    said = f"<p class='failed'>{_ERRORS[error]}</p>" if error in _ERRORS else ""
    providers = "".join(
        f"<p><a href='{OIDC}/{html.escape(name)}'>{html.escape(client.provider.title or name)}</a></p>"
        for name, client in platform.providers.clients.items()
    )
    by_name = (
        "<form method='post' action='/login'><p><label>Name or e-mail <input name='email' autocomplete='username'"
        " required></label> <label>Password <input name='password' type='password' autocomplete='current-password'"
        " required></label> <button>Sign in</button></p></form>"
        if platform.settings.password_login
        else ""
    )
    return _page(
        "Sign in",
        f"{said}{providers}{by_name}<form method='post' action='/login'><p><label>API key <input name='key' type='password' size='50' "
        "autocomplete='off' required></label> <button>Sign in</button></p></form>"
        "<p><code>interlace user link</code> prints a link that signs the owner in; the file <code>owner.key</code> in"
        " the home folder holds the owner's key.</p>",
    )


@router.post("/login", dependencies=[PUBLIC])
async def login(
    request: Request,
    platform: PlatformOf,
    key: Annotated[str, Form()] = "",
    email: Annotated[str, Form()] = "",
    password: Annotated[str, Form()] = "",
) -> Response:
    """Sign the browser in, with a cookie that scripts and other sites cannot use."""
    answer = RedirectResponse("/", status_code=303)
    try:
        if key:
            await by_key(request, answer, platform, key)
        else:
            user_id = await by_password(request, platform, email, password)
            await sign_in(request, answer, platform, user_id, "password")
    except ApiError as error:
        said = f"<p class='failed'>{html.escape(error.detail)}</p><p><a href='/login'>Try again</a></p>"
        return _page("Sign in", said, error.status)
    return answer


@router.get("/", dependencies=[PUBLIC])
async def home(request: Request, platform: PlatformOf) -> Response:
    """The newest runs."""
    viewer = await _viewer(request)
    if isinstance(viewer, Response):
        return viewer
    page = await platform.store.runs.list(owner=viewer.owner, limit=50)
    rows = "".join(_run_row(summary(run)) for run in page.items)
    link = request.app.state.prefect
    prefect = (
        f"<p><a href='{html.escape(link.ui_url)}'>Prefect</a></p>" if link is not None and link.ui_url else ""
    )
    table = (
        f"<table><tr><th>run<th>workflow<th>status<th>started<th>took</tr>{rows}</table>"
        if rows
        else "<p>No runs yet.</p>"
    )
    return _page("Runs", f"{_NO_UI}{table}{prefect}<p><a href='/openapi.json'>API</a></p>")


def _run_row(run: dict[str, Any]) -> str:
    started = (
        ""
        if run["started_at"] is None
        else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run["started_at"]))
    )
    took = (
        ""
        if run["started_at"] is None or run["finished_at"] is None
        else f"{run['finished_at'] - run['started_at']:.2f} s"
    )
    return (
        f"<tr><td><a href='/runs/{run['id']}'><code>{run['id'][-12:]}</code></a><td>{html.escape(run['workflow'])}"
        f"<td class='{run['status']}'>{run['status']}<td>{started}<td>{took}</tr>"
    )


@router.get("/runs/{run_id}", dependencies=[PUBLIC])
async def run_page(request: Request, run_id: str, platform: PlatformOf) -> Response:
    """One run: nodes, outputs, error."""
    viewer = await _viewer(request)
    if isinstance(viewer, Response):
        return viewer
    try:
        await platform.store.runs.get(run_id, owner=viewer.owner)
    except NotFoundError:
        return _page("Not found", "<p>There is no such run.</p>", 404)
    report = await run_report(platform.store, platform.documents, run_id)
    nodes = "".join(
        f"<tr><td><code>{html.escape(path)}</code><td class='{node['status']}'>{node['status']}<td>{node['attempts'] or ''}"
        f"<td>{'' if node['elapsed_ms'] is None else round(node['elapsed_ms'])}<td>{html.escape(node['reason'] or '')}</tr>"
        for path, node in list(report["nodes"].items())[:500]
    )
    error = f"<p class='failed'>{html.escape(str(report['error']['message']))}</p>" if report["error"] else ""
    outputs = "".join(
        f"<h2>{html.escape(name)}</h2>{_value(value)}" for name, value in (report["outputs"] or {}).items()
    )
    link = request.app.state.prefect
    prefect = ""
    if link is not None and link.ui_url and report["flow_run_id"]:
        prefect = f"<p><a href='{html.escape(link.flow_run_url(report['flow_run_id']))}'>This run in Prefect</a></p>"
    return _page(
        report["workflow"],
        f"<p class='{report['status']}'>{report['status']}</p>{error}{outputs}{prefect}<h2>Nodes</h2>"
        f"<table><tr><th>node<th>status<th>attempts<th>ms<th>reason</tr>{nodes}</table>",
    )


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else to_json(value, indent=True).decode()
    return f"<pre>{html.escape(text)}</pre>"
