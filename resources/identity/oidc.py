"""OpenID Connect: the authorization code flow with PKCE, state and nonce, against one provider."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final
from urllib.parse import quote, urlencode, urlsplit

import orjson

from interlace.engine.errors import InterlaceError, NodeError
from interlace.resources.http import HttpClient, HttpRequest
from interlace.resources.identity.id_token import BadTokenError, UnknownKeyError, verified
from interlace.resources.identity.provider import OidcProvider

_TIMEOUT: Final = 15.0
_MAX_BODY: Final = 1 << 20
_KEPT_SECONDS: Final = 3600.0
_ROTATIONS, _ROTATION_SECONDS = 5, 60.0
"""How often keys are read again because a token names an unknown one; anybody can send such a token."""
_OK: Final = 200


class OidcError(InterlaceError):
    """A sign-in through a provider did not come about.

    Args:
        message: why, for the log of the operator.
        reason: what the person is told: `oidc` it went wrong, `oidc_denied` they may not sign in, `oidc_stale` it took
            too long or was begun elsewhere.
    """

    code: ClassVar[str] = "oidc"

    def __init__(self, message: str, reason: str = "oidc") -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A sign-in on its way: where the browser goes, and what has to fit when it comes back."""

    url: str
    verifier: str
    nonce: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """Who somebody is at a provider. `email` is only there where the provider has verified it."""

    issuer: str
    subject: str
    name: str
    email: str | None
    groups: frozenset[str]
    id_token: str = field(repr=False)


