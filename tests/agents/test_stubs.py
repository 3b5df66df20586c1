"""Catalogues stay within their allowance, whatever stands in them, and say the most that fits."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from interlace.agents.stubs import (
    CONNECTORS,
    DATABASES,
    MOST_NAMES,
    SERVERS,
    SKILLS,
    Allowance,
    Stub,
    shortened,
    telling,
    told,
)
from interlace.resources.models.tokens import count


def cost(text: str, stubs: list[Stub]) -> int:
    return count(text) + sum(count(f'"{stub.label}",') for stub in stubs[:MOST_NAMES])


def test_three_hundred_actions_and_a_hundred_tools_stay_within_the_cap() -> None:
    actions = [f"{verb}Thing{n}" for n in range(75) for verb in ("list", "get", "create", "delete")]
    api = Stub(label="erp", description="The books", parts=telling(actions), what="actions", total=300)
    text = told([api], CONNECTORS)
    assert "300 actions" in text
    assert "The books" in text
    assert cost(text, [api]) <= CONNECTORS.least
    tools = [f"{verb}_{noun}" for verb in ("get", "make") for noun in map(str, range(50))]
    server = Stub(label="hub", description="Everything", parts=telling(tools), what="tools", total=100)
    text = told([server], SERVERS)
    assert "100 tools, e.g. " in text
    assert cost(text, [server]) <= SERVERS.least


def test_everything_is_told_where_it_fits() -> None:
    stub = Stub(label="shop", description="Sells tea.", parts=["buy", "sell"], what="actions", total=2)
    assert told([stub], CONNECTORS) == "- shop: Sells tea; 2 actions: buy, sell"


def test_a_fault_is_told_also_where_little_fits() -> None:
    stub = Stub(
        label="hub",
        description="a b c " * 90,
        parts=["x"] * 40,
        what="tools",
        total=40,
        note="not reachable now",
    )
    tight = Allowance(each=14, least=14, most=14)
    assert told([stub], tight).endswith("(not reachable now)")
    assert told([stub], SERVERS).endswith("(not reachable now)")


def test_of_very_many_resources_some_are_told_and_how_many_more_there_are() -> None:
    stubs = [Stub(label=f"api{n}", description="Something long to say about it") for n in range(2000)]
    text = told(stubs, CONNECTORS)
    shown = text.count("\n")
    assert text.endswith(f"… and {2000 - shown} more")
    assert count(text) <= CONNECTORS.most


def test_a_japanese_name_is_told_as_it_is() -> None:
    stub = Stub(
        label="注文", description="注文を扱う。詳しくは別に。", parts=["注文する"], what="actions", total=1
    )
    assert told([stub], CONNECTORS) == "- 注文: 注文を扱う。詳しくは別に。; 1 actions: 注文する"


_TEXTS = st.text(st.sampled_from("abc deé店。. _-"), max_size=200)


@settings(max_examples=60)
@given(
    st.lists(
        st.builds(
            Stub,
            label=st.text(st.sampled_from("abé店_-"), min_size=1, max_size=30),
            description=_TEXTS,
            parts=st.lists(_TEXTS, max_size=30),
            what=st.just("actions"),
            total=st.none() | st.integers(0, 500),
        ),
        min_size=1,
        max_size=40,
    ),
    st.sampled_from([CONNECTORS, DATABASES, SERVERS, SKILLS]),
)
def test_the_allowance_is_kept_unless_the_bare_names_take_more(
    stubs: list[Stub], allowance: Allowance
) -> None:
    text = told(stubs, allowance)
    assert text.startswith(f"- {stubs[0].label}")
    bare = sum(count(f"- {stub.label}") + 1 for stub in stubs)
    names = cost("", stubs)
    assert cost(text, stubs) <= max(allowance.of(len(stubs)), bare + names) + 8


def test_short_forms_end_between_words_and_prefer_sentences() -> None:
    text = "Reads the orders of a shop. It takes a number and gives the order with all its lines."
    assert shortened(text, 200) == text.rstrip(".")
    assert shortened(text, 60) == "Reads the orders of a shop"
    assert shortened(text, 24) == "Reads the orders of a…"
    assert shortened("注文" * 50, 20) == "注文" * 9 + "注…"


def test_the_names_told_first_tell_most() -> None:
    names = ["get_order", "get_order_item", "get_order_status", "refund", "get_customer"]
    first = telling(names, 3)
    assert {"refund", "get_customer"} < set(first)
    assert telling(reversed(first), 3) == first
