from __future__ import annotations

import pytest

from interlace.resources.http import AllowList


@pytest.mark.parametrize(
    ("entry", "hint"),
    [
        ("10.0.0.1/8", "'10.0.0.0/8'"),
        ("http://api", "no network"),
        ("api:port", "no network"),
        ("api:70000", "no network"),
        ("[::1", "no network"),
        ("[::1]8080", "no network"),
        ("10.0.0.0/33", "no network"),
        ("*", "no network"),
        ("*.*.x", "no network"),
        ("127.1", "no network"),
        ("0x7f.0.0.1", "no network"),
        ("bad/host", "no network"),
    ],
)
def test_a_wrong_entry_of_the_list_is_named(entry: str, hint: str) -> None:
    with pytest.raises(ValueError, match="INTERLACE_HTTP_ALLOW") as caught:
        AllowList.parse(f"10.0.0.0/8, {entry}")
    assert repr(entry) in str(caught.value)
    assert hint in str(caught.value)


def test_the_empty_list_opens_nothing() -> None:
    assert AllowList.parse("  , ") == AllowList()
    assert AllowList.parse(["127.0.0.1", "::1"]).networks
