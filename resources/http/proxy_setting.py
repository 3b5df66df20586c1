"""The proxy of an HTTP node."""

from __future__ import annotations

from pydantic import Field

from interlace.engine.document import Model
from interlace.engine.fields import Dynamic, Secret
from interlace.resources.http.message import Proxy


class ProxySetting(Model):
    """An HTTP proxy."""

    url: Dynamic[str] = Field(
        title="URL",
        description="Scheme, host and port of the proxy.",
        examples=["http://proxy.example.com:3128"],
    )
    username: Secret[str] = Field(
        "", title="User name", description="User name, if it wants one.", examples=["me"]
    )
    password: Secret[str] = Field(
        "", title="Password", description="Password.", examples=["{{ secrets.proxy_password }}"]
    )

    def build(self) -> Proxy:
        """The proxy to go through."""
        return Proxy(self.url, self.username or None, self.password or None)
