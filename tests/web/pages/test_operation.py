"""The pages of runs, approvals, triggers and settings in a browser against the real server."""

from __future__ import annotations

from collections.abc import Callable

import httpx2
from playwright.sync_api import Page, expect

from tests.web.conftest import Opened
from tests.web.pages.seeds import Seeded, approval

Shot = Callable[[Page, str], None]
PHONE = {"width": 390, "height": 844}


def heading(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(text)


def test_runs_are_listed_filtered_and_followed(seeded: Seeded, opened: Opened, shot: Shot) -> None:
    page = opened("/runs")
    table = page.get_by_role("region", name="Runs")
    expect(table.get_by_role("link", name="Exchange rates", exact=True)).to_be_visible()
    shot(page, "runs")
    page.get_by_label("Any status").click()
    page.get_by_role("option", name="Failed").click()
    expect(table.get_by_role("link", name="Month-end close")).to_have_count(0)
    expect(table.get_by_role("link", name="Exchange rates", exact=True)).to_be_visible()
    expect(page).to_have_url(f"{seeded.server.url}/runs?status=failed")
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_label("Any trigger").click()
    page.get_by_role("option", name="Other run").click()
    expect(table.get_by_role("link", name="Greeting")).to_have_count(2)
    page.get_by_role("button", name="Clear filters").click()
    # A run that begins elsewhere appears by itself.
    before = table.get_by_role("row").count()
    seeded.server.call(
        "POST", f"/api/v1/workflows/{seeded.workflows['Greeting']}/run", {"inputs": {"name": "Eve"}}
    )
    expect(table.get_by_role("row")).to_have_count(before + 1)


def test_the_list_of_runs_has_pages(seeded: Seeded, opened: Opened) -> None:
    for index in range(52):
        seeded.server.call(
            "POST", f"/api/v1/workflows/{seeded.workflows['Greeting']}/run", {"inputs": {"name": f"{index}"}}
        )
    page = opened(f"/runs?workflow={seeded.workflows['Greeting']}")
    rows = page.get_by_role("region", name="Runs").get_by_role("row")
    expect(rows).to_have_count(51)
    page.get_by_role("button", name="Load more").click()
    expect(page.get_by_role("button", name="Load more")).to_have_count(0)
    assert rows.count() > 52


def test_a_run_tells_each_node(seeded: Seeded, opened: Opened, shot: Shot) -> None:
    run = seeded.runs["Month-end close"]
    page = opened(f"/runs/{run}")
    heading(page, "Month-end close")
    nodes = page.get_by_role("list", name="Nodes")
    nodes.get_by_role("button", name="Every order Succeeded").click()
    detail = page.get_by_role("article")
    expect(detail).to_contain_text("it ran and succeeded")
    expect(detail).to_contain_text("1. 310 EUR")
    expect(detail).to_contain_text("{{ inputs.orders }}")
    shot(page, "run")
    # Into a pass of the iteration.
    nodes.get_by_role("button", name="Item 1", exact=False).first.click()
    nodes.get_by_role("button", name="line Succeeded").last.click()
    expect(page.get_by_role("article")).to_contain_text("each[")
    # A branch not taken says why; a large value is loaded when it is asked for.
    nodes.get_by_role("button", name="Tell finance").click()
    expect(page.get_by_role("article")).to_contain_text("1325.5 EUR is a lot")
    nodes.get_by_role("button", name="Long report").click()
    page.get_by_role("article").get_by_role("button", name="Load", exact=False).first.click()
    expect(page.get_by_role("article")).to_contain_text("line of the report, line of the report")
    # The child run, and back.
    nodes.get_by_role("button", name="Letter Succeeded").click()
    page.get_by_role("article").get_by_role("link", name="Greeting").click()
    heading(page, "Greeting")
    page.get_by_role("link", name="Started by another run").click()
    heading(page, "Month-end close")


def test_a_failed_run_tells_what_to_do(seeded: Seeded, opened: Opened, shot: Shot) -> None:
    page = opened(f"/runs/{seeded.runs['Exchange rates']}")
    expect(page.get_by_role("alert").first).to_contain_text("Failed at rates: http_5")
    page.get_by_role("button", name="Show the node").click()
    detail = page.get_by_role("article")
    expect(detail).to_contain_text("What to do:")
    expect(detail.get_by_text("Attempt 2")).to_be_visible()
    expect(detail.get_by_text("Attempt 1")).to_be_visible()
    shot(page, "run-failed")


def test_the_timeline_has_the_critical_path_and_events_are_searched(
    seeded: Seeded, opened: Opened, shot: Shot
) -> None:
    page = opened(f"/runs/{seeded.runs['Month-end close']}?tab=timeline")
    bars = page.get_by_role("region", name="Timeline")
    expect(bars.get_by_role("button", name="letter: Succeeded", exact=False)).to_be_visible()
    assert bars.get_by_role("button", name="Critical path", exact=False).count() >= 3
    shot(page, "run-timeline")
    page.get_by_label("Show what ran inside bodies").click()
    expect(bars.get_by_role("button", name="each[0].line", exact=False)).to_be_visible()
    page.get_by_role("tab", name="Events", exact=False).click()
    page.get_by_label("Search type or node").fill("nothing like it")
    expect(page.get_by_text("No events.")).to_be_visible()
    page.get_by_label("Search type or node").fill("letter")
    expect(page.get_by_role("tabpanel").get_by_text("node.succeeded")).to_be_visible()
    page.get_by_role("tab", name="Inputs and trigger").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("Grace")


def test_what_an_agent_did_is_shown(seeded: Seeded, opened: Opened, shot: Shot) -> None:
    page = opened(f"/runs/{seeded.runs['Ask the analyst']}?node=analyst")
    trace = page.get_by_role("region", name="What the agent did")
    expect(trace).to_contain_text("2 model calls")
    expect(trace).to_contain_text("1 tool call")
    trace.get_by_text("calculator").click()
    expect(trace).to_contain_text("1206 * 2")
    expect(trace).to_contain_text("2412")
    shot(page, "run-agent")


def test_a_run_is_replayed_with_edits_and_compared(seeded: Seeded, opened: Opened, shot: Shot) -> None:
    page = opened(f"/runs/{seeded.runs['Month-end close']}?node=large")
    page.get_by_role("button", name="Replay from here").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("each", exact=False).first).to_be_visible()
    dialog.get_by_role("button", name="Change an output").click()
    dialog.get_by_role("combobox", name="Output to change").click()
    page.get_by_role("option", name="total.result").click()
    value = dialog.get_by_label("Value of total.result")
    expect(value).to_have_value("1325.5")
    value.fill("not json")
    expect(dialog.get_by_role("button", name="Start replay")).to_be_disabled()
    value.fill("12")
    expect(dialog).to_contain_text("Taken over")
    shot(page, "run-replay")
    dialog.get_by_role("button", name="Start replay").click()
    page.get_by_role("link", name="Replay of another run").wait_for()
    expect(page.get_by_role("status").filter(has_text="The run: Succeeded")).to_have_count(1)
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Compare with its origin").click()
    heading(page, "Compare two runs")
    expect(page.get_by_role("heading", name="total", exact=True)).to_be_visible()
    expect(page.get_by_text("1325.5").first).to_be_visible()
    shot(page, "compare")


