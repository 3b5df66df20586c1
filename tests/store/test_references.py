from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlace.store.encoding import decode
from interlace.store.errors import NotJsonError
from interlace.store.payloads import FilePayloads
from interlace.store.references import LIMIT, Externalizer, Memo, reference, resolve_data

from .test_encoding import JSON

BIG = "x" * (LIMIT + 1)


@pytest.fixture
def payloads(tmp_path: Path) -> FilePayloads:
    return FilePayloads(tmp_path / "payloads")


async def round_trip(payloads: FilePayloads, data: dict[str, Any]) -> dict[str, Any]:
    stored = decode(Externalizer(payloads).data(data))
    return await resolve_data(stored, lambda found: payloads.load(found["$payload"]))


def stored_of(payloads: FilePayloads, data: dict[str, Any]) -> Any:
    return decode(Externalizer(payloads).data(data))


NAMES = st.sampled_from(["outputs", "variables", "error", "$payload", "other"]) | st.text(max_size=5)
LARGE = st.sampled_from(
    [BIG, [BIG], {"a": BIG}, {"$payload": "sha256-0"}, 2**70, [2**70] * 1000, ["é" * 9000, None]]
)
DATA = st.dictionaries(NAMES, JSON | LARGE | st.dictionaries(NAMES, JSON | LARGE, max_size=5), max_size=5)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(data=DATA)
async def test_all_data_comes_back(payloads: FilePayloads, data: dict[str, Any]) -> None:
    assert await round_trip(payloads, data) == data


def test_large_values_of_maps_stand_apart_and_small_ones_do_not(payloads: FilePayloads) -> None:
    data = {
        "outputs": {"text": BIG, "list": [BIG], "map": {"k": BIG}, "n": 1, "s": "short", "l": [1]},
        "handles": ("out",),
    }
    outputs = stored_of(payloads, data)["outputs"]
    assert outputs["text"] == {
        "$payload": outputs["text"]["$payload"],
        "size": len(BIG) + 2,
        "type": "string",
    }
    assert outputs["text"]["$payload"].startswith("sha256-")
    assert (outputs["list"]["type"], outputs["map"]["type"]) == ("array", "object")
    assert (outputs["n"], outputs["s"], outputs["l"]) == (1, "short", [1])


def test_a_large_value_of_other_data_stands_apart(payloads: FilePayloads) -> None:
    stored = stored_of(payloads, {"result": [BIG], "error": {"type": "x", "message": BIG}})
    assert stored["result"]["type"] == "array"
    assert stored["error"]["type"] == "x"
    assert stored["error"]["message"]["type"] == "string"


@pytest.mark.parametrize("place", ["outputs", "result"])
async def test_a_made_up_reference_is_only_data(payloads: FilePayloads, place: str) -> None:
    secret = payloads.put_json("a secret of somebody else").ref
    forged = {"$payload": secret, "size": 1, "type": "string"}
    for data in ({place: forged}, {place: {"x": forged}}, {place: [forged]}):
        assert await round_trip(payloads, data) == data


def test_one_long_text_is_written_once(payloads: FilePayloads, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Any] = []
    put = payloads.put_json
    monkeypatch.setattr(payloads, "put_json", lambda value: written.append(value) or put(value))
    encoder = Externalizer(payloads)
    texts = [encoder.data({"outputs": {"a": BIG}}) for _ in range(20)]
    assert len(set(texts)) == 1
    assert written == [BIG]


def test_a_list_that_changed_in_place_is_recorded_as_it_is(payloads: FilePayloads) -> None:
    growing = [BIG]
    encoder = Externalizer(payloads)
    first = decode(encoder.data({"variables": {"all": growing}}))["variables"]["all"]
    growing.append("more")
    second = decode(encoder.data({"variables": {"all": growing}}))["variables"]["all"]
    assert first["$payload"] != second["$payload"]


def test_the_memo_holds_what_it_knows_and_lets_the_oldest_go() -> None:
    memo = Memo(limit=25_000)
    texts = [str(n) * 10_000 for n in range(4)]
    for n, text in enumerate(texts):
        memo.put(text, reference(str(n), 1, "string"))
    assert [memo.get(text) is not None for text in texts] == [False, False, True, True]
    assert memo.get("3" * 10_000) is None, "an equal text that is another object"
    memo.put(huge := "h" * 100_000, reference("huge", 1, "string"))
    assert memo.get(huge) is not None


def test_a_huge_text_is_written_without_a_second_copy(payloads: FilePayloads) -> None:
    text = "é\n" * 10_000_000
    encoder = Externalizer(payloads)
    tracemalloc.start()
    try:
        for _ in range(20):
            encoder.data({"outputs": {"text": text}})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000, "the text has 40 MB"


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ({"outputs": {"a": {"b": [1, float("nan")]}}}, r"^outputs\.a\.b\[1\]: nan"),
        ({"outputs": {"a": float("inf")}}, r"^outputs\.a: inf"),
        ({"outputs": {"a": BIG + "\ud800"}}, r"^outputs\.a: the text has a lone surrogate"),
        ({"outputs": {1: 2}}, r"^outputs: the key 1"),
        ({"outputs": {"a": object()}}, r"^outputs\.a: a object"),
        ({"error": {"message": b""}}, r"^error\.message: a bytes"),
        ({"result": [object()]}, r"^result\[0\]: a object"),
        ({"delay": float("nan")}, r"^delay: nan"),
        ({3: 4}, r"^the value: the key 3"),
    ],
)
def test_what_is_not_json_is_refused_with_its_place(payloads: FilePayloads, data: Any, place: str) -> None:
    with pytest.raises(NotJsonError, match=place):
        Externalizer(payloads).data(data)
