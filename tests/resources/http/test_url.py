from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlace.engine.errors import NodeError
from interlace.resources.http.url import encode_query, join_url, parse_url


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("HTTP://Example.COM", "http://example.com/"),
        ("https://example.com:443/a", "https://example.com/a"),
        ("https://example.com:8443/a", "https://example.com:8443/a"),
        ("http://example.com./a#frag?x", "http://example.com/a"),
        ("http://example.com?x=1", "http://example.com/?x=1"),
        ("http://example.com/a b/ü?q=日本", "http://example.com/a%20b/%C3%BC?q=%E6%97%A5%E6%9C%AC"),
        ("http://example.com/100%/%zz/%41", "http://example.com/100%25/%25zz/%41"),
        ('http://example.com/a?x={y}"<>^`', "http://example.com/a?x=%7By%7D%22%3C%3E%5E%60"),
        ("http://[2606:4700:0:0::1111]:8080/", "http://[2606:4700::1111]:8080/"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://faß.example/", "http://xn--fa-hia.example/"),
        ("http://例え.テスト/", "http://xn--r8jz45g.xn--zckzah/"),
    ],
)
def test_a_url_has_one_normal_form(url: str, text: str) -> None:
    assert str(parse_url(url)) == text


def test_query_values_are_added_and_encoded() -> None:
    target = parse_url(
        "http://a.example/p?x=1#f", {"q": "a&b=c d", "n": 3, "f": 1.5, "yes": True, "no": None, "l": ["x", 2]}
    )
    assert target.target == "/p?x=1&q=a%26b%3Dc%20d&n=3&f=1.5&yes=true&l=x&l=2"
    assert parse_url("http://a.example/p?", {"a": 1}).target == "/p?a=1"
    assert parse_url("http://a.example", [("a", 1), ("a", 2)]).target == "/?a=1&a=2"
    assert parse_url("http://a.example/p", {"no": None}).target == "/p"


def test_a_query_value_that_is_an_object_is_refused() -> None:
    with pytest.raises(NodeError, match="'filter' is a dict"):
        encode_query({"filter": {"a": 1}})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/b", "https://a.example/b"),
        ("b?c=1", "https://a.example/x/b?c=1"),
        ("?c=1", "https://a.example/x/y?c=1"),
        ("//b.example/z", "https://b.example/z"),
        ("http://b.example", "http://b.example/"),
        ("../../z", "https://a.example/z"),
        ("/ü", "https://a.example/%C3%BC"),
    ],
)
def test_redirects_are_resolved_against_the_request(location: str, url: str) -> None:
    assert str(join_url(parse_url("https://a.example/x/y"), location)) == url


@pytest.mark.parametrize(
    "location",
    ["//user@b.example", "\\\\b.example", "/a\r\nX: y", "http://[::1", "ftp://b", "//0x7f.1/", "http:\t//b"],
)
def test_redirects_are_read_as_strictly(location: str) -> None:
    with pytest.raises(NodeError) as caught:
        join_url(parse_url("https://a.example/x/y"), location)
    assert caught.value.kind == "bad_url"


def test_messages_hold_neither_query_nor_password() -> None:
    with pytest.raises(NodeError) as caught:
        parse_url("http://me:hunter2@a.example/x?token=s3cret")
    assert "hunter2" not in caught.value.message
    assert "s3cret" not in caught.value.message


@given(st.text(max_size=60))
def test_whatever_the_text_the_result_is_safe_to_send(text: str) -> None:
    for url in (text, f"http://{text}", f"http://a.example/{text}"):
        try:
            target = parse_url(url)
        except NodeError as error:
            assert error.kind == "bad_url"  # noqa: PT017 - either outcome is right
            continue
        assert target.target.isascii()
        assert not set(target.target) & set(" \r\n\t\\#")
        assert target.host.isascii()
        assert parse_url(str(target)) == target