def test_runs_are_chosen_to_compare_exported_and_cancelled(seeded: Seeded, opened: Opened) -> None:
    page = opened(f"/runs?workflow={seeded.workflows['Month-end close']}")
    boxes = page.get_by_role("checkbox")
    expect(boxes.first).to_be_visible()
    boxes.nth(0).check()
    boxes.nth(1).check()
    page.get_by_role("button", name="Compare (2/2)").click()
    heading(page, "Compare two runs")
    waiting = seeded.run("Pay invoice", {"amount": 7, "vendor": "Cancelled"})
    page.goto(f"/runs/{waiting}")
    page.get_by_role("button", name="More").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Export as JSON").click()
    assert download.value.suggested_filename == f"run-{waiting}.json"
    page.get_by_role("button", name="Cancel run").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel run").click()
    expect(page.get_by_role("status").filter(has_text="The run: Cancelled")).to_have_count(1)
    assert seeded.server.call("GET", f"/api/v1/runs/{waiting}")["status"] == "cancelled"


def test_a_request_is_answered_by_keyboard_alone(seeded: Seeded, opened: Opened, shot: Shot) -> None:
    run = seeded.run("Pay invoice", {"amount": 2400, "vendor": "Keyboard Ltd"})
    page = opened("/approvals")
    expect(page.get_by_role("list", name="Approvals").get_by_text("Keyboard Ltd")).to_be_visible()
    page.keyboard.press("j")
    article = page.get_by_role("article")
    expect(article.get_by_role("heading", level=2)).to_have_text("Pay 2400 EUR to Keyboard Ltd?")
    expect(article.get_by_role("table")).to_contain_text("Licences")
    shot(page, "approval")
    article.get_by_role("combobox", name="Cost centre").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("paid with the card")
    article.get_by_role("heading", level=2).evaluate("node => document.activeElement.blur()")
    page.keyboard.press("1")
    expect(article.get_by_role("button", name="Approve")).to_be_focused()
    page.keyboard.press("Enter")
    expect(article.get_by_text("owner: Approve")).to_be_visible()
    assert seeded.ended(run) == "succeeded"
    assert seeded.server.call("GET", f"/api/v1/runs/{run}")["outputs"] == {"action": "approve", "by": "owner"}


