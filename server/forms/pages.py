"""`/forms/…`: a published workflow as a form, what came of it, and requests to people as pages."""

from __future__ import annotations

import html
import secrets
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict
from typing import Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from fastapi.routing import APIRoute
from starlette.datastructures import FormData, UploadFile

from interlace.engine.errors import InterlaceError, InvalidDocument
from interlace.flows.answering import Answered, Given
from interlace.flows.people import Person
from interlace.flows.platform import Platform
from interlace.flows.request import Request as RunRequest
from interlace.server.api.approvals import person_of
from interlace.server.asked import pending_of
from interlace.server.auth import PlatformOf, caller, name_of
from interlace.server.forms.access import PATH, Access, access, receipt, run_of
from interlace.server.forms.fields import by_field, filled, has_files, rendered
from interlace.server.forms.page import page, paragraph, prose, value
from interlace.server.problems import ApiError
from interlace.server.scopes import PUBLIC, holds
from interlace.store.run_row import FINAL
from interlace.store.wait_row import Wait

KIND: Final = "form"
_SOON_SECONDS = 2.0
_ONCE = "once"
_MOST_FILES, _MOST_FIELDS = 20, 500


class PageRoute(APIRoute):
    """A route whose errors are pages."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler with its errors caught."""
        handler = super().get_route_handler()

        async def wrapped(request: Request) -> Response:
            try:
                return await handler(request)
            except ApiError as error:
                if error.status == 401 and request.method == "GET":  # noqa: PLR2004
                    return RedirectResponse(
                        f"/login?to={quote(_place_of(request), safe='')}", status_code=303
                    )
                return page("Not possible", paragraph(error.detail, "wrong"), error.status)
            except InterlaceError as error:
                return page("Not possible", paragraph(str(error), "wrong"), 404)

        return wrapped


def _place_of(request: Request) -> str:
    """The path and query that was asked for, to come back to."""
    query = request.url.query
    return f"{request.url.path}?{query}" if query else request.url.path


router = APIRouter(prefix=PATH, include_in_schema=False, route_class=PageRoute)


# -- requests to people ------------------------------------------------------------------------------------------------


@router.get("/requests/{request_id}", dependencies=[PUBLIC])
async def request_page(request: Request, request_id: str, platform: PlatformOf) -> Response:
    """One request to people, for whoever is signed in and sees it."""
    wait, _ = await _request(request, platform, request_id)
    return page(wait.title, _asked(wait, f"{PATH}/requests/{wait.id}", {}))


@router.post("/requests/{request_id}", dependencies=[PUBLIC])
async def answer_request(request: Request, request_id: str, platform: PlatformOf) -> Response:
    """Answer it."""
    wait, person = await _request(request, platform, request_id)
    async with _form(request) as form:
        problems = await _answer(platform, wait, form, person)
    if problems is not None:
        return page(wait.title, _asked(wait, f"{PATH}/requests/{wait.id}", problems), 422)
    wait = await platform.store.waits.get(wait.id)
    return page(wait.title, _asked(wait, f"{PATH}/requests/{wait.id}", {}))


async def _request(request: Request, platform: Platform, request_id: str) -> tuple[Wait, Person]:
    key = await caller(request)
    if not holds(key.scopes, "approvals:answer"):
        raise ApiError(403, "missing_scope", f"the key {key.name!r} has no scope approvals:answer")
    by = await platform.store.users.principal(key.owner)
    wait = await platform.store.waits.get(request_id, owner=by)
    if wait.kind != "human":
        raise ApiError(404, "not_found", "there is no such request")
    return wait, person_of(key, by, await name_of(platform, key), wait)


