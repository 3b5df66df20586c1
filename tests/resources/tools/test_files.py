"""The folder of a run: what is written stays, belongs to the run, and is written once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlace.engine.errors import NodeError
from interlace.flows.platform import Platform
from interlace.resources.tools import folder
from interlace.resources.tools.folder import clean_path, media_type_of
from interlace.store.errors import NotFoundError
from tests.resources.tools.calling import Call, call, fault
from tests.resources.tools.conftest import Runs

PLAN = "# Plan\n\n- buy milk\n- buy bread\n"


async def test_writing_reading_and_listing(runs: Runs) -> None:
    run = await runs.new()
    written = await call("write_file", runs.call(run), path="./notes//plan.md", text=PLAN)
    assert written.value | {"file": None} == {
        "path": "notes/plan.md", "size": len(PLAN), "media_type": "text/markdown", "version": 1, "file": None,
    }  # fmt: skip
    file = written.value["file"]
    assert (file["name"], file["ref"]) == ("plan.md", f"sha256-{file['sha256']}")
    await call("write_file", runs.call(run), path="notes/log.txt", text="one\n", append=True)
    again = await call("write_file", runs.call(run), path="notes/log.txt", text="two\n", append=True)
    assert (again.value["version"], again.text) == (2, "notes/log.txt has 8 bytes now.")
    read = await call("read_file", runs.call(run), path="notes/log.txt")
    assert (read.value["text"], read.value["total_lines"], read.value["more"], read.text) == (
        "one\ntwo\n",
        2,
        False,
        "one\ntwo\n",
    )
    part = await call("read_file", runs.call(run), path="notes/plan.md", from_line=3, lines=1)
    assert part.text == "[notes/plan.md, lines 3 to 3 of 4]\n- buy milk\n"
    assert (part.value["to_line"], part.value["more"]) == (3, True)
    listed = await call("list_files", runs.call(run), pattern="notes")
    assert [entry["path"] for entry in listed.value["files"]] == ["notes/log.txt", "notes/plan.md"]
    assert (await call("list_files", runs.call(run), pattern="*.csv")).value == {"files": [], "size": 0}


async def test_searching(runs: Runs) -> None:
    run = await runs.new()
    await call("write_file", runs.call(run), path="a.md", text=PLAN)
    await call("write_file", runs.call(run), path="b.txt", text="BUY (now)\n")
    saved = await _saved(runs.call(run), b"\xff\xfe\x00buy")
    await call("write_file", runs.call(run), path="c.bin", file=saved)
    found = await call("search_files", runs.call(run), query="buy")
    assert [(match["path"], match["line"]) for match in found.value["matches"]] == [
        ("a.md", 3),
        ("a.md", 4),
        ("b.txt", 1),
    ]
    assert (await call("search_files", runs.call(run), query="(now)")).text == "b.txt:1: BUY (now)"
    exact = await call("search_files", runs.call(run), query="^BUY", regex=True, ignore_case=False)
    assert [match["path"] for match in exact.value["matches"]] == ["b.txt"]
    some = await call("search_files", runs.call(run), query="buy", pattern="*.md", limit=1)
    assert (len(some.value["matches"]), some.value["more"]) == (1, True)


async def _saved(ctx: Call, content: bytes) -> dict[str, Any]:
    from dataclasses import asdict

    from interlace.engine.protocols import Files

    return asdict(await ctx.service(Files).save(content, name="c.bin", media_type="application/octet-stream"))


async def test_changing_and_deleting(runs: Runs) -> None:
    run = await runs.new()
    await call("write_file", runs.call(run), path="a.md", text=PLAN)
    edited = await call("edit_file", runs.call(run), path="a.md", old="milk", new="tea")
    assert (edited.value["replaced"], edited.value["version"]) == (1, 2)
    assert (
        "holds that text 2 times"
        in (await fault("edit_file", runs.call(run), path="a.md", old="buy", new="get"))[1]
    )
    every = await call("edit_file", runs.call(run), path="a.md", old="buy", new="get", every=True)
    assert every.value["replaced"] == 2
    assert (await call("read_file", runs.call(run), path="a.md")).value[
        "text"
    ] == "# Plan\n\n- get tea\n- get bread\n"
    assert (await fault("edit_file", runs.call(run), path="a.md", old="rum", new=""))[0] == "no_match"
    assert (await call("delete_file", runs.call(run), path="a.md")).value == {"path": "a.md", "deleted": True}
    for tool in ("read_file", "delete_file"):
        assert (await fault(tool, runs.call(run), path="a.md"))[0] == "file_not_found"
    anew = await call("write_file", runs.call(run), path="a.md", text="x", append=True)
    assert (anew.value["size"], anew.value["version"]) == (1, 5)


async def test_a_repeated_call_changes_nothing_a_second_time(runs: Runs) -> None:
    run = await runs.new()
    for _ in range(3):
        log = await call("write_file", runs.call(run, key="first"), path="log", text="one\n", append=True)
    assert (log.value["version"], log.value["size"]) == (1, 4)
    for _ in range(2):
        edited = await call("edit_file", runs.call(run, key="second"), path="log", old="one", new="two")
    assert (edited.value["replaced"], edited.value["version"]) == (1, 2)
    for _ in range(2):
        gone = await call("delete_file", runs.call(run, key="third"), path="log")
    assert gone.value["deleted"]


async def test_calls_at_the_same_time_lose_nothing(runs: Runs) -> None:
    run = await runs.new()
    contexts = [runs.call(run, path=f"each[{n}].w") for n in range(8)]
    await asyncio.gather(
        *(call("write_file", ctx, path="log", text=f"{n}\n", append=True) for n, ctx in enumerate(contexts))
    )
    lines = (await call("read_file", runs.call(run), path="log")).value["text"].split()
    assert sorted(lines) == [str(n) for n in range(8)]


async def test_another_run_has_another_folder(runs: Runs, platform: Platform) -> None:
    mine, other = await runs.new(), await runs.new()
    await call("write_file", runs.call(mine), path="secret.txt", text="mine")
    assert (await call("list_files", runs.call(other))).value["files"] == []
    assert (await fault("read_file", runs.call(other), path="secret.txt"))[0] == "file_not_found"
    assert (await call("search_files", runs.call(other), query="mine")).value["matches"] == []
    await call("write_file", runs.call(other), path="secret.txt", text="other")
    assert (await call("read_file", runs.call(mine), path="secret.txt")).value["text"] == "mine"
    assert (await fault("list_files", Call(platform.services)))[0] == "no_run"


async def test_the_folder_goes_with_its_run(runs: Runs, platform: Platform) -> None:
    run, other = await runs.new(), await runs.new()
    for each in (run, other):
        await call("write_file", runs.call(each), path="a.txt", text=f"of {each}")
    await call("write_file", runs.call(other), path="b.txt", text="x")
    await platform.store.runs.delete(run, force=True)
    assert await platform.store.run_files.list(run) == []
    assert [entry.path for entry in await platform.store.run_files.list(other)] == ["a.txt", "b.txt"]
    with pytest.raises(NotFoundError, match="deleted just now"):
        await call("write_file", runs.call(run), path="late.txt", text="x")
    assert await platform.store.run_files.versions(run) == 0


async def test_limits(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    run = await runs.new()
    monkeypatch.setattr(folder, "MAX_FILE", 10)
    monkeypatch.setattr(folder, "MAX_TOTAL", 15)
    monkeypatch.setattr(folder, "MAX_FILES", 2)
    monkeypatch.setattr(folder, "MAX_VERSIONS", 4)
    assert (
        "11 bytes; 10 are allowed" in (await fault("write_file", runs.call(run), path="a", text="x" * 11))[1]
    )
    await call("write_file", runs.call(run), path="a", text="x" * 10)
    assert "16 bytes; 15 are" in (await fault("write_file", runs.call(run), path="b", text="x" * 6))[1]
    await call("write_file", runs.call(run), path="b", text="x")
    assert "2 files" in (await fault("write_file", runs.call(run), path="c", text=""))[1]
    await call("write_file", runs.call(run), path="a", text="y")
    await call("delete_file", runs.call(run), path="b")
    kind, words = await fault("write_file", runs.call(run), path="a", text="z")
    assert (kind, "4 times" in words) == ("folder_full", True)


async def test_arguments_that_do_not_go_together(runs: Runs) -> None:
    run = await runs.new()
    assert "exactly one of text and file" in (await fault("write_file", runs.call(run), path="a"))[1]
    assert (await fault("write_file", runs.call(run), path="a", file={"name": "x"}))[0] == "bad_file"
    kind, words = await fault("read_file", runs.call(run), path="../../etc/passwd")
    assert (kind, "leads out of the folder" in words) == ("bad_path", True)
    await call("write_file", runs.call(run), path="notes/plan.md", text="")
    assert (
        "did you mean 'notes/plan.md'?" in (await fault("read_file", runs.call(run), path="notes/plam.md"))[1]
    )


@given(st.text(max_size=40))
def test_no_path_leads_out(path: str) -> None:
    try:
        found = clean_path(path)
    except NodeError as error:
        assert error.kind == "bad_path"  # noqa: PT017
        return
    assert found == clean_path(found)
    assert not found.startswith("/")
    assert not {"", ".", ".."} & set(found.split("/"))


def test_media_types() -> None:
    assert [media_type_of(path) for path in ("a.md", "b/c.JSON", "x.pdf", "Makefile", "a.b/c")] == [
        "text/markdown", "application/json", "application/pdf", "text/plain", "text/plain",
    ]  # fmt: skip


async def test_other_tools_read_files_of_the_run(runs: Runs) -> None:
    run = await runs.new()
    await call("write_file", runs.call(run), path="o.csv", text="id,total\n1,5\n2,7\n")
    await call("write_file", runs.call(run), path="o.json", text='{"a": [1, 2]}')
    await call("write_file", runs.call(run), path="o.yaml", text="a: 5\n")
    assert (await call("json_query", runs.call(run), path="o.json", query="a[1]")).value == 2
    assert (await call("json_query", runs.call(run), path="o.yaml", query="a")).value == 5
    listed = await call("list_query", runs.call(run), path="o.csv", summary={"total": "sum"}, limit=0)
    assert listed.value == {"items": [], "total": 2, "summary": {"sum_total": 12}}
    text = await call("convert_data", runs.call(run), path="o.csv", from_format="csv", to_format="markdown")
    assert text.value.splitlines()[2] == "| 1 | 5 |"
    document = await call("read_document", runs.call(run), path="o.csv")
    assert document.value["metadata"]["format"] == "csv"
    assert "| 2 | 7 |" in document.value["content"]
    assert (await fault("read_document", runs.call(run)))[0] == "bad_arguments"
    assert (await fault("read_document", runs.call(run), file="https://example.com/x.pdf"))[0] == "bad_file"
