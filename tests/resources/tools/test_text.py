"""Text: expressions in linear time, differences in bounded time, templates with limits, encodings there and back."""

from __future__ import annotations

import time
from difflib import restore

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlace.resources.tools.differing import _opcodes, line_diff
from tests.resources.tools.calling import call, fault, value

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=14)


async def test_matches_by_their_groups() -> None:
    named = await value("regex_extract", text="a=1 b=22", pattern=r"(?P<k>\w)=(?P<v>\d+)")
    assert named == {"matches": [{"k": "a", "v": "1"}, {"k": "b", "v": "22"}], "more": False}
    assert (await value("regex_extract", text="A1 a2", pattern=r"a(\d)", ignore_case=True))["matches"] == [
        "1",
        "2",
    ]
    assert (await value("regex_extract", text="a1", pattern=r"(a)(\d)"))["matches"] == [["a", "1"]]
    assert await value("regex_extract", text="aaa", pattern="a", limit=2) == {
        "matches": ["a", "a"],
        "more": True,
    }


async def test_an_expression_that_would_hang_elsewhere_is_quick() -> None:
    started = time.process_time()
    assert (await value("regex_extract", text="a" * 200_000, pattern="(a*)*b"))["matches"] == []
    assert time.process_time() - started < 5
    assert (await fault("regex_extract", text="a", pattern="(?=a)"))[0] == "bad_regex"


async def test_replacing() -> None:
    found = await value(
        "regex_replace", text="2026-12-01", pattern=r"(\d+)-(\d+)-(\d+)", replacement=r"\3.\2.\1"
    )
    assert found == "01.12.2026"
    assert (await fault("regex_replace", text="a", pattern="a", replacement=r"\4"))[0] == "bad_regex"


async def test_a_difference() -> None:
    found = await value("text_diff", before="a\nb\nc\nd", after="a\nx\nc\ne\nd")
    assert found == {"diff": "@@ -1,4 +1,5 @@\n a\n-b\n+x\n c\n+e\n d", "added": 2, "removed": 1}
    assert (await call("text_diff", before="same", after="same")).text == "The texts have the same lines."


@given(WORDS, WORDS)
@settings(max_examples=300, deadline=None)
def test_a_difference_turns_one_text_into_the_other(before: list[str], after: list[str]) -> None:
    diff, added, removed = line_diff("\n".join(before), "\n".join(after), context=100)
    lines = [f"{line[0]} {line[1:]}" for line in diff.splitlines() if not line.startswith("@@")]
    if before != after:
        assert list(restore(lines, 1)) == before
        assert list(restore(lines, 2)) == after
    assert added - removed == len(after) - len(before)


@given(WORDS, WORDS)
@settings(max_examples=300, deadline=None)
def test_the_steps_cover_both_lists(before: list[str], after: list[str]) -> None:
    x = y = 0
    for tag, start, end, other, other_end in _opcodes(before, after):
        assert (start, other) == (x, y)
        assert (tag == "equal") is (before[start:end] == after[other:other_end])
        x, y = end, other_end
    assert (x, y) == (len(before), len(after))


def test_texts_that_share_nothing_do_not_take_for_ever() -> None:
    started = time.process_time()
    one, two = "\n".join(f"a{n}" for n in range(40_000)), "\n".join(f"b{n}" for n in range(40_000))
    _, added, removed = line_diff(one, two)
    assert (added, removed) == (40_000, 40_000)
    assert time.process_time() - started < 10


async def test_templates_and_their_limits() -> None:
    template = "Hi {{ name }}:{% for x in xs %} {{ x | round(1) }}{% endfor %}"
    assert (
        await value("render_template", template=template, values={"name": "Ada", "xs": [1.25, 2]})
        == "Hi Ada: 1.3 2"
    )
    assert await value("render_template", template="{{ a }}", values={"a": "<b>"}, html=True) == "&lt;b&gt;"
    assert await value("render_template", template="{{ a }}", values={"a": "{{ b }}"}) == "{{ b }}"
    assert (await fault("render_template", template="{{ nope }}"))[0] == "missing"
    assert (await fault("render_template", template="{% for x %}"))[0] == "syntax"
    endless = "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}"
    assert (await fault("render_template", template=endless))[0] == "expression_limit"


async def test_cutting() -> None:
    assert await value("split_text", text="a\n\nb") == ["a", "b"]
    assert await value("split_text", text="a\n\nb", keep_empty=True) == ["a", "", "b"]
    assert await value("split_text", text="a;b", by="separator", separator=";") == ["a", "b"]
    assert await value("split_text", text="One. Two! 三。", by="sentences") == ["One.", "Two!", "三。"]
    assert await value("split_text", text="abcdefgh", by="characters", size=3, overlap=1) == [
        "abc",
        "cde",
        "efg",
        "gh",
    ]
    assert await value("split_text", text="hello world foo", by="tokens", size=2) == ["hello world", " foo"]
    assert "overlap" in (await fault("split_text", text="a", by="tokens", size=2, overlap=2))[1]
    assert (await fault("split_text", text="a," * 60_000, by="separator"))[0] == "too_large"


async def test_sizes() -> None:
    found = await value("count_tokens", text="hello world\nit is")
    assert (found["words"], found["lines"], found["characters"]) == (4, 2, 17)
    assert 4 <= found["tokens"] <= 6


@pytest.mark.parametrize(
    ("to", "wanted"),
    [
        ("snake", "hello_http_servers_wörld_2x_日本"), ("kebab", "hello-http-servers-wörld-2x-日本"),
        ("camel", "helloHttpServersWörld2x日本"), ("pascal", "HelloHttpServersWörld2x日本"),
        ("slug", "hello-httpserver-s-world-2x-日本"), ("title", "Hello  Httpserver's Wörld 2x 日本"),
        ("sentence", "Hello  httpserver's wörld 2x 日本"), ("trim", "Hello HTTPServer's Wörld 2x 日本"),
        ("upper", "HELLO  HTTPSERVER'S WÖRLD 2X 日本"), ("lower", "hello  httpserver's wörld 2x 日本"),
    ],
)  # fmt: skip
async def test_cases(to: str, wanted: str) -> None:
    assert await value("change_case", text="Hello  HTTPServer's Wörld 2x 日本", to=to) == wanted


@given(st.text(max_size=200), st.sampled_from(["base64", "base64url", "hex", "url", "html"]))
@settings(max_examples=200, deadline=None)
async def test_encodings_there_and_back(text: str, encoding: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    there = await value("encode_text", text=text, encoding=encoding)
    assert await value("encode_text", text=there, encoding=encoding, decode=True) == text


async def test_charsets_and_what_is_not_encoded() -> None:
    assert await value("encode_text", text="日", encoding="hex", charset="shift_jis") == "93fa"
    assert await value("encode_text", text="a+b%20c", encoding="url", decode=True) == "a b c"
    assert await fault("encode_text", text="zz", encoding="hex", decode=True) == ("parse", "'zz' is not hex")
    assert (
        "no character '日'" in (await fault("encode_text", text="日", encoding="hex", charset="latin-1"))[1]
    )
    assert "no charset 'zlib'" in (await fault("encode_text", text="x", encoding="hex", charset="zlib"))[1]
    assert "try another charset" in (await fault("encode_text", text="ff", encoding="hex", decode=True))[1]


async def test_digests() -> None:
    assert (await value("hash_text", text="abc"))[:16] == "ba7816bf8f01cfea"
    assert await value("hash_text", text="abc", algorithm="md5") == "900150983cd24fb0d6963f7d28e17f72"
