"""Names for models: what providers take, one for each thing, always the same."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlace.resources.tools.naming import free_tool_name, labels, tool_name

TAKEN = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


@pytest.mark.parametrize(
    ("owner", "part"),
    [
        ("注文", "在庫を調べる"),
        ("shop", "注文する"),
        ("a" * 80, "b" * 80),
        ("é", "ü"),
        ("_", "_"),
        ("__", "x"),
    ],
)
def test_providers_take_every_name(owner: str, part: str) -> None:
    assert TAKEN.match(tool_name(owner, part))


def test_a_plain_name_stays_as_it_is() -> None:
    assert tool_name("shop", "getOrder") == "shop__getOrder"
    assert tool_name("my-db", "list_tables") == "my-db__list_tables"


def test_names_of_one_script_stay_apart() -> None:
    names = [tool_name("店", part) for part in ("注文する", "注文を消す", "在庫", "在庫を見る")]
    assert len(set(names)) == 4
    assert names == [tool_name("店", part) for part in ("注文する", "注文を消す", "在庫", "在庫を見る")]


_PARTS = st.text(st.sampled_from("ab_-É店"), min_size=1, max_size=6)


@given(st.tuples(_PARTS, _PARTS), st.tuples(_PARTS, _PARTS))
def test_two_pairs_never_get_one_name(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert TAKEN.match(tool_name(*one))
    assert (tool_name(*one) == tool_name(*other)) == (one == other)


def test_a_name_that_another_tool_has_gets_a_digest_which_does_not_depend_on_the_order() -> None:
    assert free_tool_name("a__b", {}, "mcp", "1", "b") == "a__b"
    first = free_tool_name("a__b", {"a__b"}, "mcp", "1", "b")
    assert first != free_tool_name("a__b", {"a__b"}, "mcp", "2", "b")
    assert first == free_tool_name("a__b", {"a__b", "x"}, "mcp", "1", "b")


def test_of_several_resources_of_one_name_the_nearest_has_it() -> None:
    found = labels([("shop", "mine-00000001"), ("shop", "theirs-00000002"), ("docs", "d")])
    assert found == {"shop": "mine-00000001", "shop@00000002": "theirs-00000002", "docs": "d"}
