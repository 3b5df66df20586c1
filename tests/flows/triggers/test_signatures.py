"""Signatures against the vectors that the providers publish, and what must never count."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from interlace.engine.triggers import Signature
from interlace.flows.triggers.signatures import Signed, sign_standard, signature_headers, verify

CORPUS = next(
    (found for up in Path(__file__).parents if (found := up / "shared/corpus/webhooks").is_dir()), None
)
SLACK = (
    b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar"
    b"&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com"
    b"%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121"
    b".803a0bc887a14d10d2c447fce8b6703c"
)
TWILIO = b"CallSid=CA1234567890ABCDE&Caller=%2B14158675309&Digits=1234&From=%2B14158675309&To=%2B18005551212"
FORM = "application/x-www-form-urlencoded"
# rule, headers, body, secret, the moment, address
PUBLISHED: dict[str, tuple[dict[str, Any], dict[str, str], bytes, str, float, str]] = {
    "github": (
        {"type": "github"},
        {"x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"},
        b"Hello, World!", "It's a Secret to Everybody", 0, "",
    ),
    "slack": (
        {"type": "slack"},
        {
            "x-slack-request-timestamp": "1531420618",
            "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
        },
        SLACK, "8f742231b10e8888abcd99yyyzzz85a5", 1531420618, "",
    ),
    "standard": (
        {"type": "standard"},
        {
            "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330",
            "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        },
        b'{"test": 2432232314}', "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", 1614265330, "",
    ),
    "twilio": (
        {"type": "twilio", "url": "https://mycompany.com/myapp.php?foo=1&bar=2"},
        {"x-twilio-signature": "RSOYDt4T1cUTdK1PDd93/VVr8B8=", "content-type": FORM}, TWILIO, "12345", 0, "",
    ),
}  # fmt: skip
NOW = 1_700_000_000.0


def hexed(key: str, text: bytes, algorithm: str = "sha256") -> str:
    return hmac.new(key.encode(), text, algorithm).hexdigest()


def coded(key: str, text: bytes, algorithm: str = "sha256") -> str:
    return base64.b64encode(hmac.new(key.encode(), text, algorithm).digest()).decode()


def signed(kind: str, body: bytes, secret: str, at: int = int(NOW)) -> tuple[dict[str, Any], dict[str, str]]:
    """A rule, and the headers of a request that follows it."""
    made: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
        "github": ({}, {"x-hub-signature-256": f"sha256={hexed(secret, body)}"}),
        "stripe": ({}, {"stripe-signature": f"t={at},v1={hexed(secret, f'{at}.'.encode() + body)},v0=x"}),
        "slack": (
            {},
            {
                "x-slack-request-timestamp": f"{at}",
                "x-slack-signature": f"v0={hexed(secret, f'v0:{at}:'.encode() + body)}",
            },
        ),
        "shopify": ({}, {"x-shopify-hmac-sha256": coded(secret, body)}),
        "standard": (
            {},
            {
                "webhook-id": "msg_1", "webhook-timestamp": f"{at}",
                "webhook-signature": f"v1a,x {sign_standard(secret, 'msg_1', at, body)}",
            },
        ),
        "gitlab": ({}, {"x-gitlab-token": secret}),
        "twilio": (
            {}, {"x-twilio-signature": coded(secret, b"https://here/hooks/x?bodySHA256=" + _sha(body), "sha1")},
        ),
        "hmac": (
            {"header": "X-Sum", "algorithm": "sha512", "encoding": "base64", "prefix": "v=", "timestamp_header": "X-At"},
            {"x-at": f"{at}", "x-sum": f"v={coded(secret, f'{at}.'.encode() + body, 'sha512')}"},
        ),
    }  # fmt: skip
    rule, headers = made[kind]
    return {"type": kind, **rule}, headers


def _sha(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()


def address(body: bytes) -> str:
    return f"https://here/hooks/x?bodySHA256={_sha(body).decode()}"


def holds(
    rule: Mapping[str, Any],
    headers: Mapping[str, str],
    body: bytes,
    *secrets: str,
    now: float = NOW,
    url: str = "",
) -> bool:
    return verify(Signature.model_validate(rule), Signed(headers, body, url or address(body)), secrets, now)


KINDS = ["github", "stripe", "slack", "shopify", "standard", "gitlab", "twilio", "hmac"]
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.mark.parametrize("name", PUBLISHED)
def test_what_the_providers_publish(name: str) -> None:
    rule, headers, body, secret, at, url = PUBLISHED[name]
    assert holds(rule, headers, body, secret, now=at, url=url)
    assert not holds(rule, headers, body + b" ", secret, now=at, url=url)


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_right_secret_and_body_hold(kind: str) -> None:
    body = b'{"a":1}'
    rule, headers = signed(kind, body, SECRET)
    assert holds(rule, headers, body, SECRET)
    assert holds(rule, headers, body, "another", SECRET)
    assert not holds(rule, headers, body, "another")
    assert not holds(rule, headers, body)
    assert not holds(rule, headers, body, "")
    assert not holds(rule, {}, body, SECRET)
    assert not holds(rule, dict.fromkeys(headers, "ÿ€"), body, SECRET)
    assert not holds(rule, dict.fromkeys(headers, ""), body, SECRET)
    if kind != "gitlab":  # which signs nothing
        assert not holds(rule, headers, b'{"a":2}', SECRET)
    empty_rule, empty_headers = signed(kind, body, "")
    assert not holds(empty_rule, empty_headers, body, "")


@pytest.mark.parametrize("kind", ["stripe", "slack", "standard", "hmac"])
def test_old_and_future_requests_do_not_hold(kind: str) -> None:
    body = b"{}"
    rule, headers = signed(kind, body, SECRET)
    assert holds(rule, headers, body, SECRET, now=NOW + 300)
    assert holds(rule, headers, body, SECRET, now=NOW - 300)
    assert not holds(rule, headers, body, SECRET, now=NOW + 301)
    assert not holds(rule, headers, body, SECRET, now=NOW - 301)
    assert holds({**rule, "tolerance": "10m"}, headers, body, SECRET, now=NOW + 301)
    for broken in ("", "1e9", "-5", "9" * 30, "now"):
        moved = {name: broken if value == f"{int(NOW)}" else value for name, value in headers.items()}
        if kind == "stripe":
            moved = {"stripe-signature": headers["stripe-signature"].replace(f"t={int(NOW)}", f"t={broken}")}
        assert not holds(rule, moved, body, SECRET)


def test_stripe_takes_one_of_several_and_the_whole_secret() -> None:
    body = b"{}"
    right = hexed(SECRET, f"{int(NOW)}.".encode() + body)
    assert holds({"type": "stripe"}, {"stripe-signature": f"t={int(NOW)},v1=bad,v1={right}"}, body, SECRET)
    assert not holds({"type": "stripe"}, {"stripe-signature": f"t={int(NOW)},t=1,v1={right}"}, body, SECRET)
    assert not holds(
        {"type": "stripe"},
        {"stripe-signature": f"t={int(NOW)},v1={right}"},
        body,
        SECRET.removeprefix("whsec_"),
    )


def test_standard_refuses_ids_with_a_dot_and_keys_that_are_none() -> None:
    body, at = b"{}", int(NOW)
    headers = {
        "webhook-id": "a.b",
        "webhook-timestamp": f"{at}",
        "webhook-signature": sign_standard(SECRET, "a.b", at, body),
    }
    assert not holds({"type": "standard"}, headers, body, SECRET)
    plain = {
        "webhook-id": "a",
        "webhook-timestamp": f"{at}",
        "webhook-signature": sign_standard("no base64!", "a", at, body),
    }
    assert not holds({"type": "standard"}, plain, body, "no base64!")


def test_twilio_checks_the_hash_of_a_json_body() -> None:
    body = b'{"a":1}'
    rule, headers = signed("twilio", body, SECRET)
    assert not holds(rule, headers, body, SECRET, url=address(b"other"))


@pytest.mark.parametrize("kind", KINDS)
def test_what_proves_the_sender_is_not_shown(kind: str) -> None:
    rule, headers = signed(kind, b"", SECRET)
    hidden = signature_headers(Signature.model_validate(rule))
    assert {name for name, value in headers.items() if len(value) > 20} <= hidden


@pytest.mark.skipif(CORPUS is None, reason="the corpus of real bodies is not here")
def test_real_bodies_are_signed_byte_for_byte() -> None:
    assert CORPUS is not None
    files = sorted(CORPUS.glob("*.json"))
    assert len(files) == 14
    for file in files:
        body = file.read_bytes()
        for kind in KINDS:
            rule, headers = signed(kind, body, SECRET)
            assert holds(rule, headers, body, SECRET)
            if kind != "gitlab":  # the same value written otherwise is another body
                assert not holds(
                    rule,
                    headers,
                    json.dumps(json.loads(body), separators=(",", ": ")).encode() + b"\n",
                    SECRET,
                )
