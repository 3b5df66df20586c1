"""Kept variables (`scope: workflow`) as people look at them and set them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interlace.engine.document import Document
from interlace.engine.errors import InvalidDocument, NodeError
from interlace.engine.principal import Principal
from interlace.engine.problems import Problem
from interlace.engine.variables import check_value, kept_names
from interlace.flows.documents import Documents
from interlace.store import Store
from interlace.store.changing import FILE, file_key
from interlace.store.errors import ConflictError


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Whose variables they are: a stored workflow, or somebody's file of a name.

    Args:
        key: what the store knows them by.
        name: what people call it.
        document: the version that declares them: the published one, else the newest; None where it is not known.
        org_id: the organisation of a shared workflow.
    """

    key: str
    name: str
    document: Document | None
    org_id: str | None = None


async def holder_of(
    store: Store, documents: Documents, workflow: str, *, by: Principal, write: bool = False
) -> Holder:
    """The holder that `workflow` names: name or id of a stored one, or `file:NAME` for files of that name that `by` runs.

    Raises:
        NotFoundError: there is no such workflow.
        ForbiddenError: it is to be written, and is shared with somebody who may not change it.
    """
    if workflow.startswith(FILE):
        name = workflow.removeprefix(FILE)
        return Holder(key=file_key(by.user_id, name), name=name, document=None)
    found = await (store.workflows.writable if write else store.workflows.get)(workflow, owner=by)
    try:
        pinned = await documents.stored(found.id, "published", owner=by)
    except ConflictError:
        pinned = await documents.stored(found.id, "latest", owner=by)
    return Holder(key=found.id, name=found.name, document=pinned.document, org_id=found.org_id)


def holder_of_file(document: Document, *, by: Principal) -> Holder:
    """The holder for runs of a file."""
    return Holder(key=file_key(by.user_id, document.name), name=document.name, document=document)


async def kept_list(store: Store, holder: Holder) -> list[dict[str, Any]]:
    """The variables by name: what is declared, and what was written and is not declared (any more).

    Each has {name, type, initial, value, version, updated_at, declared}; version 0 was never written: the value is the
    initial one. Times are Unix seconds.
    """
    stored = await store.variables.of(holder.key)
    document = holder.document
    declared = {} if document is None else {name: document.variables[name] for name in kept_names(document)}
    found = []
    for name in sorted({*stored, *declared}):
        variable, kept = declared.get(name), stored.get(name)
        initial = None if variable is None else variable.default
        found.append({
            "name": name, "type": None if variable is None else variable.type, "initial": initial,
            "value": initial if kept is None else kept.value, "version": 0 if kept is None else kept.version,
            "updated_at": None if kept is None else kept.updated_at, "declared": variable is not None,
        })  # fmt: skip
    return found


async def set_kept(
    store: Store, holder: Holder, values: Mapping[str, Any], forget: Sequence[str] = (), *, by: Principal
) -> None:
    """Set some variables and let others begin anew, all at once, and note who did it.

    Raises:
        InvalidDocument: with every value that does not fit what the workflow declares.
        StoreError: a value is too large or no JSON.
    """
    problems = [
        *_unfit(holder, values),
        *(_problem(name, "is to be set and forgotten") for name in forget if name in values),
    ]
    if problems:
        raise InvalidDocument(problems)
    await store.variables.write(holder.key, values, forget)
    await store.audit.record(
        by, "variables.set", "workflow", holder.key, name=holder.name, org_id=holder.org_id,
        detail={"set": sorted(values), "forgotten": sorted(forget)},
    )  # fmt: skip


def _unfit(holder: Holder, values: Mapping[str, Any]) -> list[Problem]:
    if holder.document is None:
        return []
    kept = {name: holder.document.variables[name] for name in kept_names(holder.document)}
    problems = []
    for name, value in values.items():
        try:
            check_value(name, value, kept)
        except NodeError as error:
            hint = " with scope: workflow" if error.kind == "unknown_variable" else ""
            problems.append(Problem(code=error.kind, field=name, message=f"{error.message}{hint}"))
    return problems


def _problem(name: str, what: str) -> Problem:
    return Problem(code="variable", field=name, message=f"variable {name!r} {what}")
