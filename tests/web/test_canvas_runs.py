"""Runs on the canvas: passes, values, why, pins, parts of runs, runs again, comparisons, versions and text."""

from __future__ import annotations

import json
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.web.conftest import Opened, Server
from tests.web.documents import orders
from tests.web.test_editor import draft_of, editor, open_workflow, step

Shot = Callable[[Page, str], None]


def run(page: Page, amounts: list[int]) -> None:
    """Run with a list of amounts and wait for the end."""
    page.get_by_role("button", name="Run", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("group", name="Amounts", exact=True).wait_for()
    for index, amount in enumerate(amounts):
        if not dialog.get_by_label(f"Amounts {index + 1}").count():
            dialog.get_by_role("button", name="Add", exact=True).click()
        dialog.get_by_role("spinbutton", name=f"Amounts {index + 1}").fill(str(amount))
    dialog.get_by_role("button", name="Run", exact=True).click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("region", name="Run").get_by_text("Succeeded", exact=True)).to_be_visible()


def test_passes_values_and_why(opened: Opened, server: Server, shot: Shot) -> None:
    page = open_workflow(opened, server.push(orders("Passes")))
    run(page, [5, 20])
    expect(page.locator(".react-flow__edge[data-id='large else end'] [data-state=taken]")).to_have_count(1)
    expect(step(page, "each").get_by_label("Pass 2 of 2")).to_be_visible()
    step(page, "line").click()
    page.get_by_role("tab", name="Data").click()
    data = page.get_by_role("tabpanel", name="Data")
    expect(data.get_by_label("text", exact=True)).to_have_text("order 1: 20")
    step(page, "each").get_by_label("Pass before").click()
    expect(data.get_by_label("text", exact=True)).to_have_text("order 0: 5")
    step(page, "alarm").click()
    expect(data.get_by_text("skipped: edge large.large not taken")).to_be_visible()
    step(page, "total").click()
    expect(data.get_by_label("config.input")).to_contain_text("20")
    expect(page.get_by_role("table", name="Timeline")).to_contain_text("total")
    shot(page, "editor-timeline")


def test_a_pinned_output_stands_in_and_parts_run_again(opened: Opened, server: Server) -> None:
    page = open_workflow(opened, server.push(orders("Pinning")))
    run(page, [1, 2])
    step(page, "total").click()
    page.get_by_role("tab", name="Data").click()
    page.get_by_role("button", name="Pin output").click()
    expect(step(page, "total").get_by_label("Pinned")).to_be_visible()
    pinned = page.locator(".cm-content[aria-label='Pinned output']")
    pinned.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(json.dumps({"result": 500, "first": 1, "last": 2, "count": 2}))
    page.get_by_role("tabpanel", name="Data").get_by_role("button", name="Save").click()
    expect(page.get_by_text("The output is pinned").first).to_be_visible()
    run(page, [1, 2])
    expect(step(page, "alarm").locator("[data-status=succeeded]")).to_be_visible()
    # Up to a node: what comes after it does not run.
    page.get_by_role("button", name="Run to here").click()
    expect(step(page, "large").get_by_label("Succeeded")).to_have_count(0)
    expect(step(page, "total").locator("[data-status=succeeded]")).to_be_visible()


def test_a_step_is_tested_alone_and_a_run_goes_on_from_it_with_changes(
    opened: Opened, server: Server
) -> None:
    page = open_workflow(opened, server.push(orders("Again")))
    run(page, [1, 2])
    step(page, "alarm").click()
    page.get_by_role("tab", name="Data").click()
    page.get_by_role("button", name="Test this step").first.click()
    expect(page.locator(".cm-content[aria-label='Values it reads']")).to_contain_text('"result": 3')
    page.get_by_role("tabpanel", name="Data").get_by_role("button", name="Test this step").last.click()
    expect(page.get_by_role("status").get_by_label("text", exact=True)).to_have_text("3 is a lot")
    step(page, "large").click()
    page.get_by_role("button", name="Run again from here").click()
    changes = page.locator(".cm-content[aria-label^='Changed results']")
    changes.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text('{"total.result": 900}')
    page.get_by_role("tabpanel", name="Data").get_by_role("button", name="Run again", exact=True).click()
    expect(step(page, "alarm").locator("[data-status=succeeded]")).to_be_visible()
    step(page, "alarm").click()
    expect(page.get_by_role("tabpanel", name="Data").get_by_label("text", exact=True).last).to_have_text(
        "900 is a lot"
    )
    page.get_by_role("button", name="Compare runs").click()
    expect(page.get_by_role("dialog").get_by_role("heading", name="alarm")).to_be_visible()