def test_a_late_answer_tells_who_was_quicker(seeded: Seeded, opened: Opened) -> None:
    run = seeded.run("Pay invoice", {"amount": 300})
    request = seeded.request(run)
    page = opened(f"/approvals/{request}")
    reject = page.get_by_role("button", name="Reject")
    expect(reject).to_be_visible()
    seeded.server.call(
        "POST", f"/api/v1/approvals/{request}/answer", {"action": "approve", "form": {"cost_centre": "Sales"}}
    )
    reject.click()
    expect(
        page.get_by_text("owner answered already: Approve", exact=False)
        .or_(page.get_by_text("owner: Approve"))
        .first
    ).to_be_visible()


def test_a_bad_form_is_refused_at_its_field(seeded: Seeded, opened: Opened) -> None:
    run = seeded.run("Pay invoice", {"amount": 301})
    page = opened(f"/approvals/{seeded.request(run)}")
    page.get_by_role("button", name="Approve").click()
    article = page.get_by_role("article")
    expect(article.get_by_text("is required.")).to_be_visible()
    assert seeded.server.call("GET", f"/api/v1/runs/{run}")["status"] == "suspended"


def test_quorum_hand_over_and_batch(seeded: Seeded, opened: Opened, shot: Shot) -> None:
    seeded.server.call("POST", "/api/v1/users", {"name": "bea"})
    seeded.publish(approval("Sign contract", quorum=2, form=None, assignees=["owner", "bea", "carl"]))
    run = seeded.run("Sign contract")
    page = opened(f"/approvals/{seeded.request(run)}")
    expect(page.get_by_text("0 of 2 have chosen “Approve”.")).to_be_visible()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("1 of 2 have chosen “Approve”.")).to_be_visible()
    other = seeded.run("Sign contract", {"vendor": "Handed Ltd"})
    page.goto(f"/approvals/{seeded.request(other)}")
    page.get_by_role("button", name="Hand over").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("To whom").fill("dora")
    dialog.get_by_label("Comment").fill("I am away.")
    dialog.get_by_role("button", name="Hand over").click()
    expect(page.get_by_text("owner handed over to dora")).to_be_visible()
    expect(page.get_by_role("article").get_by_role("listitem").get_by_text("I am away.")).to_be_visible()
    shot(page, "approval-history")
    seeded.publish(approval("Publish post", form=None))
    runs = [seeded.run("Publish post", {"vendor": f"Batch {index}"}) for index in range(2)]
    page.goto("/approvals")
    for index in range(2):
        page.get_by_role("checkbox", name=f"Batch {index}", exact=False).check()
    page.get_by_role("group", name="2 marked").get_by_role("button", name="Reject").click()
    expect(page.get_by_text("2 requests answered")).to_be_visible()
    assert [seeded.ended(one) for one in runs] == ["succeeded", "succeeded"]


