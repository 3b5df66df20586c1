"""The identity providers of an installation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from interlace.resources.http import AllowList, HttpClient
from interlace.resources.identity.provider import OidcProvider

if TYPE_CHECKING:
    from interlace.resources.identity.oidc import OidcClient


class Providers:
    """Clients of all providers by name.

    A provider is reached where it is, on a private network too: who set it up may decide that. Nothing else is opened
    by that, for requests of workflows least of all.

    Args:
        providers: what the operator says of them.
        allow: the private targets that are open anyway.
        own_addresses: what is never reached.
    """

    def __init__(
        self,
        providers: Mapping[str, OidcProvider],
        allow: Iterable[str],
        own_addresses: AbstractSet[tuple[str, int]],
    ) -> None:
        opened = [*allow, *(_place(provider.issuer) for provider in providers.values())]
        self._http = HttpClient(allow=AllowList.parse(opened), own_addresses=own_addresses)
        self.clients: dict[str, OidcClient] = {}
        if providers:
            from interlace.resources.identity.oidc import OidcClient  # noqa: PLC0415 - what reads tokens is not for free

            self.clients = {name: OidcClient(provider, self._http) for name, provider in providers.items()}

    async def close(self) -> None:
        """Close all connections."""
        await self._http.close()


def _place(issuer: str) -> str:
    parts = urlsplit(issuer)
    host = parts.hostname or ""
    return f"{f'[{host}]' if ':' in host else host}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
