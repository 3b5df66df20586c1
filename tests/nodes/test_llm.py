from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import ValidationError

from interlace.engine.chat import Delta
from interlace.engine.deltas import DeltaEvents
from interlace.nodes.llm import LlmConfig
from tests.nodes.models import scripted
from tests.nodes.runs import check

PERSON = {"type": "object", "required": ["age"], "properties": {"age": {"type": "integer"}}}


async def test_a_prompt_with_instructions() -> None:
    async with scripted({"text": "Hallo.", "usage": {"input": 10, "output": 2}}) as models:
        run = await models.run(
            "LLM", {"system": "Be short", "prompt": "Say {{ inputs.what }}", "temperature": "{{ 0.5 }}", "max_tokens": 9,
                    "stop": ["#"], "model": "{{ inputs.model }}"},
            {"what": "hello", "model": "p/scripted-mini"},
        )  # fmt: skip
    assert (run["text"], run["data"], run["finish_reason"], run["model"]) == (
        "Hallo.",
        None,
        "stop",
        "p/scripted-mini",
    )
    assert (run["usage"]["input_tokens"], run["usage"]["output_tokens"], run["usage"]["calls"]) == (10, 2, 1)
    body = models.asked.body
    assert body["messages"] == [
        {"role": "system", "content": "Be short"}, {"role": "user", "content": "Say hello"},
    ]  # fmt: skip
    assert (body["temperature"], body["max_tokens"], body["stop"], body["stream"]) == (0.5, 9, ["#"], True)


async def test_deltas_add_up_to_the_answer_and_are_few() -> None:
    text = "word " * 400
    async with scripted({"text": text, "chunk_size": 5}) as models:
        run = await models.run("LLM", {"prompt": "go"})
    deltas = run.of("node.delta")
    assert "".join(delta["text"] for delta in deltas) == run["text"] == text
    assert 1 <= len(deltas) < 40
    async with scripted("quiet") as models:
        run = await models.run("LLM", {"prompt": "go", "stream": False})
    assert run["text"] == "quiet"
    assert run.of("node.delta") == []
    assert "stream" not in models.asked.body


async def test_pieces_of_a_moment_are_one_event_and_none_is_lost() -> None:
    class Recorded:
        def __init__(self) -> None:
            self.events: list[Any] = []
            self.second = asyncio.Event()

        def emit(self, kind: str, data: Any) -> None:
            assert kind == "node.delta"
            self.events.append(data)
            if len(self.events) == 2:
                self.second.set()

    ctx: Any = Recorded()
    with DeltaEvents(ctx, seconds=0.01) as deltas:
        for letter in "abc":
            deltas(Delta(text=letter))
        assert ctx.events == [{"text": "a"}]
        await asyncio.wait_for(ctx.second.wait(), 10)  # by itself, without another piece
        assert ctx.events[1] == {"text": "bc"}
        deltas(Delta(text="x"))
        deltas(Delta(restart=True))
        deltas(Delta(text="new", reasoning="hm"))
    assert ctx.events[-1]["text"] == "new"
    assert ctx.events[-1]["restart"] is True


async def test_data_by_a_schema_is_repaired_once() -> None:
    async with scripted({"data": {"age": "old"}}, {"data": {"age": 36}}) as models:
        run = await models.run("LLM", {"prompt": "How old?", "output_schema": PERSON})
    assert run["data"] == {"age": 36}
    assert run["usage"]["calls"] == 2
    async with scripted({"data": {"age": "old"}}) as models:
        run = await models.run("LLM", {"prompt": "How old?", "output_schema": PERSON})
    assert run.kind == "invalid_output"
    assert "age" in run.message


async def test_a_cut_answer_is_an_error_unless_allowed() -> None:
    async with scripted("a long story about nothing") as models:
        run = await models.run("LLM", {"prompt": "go", "max_tokens": 2})
        assert run.kind == "output_truncated"
        run = await models.run("LLM", {"prompt": "go", "max_tokens": 2, "allow_truncated": True})
    assert (run["text"], run["finish_reason"]) == ("a long", "length")


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ({"refusal": "No."}, "refused"),
        ({"status": 429}, "rate_limit"),
        ({"status": 401}, "http_401"),
        ({"text": ""}, "empty_answer"),
        ({"text": " \n"}, "empty_answer"),
    ],
)
async def test_faults_have_their_kinds(reply: dict[str, Any], kind: str) -> None:
    async with scripted(reply) as models:
        assert (await models.run("LLM", {"prompt": "go"})).kind == kind


