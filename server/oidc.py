"""Users of an identity provider as users here: who they are, and what they may do."""

from __future__ import annotations

import structlog

from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform
from interlace.resources.identity.oidc import Claims, OidcError
from interlace.resources.identity.provider import OidcProvider
from interlace.store.errors import ConflictError, NotFoundError
from interlace.store.logins import Login
from interlace.store.users import MAX_NAME, User

_SUBJECT_CHARACTERS = 12
_TRIES = 3

log = structlog.get_logger("interlace.oidc")


def links_by_address(platform: Platform) -> bool:
    """Whether an address decides who somebody is: then only operators and providers say whose it is."""
    return any(client.provider.link_by_email for client in platform.providers.clients.values())


async def user_of(platform: Platform, provider: OidcProvider, claims: Claims) -> str:
    """The id of the user that somebody is here, made or changed as the provider's settings say.

    Raises:
        OidcError: they may not sign in.
    """
    _check_allowed(provider, claims)
    store = platform.store
    user_id = await store.identities.find(claims.issuer, claims.subject)
    if user_id is None:
        user_id = await _first_time(platform, provider, claims)
    if await store.users.is_disabled(user_id):
        raise OidcError(f"user {user_id!r} has no access any more", "oidc_denied")
    await _set_rights(platform, provider, claims, user_id)
    return user_id


def _check_allowed(provider: OidcProvider, claims: Claims) -> None:
    domain = (claims.email or "").rpartition("@")[2].lower()
    if provider.domains and domain not in {wanted.lower() for wanted in provider.domains}:
        raise OidcError(
            "the provider names no verified e-mail address of a domain that may sign in", "oidc_denied"
        )
    if provider.groups and not claims.groups & set(provider.groups):
        raise OidcError("the provider names no group that may sign in", "oidc_denied")


async def _first_time(platform: Platform, provider: OidcProvider, claims: Claims) -> str:
    store = platform.store
    known = await store.users.by_email(claims.email) if claims.email is not None else None
    if known is not None and provider.link_by_email:
        linked = await store.identities.link(claims.issuer, claims.subject, known.id)
        await store.audit.record(
            LOCAL, "user.link_identity", "user", known.id, name=known.name, detail={"issuer": claims.issuer}
        )
        return linked
    if not provider.create:
        raise OidcError(
            "nobody here belongs to this user of the provider; an operator makes users", "oidc_denied"
        )
    email = None if known is not None else claims.email
    made = await _make(platform, claims, email)
    linked = await store.identities.link(claims.issuer, claims.subject, made.id)
    if linked != made.id:  # they came twice at once
        await store.users.disable(made.id, by=LOCAL)
    return linked


async def _make(platform: Platform, claims: Claims, email: str | None) -> User:
    wanted = "".join(c for c in claims.name if c.isprintable()).strip()[:MAX_NAME] or "user"
    tail = claims.subject[-_SUBJECT_CHARACTERS:]
    names = (wanted, claims.email or wanted, f"{wanted[: MAX_NAME - len(tail) - 1]}-{tail}")
    for name in names[:_TRIES]:
        try:
            return await platform.store.users.create(name, by=LOCAL, email=email)
        except ConflictError as error:
            refused = error
    raise OidcError(f"no user could be made: {refused}")


async def _set_rights(platform: Platform, provider: OidcProvider, claims: Claims, user_id: str) -> None:
    """Bring roles in line with the groups, in the organisations that the settings name; others stay as they are."""
    store = platform.store
    if provider.operators and user_id != LOCAL.user_id:
        runs = bool(claims.groups & set(provider.operators))
        if (await store.users.get(user_id)).operator != runs:
            await store.users.change(user_id, by=LOCAL, operator=runs)
    before = (await store.users.principal(user_id)).roles
    for name in provider.orgs:
        try:
            org = await store.organisations.get(name, by=LOCAL)
        except NotFoundError:
            log.warning("the settings of a provider name an organisation that there is not", org=name)
            continue
        role = provider.role_in(name, claims.groups)
        if role == before.get(org.id):
            continue
        try:
            if role is None:
                await store.organisations.remove(org.id, user_id, by=LOCAL)
            else:
                await store.organisations.add(org.id, user_id, role, by=LOCAL)
        except ConflictError as error:
            log.warning(
                "a role could not be brought in line with the provider's groups", org=name, error=str(error)
            )


async def remember_way_out(platform: Platform, login: Login, provider: str, id_token: str) -> None:
    """Keep what the provider wants to see when this login ends, for as long as it lasts."""
    data = {"provider": provider, "id_token": id_token}
    lasts = platform.settings.session_lasts
    await platform.store.tickets.issue(
        "oidc_end", lasts=lasts, user_id=login.user_id, data=data, text=login.id
    )


async def way_out(platform: Platform, login: Login, back: str) -> str | None:
    """Where the browser of a login signs out at the provider that signed it in; None where it has not to.

    Args:
        platform: where it is signed in.
        login: what ends.
        back: the page that the browser comes back to.
    """
    ticket = await platform.store.tickets.take("oidc_end", login.id)
    client = None if ticket is None else platform.providers.clients.get(ticket.data["provider"])
    if ticket is None or client is None or not client.provider.end_session:
        return None
    try:
        return await client.end(ticket.data["id_token"], back)
    except OidcError as error:
        log.warning("somebody stays signed in at their provider", error=str(error))
        return None
