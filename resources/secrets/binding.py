"""Secret fields of stored resources: plain values go to the secret store, references stay in the definition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from interlace.engine.principal import Principal
from interlace.resources.secrets.secrets import Secrets
from interlace.store import Store
from interlace.store.errors import ForbiddenError, NotFoundError
from interlace.store.ids import uuid7
from interlace.store.resources import Resource, Visibility
from interlace.store.secrets import SecretRow
from interlace.store.visibility import scope_of, scopes_of


class SecretRef(BaseModel):
    """Names a secret instead of holding it: `{"secret": "NAME"}`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    secret: str = Field(
        min_length=1, description="Name of a secret of the scope that the resource belongs to."
    )


@dataclass(frozen=True, slots=True)
class SecretMarker:
    """Marks a field whose plain text is moved into the secret store when the resource is saved."""


SecretField: TypeAlias = Annotated[SecretRef | str, SecretMarker()]
"""The type of a field that may hold a secret: a reference, or plain text that is moved into the store."""


async def _sealed(
    definition: BaseModel,
    *,
    secrets: Secrets,
    by: Principal,
    kind: str,
    resource_id: str,
    scope: str,
) -> tuple[dict[str, Any], list[SecretRow]]:
    """The definition as it is stored, and the plain texts of its `SecretField`s as the secrets that it names then.

    Fields may be in nested models, lists and mappings, and optional. Empty texts are left as they are.

    Raises:
        ConflictError: a text is too long.
        SecretKeyError: the master key is missing or wrong.
    """
    plain: dict[str, str] = {}

    def name_of(path: str, value: str) -> dict[str, str]:
        name = f"{kind}/{resource_id}/{path}"
        plain[name] = value
        return {"secret": name}

    data = definition.model_dump(mode="json", by_alias=True, exclude_none=True)
    _walk(definition, data, "", name_of)
    rows = [
        await secrets.sealed(name, value, by=by, scope=scope, resource_id=resource_id)
        for name, value in plain.items()
    ]
    return data, rows


async def reveal_in(
    definition: Mapping[str, Any],
    *,
    secrets: Secrets,
    by: Principal,
    resource: Resource | None = None,
    hide: Callable[[str, str], None] | None = None,
) -> dict[str, Any]:
    """A stored definition with every `{"secret": NAME}` replaced by the value, for use and never for showing.

    Args:
        definition: what is stored, or a part of it.
        secrets: the secret store.
        by: who uses the resource.
        resource: the resource that it is the definition of; its secrets are looked up where it belongs.
        hide: called with name and value of each, so that a run can keep them out of what it records (`ctx.hide`).

    Raises:
        NotFoundError: there is no such secret that `by` may use.
        SecretKeyError: the master key is missing or wrong.
    """

    async def revealed(value: Any) -> Any:
        if isinstance(value, Mapping):
            if set(value) == {"secret"} and isinstance(value["secret"], str):
                text = await secrets.reveal(value["secret"], by=by, resource=resource)
                if hide is not None:
                    hide(value["secret"], text)
                return text
            return {key: await revealed(entry) for key, entry in value.items()}
        if isinstance(value, list | tuple):
            return [await revealed(entry) for entry in value]
        return value

    return {key: await revealed(value) for key, value in definition.items()}


async def add_resource(
    store: Store,
    secrets: Secrets,
    kind: str,
    name: str,
    definition: BaseModel,
    *,
    by: Principal,
    org_id: str | None = None,
    visibility: Visibility = "private",
) -> Resource:
    """Store a new resource and its secrets, both or neither; raises as `ResourceRepository.add` and `_sealed`."""
    if org_id is not None and org_id not in by.org_ids:
        raise NotFoundError(f"no organisation {org_id!r}")
    resource_id = uuid7()
    data, rows = await _sealed(
        definition, secrets=secrets, by=by, kind=kind, resource_id=resource_id, scope=scope_of(by.user_id, org_id)
    )  # fmt: skip
    return await store.resources.add(
        kind, name, data, by=by, org_id=org_id, visibility=visibility, resource_id=resource_id, secret_rows=rows
    )  # fmt: skip