def _asked(wait: Wait, address: str, problems: Mapping[str, str]) -> str:
    """A request as it is shown: with its form while it waits, with its answer afterwards."""
    parts = [prose(wait.request["message"])] if wait.request.get("message") else []
    if config := wait.request.get("config"):
        parts.append(value(config))
    if wait.status != "pending":
        said = (
            f"{wait.answered_by} answered: {wait.action}"
            if wait.status == "answered"
            else "It takes no answer any more."
        )
        return "".join([*parts, paragraph(said, "done")])
    parts += [paragraph(text, "wrong") for name, text in problems.items() if name == ""]
    schema = wait.request.get("form") or {}
    fields = rendered(schema, {}, problems, checked=False)
    buttons = "".join(
        f'<button name="action" value="{html.escape(action, quote=True)}">{html.escape(action)}</button>'
        for action in wait.request.get("actions", ())
    )
    hidden = (
        f'<input type="hidden" name="request" value="{html.escape(wait.id, quote=True)}">'
        f'<input type="hidden" name="hash" value="{html.escape(wait.hash, quote=True)}">'
    )
    return "".join([*parts, f'<form method="post" action="{address}">{hidden}{fields}{buttons}</form>'])


async def _answer(platform: Platform, wait: Wait, form: FormData, person: Person) -> dict[str, str] | None:
    """Take an answer; the problems by field where it does not count, those of the whole under ""."""
    values, problems, _ = await filled(wait.request.get("form") or {}, form, _no_files)
    if problems:
        return problems
    given = Given(
        action=str(form.get("action", "")), form=values, shown_hash=str(form.get("hash", "")) or None
    )
    try:
        await platform.waits.answer(wait.id, given, person)
    except InvalidDocument as error:
        fields, others = by_field(error.problems, "form")
        return {**fields, **({"": " ".join(others)} if others else {})}
    except Answered:
        return None
    except InterlaceError as error:
        return {"": str(error)}
    await platform.store.audit.record(
        await platform.store.users.principal(wait.owner), "approval.answer", "approval", wait.id, name=wait.title,
        org_id=wait.org_id, detail={"action": given.action, "run_id": wait.run_id, "by": person.name},
    )  # fmt: skip
    return None


async def _no_files(upload: UploadFile) -> dict[str, Any]:
    raise ApiError(422, "bad_request", f"requests take no files; {upload.filename} was not read")


# -- forms -------------------------------------------------------------------------------------------------------------


@router.get("/{place}", dependencies=[PUBLIC])
async def form_page(request: Request, place: str, platform: PlatformOf) -> Response:
    """The form of a workflow's inputs."""
    return _form_page(await access(request, platform, place), {}, {}, [])


def _form_page(
    found: Access,
    values: Mapping[str, Any],
    problems: Mapping[str, str],
    others: list[str],
    status: int = 200,
) -> Response:
    inputs = found.found.inputs
    kind = ' enctype="multipart/form-data"' if has_files(inputs) else ""
    once = f'<input type="hidden" name="{_ONCE}" value="{secrets.token_hex(16)}">'
    about = prose(found.found.document.description) if found.found.document.description else ""
    wrong = "".join(paragraph(text, "wrong") for text in others)
    fields = rendered(inputs, values, problems)
    body = f'{about}{wrong}<form method="post" action="{found.address}"{kind}>{once}{fields}<button>Send</button></form>'
    return page(found.found.workflow.name, body, status)


@router.post("/{place}", dependencies=[PUBLIC])
async def submit(request: Request, place: str, platform: PlatformOf) -> Response:
    """Start a run with what was filled in; sent twice it starts once."""
    found = await access(request, platform, place)
    async with _form(request) as form:
        values, problems, shown = await filled(found.found.inputs, form, _saving(platform, found))
        once = str(form.get(_ONCE, ""))[:64] or secrets.token_hex(16)
    if problems:
        return _form_page(found, {**values, **shown}, problems, [], 422)
    try:
        run_id = await platform.runner.start(
            found.found.pinned,
            RunRequest(
                inputs=values, trigger={"kind": KIND, "by": found.name, "public": found.key is None},
                environment=platform.settings.environment, owner=found.by.user_id, principal=found.by,
                org_id=found.found.org_id, idempotency_key=f"{KIND}:{found.found.workflow.id}:{once}",
            ),
        )  # fmt: skip
    except InvalidDocument as error:
        fields, others = by_field(error.problems, "inputs")
        return _form_page(found, {**values, **shown}, fields, others, 422)
    await platform.runner.wait(run_id, _SOON_SECONDS)
    return RedirectResponse(f"{found.address}/{receipt(platform, found.place, run_id)}", status_code=303)


