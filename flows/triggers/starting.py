"""How a trigger starts a run: with the rights of its owner, of the version that is published now."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from interlace.engine.errors import ExpressionError, InterlaceError, InvalidDocument
from interlace.engine.expressions import Missing, compile_value
from interlace.engine.principal import Principal
from interlace.engine.problems import Problem
from interlace.flows.documents import Pinned
from interlace.flows.request import Request
from interlace.store.errors import ConflictError, NotFoundError
from interlace.store.runs import Also
from interlace.store.trigger_row import Trigger

if TYPE_CHECKING:
    from interlace.flows.platform import Platform


class LostAccessError(InterlaceError):
    """A trigger's owner may not run its workflow any more, or nothing of it is published."""

    code = "lost_access"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """What a trigger's run is started with: whose rights, which version, and whose members see its requests to people."""

    principal: Principal
    pinned: Pinned
    org_id: str | None


async def ready(platform: Platform, trigger: Trigger) -> Ready:
    """The workflow of a trigger as its owner may run it now.

    Raises:
        LostAccessError: the owner may not, or nothing is published.
    """
    store = platform.store
    if await store.users.is_disabled(trigger.owner):
        raise LostAccessError(
            "the trigger's owner is disabled, so it starts nothing; let somebody else publish the workflow"
        )
    principal = await store.users.principal(trigger.owner)
    try:
        workflow = await store.workflows.get(trigger.workflow_id, owner=principal)
        pinned = await platform.documents.stored(workflow.id, "published", owner=principal)
    except NotFoundError:
        raise LostAccessError(
            f"the trigger's owner has no access to the workflow {trigger.workflow_id!r} any more, so it starts nothing"
        ) from None
    except ConflictError as error:
        raise LostAccessError(f"the trigger starts nothing: {error}") from None
    return Ready(
        principal=principal, pinned=pinned, org_id=workflow.org_id if workflow.visibility == "org" else None
    )


def mapped(
    platform: Platform,
    mapping: Mapping[str, Any],
    trigger: Mapping[str, Any],
    *,
    scheduled_for: float | None = None,
) -> dict[str, Any]:
    """The inputs that a trigger's mapping gives; it reads `trigger`, `env` and `run`.

    Raises:
        InvalidDocument: a value cannot be computed.
    """
    names = _names(platform, trigger, scheduled_for)
    found, problems = {}, []
    for name, value in mapping.items():
        try:
            found[name] = compile_value(value).evaluate(names)
        except ExpressionError as error:
            problems.append(
                Problem(
                    code="inputs", field=f"inputs.{name}", message=f"cannot be computed: {error.message}."
                )
            )
    if problems:
        raise InvalidDocument(problems)
    return found


def evaluated(platform: Platform, text: str, trigger: Mapping[str, Any]) -> Any:
    """The value of a text with `{{ }}` over `trigger`, `env` and `run`.

    Raises:
        ExpressionError: it cannot be computed.
    """
    return compile_value(text).evaluate(_names(platform, trigger, None))


def _names(platform: Platform, trigger: Mapping[str, Any], scheduled_for: float | None) -> _Names:
    run = {"trigger": trigger, "scheduled_for": None if scheduled_for is None else utc_text(scheduled_for)}
    return _Names({"trigger": trigger, "env": platform.environments.process.settings(), "run": run})


class _Names(dict[str, Any]):
    """Implements the `Names` of expressions."""

    def lookup(self, root: str) -> object:
        """The value of a name."""
        return (
            self[root] if root in self else Missing(f"a trigger has no {root!r}; it reads {', '.join(self)}")
        )


def request_of(
    platform: Platform, found: Ready, *, trigger: Mapping[str, Any], inputs: Mapping[str, Any], also: Also | None,
    scheduled_for: float | None = None,
) -> Request:  # fmt: skip
    """The request for a trigger's run."""
    return Request(
        inputs=inputs, trigger=trigger, environment=platform.settings.environment, owner=found.principal.user_id,
        principal=found.principal, org_id=found.org_id, scheduled_for=scheduled_for, also=also,
    )  # fmt: skip


def utc_text(at: float) -> str:
    """An instant as `run.scheduled_for` has it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
