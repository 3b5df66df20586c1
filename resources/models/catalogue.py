"""Which models there are for whom, and which of them a reference stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from interlace.engine.chat import ROLES
from interlace.engine.errors import NodeError
from interlace.engine.principal import LOCAL, Principal
from interlace.engine.problems import nearest
from interlace.resources.lookup import resource_not_found
from interlace.resources.models.definition import ModelDefinition, ModelSettings, ProviderDefinition
from interlace.resources.secrets import Secrets, reveal_in
from interlace.store import Store
from interlace.store.resources import Resource

KIND: Final = "model"
_MOST = 1000
_DEFAULTS = {"general": "gpt-5-mini", "fast": "gpt-5-nano", "embedding": "text-embedding-3-small"}
"""Models of OpenAI's own endpoint that serve the roles when nothing but a key is given."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider as somebody sees it; without a resource it is one of the installation's settings."""

    definition: ProviderDefinition
    resource: Resource | None = None

    @property
    def name(self) -> str:
        """How references name it."""
        return self.definition.name


@dataclass(frozen=True, slots=True)
class Target:
    """One model of one provider."""

    provider: Provider
    model: ModelDefinition

    def __str__(self) -> str:
        return f"{self.provider.name}/{self.model.name}"


class Catalogue:
    """The providers of stored resources and of the settings.

    Args:
        store: the store.
        secrets: where keys are kept.
        settings: providers of the installation.
        environment: `OPENAI_API_KEY`, `OPENAI_BASE_URL` and `OPENAI_MODEL` of it make a provider `openai`, unless
            something else of that name is there.
    """

    def __init__(
        self, store: Store, secrets: Secrets, settings: ModelSettings, environment: Mapping[str, str]
    ) -> None:
        self._store = store
        self._secrets = secrets
        self._roles = settings.roles
        given = list(settings.providers)
        found = from_environment(environment)
        if found is not None and all(provider.name != found.name for provider in given):
            given.append(found)
        self._given = [Provider(definition) for definition in given]

    async def providers(self, by: Principal) -> list[Provider]:
        """What somebody sees: what is stored, of one name their own first, then the installation's."""
        stored = await self._store.resources.list(KIND, by=by, active=True, limit=_MOST)
        found: dict[str, Provider] = {}
        own_first = sorted(stored.items, key=lambda entry: (entry.owner != by.user_id, entry.id))
        for resource in own_first:
            definition = ProviderDefinition.model_validate(resource.definition)
            found.setdefault(definition.name, Provider(definition, resource))
        for provider in self._given:
            found.setdefault(provider.name, provider)
        return list(found.values())

    async def chain(self, reference: str | None, by: Principal) -> list[Target]:
        """The models to ask, in order: those of a role, or the one named and its fallbacks.

        Raises:
            NodeError: `no_model`, `resource_not_found`, `ambiguous_model`.
        """
        known = await self.providers(by)
        wanted = reference or "general"
        if wanted in ROLES:
            names = self._role(wanted, known)
            if not names:
                raise _none(wanted, known)
        else:
            names = [wanted]
        found: list[Target] = []
        for name in names:
            _follow(name, known, found)
        return found

    async def has_role(self, role: str, by: Principal) -> bool:
        """Whether a model was chosen for a role; one that only stands in for it does not count."""
        known = await self.providers(by)
        return role in self._roles or any(role in provider.definition.roles for provider in known)

    async def revealed(self, provider: Provider, by: Principal) -> dict[str, object]:
        """`api_key` and `headers` of a provider, in plain text.

        Raises:
            NotFoundError: a secret is not there, or not for `by`.
        """
        part = provider.definition.model_dump(mode="json", include={"api_key", "headers"})
        user = by if provider.resource is not None else LOCAL
        return await reveal_in(part, secrets=self._secrets, by=user, resource=provider.resource)

    def _role(self, role: str, known: Sequence[Provider]) -> list[str]:
        if role in self._roles:
            return list(self._roles[role])
        found = [
            f"{provider.name}/{provider.definition.roles[role]}"
            for provider in known
            if role in provider.definition.roles
        ]
        if found or role == "embedding":
            return found
        if role == "fast":
            return self._role("general", known)
        single = [
            f"{provider.name}/{model.name}" for provider in known for model in provider.definition.models
        ]
        return single if len(single) == 1 else []


def from_environment(environment: Mapping[str, str]) -> ProviderDefinition | None:
    """The provider that OpenAI's own variables describe; None without any."""
    key, url = environment.get("OPENAI_API_KEY"), environment.get("OPENAI_BASE_URL")
    if not key and not url:
        return None
    model = environment.get("OPENAI_MODEL")
    roles = dict(_DEFAULTS) if not url else {}
    if model:
        roles |= {"general": model, "fast": model}
    names = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}
    headers = {header: environment[name] for name, header in names.items() if environment.get(name)}
    return ProviderDefinition.model_validate(
        {"name": "openai", "api_key": key or None, "any_model": True, "roles": roles, "headers": headers}
        | ({"base_url": url} if url else {})
    )


def _follow(name: str, known: Sequence[Provider], found: list[Target]) -> None:
    target = _resolve(name, known)
    if target in found:
        return
    found.append(target)
    for other in target.model.fallback:
        _follow(other if "/" in other else f"{target.provider.name}/{other}", known, found)


def _resolve(name: str, known: Sequence[Provider]) -> Target:
    before, slash, rest = name.partition("/")
    for provider in known if slash else ():
        if provider.name == before:
            model = provider.definition.model(rest)
            if model is None:
                raise _unknown(name, [f"{before}/{entry.name}" for entry in provider.definition.models])
            return Target(provider, model)
    listed = [
        Target(provider, model)
        for provider in known
        for model in provider.definition.models
        if model.name == name
    ]
    if not listed:  # a name such as `meta/llama` has a slash of its own
        listed = [Target(p, model) for p in known if (model := p.definition.model(name)) is not None]
    if len(listed) == 1:
        return listed[0]
    if listed:
        names = ", ".join(str(target) for target in listed)
        raise NodeError(f"several providers have a model {name!r}; name one: {names}", kind="ambiguous_model")
    raise _unknown(name, [f"{p.name}/{model.name}" for p in known for model in p.definition.models])


def _unknown(name: str, known: Sequence[str]) -> NodeError:
    guess = nearest(name, [*known, *ROLES]) or nearest(name, [entry.partition("/")[2] for entry in known])
    hint = f"; did you mean {guess!r}?" if guess else f"; there are {', '.join(known[:10])}" if known else ""
    return resource_not_found("model", name, hint)


def _none(role: str, known: Sequence[Provider]) -> NodeError:
    if known:
        names = ", ".join(provider.name for provider in known)
        return NodeError(
            f"no model has the role {role!r}; name a model, or give one the role in its provider ({names}) or in"
            " [models.roles] of interlace.toml",
            kind="no_model",
        )
    return NodeError(
        "no model is set up: set OPENAI_API_KEY, or OPENAI_BASE_URL and OPENAI_MODEL, or add one with"
        " `interlace models add`",
        kind="no_model",
    )
