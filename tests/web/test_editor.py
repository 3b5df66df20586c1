"""The editor in a browser against the real server: build, connect, configure, run, watch, and go back."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from tests.web.conftest import Opened, Server
from tests.web.documents import orders

Shot = Callable[[Page, str], None]


def step(page: Page, node: str) -> Locator:
    """A step on the canvas."""
    return page.locator(f".react-flow__node[data-id='{node}']")


def editor(page: Page, label: str) -> Locator:
    """A field with expressions, once it is there in full."""
    return page.locator(f".cm-content[aria-label='{label}']")


def open_workflow(opened: Opened, workflow: str) -> Page:
    page = opened(f"/workflows/{workflow}", viewport={"width": 2400, "height": 1000})
    expect(step(page, "start")).to_be_visible()
    return page


def draft_of(server: Server, page: Page) -> dict[str, object]:
    """The draft as the server has it, once it has what is on the page."""
    expect(page.get_by_text("Draft saved")).to_be_visible()
    workflow = page.url.rpartition("/")[2].partition("?")[0]
    found: dict[str, object] = server.call("GET", f"/api/v1/workflows/{workflow}/draft")["draft"]["document"]
    return found


def test_create_connect_configure_run_and_watch(opened: Opened, server: Server, shot: Shot) -> None:
    page = opened("/workflows")
    page.get_by_role("button", name="New workflow").first.click()
    page.get_by_label("Name").fill("Greeting")
    page.get_by_role("button", name="Create").click()
    expect(step(page, "start")).to_be_visible()

    # The edge from START to END goes away, a step is dragged onto the canvas, and handles are joined.
    page.locator(".react-flow__edge").first.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Delete")
    expect(page.locator(".react-flow__edge")).to_have_count(0)
    source = page.get_by_role("button", name="Template", exact=True)
    canvas = page.locator(".react-flow__pane").bounding_box()
    assert canvas is not None
    source.drag_to(
        page.locator(".react-flow__pane"),
        target_position={"x": canvas["width"] / 2, "y": canvas["height"] * 0.15},
    )
    expect(step(page, "template")).to_be_visible()
    for one, other in (("start", "template"), ("template", "end")):
        step(page, one).locator(".react-flow__handle.source").drag_to(
            step(page, other).locator(".react-flow__handle.target")
        )
    expect(page.locator(".react-flow__edge")).to_have_count(2)

    # Inputs at START, the template with completion, the output at END.
    step(page, "start").click()
    page.get_by_role("button", name="Add a field").click()
    name = page.get_by_role("group", name="field_1").get_by_label("Name", exact=True)
    name.fill("name")
    name.press("Enter")
    step(page, "template").click()
    template = editor(page, "Template")
    template.click()
    page.keyboard.type("Hello {{ inputs.na")
    expect(page.get_by_role("option").filter(has_text="name")).to_be_visible()
    page.keyboard.press("Enter")
    page.keyboard.type(" }}!")
    expect(template).to_contain_text("Hello {{ inputs.name }}!")
    step(page, "end").click()
    page.get_by_role("group", name="Outputs").get_by_role("button", name="Add").click()
    output = editor(page, "Value of name_1")
    output.click()
    page.keyboard.type("{{ template.text }}")
    expect(page.get_by_role("button", name="Problems: 0")).to_be_visible()

    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("dialog").get_by_label("Name").fill("Ada")
    page.get_by_role("dialog").get_by_role("button", name="Run", exact=True).click()
    expect(step(page, "end").locator("[data-status=succeeded]")).to_be_visible()
    page.get_by_role("radio", name="Result").click()
    expect(page.get_by_label("Result").last).to_contain_text("Hello Ada!")
    step(page, "template").click()
    page.get_by_role("tab", name="Data").click()
    expect(page.get_by_label("text", exact=True)).to_have_text("Hello Ada!")
    shot(page, "editor-run")

    document = draft_of(server, page)
    assert document["nodes"][2]["config"] == {"template": "Hello {{ inputs.name }}!"}  # type: ignore[index]


def test_undo_brings_every_kind_of_change_back(opened: Opened, server: Server) -> None:
    page = open_workflow(opened, server.push(orders("Undoing")))
    step(page, "alarm").click()
    label = page.get_by_label("Label")
    label.fill("Warning")
    expect(step(page, "alarm")).to_contain_text("Warning")
    page.locator(".react-flow__pane").click(position={"x": 5, "y": 5})
    step(page, "alarm").click()
    page.keyboard.press("Delete")
    expect(step(page, "alarm")).to_have_count(0)
    # What led to the step leads on to what came after it.
    expect(page.locator(".react-flow__edge[data-id='large large end']")).to_have_count(1)
    page.keyboard.press("Control+z")
    expect(step(page, "alarm")).to_contain_text("Warning")
    page.keyboard.press("Control+z")
    expect(step(page, "alarm")).to_contain_text("Alarm")
    page.keyboard.press("Control+Shift+z")
    expect(step(page, "alarm")).to_contain_text("Warning")


def test_a_problem_is_shown_at_its_field_and_fixed_by_a_click(
    opened: Opened, server: Server, shot: Shot
) -> None:
    page = open_workflow(opened, server.push(orders("Fixing")))
    step(page, "alarm").click()
    template = editor(page, "Template")
    template.click()
    page.keyboard.press("Control+a")
    page.keyboard.type("{{ total.resul }} is a lot")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Problems: 1").click()
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
    expect(step(page, "alarm").get_by_label("1 error")).to_be_visible()
    shot(page, "editor-problems")
    page.get_by_role("button", name="Replace 'resul' with 'result'").click()
    expect(template).to_contain_text("{{ total.result }} is a lot")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_enabled()


def test_inserting_on_an_edge_keeps_the_flow(opened: Opened, server: Server) -> None:
    page = open_workflow(opened, server.push(orders("Inserting")))
    edge = page.locator(".react-flow__edge[data-id='each out total']")
    edge.hover(force=True)
    edge.get_by_role("button", name="Insert a step here").click()
    page.get_by_role("combobox", name="Add a step").fill("transform")
    page.keyboard.press("Enter")
    expect(step(page, "transform")).to_be_visible()
    edges = draft_of(server, page)["edges"]
    assert {"from": "each", "to": "transform"} in edges  # type: ignore[operator]
    assert {"from": "transform", "to": "total"} in edges  # type: ignore[operator]


def test_renaming_an_id_rewrites_the_references(opened: Opened, server: Server) -> None:
    page = open_workflow(opened, server.push(orders("Renaming")))
    step(page, "total").click()
    page.keyboard.press("F2")
    page.get_by_role("dialog").get_by_label("Id").fill("sum_of_all")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    expect(step(page, "sum_of_all")).to_be_visible()
    assert "sum_of_all.result > inputs.limit" in str(draft_of(server, page))
    expect(page.get_by_role("button", name="Problems: 0")).to_be_visible()


def test_steps_are_copied_into_another_workflow(opened: Opened, server: Server) -> None:
    page = open_workflow(opened, server.push(orders("Copied from")))
    step(page, "each").click(position={"x": 80, "y": 20})
    page.keyboard.press("Control+c")
    text = page.evaluate("navigator.clipboard.readText()")
    assert '"interlace": "nodes"' in text
    workflow = server.push(orders("Copied to"))
    page.goto(f"/workflows/{workflow}")
    expect(step(page, "start")).to_be_visible()
    page.locator(".react-flow__pane").click(position={"x": 5, "y": 5})
    page.keyboard.press("Control+v")
    expect(step(page, "each_2")).to_be_visible()
    copied = next(node for node in draft_of(server, page)["nodes"] if node["id"] == "each_2")  # type: ignore[attr-defined]
    assert copied["config"]["output"] == "{{ line_2.text }}"
    assert copied["body"]["nodes"][0]["id"] == "line_2"