async def update_resource(
    store: Store,
    secrets: Secrets,
    resource_id: str,
    definition: BaseModel,
    *,
    by: Principal,
    reach: Callable[[Mapping[str, Any]], object],
    name: str | None = None,
    expected_version: int | None = None,
) -> Resource:
    """Change a stored resource and its secrets, both or neither; secret fields that hold references keep what they name.

    `reach` gives what of a definition says where its secrets are sent. Where that changes, no secret may be kept: who
    may change a shared address has not seen the secret, and would have it sent to a place of their own.

    Raises:
        ForbiddenError: a kept secret would be sent elsewhere, a secret is named that is not theirs; or `by` may not change
            the resource.
    Otherwise as `ResourceRepository.update` and `_sealed`.
    """
    before = await store.resources.writable(resource_id, by=by)
    hollow = definition.model_dump(mode="json", by_alias=True, exclude_none=True)
    kept, known = dict(_references(hollow)), {name for _, name in _references(before.definition)}
    for path, secret in kept.items():
        if secret not in known and ("/" in secret or before.scope not in scopes_of(by)):
            raise ForbiddenError(f"{path}: the secret {secret!r} is not yours to give; set the value itself")
    if kept and reach(before.definition) != reach(hollow):
        raise ForbiddenError(
            f"where {before.kind} {before.name!r} is reached changes, and what is kept for the place before is not sent to"
            f" another one: give {', '.join(kept)} again"
        )
    data, rows = await _sealed(
        definition, secrets=secrets, by=by, kind=before.kind, resource_id=before.id, scope=before.scope
    )
    return await store.resources.update(
        resource_id, by=by, name=name, definition=data, expected_version=expected_version, secret_rows=rows
    )


def _references(data: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The references to secrets in a definition: path and name."""
    if isinstance(data, Mapping):
        if set(data) == {"secret"} and isinstance(data["secret"], str):
            yield path, data["secret"]
            return
        for key, value in data.items():
            yield from _references(value, f"{path}.{key}".removeprefix("."))
    elif isinstance(data, list | tuple):
        for index, value in enumerate(data):
            yield from _references(value, f"{path}[{index}]")


def _walk(value: Any, data: Any, path: str, name_of: Callable[[str, str], dict[str, str]]) -> None:
    """Replace the plain secret texts in `data`, which is the dump of `value`, by references."""
    if isinstance(value, BaseModel):
        for name, info in type(value).model_fields.items():
            key = info.serialization_alias or info.alias or name
            if not isinstance(data, dict) or key not in data:
                continue
            inner, where = getattr(value, name), f"{path}.{name}".removeprefix(".")
            data[key] = _replaced(inner, data[key], where, name_of, secret=is_secret(info))
    elif isinstance(value, dict) and isinstance(data, dict):
        for key, inner in value.items():
            _walk(inner, data.get(key), f"{path}.{key}".removeprefix("."), name_of)
    elif isinstance(value, list | tuple) and isinstance(data, list):
        for index, inner in enumerate(value):
            _walk(inner, data[index], f"{path}[{index}]", name_of)


def _replaced(
    value: Any, data: Any, path: str, name_of: Callable[[str, str], dict[str, str]], *, secret: bool
) -> Any:
    """What stands in a field afterwards; a marked field may hold texts directly, in a list or in a mapping."""
    if not secret or isinstance(value, BaseModel):
        _walk(value, data, path, name_of)
        return data
    if isinstance(value, str):
        return name_of(path, value) if value else value
    if isinstance(value, dict):
        return {
            key: _replaced(inner, data[key], f"{path}.{key}", name_of, secret=True)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [
            _replaced(inner, data[index], f"{path}[{index}]", name_of, secret=True)
            for index, inner in enumerate(value)
        ]
    return data


def is_secret(info: Any) -> bool:
    """Whether a pydantic field is a `SecretField`, an optional one, or a list or mapping of such."""
    return any(isinstance(entry, SecretMarker) for entry in info.metadata) or _marked(info.annotation)


def _marked(annotation: Any) -> bool:
    if any(isinstance(entry, SecretMarker) for entry in getattr(annotation, "__metadata__", ())):
        return True
    return any(_marked(part) for part in getattr(annotation, "__args__", ()))
