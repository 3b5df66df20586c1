"""What turns wait for of people: named in the answer with a link, and answered by a message of one word."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

from interlace.engine.errors import InterlaceError
from interlace.engine.principal import Principal
from interlace.flows.answering import Given
from interlace.flows.platform import Platform
from interlace.server.api.approvals import person_of
from interlace.server.asked import link
from interlace.server.auth import name_of
from interlace.server.scopes import holds
from interlace.store.keys import Key
from interlace.store.wait_row import Wait

CONTINUE: Final = "continue"
_SHOWN = 4000
_WORDS = re.compile(r"([\w-]+)(?:[ #]+(\d+))?[.!]?")


def notice(platform: Platform, waits: Sequence[Wait], problem: str | None = None) -> str:
    """The message with which a turn ends that waits for people."""
    parts = [] if problem is None else [problem]
    for number, wait in enumerate(waits, 1):
        before = f"{number}. " if len(waits) > 1 else ""
        lines = [f"{before}**Confirmation needed: {wait.title}**"]
        if text := wait.request.get("message"):
            lines.append(str(text))
        if config := wait.request.get("config"):
            lines.append(
                f"```json\n{json.dumps(config, ensure_ascii=False, indent=2, default=str)[:_SHOWN]}\n```"
            )
        actions = " or ".join(
            f"`{action}{f' {number}' if len(waits) > 1 else ''}`"
            for action in wait.request.get("actions", ())
        )
        reply = "" if _needs_form(wait) else f", or reply with {actions}"
        lines.append(f"Answer at {link(platform, wait)}{reply}.")
        parts.append("\n\n".join(lines))
    parts.append(f"Nothing goes on before that; then write `{CONTINUE}`.")
    return "\n\n".join(parts)


def _needs_form(wait: Wait) -> bool:
    return bool((wait.request.get("form") or {}).get("required"))


def is_nudge(text: str, actions: Sequence[str]) -> bool:
    """Whether a message is nothing but a word that goes on, or one that answers: it is no question."""
    match = _WORDS.fullmatch(text.strip().strip("`").casefold())
    return match is not None and match[1] in {CONTINUE, *(action.casefold() for action in actions)}


async def answer_by(
    platform: Platform, waits: Sequence[Wait], text: str, *, key: Key, by: Principal
) -> tuple[bool, str | None]:
    """Answer a request with a message such as `approve` or `reject 2`; whether it was one, and why it did not count."""
    match = _WORDS.fullmatch(text.strip().strip("`").casefold())
    if match is None:
        return False, None
    number = int(match[2]) if match[2] else None
    if number is None and len(waits) > 1:
        named = {action.casefold() for wait in waits for action in wait.request.get("actions", ())}
        return (True, "Several things wait: say which one.") if match[1] in named else (False, None)
    wait = waits[(number or 1) - 1] if 0 < (number or 1) <= len(waits) else None
    actions = () if wait is None else wait.request.get("actions", ())
    action = next((action for action in actions if action.casefold() == match[1]), None)
    if wait is None or action is None:
        return False, None
    if not holds(key.scopes, "approvals:answer"):
        return True, f"The key {key.name!r} may not answer requests (scope approvals:answer)."
    try:
        person = person_of(key, by, await name_of(platform, key), wait)
        await platform.waits.answer(wait.id, Given(action=action, shown_hash=wait.hash), person)
    except InterlaceError as error:
        return True, f"This was not taken: {error}"
    await platform.store.audit.record(
        by, "approval.answer", "approval", wait.id, name=wait.title, org_id=wait.org_id,
        detail={"action": action, "run_id": wait.run_id},
    )  # fmt: skip
    return True, None
