"""Pages of resources, models and agents, and the first page: each job done against the real server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.web import seeded
from tests.web.axe import violations

Opened = Callable[..., Page]
PAGES = {
    "home": "/", "chat": "/chat", "models": "/models", "connectors": "/connectors", "connector": "/connectors/{connectors}",
    "credentials": "/connectors/{connectors}?tab=credentials", "connector-settings": "/connectors/{connectors}?tab=settings",
    "databases": "/databases", "database": "/databases/{databases}", "query": "/databases/{databases}?tab=query",
    "database-settings": "/databases/{databases}?tab=settings", "knowledge": "/knowledge", "documents": "/knowledge/{knowledge-bases}",
    "search": "/knowledge/{knowledge-bases}?tab=search", "mcp-servers": "/mcp-servers", "mcp-server": "/mcp-servers/{mcp-servers}",
    "skills": "/skills", "skill": "/skills/{skills}", "tools": "/tools", "market": "/market", "agents": "/agents",
    "agent": "/agents/{agents}", "scope": "/agents/{agents}?tab=scope", "limits": "/agents/{agents}?tab=limits",
    "new-connector": "/connectors?new", "new-provider": "/models?new",
}  # fmt: skip


def places(site: Any) -> dict[str, str]:
    """Every page with the ids of what was seeded."""
    kinds = ("connectors", "databases", "knowledge-bases", "mcp-servers", "skills", "agents")
    ids = {kind: site.call("GET", f"/api/v1/{kind}")["items"][0]["id"] for kind in kinds}
    return {name: path.format(**ids) for name, path in PAGES.items()}


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("look", "options"), [
    ("light", {}), ("dark", {"dark": True}), ("phone", {"viewport": {"width": 390, "height": 844}}),
])  # fmt: skip
def test_every_page_is_accessible_and_fits(
    site: Any, opened: Opened, shot: Any, look: str, options: dict[str, Any]
) -> None:
    page = opened("/", **options)
    found: list[str] = []
    for name, path in places(site).items():
        page.goto(path)
        expect(page.get_by_role("heading").first).to_be_visible()
        expect(page.get_by_text("Loading …")).to_have_count(0)
        shot(page, f"{name}-{look}")
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append(f"{name}: wider than the window")
        if look == "phone":  # the same elements as in a wide window, in another arrangement
            continue
        found += [f"{name}: {violation}" for violation in violations(page, colours=look == "dark")]
    assert not found


def test_every_text_is_there_in_japanese(site: Any, opened: Opened, shot: Any) -> None:
    page = opened("/")
    page.evaluate(
        "localStorage.setItem('interlace.preferences', JSON.stringify({state: {theme: 'system', language: 'ja', navigation: 'wide'}, version: 0}))"
    )
    for name, title in {
        "models": "モデル",
        "connectors": "コネクタ",
        "agents": "エージェント",
        "chat": "チャット",
    }.items():
        page.goto(PAGES[name])
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        expect(page.get_by_text("読み込み中")).to_have_count(0)
        shot(page, f"{name}-ja")


def test_the_first_page_runs_the_example_and_asks_an_agent(site: Any, opened: Opened, shot: Any) -> None:
    page = opened("/")
    page.get_by_role("button", name="Run the example").click()
    report = page.get_by_role("region", name="Run a workflow")
    expect(report.get_by_role("heading")).to_contain_text("airlines need a look", timeout=60_000)
    expect(page.get_by_role("link", name="Storm report").first).to_be_visible()
    shot(page, "home-after-the-example")
    page.get_by_role("textbox", name="Ask something").fill("hello there")
    page.get_by_role("textbox", name="Ask something").press("Enter")
    expect(page.get_by_role("article", name="Answer of")).to_contain_text("Fine. What else?")


def test_a_connector_from_openapi_is_kept_and_called(site: Any, opened: Opened) -> None:
    page = opened("/connectors?new")
    content = (seeded.SHOP % site.shop.url).replace("Lamp shop", "Second shop").encode()
    page.get_by_label("Drop an OpenAPI file").set_input_files(
        {"name": "a.yaml", "mimeType": "text/yaml", "buffer": content}
    )
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("3 of 3 operations")
    dialog.get_by_role("textbox", name="Name").fill("second")
    dialog.get_by_role("button", name="Keep the connector").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("second")
    page.get_by_role("tab", name="Credentials").click()
    page.get_by_label("Key").fill("k-1")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The credentials are stored.")).to_be_visible()
    expect(page.get_by_label("Key")).to_have_value("")
    page.get_by_role("tab", name="Actions").click()
    page.get_by_role("list", name="Actions").get_by_role("button", name="list_orders").click()
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.get_by_role("region", name="Result")).to_contain_text("/orders")
    expect(page.get_by_role("region", name="Result")).to_contain_text("HTTP 200")
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("“second” is deleted.")).to_be_visible()


def test_a_wrong_description_says_why_and_keeps_nothing(site: Any, opened: Opened) -> None:
    page = opened("/connectors?new")
    page.get_by_label("Drop an OpenAPI file").set_input_files(
        {"name": "a.yaml", "mimeType": "text/yaml", "buffer": b"hello: ["}
    )
    expect(page.get_by_role("dialog").get_by_role("alert")).to_be_visible()
    assert len(site.call("GET", "/api/v1/connectors")["items"]) == 1


def test_tables_are_described_hidden_and_asked(site: Any, opened: Opened) -> None:
    database = site.call("GET", "/api/v1/databases/flights")["id"]
    page = opened(f"/databases/{database}")
    page.get_by_role("button", name="Hide planes").click()
    expect(page.get_by_role("button", name="Show planes")).to_be_visible()
    card = page.get_by_role("region", name="airlines")
    card.get_by_role("button", expanded=False).first.click()
    note = card.get_by_role("textbox", name="Description of airlines")
    note.fill("Who flies")
    note.press("Enter")
    expect(card.get_by_role("button").first).to_contain_text("Who flies")
    page.get_by_role("tab", name="Query").click()
    code = page.get_by_role("textbox", name="SQL statement")
    code.fill("SELECT carrier, name FROM airlines ORDER BY carrier LIMIT 2")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("region", name="Result").get_by_role("row")).to_have_count(3)
    code.fill("SELECT * FROM planes")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("planes")
    page.get_by_role("tab", name="Tables").click()
    page.get_by_role("button", name="Show planes").click()
    expect(page.get_by_role("region", name="planes")).to_be_visible()


def test_a_document_is_read_searched_and_opened(site: Any, opened: Opened, shot: Any) -> None:
    base = site.call("GET", "/api/v1/knowledge-bases/handbook")["id"]
    page = opened(f"/knowledge/{base}")
    page.get_by_label("Drop documents here").set_input_files(
        {
            "name": "parking.md",
            "mimeType": "text/markdown",
            "buffer": b"# Parking\n\nBicycles park in the yard.",
        }
    )
    row = page.get_by_role("row", name="parking.md")
    expect(row).to_contain_text("Ready", timeout=30_000)
    row.get_by_role("button", name="parking.md", exact=True).click()
    expect(page.get_by_role("dialog")).to_contain_text("Bicycles park in the yard.")
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Search").click()
    page.get_by_role("searchbox", name="Ask the knowledge base").fill("where do bicycles park")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.get_by_role("listitem").filter(has_text="Bicycles").first).to_contain_text("score")
    shot(page, "search-results")


def test_a_skill_is_written_and_switched_off(site: Any, opened: Opened) -> None:
    page = opened("/skills?new")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("greeting")
    dialog.get_by_label("Description").fill("How guests are greeted.")
    dialog.get_by_label("Text").fill("# Greeting\n\nSay **hello**.")
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("Say hello.")
    page.get_by_role("switch", name="Active").click()
    expect(page.get_by_role("switch", name="Active")).not_to_be_checked()
    assert site.call("GET", "/api/v1/skills/greeting")["active"] is False
    site.call("DELETE", "/api/v1/skills/greeting")


def test_a_model_is_tested_and_a_budget_set(site: Any, opened: Opened) -> None:
    page = opened("/models")
    page.get_by_role("button", name="Test").click()
    expect(page.get_by_text("answered “")).to_be_visible()
    page.get_by_role("button", name="New budget").click()
    page.get_by_label("At most").fill("25")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("meter", name="installation")).to_be_visible()
    page.get_by_role("button", name="Remove installation").click()
    expect(page.get_by_text("No limit is set.")).to_be_visible()


def test_a_tool_is_tried(site: Any, opened: Opened) -> None:
    page = opened("/tools")
    page.get_by_role("button", name="calculator").click()
    page.get_by_label("Expression").fill("6*7")
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.get_by_role("region", name="Result")).to_contain_text("42")


def test_an_agent_is_made_scoped_and_tried(site: Any, opened: Opened) -> None:
    page = opened("/agents?new")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("guide")
    dialog.get_by_label("Instructions").fill("You guide people.")
    dialog.get_by_role("button", name="Create").click()
    page.get_by_role("tab", name="Scope").click()
    page.get_by_role("switch", name="handbook").click()
    page.get_by_role("switch", name="All kinds of tools").click()
    page.get_by_role("switch", name="Code").click()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    kept = site.call("GET", "/api/v1/agents/guide")["definition"]
    assert len(kept["kb_ids"]) == 1
    assert "code" not in kept["tool_categories"]
    page.get_by_role("tab", name="Persona").click()
    trial = page.get_by_role("region", name="Try it")
    trial.get_by_role("textbox", name="Message").fill("hello")
    trial.get_by_role("textbox", name="Message").press("Enter")
    expect(trial.get_by_role("article", name="Answer of guide")).to_contain_text("Fine. What else?")
    site.call("DELETE", "/api/v1/agents/guide")
