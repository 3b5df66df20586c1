"""What the first load weighs, and what a frame costs with five hundred steps."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from interlace.server.webui import BUNDLE
from tests.web.conftest import Opened, Server
from tests.web.documents import chain
from tests.web.test_editor import step

FIRST_KIB, ALL_KIB = 220, 500
FRAME_MS = 16.7


def weight(path: Path) -> float:
    """KiB of a file as it is sent to browsers: as Brotli where the build made it."""
    made = path.with_name(path.name + ".br")
    return (made.stat().st_size if made.is_file() else len(gzip.compress(path.read_bytes(), 9))) / 1024


def test_the_bundle_keeps_within_its_budget(opened: Opened, server: Server) -> None:
    if not (BUNDLE / "index.html").is_file():
        pytest.skip("the web UI is not built")
    files = {path.name: weight(path) for path in (BUNDLE / "assets").iterdir() if path.suffix != ".br"}
    workflow = server.push(chain("Weighed", 3))
    page = opened("/no/such/page")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    loaded: set[str] = set()
    page.on(
        "request", lambda asked: loaded.add(asked.url.rpartition("/")[2]) if "/assets/" in asked.url else None
    )
    page.goto(f"/workflows/{workflow}")
    expect(step(page, "start")).to_be_visible()
    # What is fetched ahead of need, because the first click may need it, is not needed to show the editor.
    ahead = {name for name in loaded if re.match(r"(Code|ExpressionEditor|scope|dagre)", name)}
    first = sum(files[name] for name in loaded - ahead)
    heaviest = {name: round(files[name], 1) for name in sorted(loaded - ahead, key=lambda name: -files[name])}
    assert first <= FIRST_KIB, str((round(first), heaviest))
    # Nobody loads both languages.
    files = {name: size for name, size in files.items() if not name.startswith("japanese")}
    assert sum(files.values()) <= ALL_KIB, {name: round(size) for name, size in files.items() if size > 10}


def thread_milliseconds(trace: Any) -> float:
    """CPU time of the page's main thread in a trace."""
    threads = {
        (event["pid"], event["tid"])
        for event in trace
        if event.get("name") == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    spent: dict[tuple[int, int], float] = {}
    for event in trace:
        at = (event.get("pid"), event.get("tid"))
        if event.get("ph") == "X" and event.get("name") == "RunTask" and at in threads:
            spent[at] = spent.get(at, 0.0) + event.get("tdur", 0) / 1000
    return max(spent.values())


def measured(page: Page, frames: int, move: Any) -> float:
    """Main-thread CPU per frame while something is done once a frame."""
    client = page.context.new_cdp_session(page)
    events: list[Any] = []
    client.on("Tracing.dataCollected", lambda data: events.extend(data["value"]))
    client.send(
        "Tracing.start", {"categories": "toplevel,devtools.timeline,disabled-by-default-devtools.timeline"}
    )
    for index in range(frames):
        move(index)
        page.evaluate("() => new Promise(requestAnimationFrame)")
    with page.expect_event("console", predicate=lambda message: message.text == "traced", timeout=30_000):
        client.on("Tracing.tracingComplete", lambda _: page.evaluate("() => console.log('traced')"))
        client.send("Tracing.end")
    return thread_milliseconds(events) / frames


@pytest.mark.slow
def test_five_hundred_steps_do_not_stutter(opened: Opened, server: Server, record_property: Any) -> None:
    page = opened(f"/workflows/{server.push(chain('Five hundred', 500))}")
    expect(step(page, "start")).to_be_visible()
    dragged = step(page, "n0")
    box = dragged.bounding_box()
    assert box is not None
    x, y = box["x"] + 60, box["y"] + 15
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 5, y + 5)
    drag = measured(page, 60, lambda index: page.mouse.move(x + 5 + index * 3, y + 5 + index * 2))
    page.mouse.up()
    page.mouse.move(800, 600)
    pan = measured(page, 60, lambda index: page.mouse.wheel(12, 6))
    figures = {"drag_ms_per_frame": round(drag, 1), "pan_ms_per_frame": round(pan, 1)}
    record_property("figures", json.dumps(figures))
    assert drag <= FRAME_MS, figures
    assert pan <= FRAME_MS, figures
