from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import pytest

from interlace.engine.errors import ExpressionError
from interlace.engine.run.secrets import Secrets


class Environment:
    def settings(self) -> Mapping[str, Any]:
        return {}

    def secret(self, name: str) -> str:
        return {"token": "pass/word é", "pin": "123"}[name]


def test_nothing_is_touched_before_a_secret_was_read() -> None:
    value = {"a": "pass/word é"}
    assert Secrets(Environment()).redact(value) is value


def test_values_that_were_read_are_replaced_everywhere() -> None:
    secrets = Secrets(Environment())
    assert secrets["token"] == "pass/word é"
    assert secrets.redact({"x pass/word é": ["a pass/word é b", ("pass/word é", 1), None, {"n": 2.5}]}) == {
        "x [secrets.token]": ["a [secrets.token] b", ("[secrets.token]", 1), None, {"n": 2.5}]
    }
    assert (
        secrets.redact("?k=pass%2Fword%20%C3%A9&l=pass%2Fword+%C3%A9")
        == "?k=[secrets.token]&l=[secrets.token]"
    )
    assert "[secrets.token]" in secrets.redact('{"a": "pass/word \\u00e9"}')


@pytest.mark.parametrize("before", ["", "u:", "us:", "user:"])
def test_inside_base64(before: str) -> None:
    secrets = Secrets(Environment())
    secrets["token"]
    text = b64encode(f"{before}pass/word é".encode()).decode()
    assert "[secrets.token]" in secrets.redact(f"Basic {text}")


def test_short_values_stand() -> None:
    secrets = Secrets(Environment())
    assert secrets["pin"] == "123"
    assert secrets.redact("order 12345") == "order 12345"


def test_they_cannot_be_listed() -> None:
    with pytest.raises(ExpressionError):
        list(Secrets(Environment()))
    with pytest.raises(ExpressionError):
        len(Secrets(Environment()))
