"""The chat page: streams, tools, consent, sources, branches, attachments, stopping, coming back, and what is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

Opened = Callable[..., Page]


def say(page: Page, words: str) -> None:
    """Write a message and send it with the keyboard."""
    field = page.get_by_role("textbox", name="Message", exact=True)
    field.fill(words)
    field.press("Enter")


def answers(page: Page) -> Any:
    return page.get_by_role("article", name="Answer of")


def test_what_is_missing_without_a_model(opened: Opened, shot: Any) -> None:
    page = opened("/chat")
    card = page.get_by_role("region", name="No model answers yet")
    expect(card).to_contain_text("OPENAI_API_KEY")
    shot(page, "chat-no-model")
    card.get_by_role("button", name="Set up a model").click()
    expect(page.get_by_role("dialog", name="New provider")).to_be_visible()


def test_an_answer_streams_and_is_shown_as_markdown(site: Any, opened: Opened, shot: Any) -> None:
    page = opened("/chat")
    expect(page.get_by_role("list", name="Suggested first messages").get_by_role("button")).to_have_count(4)
    shot(page, "chat-welcome")
    say(page, "Make a plan")
    answer = answers(page).last
    expect(answer.get_by_role("link", name="the manual")).to_have_attribute("rel", "noreferrer")
    expect(answer.get_by_role("table").get_by_role("row")).to_have_count(3)
    expect(answer).to_contain_text("acme/scripted")
    expect(answer).to_contain_text("out ·")
    expect(page.get_by_role("status").filter(has_text="Auto answered")).to_be_attached()
    expect(
        page.get_by_role("navigation", name="Chats").get_by_role("link", name="Make a plan")
    ).to_be_visible()
    page.reload()
    expect(answers(page).last.get_by_role("link", name="the manual")).to_be_visible()


def test_tools_are_folded_and_consent_is_asked_inline(site: Any, opened: Opened, shot: Any) -> None:
    page = opened("/chat")
    say(page, "please calculate")
    tool = page.get_by_role("button", name="calculator")
    expect(tool).to_have_attribute("aria-expanded", "false")
    expect(answers(page).last).to_contain_text("It is 42")
    tool.click()
    expect(page.get_by_text('"expression": "6*7"')).to_be_visible()
    say(page, "order lamps")
    request = page.get_by_role("region", name="Consent is asked for")
    expect(request).to_contain_text('"quantity": 2')
    shot(page, "chat-consent")
    before = site.shop.seen["/orders"]
    request.get_by_role("button", name="Approve").click()
    expect(answers(page).last).to_contain_text("Done.")
    assert site.shop.seen["/orders"] == before + 1
    say(page, "order lamps again")
    request = page.get_by_role("region", name="Consent is asked for").last
    request.get_by_role("textbox", name="Comment").fill("too dear")
    request.get_by_role("button", name="Reject").click()
    expect(request).to_contain_text("Reject —")
    expect(answers(page).last).to_contain_text("Done.")
    assert site.shop.seen["/orders"] == before + 1


def test_a_citation_opens_its_source(site: Any, opened: Opened, shot: Any) -> None:
    page = opened("/chat")
    say(page, "how much leave do I have?")
    answers(page).last.get_by_role("button", name="Source 1").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("[aria-current=true]")).to_contain_text("Five unused days carry over")
    shot(page, "chat-source")


def test_an_answer_is_stopped_and_told_more(site: Any, opened: Opened) -> None:
    page = opened("/chat")
    say(page, "speak slowly")
    more = page.get_by_role("textbox", name="Say more to the answer at work")
    expect(answers(page).last).to_contain_text("One word")
    more.fill("and be kind")
    more.press("Enter")
    expect(page.get_by_text("reads it before its next step")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(answers(page).nth(0)).to_contain_text("You stopped this answer.")


def test_a_page_that_comes_back_misses_nothing(site: Any, opened: Opened) -> None:
    page = opened("/chat")
    say(page, "speak slowly once more")
    expect(answers(page).last).to_contain_text("One word")
    page.wait_for_url("**/chat/*")
    page.context.set_offline(True)
    page.context.set_offline(False)
    page.reload()
    answer = answers(page).last
    expect(answer).to_have_attribute("aria-busy", "true")
    expect(answer).to_have_attribute("aria-busy", "false", timeout=60_000)
    assert answer.inner_text().count("One word after the other.") == 60


def test_questions_and_answers_have_versions(site: Any, opened: Opened) -> None:
    page = opened("/chat")
    say(page, "tell me another")
    answer = answers(page).last
    expect(answer).to_contain_text("The first answer.")
    answer.get_by_role("button", name="Answer again").click()
    expect(answers(page).last).to_contain_text("The second answer.")
    expect(answers(page).last.get_by_role("group", name="Versions")).to_contain_text("2/2")
    answers(page).last.get_by_role("button", name="Previous version").click()
    expect(answers(page).last).to_contain_text("The first answer.")
    page.get_by_role("textbox", name="Message", exact=True).press("ArrowUp")
    edit = page.get_by_role("textbox", name="Edit the question")
    edit.fill("tell me yet another")
    edit.press("Enter")
    expect(answers(page).last).to_contain_text("The third answer.")
    question = page.get_by_role("article", name="You")
    question.hover()
    expect(question.get_by_role("group", name="Versions")).to_contain_text("2/2")
    question.get_by_role("button", name="Previous version").click()
    expect(answers(page).last).to_contain_text("The second answer.")


def test_files_are_attached_by_picker_paste_and_drop(site: Any, opened: Opened) -> None:
    page = opened("/chat")
    page.get_by_label("Attach files").locator("visible=false").first.set_input_files(
        {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"The code is 7781."}
    )
    chips = page.get_by_role("list", name="Attachments")
    expect(chips).to_contain_text("notes.txt")
    for kind, name in (("paste", "pasted.txt"), ("drop", "dropped.txt")):
        page.get_by_role("textbox", name="Message", exact=True).evaluate(
            """(field, [kind, name]) => {
              const data = new DataTransfer()
              data.items.add(new File(['x'], name, { type: 'text/plain' }))
              const options = { bubbles: true, cancelable: true }
              field.dispatchEvent(kind === 'paste' ? new ClipboardEvent(kind, { ...options, clipboardData: data }) : new DragEvent(kind, { ...options, dataTransfer: data }))
            }""",
            [kind, name],
        )
        expect(chips).to_contain_text(name)
    chips.get_by_role("button", name="Remove pasted.txt").click()
    page.get_by_role("textbox", name="Message", exact=True).fill("read this")
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_enabled()
    say(page, "read this")
    expect(page.get_by_role("article", name="You").get_by_role("link")).to_have_text(
        ["notes.txt", "dropped.txt"]
    )


def test_a_failed_answer_says_what_to_do(site: Any, opened: Opened) -> None:
    page = opened("/chat")
    say(page, "this is broken")
    alert = answers(page).last.get_by_role("alert")
    expect(alert).to_contain_text("refused the key")
    expect(alert).to_contain_text("Incorrect API key provided")
    alert.get_by_role("button", name="Open models").click()
    expect(page.get_by_role("heading", level=1, name="Models")).to_be_visible()


def test_sessions_are_found_renamed_and_removed(site: Any, opened: Opened) -> None:
    session = site.call("POST", "/api/v1/sessions", {"title": "Quarterly numbers"})["id"]
    page = opened(f"/chat/{session}")
    chats = page.get_by_role("navigation", name="Chats")
    page.get_by_role("searchbox", name="Search chats").fill("quarterly")
    expect(chats.get_by_role("link")).to_have_text(["Quarterly numbers"])
    chats.get_by_role("button", name="Actions of Quarterly numbers").click()
    page.get_by_role("menuitem", name="Rename").click()
    field = chats.get_by_role("textbox", name="Rename")
    field.fill("Quarterly figures")
    field.press("Enter")
    expect(chats.get_by_role("link", name="Quarterly figures")).to_be_visible()
    chats.get_by_role("button", name="Actions of Quarterly figures").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("The chat is deleted.")).to_be_visible()
    expect(chats.get_by_role("link", name="Quarterly figures")).to_have_count(0)


def test_an_agent_is_chosen(site: Any, opened: Opened) -> None:
    page = opened("/chat")
    page.get_by_role("button", name="Agent: Auto").click()
    page.get_by_role("menuitem", name="clerk").click()
    say(page, "hello")
    expect(page.get_by_role("article", name="Answer of clerk")).to_contain_text("Fine. What else?")
