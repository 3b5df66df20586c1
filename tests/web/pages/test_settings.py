"""Settings, invitations and accessibility of every page, in both themes and on a small screen."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.axe import both_themes
from tests.web.conftest import Opened
from tests.web.pages.seeds import Seeded

Shot = Callable[[Page, str], None]
PHONE = {"width": 390, "height": 844}


def test_keys_are_shown_once_and_revoked(seeded: Seeded, opened: Opened, shot: Shot) -> None:
    page = opened("/settings/account")
    page.get_by_role("button", name="New key").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Reporting")
    dialog.get_by_role("button", name="Create").click()
    key = dialog.get_by_role("group", name="Key").inner_text().strip()
    assert key.startswith("il_")
    dialog.get_by_role("button", name="I have kept it").click()
    table = page.get_by_role("region", name="API keys")
    expect(table.get_by_text("Reporting")).to_be_visible()
    assert key not in page.content()
    shot(page, "account")
    table.get_by_role("button", name="Revoke Reporting").click()
    dialog.get_by_role("button", name="Revoke").click()
    expect(table.get_by_text("Revoked")).to_be_visible()


def test_a_password_is_set_and_signs_in(seeded: Seeded, opened: Opened, browser: Browser) -> None:
    link = seeded.server.call("POST", "/api/v1/users", {"name": "pia", "email": "pia@example.com"})
    url = seeded.server.call("POST", f"/api/v1/users/{link['id']}/link")["url"]
    context = browser.new_context(base_url=seeded.server.url, locale="en-GB")
    page = context.new_page()
    page.goto(url)
    expect(page.get_by_role("heading", level=1)).to_contain_text("pia")
    page.goto("/settings/account")
    page.get_by_label("New password").fill("short")
    expect(page.get_by_role("alert")).to_contain_text("At least 10 characters.")
    page.get_by_label("New password").fill("a long password")
    page.get_by_label("The same again").fill("a long passwort")
    expect(page.get_by_text("This is not the same.")).to_be_visible()
    page.get_by_label("The same again").fill("a long password")
    page.get_by_role("button", name="Choose a password").click()
    expect(page.get_by_text("The password is set.", exact=False)).to_be_visible()
    context.clear_cookies()
    page.goto(url)
    expect(page.get_by_role("alert")).to_contain_text("used already")
    page.get_by_label("E-mail").fill("pia@example.com")
    page.get_by_label("Password").fill("a long password")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("pia")
    context.close()


def test_somebody_is_invited_joins_and_gets_a_role(
    seeded: Seeded, opened: Opened, browser: Browser, shot: Shot
) -> None:
    page = opened("/settings/people")
    page.get_by_role("button", name="New organisation").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Finance")
    dialog.get_by_role("button", name="Create").click()
    page.get_by_role("link", name="Finance").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Finance")
    expect(page.get_by_role("region", name="Members").get_by_text("you")).to_be_visible()
    page.get_by_role("button", name="Invite").click()
    dialog.get_by_role("button", name="Invite").click()
    url = dialog.get_by_role("group", name="Invitation link").inner_text().strip()
    dialog.get_by_role("button", name="Close").last.click()
    context = browser.new_context(base_url=seeded.server.url, locale="en-GB")
    guest = context.new_page()
    guest.goto(url)
    expect(guest.get_by_role("heading", level=1)).to_have_text("Join Finance")
    shot(guest, "invitation")
    guest.get_by_label("Your name").fill("nora")
    guest.get_by_label("Choose a password").fill("a long password")
    guest.get_by_role("button", name="Join Finance").click()
    expect(guest.get_by_role("heading", level=1)).to_have_text("Finance")
    expect(guest.get_by_role("button", name="Invite")).to_have_count(0)
    guest.goto(url)
    expect(guest.get_by_role("alert")).to_be_visible()
    context.close()
    page.reload()
    page.get_by_role("combobox", name="Role of nora").click()
    page.get_by_role("option", name="Admin").click()
    expect(page.get_by_text("The role of nora is changed.")).to_be_visible()
    shot(page, "organisation")
    members = seeded.server.call("GET", "/api/v1/orgs/Finance/members")["items"]
    assert {member["name"]: member["role"] for member in members} == {"owner": "owner", "nora": "admin"}


def test_users_are_made_and_disabled(seeded: Seeded, opened: Opened, shot: Shot) -> None:
    page = opened("/settings/people")
    page.get_by_role("button", name="New user").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("rob")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_role("group", name="Sign-in link")).to_contain_text("/login/link?token=")
    dialog.get_by_role("button", name="Close").last.click()
    shot(page, "people")
    page.get_by_role("button", name="Actions for rob").click()
    page.get_by_role("menuitem", name="Disable").click()
    dialog.get_by_role("button", name="Disable").click()
    row = page.get_by_role("row").filter(has_text="rob")
    expect(row.get_by_text("Disabled")).to_be_visible()


def test_secrets_are_set_and_never_shown(seeded: Seeded, opened: Opened, shot: Shot) -> None:
    page = opened("/settings/secrets")
    page.get_by_role("button", name="New secret").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("VENDOR_KEY")
    dialog.get_by_label("Value").fill("plain-value-42")
    dialog.get_by_role("button", name="Save").click()
    table = page.get_by_role("region", name="Secrets")
    expect(table.get_by_text("VENDOR_KEY")).to_be_visible()
    shot(page, "secrets")
    assert "plain-value-42" not in page.content()
    table.get_by_role("button", name="Delete VENDOR_KEY").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(table.get_by_text("VENDOR_KEY")).to_have_count(0)


def test_usage_budgets_audit_and_doctor(seeded: Seeded, opened: Opened, shot: Shot) -> None:
    page = opened("/settings/usage")
    expect(page.get_by_role("img", name="Tokens per day")).to_be_visible()
    expect(page.get_by_role("img", name="Cost per day")).to_be_visible()
    expect(page.get_by_role("region", name="Model")).to_contain_text("small")
    page.get_by_role("button", name="New budget").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("At most").fill("5000")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_text("/ 5,000 tokens")).to_be_visible()
    shot(page, "usage")
    page.goto("/settings/audit")
    page.get_by_role("combobox", name="Any action").click()
    page.get_by_role("option", name="Secrets").click()
    table = page.get_by_role("region", name="Audit log")
    expect(table.get_by_text("secret.set").first).to_be_visible()
    expect(table.get_by_text("schedule.", exact=False)).to_have_count(0)
    shot(page, "audit")
    page.get_by_label("Who").fill("nobody")
    expect(page.get_by_text("Nothing yet")).to_be_visible()
    page.goto("/settings/system")
    expect(page.get_by_text("code sandbox")).to_be_visible()
    page.get_by_label("Search settings").fill("http_allow")
    expect(page.get_by_text("INTERLACE_HTTP_ALLOW")).to_be_visible()
    shot(page, "system")


PAGES = [
    "/runs", "/runs/{run}", "/runs/{run}?node=each", "/runs/{run}?tab=timeline", "/runs/{run}?tab=events", "/runs/{run}?tab=values",
    "/runs/{run}?tab=related", "/runs/{failed}?node=rates", "/runs/{agent}?node=analyst", "/compare/{run}/{failed}", "/approvals",
    "/approvals/{request}", "/schedules", "/schedules/{schedule}", "/webhooks", "/webhooks/{webhook}", "/webhooks?side=out",
    "/settings/account", "/settings/people", "/settings/secrets", "/settings/usage", "/settings/audit", "/settings/system",
]  # fmt: skip


def settle(page: Page) -> None:
    """Wait until a page shows what it loads."""
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="Loading")).to_have_count(0)
    if "/runs/" in page.url:
        expect(page.get_by_role("tab").first).to_be_visible()


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_accessible_and_fit_a_small_screen(
    path: str, places: dict[str, str], opened: Opened, shot: Shot
) -> None:
    page = opened(path.format(**places))
    settle(page)
    assert both_themes(page) == []
    page.set_viewport_size(PHONE)
    content = "document.getElementById('content')"
    page.wait_for_function(f"() => {content}.scrollWidth <= {content}.clientWidth")
    shot(page, "phone" + re.sub(r"\W+", "-", path))


def test_dialogs_are_accessible(seeded: Seeded, opened: Opened, places: dict[str, str]) -> None:
    found = []
    page = opened("/schedules")
    for path, button in (
        ("/schedules", "New schedule"), ("/webhooks", "New webhook"), ("/webhooks?side=out", "New subscription"),
        ("/settings/account", "New key"), ("/settings/people", "New user"), ("/settings/secrets", "New secret"),
        ("/settings/usage", "New budget"), (f"/runs/{places['run']}", "Replay"), (f"/approvals/{places['request']}", "Hand over"),
    ):  # fmt: skip
        page.goto(path)
        settle(page)
        page.get_by_role("button", name=button).first.click()
        expect(page.get_by_role("dialog")).to_be_visible()
        found += [f"{path}: {line}" for line in both_themes(page, "[role=dialog]")]
    assert found == []


def test_everything_is_said_in_japanese(places: dict[str, str], opened: Opened, shot: Shot) -> None:
    page = opened("/runs")
    page.evaluate(
        "localStorage.setItem('interlace.preferences', JSON.stringify({state: {theme: 'dark', language: 'ja', navigation: 'wide'}, version: 0}))"
    )
    for path, title in (
        ("/runs", "実行"), ("/approvals", "承認"), ("/schedules", "スケジュール"), ("/webhooks", "Webhook"),
        ("/settings/account", "アカウント"), ("/settings/people", "ユーザーと組織"), ("/settings/secrets", "シークレット"),
        ("/settings/usage", "使用量と予算"), ("/settings/audit", "監査ログ"), ("/settings/system", "システム"),
    ):  # fmt: skip
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        expect(page.get_by_text("読み込み中")).to_have_count(0)
        shot(page, f"ja{path.replace('/', '-')}")
    page.goto(f"/runs/{places['run']}?node=each")
    expect(page.get_by_role("article")).to_contain_text("理由:")
    shot(page, "ja-run")
    page.goto(f"/approvals/{places['request']}")
    expect(page.get_by_role("button", name="承認", exact=False).last).to_be_visible()
    shot(page, "ja-approval")