async def test_conversations() -> None:
    async with scripted("fine") as models:
        run = await models.run(
            "LLM",
            {"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "{{ inputs.q }}"}]},
            {"q": "why"},
        )
        assert run["text"] == "fine"
        assert [m["content"] for m in models.asked.messages] == ["s", "why"]
        run = await models.run(
            "LLM", {"messages": "{{ inputs.all }}"}, {"all": [{"role": "user", "content": "x"}]}
        )
        assert models.asked.user == "x"
        wrong = await models.run(
            "LLM", {"messages": "{{ inputs.all }}"}, {"all": [{"role": "robot", "content": "x"}]}
        )
    assert wrong.kind == "wrong_type"
    assert "role" in wrong.message


async def test_images_and_files_belong_to_the_last_message() -> None:
    async with scripted("seen") as models:
        files = models.store.files
        photo, note, page, other = [
            {"name": f.name, "media_type": f.media_type, "size": f.size, "sha256": f.sha256, "ref": f.ref}
            for f in [
                await files.save(b"\x89PNG", name="a.png", media_type="image/png"),
                await files.save("Grüße </file>".encode(), name="b.txt", media_type="text/plain"),
                await files.save(b"%PDF", name="c.pdf", media_type="application/pdf"),
                await files.save(b"PK", name="d.docx", media_type="application/zip"),
            ]
        ]
        config: dict[str, Any] = {
            "prompt": "look",
            "images": "{{ [inputs.photo] }}",
            "files": ["{{ inputs.note }}", "{{ inputs.page }}"],
        }
        run = await models.run("LLM", config, {"photo": photo, "note": note, "page": page})
        assert run["text"] == "seen"
        text, image, content, pdf = models.asked.messages[-1]["content"]
        assert text["text"] == "look"
        assert image["image_url"]["url"] == "data:image/png;base64,iVBORw=="
        assert content["text"] == '<file name="b.txt">\nGrüße <\\/file>\n</file>'
        assert pdf["file"]["filename"] == "c.pdf"
        run = await models.run("LLM", {"prompt": "look", "files": ["{{ inputs.other }}"]}, {"other": other})
    assert run.kind == "bad_attachment"
    assert "DOCUMENT_EXTRACTOR" in run.message


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"prompt": "a", "messages": []},
        {"messages": [{"role": "user", "content": "x"}], "system": "s"},
        {"messages": [{"role": "robot", "content": "x"}]},
        {"prompt": "a", "temperature": 3},
        {"prompt": "a", "max_tokens": 0},
    ],
)
def test_configs_that_mean_nothing_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        LlmConfig.model_validate(wrong)


def test_a_wrong_schema_is_found_before_a_run() -> None:
    [finding] = check("LLM", {"prompt": "a", "output_schema": {"type": "strange"}})
    assert finding.code == "output_schema"


async def test_without_a_model_the_error_says_what_to_do() -> None:
    async with scripted() as models:
        run = await models.run("LLM", {"prompt": "a", "model": "none/such"})
    assert run.kind == "resource_not_found"


async def test_the_last_turns_of_a_conversation_are_read() -> None:
    said = [("user", "one"), ("assistant", "1"), ("user", "two"), ("user", "too"), ("assistant", "2")]
    history = [{"role": role, "content": text} for role, text in said]
    for turns, wanted in (
        (1, ["too", "2"]),
        (2, ["two", "too", "2"]),
        (9, [text for _, text in said]),
        (None, []),
    ):
        async with scripted("fine") as models:
            config = {"system": "s", "prompt": "{{ inputs.message }}", "history": turns}
            schema = {"message": "three", "history": [*history, {"role": "system", "content": "no"}, "junk"]}
            done = await models.run("LLM", {k: v for k, v in config.items() if v is not None}, schema)
            assert done.outputs["text"] == "fine"
            told = [message["content"] for message in models.asked.messages]
            assert told == ["s", *wanted, "three"]
