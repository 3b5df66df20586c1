from __future__ import annotations

import time

import pytest

from interlace.resources.models import tokens


@pytest.mark.parametrize(
    ("text", "model", "wanted"),
    [
        ("hello world", "", 2),
        ("日本語のテスト", "", 5),
        ("日本語のテスト", "gpt-4", 7),
        ("<|endoftext|>", "openai/gpt-5-mini", 7),
        ("", "", 0),
    ],
)
def test_texts_are_counted_by_the_vocabulary_of_the_model(text: str, model: str, wanted: int) -> None:
    assert tokens.count(text, model) == wanted
    assert tokens.encoding_of(model).decode(tokens.encoding_of(model).encode_ordinary(text)) == text


def test_a_text_without_spaces_takes_no_time_of_its_own() -> None:
    tokens.count("warm")
    started = time.perf_counter()
    assert tokens.count("日本語" * 50_000) == 100_000
    assert time.perf_counter() - started < 5  # the plain method takes an hour


def test_a_beginning_never_ends_within_a_character() -> None:
    text = "Ä🎉日本語" * 20
    for most in range(30):
        part = tokens.first(text, most)
        assert text.startswith(part)
        assert tokens.count(part) <= most + 1
    assert tokens.first(text, 10_000) == text


def test_a_prompt_is_counted_with_its_tools() -> None:
    tool = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
    call = {"id": "1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
    plain = [{"role": "user", "content": "hello world"}]
    assert tokens.count_messages(plain) == 3 + 3 + 1 + 2
    assert tokens.count_messages(plain, tools=[tool]) == 9 + tokens.count_tools([tool])
    asked = [*plain, {"role": "assistant", "content": None, "tool_calls": [call]}]
    assert tokens.count_messages(asked) > tokens.count_messages(plain) + 8
    picture = [{"role": "user", "content": [{"type": "text", "text": "hello"}, {"type": "image_url"}]}]
    assert tokens.count_messages(picture) > 700