def test_versions_are_kept_compared_published_and_restored(
    opened: Opened, server: Server, shot: Shot
) -> None:
    workflow = server.push(orders("Versions"))
    page = open_workflow(opened, workflow)
    step(page, "alarm").click()
    page.keyboard.press("Delete")
    page.get_by_role("button", name="Save version").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Alarm")
    dialog.get_by_label("What is new").fill("No alarm any more")
    # END still reads the step that went: an invalid document becomes no version, and says why.
    dialog.get_by_role("button", name="Publish").click()
    expect(dialog.get_by_role("alert")).to_contain_text("alarm")
    dialog.get_by_role("button", name="Cancel").click()
    step(page, "end").click()
    page.get_by_role("button", name="Remove alarm").click()
    expect(page.get_by_role("button", name="Problems: 0")).to_be_visible()
    page.get_by_role("button", name="Save version").click()
    page.get_by_role("dialog").get_by_role("button", name="Publish").click()
    expect(page.get_by_text("Version 2 is published.")).to_be_visible()
    assert server.call("GET", f"/api/v1/workflows/{workflow}")["published_version"] == 2
    page.get_by_role("button", name="Versions").first.click()
    first = page.get_by_role("region", name="Versions").get_by_role("listitem").filter(has_text="Version 1")
    first.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("dialog").locator(".react-flow__node[data-id='alarm']")).to_be_visible()
    shot(page, "editor-compare")
    page.get_by_role("radio", name="Text").click()
    expect(page.get_by_role("dialog").locator("pre")).to_contain_text("alarm")
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    first.get_by_role("button", name="Restore").click()
    expect(step(page, "alarm")).to_be_visible()


def test_yaml_and_canvas_follow_each_other(opened: Opened, server: Server, shot: Shot) -> None:
    page = open_workflow(opened, server.push(orders("Text")))
    page.get_by_role("button", name="YAML").first.click()
    text = editor(page, "YAML")
    expect(text).to_contain_text("label: Alarm")
    text.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(
        "name: Text\nnodes:\n  - {id: start, type: START}\n  - {id: hello, type: TEMPLATE, config: {template: hi}}\n"
        "  - {id: end, type: END, config: {outputs: {text: '{{ hello.text }}'}}}\nedges: [start -> hello -> end]\n"
    )
    expect(step(page, "hello")).to_be_visible()
    expect(step(page, "alarm")).to_have_count(0)
    assert len(draft_of(server, page)["edges"]) == 2  # type: ignore[arg-type]
    shot(page, "editor-yaml")
    # Text that cannot be read changes nothing, and says where it is wrong.
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("nodes: [")
    expect(page.get_by_role("alert")).to_contain_text("Line")
    expect(step(page, "hello")).to_be_visible()


def test_a_draft_that_somebody_else_changed_is_not_written_over(opened: Opened, server: Server) -> None:
    workflow = server.push(orders("Conflict"))
    page = open_workflow(opened, workflow)
    theirs = {**orders("Conflict"), "description": "theirs"}
    server.call("PUT", f"/api/v1/workflows/{workflow}/draft", {"document": theirs, "seen": None})
    step(page, "alarm").click()
    page.get_by_label("Label").fill("Mine")
    expect(page.get_by_role("alert").filter(has_text="Changed meanwhile")).to_be_visible()
    held = server.call("GET", f"/api/v1/workflows/{workflow}/draft")["draft"]["document"]
    assert held["description"] == "theirs"
    page.get_by_role("button", name="Take theirs").click()
    expect(step(page, "alarm")).to_contain_text("Alarm")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Undo").click()
    expect(step(page, "alarm")).to_contain_text("Mine")
