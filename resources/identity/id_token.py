"""ID tokens verified: signature, issuer, audience, time and nonce, by algorithms with public keys alone."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from typing import Any, Final

import jwt
from jwt.exceptions import InvalidTokenError, PyJWKError

ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""None of them takes a secret that both sides know: a public key can never be taken for one."""
_KINDS: Final = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}
_LEEWAY_SECONDS: Final = 60
_MAX_TOKEN: Final = 64_000


class BadTokenError(Exception):
    """A token that proves nothing."""


class UnknownKeyError(BadTokenError):
    """The token is signed with a key that the provider has not published, as far as we have read."""


def verified(
    token: str,
    keys: Sequence[Mapping[str, Any]],
    *,
    issuer: str,
    audience: str,
    nonce: str,
    access_token: str = "",
) -> dict[str, Any]:
    """The claims of an ID token that was made for us, for this sign-in, by this provider, and is not over.

    Raises:
        BadTokenError: it is not; the message says why, without values of the token.
        UnknownKeyError: none of the keys is the one it names.
    """
    if len(token) > _MAX_TOKEN:
        raise BadTokenError("the ID token is too long")
    algorithm, key = _key(token, keys)
    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=[algorithm],
            audience=audience,
            issuer=issuer,
            leeway=_LEEWAY_SECONDS,
            options={"require": ["iss", "sub", "aud", "exp", "iat"], "strict_aud": False},
        )
    except InvalidTokenError as error:
        raise BadTokenError(f"the ID token is not valid: {error}") from None
    _check_party(claims, audience)
    if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
        raise BadTokenError("the ID token is of another sign-in (nonce)")
    if not isinstance(claims["sub"], str) or not 0 < len(claims["sub"]) <= 255:  # noqa: PLR2004 - OpenID Connect Core 2
        raise BadTokenError("the ID token names nobody (sub)")
    _check_hash(claims, algorithm, access_token)
    return claims


def _key(token: str, keys: Sequence[Mapping[str, Any]]) -> tuple[str, jwt.PyJWK]:
    """Algorithm and key of a token. What a token's header says of keys (`jwk`, `jku`, `x5c`) is not looked at."""
    try:
        header = jwt.get_unverified_header(token)
    except InvalidTokenError as error:
        raise BadTokenError(f"the ID token cannot be read: {error}") from None
    algorithm, kid = header.get("alg"), header.get("kid")
    if algorithm not in ALGORITHMS:
        raise BadTokenError(f"the ID token is signed by {algorithm!r}, which proves nothing here")
    if header.get("crit") is not None:
        raise BadTokenError("the ID token demands what is not known here (crit)")
    fitting = [
        key
        for key in keys
        if key.get("kty") == _KINDS[algorithm[:2]]
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
        and (kid is None or key.get("kid") == kid)
    ]
    if not fitting:
        raise UnknownKeyError("the ID token is signed with a key that the provider does not publish")
    if len(fitting) > 1:
        raise BadTokenError("the ID token does not say which of the provider's keys it is signed with (kid)")
    try:
        return algorithm, jwt.PyJWK.from_dict(dict(fitting[0]), algorithm=algorithm)
    except PyJWKError as error:
        raise BadTokenError(f"the provider's key cannot be used: {error}") from None


def _check_party(claims: Mapping[str, Any], audience: str) -> None:
    """One of several that a token is made for must be told that it is the one that asked."""
    several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    party = claims.get("azp")
    if (several and party is None) or (party is not None and party != audience):
        raise BadTokenError("the ID token was made for another client (azp)")


def _check_hash(claims: Mapping[str, Any], algorithm: str, access_token: str) -> None:
    wanted = claims.get("at_hash")
    if wanted is None or not access_token or algorithm == "EdDSA":
        return
    digest = hashlib.new(f"sha{algorithm[2:]}", access_token.encode()).digest()
    found = base64.urlsafe_b64encode(digest[: len(digest) // 2]).rstrip(b"=").decode()
    if not hmac.compare_digest(found.encode(), str(wanted).encode()):
        raise BadTokenError("the access token is not the one of the ID token (at_hash)")
