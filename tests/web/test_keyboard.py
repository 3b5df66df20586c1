"""Without a mouse: a workflow is made, its steps added, joined, configured and run."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.web.conftest import Opened, Server
from tests.web.test_editor import draft_of, step


def tab_to(page: Page, what: str, *, most: int = 60) -> None:
    """Press Tab until the element with the focus has a name."""
    for _ in range(most):
        page.keyboard.press("Tab")
        name = page.evaluate(
            "(() => { const e = document.activeElement; return e.getAttribute('aria-label') || e.innerText || e.value || '' })()"
        )
        if str(name).strip().startswith(what):
            return
    raise AssertionError(f"no Tab leads to {what!r}")


def test_create_connect_configure_and_run(opened: Opened, server: Server) -> None:
    page = opened("/workflows")
    expect(page.get_by_role("heading", name="Workflows", level=1)).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search and commands").wait_for()
    page.keyboard.type("New workflow")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="New workflow").get_by_label("Name")).to_be_focused()
    page.keyboard.type("By keyboard")
    page.keyboard.press("Enter")
    expect(step(page, "end")).to_be_visible()

    # START is found and chosen by Ctrl+K; A adds a step after it, on a branch of its own.
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search and commands").wait_for()
    page.keyboard.type("start")
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary", name="Settings of what is chosen")).to_contain_text("Inputs")
    page.keyboard.press("a")
    page.get_by_role("combobox", name="Add a step").wait_for()
    page.keyboard.type("template")
    page.keyboard.press("Enter")
    expect(step(page, "template")).to_be_visible()

    # C joins it to END; the edge that led past it is parted in the same way.
    page.keyboard.press("c")
    page.get_by_role("combobox", name="Connect to …").wait_for()
    page.keyboard.type("end")
    page.keyboard.press("Enter")
    expect(page.locator(".react-flow__edge[data-id='template out end']")).to_have_count(1)
    step(page, "start").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("c")
    page.get_by_role("combobox", name="Connect to …").wait_for()
    page.keyboard.type("end")
    page.keyboard.press("Enter")
    expect(page.locator(".react-flow__edge[data-id='start out end']")).to_have_count(0)

    # The form is reached by Tab.
    step(page, "template").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", name="Settings")).to_be_visible()
    page.get_by_role("tab", name="Settings").focus()
    page.locator(".cm-content[aria-label='Template']").wait_for()
    tab_to(page, "Template")
    page.keyboard.type("without a mouse")
    step(page, "end").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("group", name="Outputs")).to_be_visible()
    page.get_by_role("tab", name="Settings").focus()
    tab_to(page, "Add")
    page.keyboard.press("Enter")
    page.locator(".cm-content[aria-label='Value of name_1']").wait_for()
    tab_to(page, "Value of name_1")
    page.keyboard.type("{{ template.text }}")
    expect(page.get_by_role("button", name="Problems: 0")).to_be_visible()
    page.keyboard.press("Control+Enter")
    expect(step(page, "end").locator("[data-status=succeeded]")).to_be_visible()

    # Arrow keys move a step; Ctrl+Z brings it back.
    before = draft_of(server, page)["ui"]["positions"]["template"]  # type: ignore[index]
    step(page, "template").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Control+s")
    page.wait_for_function("() => document.body.innerText.includes('Draft saved')")
    moved = draft_of(server, page)["ui"]["positions"]["template"]  # type: ignore[index]
    assert moved[1] > before[1]
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
