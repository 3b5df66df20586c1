"""What must be settled before a server is reached from other machines."""

from __future__ import annotations

from typing import ClassVar

from interlace.engine.errors import InterlaceError
from interlace.engine.principal import LOCAL
from interlace.flows.platform import Platform
from interlace.flows.settings import Settings
from interlace.server.guard import is_local


class Exposed(InterlaceError):  # noqa: N818 - the name says what it is
    """The server would be reached from other machines without what protects it there."""

    code: ClassVar[str] = "exposed"


def check_names(settings: Settings) -> None:
    """Refuse to listen beyond this machine under any name: a page elsewhere could reach the server by a name of its own.

    Raises:
        Exposed: no names are given.
    """
    if is_local(settings.host) or settings.hosts or settings.public_url is not None:
        return
    raise Exposed(
        f"on {settings.host} the server is reached from other machines, and has to know by which names: set INTERLACE_HOSTS"
        " to them (INTERLACE_HOSTS=flows.example.com,10.0.0.5; `*` takes any name), or INTERLACE_PUBLIC_URL to the address"
        " of the proxy before it"
    )


async def check_owner(platform: Platform) -> None:
    """Refuse to serve other machines before somebody can sign in who runs the installation.

    Raises:
        Exposed: nobody can.
    """
    if is_local(platform.settings.host):
        return
    owner = await platform.store.users.get(LOCAL.user_id)
    keys = await platform.store.keys.list(owner=LOCAL.user_id)
    if owner.has_password or any(key.revoked_at is None for key in keys):
        return
    raise Exposed(
        f"on {platform.settings.host} the server is reached from other machines, and its owner has neither a password nor a"
        " key yet: give the owner one first with `interlace user password owner` or `interlace user key create`"
    )