class OidcClient:
    """One provider. Its configuration and keys are read when they are needed, and kept for an hour.

    Args:
        provider: what the operator says of it.
        http: the client that reaches it.
    """

    def __init__(self, provider: OidcProvider, http: HttpClient) -> None:
        self.provider = provider
        self._http = http
        self._lock = asyncio.Lock()  # one reader of configuration and keys at a time
        self._configuration: tuple[float, dict[str, Any]] | None = None
        self._keys: tuple[float, list[dict[str, Any]]] | None = None
        self._rotations: list[float] = []

    async def begin(self, redirect_uri: str, state: str) -> Begun:
        """Begin a sign-in.

        Raises:
            OidcError: the provider cannot be reached or is set up wrongly.
        """
        endpoint = _address(await self.configuration(), "authorization_endpoint", self.provider.issuer)
        verifier, nonce = secrets.token_urlsafe(48), secrets.token_urlsafe(32)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        query = {
            "response_type": "code", "client_id": self.provider.client_id, "redirect_uri": redirect_uri,
            "scope": " ".join(dict.fromkeys(["openid", *self.provider.scopes])), "state": state, "nonce": nonce,
            "code_challenge": challenge, "code_challenge_method": "S256",
        }  # fmt: skip
        mark = "&" if "?" in endpoint else "?"
        return Begun(url=f"{endpoint}{mark}{urlencode(query)}", verifier=verifier, nonce=nonce)

    async def finish(self, code: str, *, verifier: str, nonce: str, redirect_uri: str) -> Claims:
        """Who came back with a code.

        Raises:
            OidcError: the provider refuses the code, or what it says proves nothing.
        """
        configuration = await self.configuration()
        tokens = await self._exchange(configuration, code, verifier, redirect_uri)
        token, access = tokens.get("id_token"), str(tokens.get("access_token") or "")
        if not isinstance(token, str):
            raise OidcError("the provider gave no ID token; the client must be allowed the scope `openid`")
        claims = await self._verified(token, nonce, access)
        if access and "userinfo_endpoint" in configuration and self._lacks(claims):
            told = await self._userinfo(configuration, access, claims["sub"])
            if "email" in claims and claims["email"] != told.get("email"):
                told.pop("email_verified", None)  # it is said of another address
            claims = {**told, **claims}
        return self._claims(claims, token)

    async def end(self, id_token: str, back: str) -> str | None:
        """Where a browser signs out at the provider, and comes back from; None where it offers nothing like that.

        Raises:
            OidcError: the provider cannot be reached or is set up wrongly.
        """
        configuration = await self.configuration()
        if "end_session_endpoint" not in configuration:
            return None
        endpoint = _address(configuration, "end_session_endpoint", self.provider.issuer)
        query = {
            "id_token_hint": id_token, "client_id": self.provider.client_id, "post_logout_redirect_uri": back,
        }  # fmt: skip
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}"

    async def configuration(self) -> dict[str, Any]:
        """The provider's configuration.

        Raises:
            OidcError: it cannot be read, or is another issuer's.
        """
        async with self._lock:
            if self._configuration is None or time.monotonic() - self._configuration[0] > _KEPT_SECONDS:
                issuer = self.provider.issuer
                found = await self._json(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
                if found.get("issuer") != issuer:
                    raise OidcError(
                        f"the configuration below {issuer} is of the issuer {found.get('issuer')!r}; write that one as"
                        " `issuer`, if it is meant"
                    )
                self._configuration = (time.monotonic(), found)
            return self._configuration[1]

    async def _verified(self, token: str, nonce: str, access: str) -> dict[str, Any]:
        wanted = {
            "issuer": self.provider.issuer, "audience": self.provider.client_id, "nonce": nonce, "access_token": access,
        }  # fmt: skip
        try:
            try:
                return verified(token, await self._published(), **wanted)
            except UnknownKeyError:
                if not self._may_rotate():
                    raise
                return verified(token, await self._published(anew=True), **wanted)
        except BadTokenError as error:
            raise OidcError(str(error)) from None

    def _may_rotate(self) -> bool:
        now = time.monotonic()
        self._rotations = [at for at in self._rotations if now - at < _ROTATION_SECONDS]
        if len(self._rotations) >= _ROTATIONS:
            return False
        self._rotations.append(now)
        return True

    async def _published(self, *, anew: bool = False) -> Sequence[Mapping[str, Any]]:
        configuration = await self.configuration()
        async with self._lock:
            if anew or self._keys is None or time.monotonic() - self._keys[0] > _KEPT_SECONDS:
                found = await self._json(_address(configuration, "jwks_uri", self.provider.issuer))
                keys = found.get("keys")
                if not isinstance(keys, list):
                    raise OidcError("the provider's keys cannot be read: there is no list `keys`")
                self._keys = (time.monotonic(), [key for key in keys if isinstance(key, dict)])
            return self._keys[1]

    async def _exchange(
        self, configuration: Mapping[str, Any], code: str, verifier: str, redirect_uri: str
    ) -> dict[str, Any]:
        form = {
            "grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri, "code_verifier": verifier,
        }  # fmt: skip
        headers = {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
        try:
            secret = await asyncio.to_thread(self.provider.secret)
        except OSError as error:
            raise OidcError(
                f"the client's secret cannot be read: {error}; check `client_secret_file`"
            ) from None
        methods = configuration.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        if secret is not None and "client_secret_basic" in methods:
            pair = f"{quote(self.provider.client_id, safe='')}:{quote(secret, safe='')}"
            headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            form["client_id"] = self.provider.client_id
            if secret is not None:
                form["client_secret"] = secret
        endpoint = _address(configuration, "token_endpoint", self.provider.issuer)
        return await self._json(endpoint, method="POST", headers=headers, body=urlencode(form).encode())

    async def _userinfo(self, configuration: Mapping[str, Any], access: str, subject: str) -> dict[str, Any]:
        endpoint = _address(configuration, "userinfo_endpoint", self.provider.issuer)
        found = await self._json(
            endpoint, headers={"authorization": f"Bearer {access}", "accept": "application/json"}
        )
        if found.get("sub") != subject:
            raise OidcError("the provider tells of another user than the one that it signed in")
        return found

    def _lacks(self, claims: Mapping[str, Any]) -> bool:
        wanted = {"email", "email_verified", self.provider.name_claim}
        if self.provider.orgs or self.provider.operators or self.provider.groups:
            wanted.add(self.provider.groups_claim.partition(".")[0])
        return not wanted <= set(claims)

    def _claims(self, claims: Mapping[str, Any], token: str) -> Claims:
        verified_email = claims.get("email_verified") in (True, "true")
        email = claims.get("email") if verified_email else None
        groups = _inside(claims, self.provider.groups_claim)
        listed = [groups] if isinstance(groups, str) else groups if isinstance(groups, list) else []
        name = claims.get(self.provider.name_claim) or email or claims["sub"]
        return Claims(
            issuer=self.provider.issuer, subject=claims["sub"], name=str(name),
            email=email if isinstance(email, str) and email else None,
            groups=frozenset(group for group in listed if isinstance(group, str)), id_token=token,
        )  # fmt: skip

    async def _json(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> dict[str, Any]:
        """One answer of the provider.

        Raises:
            OidcError: it does not answer, refuses, or does not answer with an object.
        """
        request = HttpRequest(
            method=method, url=url, headers=dict(headers or {}), body=body, timeout=_TIMEOUT, max_body=_MAX_BODY,
            follow_redirects=False, repeatable=method == "GET",
        )  # fmt: skip
        where = urlsplit(url)
        place = f"{where.scheme}://{where.netloc}{where.path}"
        try:
            answer = await self._http.send(request)
        except NodeError as error:
            raise OidcError(f"the provider does not answer at {place}: {error.message}") from None
        try:
            found = orjson.loads(answer.body)
        except orjson.JSONDecodeError:
            found = None
        if answer.status != _OK:
            why = found.get("error") if isinstance(found, dict) else None
            raise OidcError(f"the provider refuses at {place} with {answer.status} {why or ''}".rstrip())
        if not isinstance(found, dict):
            raise OidcError(f"the provider answers at {place} with something else than a JSON object")
        return found


def _address(configuration: Mapping[str, Any], name: str, issuer: str) -> str:
    """An address of the configuration; where the issuer is reached over TLS, so is the rest."""
    found = configuration.get(name)
    if not isinstance(found, str) or not urlsplit(found).hostname:
        raise OidcError(f"the provider's configuration has no {name}")
    if urlsplit(found).scheme != "https" and urlsplit(issuer).scheme == "https":
        raise OidcError(f"the provider's {name} is not an https address")
    return found


def _inside(claims: Mapping[str, Any], path: str) -> Any:
    """The value of a claim; a name with dots looks into objects, where no claim has the whole name."""
    if path in claims:
        return claims[path]
    found: Any = claims
    for part in path.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found