def _saving(platform: Platform, found: Access) -> Callable[[UploadFile], Awaitable[dict[str, Any]]]:
    async def save(upload: UploadFile) -> dict[str, Any]:
        files = platform.store.files.of_owner(found.by.user_id)
        kind = upload.content_type or "application/octet-stream"
        return asdict(await files.save(await upload.read(), name=upload.filename or "file", media_type=kind))

    return save


def _form(request: Request) -> AbstractAsyncContextManager[FormData]:
    return request.form(max_files=_MOST_FILES, max_fields=_MOST_FIELDS)


@router.get("/{place}/{given}", dependencies=[PUBLIC])
async def result_page(request: Request, place: str, given: str, platform: PlatformOf) -> Response:
    """What came of it: by the receipt alone, so that nobody sees another one's."""
    found = await access(request, platform, place)
    return await _result(platform, found, run_of(platform, found.place, given), given, {})


@router.post("/{place}/{given}", dependencies=[PUBLIC])
async def answer_here(request: Request, place: str, given: str, platform: PlatformOf) -> Response:
    """Answer what the run asks of whoever started it."""
    found = await access(request, platform, place)
    run_id = run_of(platform, found.place, given)
    await platform.store.runs.get(run_id, owner=found.by.user_id)
    waits = {wait.id: wait for wait in (await pending_of(platform, run_id)).people if found.may_answer(wait)}
    async with _form(request) as form:
        wait = waits.get(str(form.get("request", "")))
        problems = None if wait is None else await _answer(platform, wait, form, found.person(wait))
    if problems is not None:
        return await _result(platform, found, run_id, given, problems, 422)
    await platform.runner.wait(run_id, _SOON_SECONDS)
    return RedirectResponse(f"{found.address}/{given}", status_code=303)


async def _result(  # noqa: PLR0917
    platform: Platform, found: Access, run_id: str, given: str, problems: Mapping[str, str], status: int = 200
) -> Response:
    # With the eyes of whose it is: a receipt that was passed on shows nothing to somebody else who is signed in.
    run = await platform.store.runs.resolve(await platform.store.runs.get(run_id, owner=found.by.user_id))
    name = found.found.workflow.name
    more = f'<p><a href="{found.address}">Fill in the form again</a></p>'
    if found.key is not None:
        more += f'<p><a href="/runs/{run.id}">The run</a></p>'
    if run.status == "succeeded":
        shown = "".join(
            f"<h2>{html.escape(str(key))}</h2>{value(entry)}" for key, entry in (run.outputs or {}).items()
        )
        return page(name, paragraph("Done.", "done") + shown + more)
    if run.status in FINAL:
        error = run.error or {}
        said = str(error.get("message", "")) if found.key is not None else f"Its number is {run.id}."
        return page(name, paragraph(f"This did not work. {said}", "wrong") + more)
    people = (await pending_of(platform, run_id)).people
    mine = [wait for wait in people if found.may_answer(wait)]
    if mine:
        asked = "".join(
            f"<h2>{html.escape(wait.title)}</h2>{_asked(wait, f'{found.address}/{given}', problems)}"
            for wait in mine
        )
        return page(name, asked, status)
    text = "Somebody has to look at it first." if people else "It is being worked on."
    return page(name, paragraph(f"{text} This page looks again by itself.") + more, again=True)
