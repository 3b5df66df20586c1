"""A server for each file of tests and one browser for all; skipped, with the reason, where there is no browser or bundle."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from interlace.server.webui import BUNDLE
from tests.loopback import Loopback
from tests.server.command import Command
from tests.web import seeded

ARTEFACTS = Path(__file__).parent / "artefacts"
EXAMPLES = Path(__file__).parents[2] / "examples"
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
SECONDS = 20_000.0 if "PYTEST_XDIST_WORKER" in os.environ else 15_000.0


expect.set_options(timeout=SECONDS)


class Server:
    """The address and key of the server, and calls of its API."""

    def __init__(self, url: str, key: str) -> None:
        self.url = url
        self.key = key
        self.shop: Loopback | None = None
        self._client = httpx2.Client(base_url=url, headers={"authorization": f"Bearer {key}"}, timeout=30)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        answer = self._client.request(method, path, json=body)
        assert answer.status_code < 300, answer.text
        return answer.json() if answer.content else None

    def push(self, document: Any) -> str:
        """Store a document; gives the workflow's id."""
        found: str = self.call("POST", "/api/v1/workflows", {"document": document})["id"]
        return found

    def close(self) -> None:
        self._client.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if not (BUNDLE / "index.html").is_file():
        pytest.skip("the web UI is not built: python3 scripts/build_web.py")
    command = Command(tmp_path_factory.mktemp("web"), INTERLACE_DATABASE_ALLOW=str(EXAMPLES / "data"))
    try:
        _, url = command.serve()
        found = Server(url, command.key)
        yield found
        found.close()
    finally:
        command.end()


@pytest.fixture(scope="module")
def site(server: Server) -> Iterator[Server]:
    """The server with scripted models, an API, a database, documents, a skill and an agent."""
    with seeded.models() as models, Loopback() as shop:
        database = str(EXAMPLES / "data" / "flights.sqlite")
        seeded.seed(server.call, models_url=models.url, shop_url=shop.url, database=database)
        seeded.warm(server.url, server.key, server.call)
        server.shop = shop
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Ended with its file: while Playwright is at work its event loop runs, and no other test's can."""
    program = next((found for name in NAMES if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is on the PATH")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def cookies(browser: Browser, server: Server) -> Any:
    """Signed in once, by the owner's key."""
    context = browser.new_context(base_url=server.url)
    answer = context.request.post("/api/v1/session", data={"key": server.key})
    assert answer.ok, answer.text()
    state = context.storage_state()
    context.close()
    return state


Opened = Callable[..., Page]


@pytest.fixture
def opened(
    browser: Browser, cookies: Any, server: Server, request: pytest.FixtureRequest
) -> Iterator[Opened]:
    """Opens pages that are signed in; what a page logs as an error, or asks of another server, fails the test."""
    contexts: list[BrowserContext] = []
    trouble: list[str] = []

    def open_page(path: str = "/", *, dark: bool = False, **options: Any) -> Page:
        context = browser.new_context(
            base_url=server.url, storage_state=cookies, locale="en-GB", color_scheme="dark" if dark else "light",
            viewport=options.pop("viewport", {"width": 1600, "height": 950}), permissions=["clipboard-read", "clipboard-write"],
            **options,
        )  # fmt: skip
        context.set_default_timeout(SECONDS)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: trouble.append(f"error: {error}"))
        page.on("console", lambda message: trouble.append(message.text) if _counts(message) else None)
        page.on(
            "request",
            lambda asked: (
                None
                if asked.url.startswith((server.url, "data:", "blob:"))
                else trouble.append(f"asked {asked.url}")
            ),
        )
        page.goto(path)
        return page

    yield open_page
    failed = getattr(request.node, "failed", False)
    for context in contexts:
        if failed and context.pages:
            ARTEFACTS.mkdir(exist_ok=True)
            context.pages[0].screenshot(
                path=ARTEFACTS / f"failed-{request.node.name[:60].replace('/', '-')}.png"
            )
        context.close()
    assert not trouble, trouble


def _counts(message: Any) -> bool:
    # A refused request is logged by the browser itself; the page says what it means.
    return message.type == "error" and "Failed to load resource" not in message.text


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report = yield
    if call.when == "call" and report.failed:
        item.failed = True  # type: ignore[attr-defined]
    return report


@pytest.fixture
def shot() -> Callable[[Page, str], None]:
    """Keeps a picture of a page under a name."""

    def take(page: Page, name: str) -> None:
        ARTEFACTS.mkdir(exist_ok=True)
        page.screenshot(path=ARTEFACTS / f"{name}.png")

    return take
