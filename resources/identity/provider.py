"""What an operator says about an identity provider: `[oidc.<name>]` in interlace.toml."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

from interlace.engine.principal import Role

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
ANYBODY = "*"
"""Stands for every user of the provider in a list of groups."""
RANK: tuple[Role, ...] = ("owner", "admin", "member")


def _issuer(value: str) -> str:
    parts = urlsplit(value)
    local = parts.scheme == "http" and parts.hostname in _LOOPBACK
    if not parts.hostname or (parts.scheme != "https" and not local) or parts.query or parts.fragment:
        raise ValueError(f"{value!r} is no issuer: an https address without query, as the provider writes it")
    return value


class OidcProvider(BaseModel):
    """An OpenID Connect provider, and what its users may do here."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    issuer: Annotated[str, AfterValidator(_issuer)] = Field(
        description="Address of the provider, exactly as its tokens name it; its configuration is read below it."
    )
    client_id: str = Field(min_length=1, description="Name of this installation at the provider.")
    client_secret: SecretStr | None = Field(
        None, description="Secret of this installation; public clients have none."
    )
    client_secret_file: Path | None = Field(None, description="File that holds the secret instead.")
    title: str | None = Field(None, description="What the button says; the name, if not given.")
    scopes: list[str] = Field(
        default_factory=lambda: ["openid", "email", "profile"], description="What the provider is asked for."
    )
    name_claim: str = Field("preferred_username", description="Claim that names new users here.")
    groups_claim: str = Field(
        "groups", description="Claim that lists the user's groups; `a.b` looks into objects."
    )
    create: bool = Field(
        True, description="Whether a user who is not known yet is made at the first sign-in."
    )
    domains: list[str] = Field(
        default_factory=list,
        description="Domains of verified e-mail addresses that may sign in; any user of the provider, if empty.",
    )
    groups: list[str] = Field(
        default_factory=list, description="Groups that may sign in; any user of the provider, if empty."
    )
    link_by_email: bool = Field(
        False,
        description="Whether a first sign-in belongs to the user here who has the same verified e-mail address. Only for"
        " providers that give no address to anybody but its owner.",
    )
    end_session: bool = Field(
        False,
        description="Whether signing out here signs out at the provider too. It must offer that, and know"
        " `<INTERLACE_PUBLIC_URL>/login` as an address to come back to.",
    )
    operators: list[str] = Field(
        default_factory=list,
        description="Groups whose users run the installation; decided at each sign-in, where there are any.",
    )
    orgs: dict[str, dict[Role, list[str]]] = Field(
        default_factory=dict,
        description='Roles in organisations by group: `acme = {admin = ["it"], member = ["*"]}`; set at each sign-in.',
    )

    def secret(self) -> str | None:
        """The client's secret.

        Raises:
            OSError: its file cannot be read.
        """
        if self.client_secret_file is not None:
            return self.client_secret_file.read_text("utf-8").strip()
        return None if self.client_secret is None else self.client_secret.get_secret_value()

    def role_in(self, org: str, groups: frozenset[str]) -> Role | None:
        """The highest role that a user of these groups has in an organisation; None without one."""
        wanted = self.orgs.get(org, {})
        return next(
            (role for role in RANK if any(g == ANYBODY or g in groups for g in wanted.get(role, []))), None
        )

    def masked(self) -> dict[str, Any]:
        """As plain values with the secret masked."""
        return self.model_dump(mode="json", exclude_none=True)