def test_a_schedule_is_previewed_through_a_clock_change_and_made(
    seeded: Seeded, opened: Opened, shot: Shot
) -> None:
    page = opened("/schedules")
    page.get_by_role("button", name="New schedule").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox", name="Workflow").click()
    page.get_by_role("option", name="Greeting").click()
    dialog.get_by_label("Name", exact=True).first.fill("When clocks change")
    dialog.get_by_label("Times (cron)").fill("0 25 * * *")
    expect(dialog.get_by_role("button", name="Create")).to_be_disabled()
    dialog.get_by_label("Times (cron)").fill("30 2 25-31 3 *")
    dialog.get_by_label("Time zone").fill("Europe/Berlin")
    page.keyboard.press("Tab")
    expect(dialog.get_by_role("heading", name="Next 20 times")).to_be_visible()
    expect(dialog.get_by_text("does not exist on this day", exact=False).first).to_be_visible()
    expect(dialog.get_by_label("Clock change").first).to_be_attached()
    shot(page, "schedule-new")
    dialog.get_by_role("combobox", name="While one still runs").click()
    page.get_by_role("option", name="Leave it out").click()
    dialog.get_by_role("textbox", name="Name", exact=True).last.fill("Ada")
    dialog.get_by_role("button", name="Create").click()
    page.get_by_role("link", name="When clocks change").click()
    heading(page, "When clocks change")
    page.get_by_role("button", name="Run now").click()
    page.get_by_role("button", name="Open", exact=True).click()
    heading(page, "Greeting")
    page.go_back()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("Paused: nothing starts", exact=False)).to_be_visible()
    shot(page, "schedule")
    found = seeded.server.call("GET", "/api/v1/schedules")["items"][0]
    assert (found["overlap"], found["paused"], found["timezone"], found["inputs"]) == (
        "skip",
        True,
        "Europe/Berlin",
        {"name": "Ada"},
    )


def test_a_webhook_is_made_called_and_redelivered(seeded: Seeded, opened: Opened, shot: Shot) -> None:
    page = opened("/webhooks")
    page.get_by_role("button", name="New webhook").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox", name="Workflow").click()
    page.get_by_role("option", name="Greeting").click()
    dialog.get_by_label("Name").fill("Orders")
    dialog.get_by_role("button", name="Create").click()
    heading(page, "Orders")
    expect(page.get_by_role("group", name="Try it")).to_contain_text("curl -X POST")
    hook = seeded.server.call("GET", "/api/v1/webhooks")["items"][0]
    headers = {"content-type": "application/json", "x-shop": "north"}
    assert (
        httpx2.post(
            f"{seeded.server.url}{hook['path']}", content=b'{"name":  "Hook"}', headers=headers
        ).status_code
        == 202
    )
    assert httpx2.post(f"{seeded.server.url}{hook['path']}", content=b"{}", headers=headers).status_code in {
        202,
        422,
    }
    line = page.get_by_role("button", name="Started", exact=False)
    line.first.click()
    expect(page.get_by_role("group", name="Raw body")).to_have_text('{"name":  "Hook"}')
    expect(page.get_by_text("x-shop")).to_be_visible()
    shot(page, "webhook")
    page.get_by_role("listitem").filter(has=line).get_by_role("button", name="Redeliver").first.click()
    expect(page.get_by_text("Delivered again.")).to_be_visible()
    expect(page.get_by_text("redelivered", exact=True)).to_be_visible()
    page.get_by_role("button", name="Edit").click()
    dialog.get_by_role("combobox", name="Signature").click()
    page.get_by_role("option", name="GitHub").click()
    expect(dialog.get_by_label("Header that tells repeats")).to_have_value("X-GitHub-Delivery")
    dialog.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Make a secret").click()
    secret = dialog.get_by_role("group", name="Secret").inner_text()
    assert len(secret) >= 16
    page.get_by_role("button", name="I have kept it").click()
    expect(page.get_by_role("group", name="Try it")).to_contain_text("X-Hub-Signature-256")
    unsigned = httpx2.post(f"{seeded.server.url}{hook['path']}", content=b"{}", headers=headers)
    assert unsigned.status_code in {401, 403}


def test_an_address_is_told_of_events(seeded: Seeded, opened: Opened) -> None:
    page = opened("/webhooks?side=out")
    page.get_by_role("button", name="New subscription").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Address").fill("http://127.0.0.1:9/none")
    dialog.get_by_role("checkbox", name="run.succeeded").check()
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("group", name="Secret")).to_contain_text("whsec_")
    page.get_by_role("button", name="I have kept it").click()
    seeded.run("Greeting", {"name": "Told"})
    page.get_by_role("button", name="http://127.0.0.1:9/none", exact=False).first.click()
    expect(page.get_by_text("run.succeeded").nth(1)).to_be_visible()
    page.get_by_role("button", name="Actions for", exact=False).click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Nobody is told yet")).to_be_visible()
