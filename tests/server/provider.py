"""An OpenID Connect provider in a process of its own: it signs real tokens, checks codes, PKCE and clients, and misbehaves when told.

`python -m tests.server.provider` prints its address. `POST /control` sets what it says of the user and how it misbehaves.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

CLIENT, SECRET = "interlace-test", "s3cret:/with%specials"


class Provider:
    """The process, and what it is told. `issuer` is its address."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.server.provider"],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.issuer = self._process.stdout.readline().strip()

    def tell(self, **what: Any) -> dict[str, Any]:
        """Change what it does; gives how often its pages were asked for."""
        import httpx2

        found: dict[str, Any] = httpx2.post(f"{self.issuer}/control", json=what, trust_env=False).json()
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


class State:
    """What the provider knows."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self.codes: dict[str, dict[str, str]] = {}
        self.access: set[str] = set()
        self.asked: dict[str, int] = {}
        self.keys: list[Any] = []
        self.forget()
        self.rotate()

    def forget(self) -> None:
        self.user: dict[str, Any] = {
            "sub": "ann-1",
            "preferred_username": "ann",
            "email": "ann@example.com",
            "email_verified": True,
        }
        self.algorithm, self.attack, self.told_by, self.userinfo = "RS256", "", "token", {}

    def rotate(self) -> None:
        from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

        kid = secrets.token_hex(4)
        self.keys = [
            ("RS256", f"rsa-{kid}", rsa.generate_private_key(65537, 2048)),
            ("ES256", f"ec-{kid}", ec.generate_private_key(ec.SECP256R1())),
            ("EdDSA", f"ed-{kid}", ed25519.Ed25519PrivateKey.generate()),
        ]

    def published(self) -> list[dict[str, Any]]:
        import jwt

        found = []
        for algorithm, kid, key in self.keys:
            made = jwt.get_algorithm_by_name(algorithm).to_jwk(key.public_key(), as_dict=True)
            found.append({**made, "kid": kid, "use": "sig", "alg": algorithm})
        if self.attack == "oct_key":
            octets = base64.urlsafe_b64encode(b"x" * 32).rstrip(b"=").decode()
            found.append({"kty": "oct", "k": octets, "kid": "oct", "use": "sig", "alg": "HS256"})
        return found

    def id_token(self, nonce: str, access: str) -> str:
        now = int(time.time())
        digest = hashlib.sha256(access.encode()).digest()[:16]
        claims = {
            "iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": nonce,
            **({} if self.algorithm == "EdDSA" else {"at_hash": base64.urlsafe_b64encode(digest).rstrip(b"=").decode()}),
            **(self.user if self.told_by == "token" else {"sub": self.user["sub"]}),
        }  # fmt: skip
        claims |= {
            "wrong_aud": {"aud": "another"}, "wrong_iss": {"iss": "https://evil.example"}, "expired": {"exp": now - 120},
            "early": {"iat": now + 3600, "nbf": now + 3600}, "wrong_nonce": {"nonce": "another"}, "no_nonce": {"nonce": None},
            "two_aud": {"aud": [CLIENT, "another"]}, "azp": {"aud": [CLIENT], "azp": "another"}, "no_sub": {"sub": ""},
            "at_hash": {"at_hash": "AAAA"},
        }.get(self.attack, {})  # fmt: skip
        if self.attack == "no_exp":
            del claims["exp"]
        return self._signed({name: value for name, value in claims.items() if value is not None})

    def _signed(self, claims: Mapping[str, Any]) -> str:
        import jwt
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import rsa

        ((_, kid, key),) = [entry for entry in self.keys if entry[0] == self.algorithm]
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        mine = (
            rsa.generate_private_key(65537, 2048)
            if self.attack in ("other_key", "jwk_header", "unknown_kid")
            else None
        )
        if self.attack == "alg_none":
            return jwt.encode(dict(claims), None, algorithm="none", headers={"kid": kid})
        if self.attack == "hs_confusion":
            return _hs256({"alg": "HS256", "kid": kid}, claims, public)
        if self.attack == "oct_key":
            return _hs256({"alg": "HS256", "kid": "oct"}, claims, b"x" * 32)
        headers: dict[str, Any] = {"kid": kid}
        if self.attack == "jwk_header":
            headers["jwk"] = jwt.get_algorithm_by_name("RS256").to_jwk(mine.public_key(), as_dict=True)
        if self.attack == "unknown_kid":
            headers["kid"] = "nobody-has-published-this"
        if self.attack == "no_kid":
            headers = {}
        token = jwt.encode(dict(claims), mine or key, algorithm=self.algorithm, headers=headers)
        if self.attack == "cut":
            return token[:-20]
        return token


def _hs256(header: Mapping[str, Any], claims: Mapping[str, Any], secret: bytes) -> str:
    import hmac

    def part(value: bytes) -> str:
        return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    signed = f"{part(json.dumps(header).encode())}.{part(json.dumps(claims).encode())}"
    return f"{signed}.{part(hmac.new(secret, signed.encode(), hashlib.sha256).digest())}"


def _handler(states: dict[str, State]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_arguments: Any) -> None:
            return

        def do_GET(self) -> None:
            self._handle(b"")

        def do_POST(self) -> None:
            self._handle(self.rfile.read(int(self.headers.get("content-length", 0))))

        def _handle(self, body: bytes) -> None:
            state, parts = states["state"], urlsplit(self.path)
            state.asked[parts.path] = state.asked.get(parts.path, 0) + 1
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            form = (
                {name: values[0] for name, values in parse_qs(body.decode()).items()}
                if parts.path == "/token"
                else {}
            )
            match parts.path:
                case "/.well-known/openid-configuration":
                    self._json(configuration(state))
                case "/jwks":
                    self._json({"keys": state.published()})
                case "/authorize":
                    self._authorize(state, query)
                case "/token":
                    self._token(state, form)
                case "/userinfo":
                    self._userinfo(state)
                case "/control":
                    self._control(state, json.loads(body))
                case _:
                    self._json({"error": "not_found"}, 404)

        def _authorize(self, state: State, query: Mapping[str, str]) -> None:
            wanted = {"response_type": "code", "client_id": CLIENT, "code_challenge_method": "S256"}
            if (
                any(query.get(name) != value for name, value in wanted.items())
                or "openid" not in query["scope"].split()
            ):
                self._json({"error": "invalid_request"}, 400)
                return
            if state.attack == "denied":
                self._send(
                    303,
                    b"",
                    {"location": f"{query['redirect_uri']}?error=access_denied&state={query['state']}"},
                )
                return
            code = secrets.token_urlsafe(16)
            state.codes[code] = dict(query)
            issuer = "https://evil.example" if state.attack == "mixed_up" else state.issuer
            place = f"{query['redirect_uri']}?code={code}&state={query['state']}&iss={issuer}"
            self._send(303, b"", {"location": place})

        def _token(self, state: State, form: Mapping[str, str]) -> None:
            scheme, _, value = self.headers.get("authorization", "").partition(" ")
            name, _, secret = base64.b64decode(value).decode().partition(":")
            if scheme != "Basic" or (unquote(name), unquote(secret)) != (CLIENT, SECRET):
                self._json({"error": "invalid_client"}, 401)
                return
            begun = state.codes.pop(form.get("code", ""), None)
            digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
            challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            if (
                begun is None
                or begun["code_challenge"] != challenge
                or begun["redirect_uri"] != form.get("redirect_uri")
                or form.get("grant_type") != "authorization_code"
            ):
                self._json({"error": "invalid_grant"}, 400)
                return
            access = secrets.token_urlsafe(16)
            state.access.add(access)
            answer = {
                "access_token": access,
                "token_type": "Bearer",
                "id_token": state.id_token(begun["nonce"], access),
            }
            if state.attack == "no_id_token":
                del answer["id_token"]
            self._json(answer)

        def _userinfo(self, state: State) -> None:
            if self.headers.get("authorization", "").removeprefix("Bearer ") not in state.access:
                self._json({"error": "invalid_token"}, 401)
                return
            told = {**state.user, **state.userinfo}
            self._json(told | ({"sub": "another"} if state.attack == "other_userinfo" else {}))

        def _control(self, state: State, told: Mapping[str, Any]) -> None:
            if told.get("forget"):
                state.forget()
            if told.get("rotate"):
                state.rotate()
            for name in ("user", "attack", "algorithm", "told_by", "userinfo"):
                if name in told:
                    setattr(state, name, told[name])
            self._json(state.asked)

        def _json(self, value: Any, status: int = 200) -> None:
            self._send(status, json.dumps(value).encode(), {"content-type": "application/json"})

        def _send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
            self.send_response(status)
            for name, value in {**headers, "content-length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    return Handler


def configuration(state: State) -> dict[str, Any]:
    return {
        "issuer": "https://evil.example" if state.attack == "other_issuer" else state.issuer,
        "authorization_endpoint": f"{state.issuer}/authorize", "token_endpoint": f"{state.issuer}/token",
        **({} if state.attack == "no_end_session" else {"end_session_endpoint": f"{state.issuer}/logout?x=1"}),
        "jwks_uri": f"{state.issuer}/jwks", "userinfo_endpoint": f"{state.issuer}/userinfo",
        "response_types_supported": ["code"], "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256", "ES256", "EdDSA"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
    }  # fmt: skip


@contextmanager
def told(provider: Provider, **what: Any) -> Any:
    """What it does while the block runs."""
    provider.tell(**what)
    try:
        yield
    finally:
        provider.tell(forget=True)


def main() -> None:
    states: dict[str, State] = {}
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(states))
    states["state"] = State(f"http://127.0.0.1:{server.server_port}")
    sys.stdout.write(states["state"].issuer + "\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
