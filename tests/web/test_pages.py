"""Every page in both themes and languages: reachable by everybody, and nothing asked of another server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.axe import violations
from tests.web.conftest import Opened, Server
from tests.web.documents import orders
from tests.web.test_editor import step

Shot = Callable[[Page, str], None]
THEMES = pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])


def check(page: Page, dark: bool = False) -> None:
    """No serious fault of accessibility on a page; in dark, where only colours differ, of them."""
    assert violations(page, colours=dark) == []


@THEMES
@pytest.mark.parametrize(
    ("path", "heading"),
    [
        ("/", "Welcome"),
        ("/workflows", "Workflows"),
        ("/templates", "Templates"),
        ("/no/such/page", "There is no"),
    ],
)
def test_lists_and_galleries(
    opened: Opened, server: Server, shot: Shot, path: str, heading: str, dark: bool
) -> None:
    server.push(orders("A workflow"))
    page = opened(path, dark=dark)
    expect(page.get_by_role("heading", level=1)).to_contain_text(heading)
    expect(page.get_by_role("status").filter(has_text="Loading")).to_have_count(0)
    check(page, dark)
    shot(page, f"page{path.replace('/', '-').rstrip('-')}-{'dark' if dark else 'light'}")


@THEMES
def test_the_editor(opened: Opened, server: Server, shot: Shot, dark: bool) -> None:
    workflow = server.push(orders(f"Editor {dark}"))
    started = server.call(
        "POST",
        f"/api/v1/workflows/{workflow}/run?wait=20",
        {"version": "latest", "inputs": {"amounts": [1, 200]}},
    )
    page = opened(f"/workflows/{workflow}?run={started['run_id']}", dark=dark)
    expect(step(page, "start").locator("[data-status=succeeded]")).to_be_visible()
    check(page, dark)
    step(page, "each").click(position={"x": 80, "y": 20})
    expect(page.locator(".cm-content[aria-label='Items']")).to_be_visible()
    check(page, dark)
    page.get_by_role("tab", name="Data").click()
    expect(page.get_by_role("tabpanel", name="Data").get_by_text("Gave")).to_be_visible()
    check(page, dark)
    shot(page, f"editor-{'dark' if dark else 'light'}")
    page.get_by_role("button", name="Outline").click()
    page.get_by_role("button", name="YAML").first.click()
    expect(page.locator(".cm-content[aria-label='YAML']")).to_be_visible()
    check(page, dark)
    page.get_by_role("button", name="Problems: 0").click()
    page.locator(".react-flow__pane").click(position={"x": 5, "y": 5})
    page.keyboard.press("a")
    expect(page.get_by_role("dialog", name="Add a step")).to_be_visible()
    check(page, dark)


@THEMES
def test_signing_in(browser: object, server: Server, dark: bool) -> None:
    context = browser.new_context(
        base_url=server.url, color_scheme="dark" if dark else "light", locale="en-GB"
    )  # type: ignore[attr-defined]
    page = context.new_page()
    page.goto("/workflows")
    expect(page).to_have_url(f"{server.url}/login?to=%2Fworkflows")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    check(page, dark)
    page.get_by_role("button", name="Use an API key").click()
    page.get_by_label("API key").fill("il_wrong")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("API key").fill(server.key)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page).to_have_url(f"{server.url}/workflows")
    context.close()


def test_japanese_and_the_choice_of_a_theme_stay(opened: Opened, shot: Shot) -> None:
    page = opened("/")
    page.get_by_role("button", name="Account:").click()
    page.get_by_role("menuitem", name="Language").hover()
    page.get_by_role("menuitem", name="日本語").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("ようこそ")
    page.reload()
    expect(page.get_by_role("link", name="ワークフロー", exact=True)).to_be_visible()
    assert page.evaluate("document.documentElement.lang") == "ja"
    page.goto("/templates")
    expect(page.get_by_role("heading", level=1)).to_have_text("テンプレート")
    check(page)
    shot(page, "page-templates-ja")


def test_a_small_screen(opened: Opened, shot: Shot) -> None:
    page = opened("/workflows", viewport={"width": 390, "height": 800})
    expect(page.get_by_role("heading", name="Workflows", level=1)).to_be_visible()
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("dialog", name="Menu").get_by_role("link", name="Templates").click()
    expect(page.get_by_role("heading", name="Templates", level=1)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    check(page)
    shot(page, "page-templates-small")


def test_a_template_becomes_a_workflow_that_runs(opened: Opened) -> None:
    page = opened("/templates")
    page.get_by_role("button", name="Use it: First steps").click()
    expect(step(page, "start")).to_be_visible()
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("dialog").get_by_label("Name").fill("Ada")
    page.get_by_role("dialog").get_by_role("button", name="Run", exact=True).click()
    expect(step(page, "done").locator("[data-status=succeeded]")).to_be_visible()


def test_workflows_are_imported_exported_duplicated_and_deleted(
    opened: Opened, server: Server, tmp_path: Path
) -> None:
    server.push(orders("To and fro"))
    page = opened("/workflows")
    page.get_by_role("button", name="Actions of To and fro").click()
    with page.expect_download() as saved:
        page.get_by_role("menuitem", name="Export as YAML").click()
    file = tmp_path / "flow.yaml"
    saved.value.save_as(file)
    file.write_text(file.read_text().replace("To and fro", "From a file"))
    page.get_by_role("button", name="Import").first.click()
    page.get_by_role("dialog").locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name="Keep as a workflow").click()
    expect(step(page, "start")).to_be_visible()
    page.goto("/workflows")
    page.get_by_role("button", name="Actions of From a file").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("link", name="From a file")).to_have_count(0)
