"""Mail over a real SMTP server on loopback."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any, cast

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

from interlace.engine.errors import NodeError
from interlace.resources.http import HttpClient
from interlace.resources.mail import Mailer, MailSettingError, Server
from interlace.resources.notices import Notices

pytestmark = pytest.mark.filterwarnings("ignore")


class Inbox:
    """Takes every message but those to `refused@…`."""

    def __init__(self) -> None:
        self.messages: list[EmailMessage] = []
        self.failures = 0

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if address.startswith("refused@"):
            return "550 no such person"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.failures:
            self.failures -= 1
            return "451 try again later"
        self.messages.append(
            cast("EmailMessage", message_from_bytes(envelope.content, policy=policy.default))
        )
        return "250 OK"


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture
def port(inbox: Inbox) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = free.getsockname()[1]

    def authenticate(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
        good = isinstance(data, LoginPassword) and data.password == b"pass word"
        return AuthResult(success=good, handled=False)

    controller = Controller(
        inbox, hostname="127.0.0.1", port=number, authenticator=authenticate, auth_require_tls=False
    )
    controller.start()
    yield number
    controller.stop()


async def test_a_message_arrives_as_text_and_html(inbox: Inbox, port: int) -> None:
    mailer = Mailer(f"smtp://ada:pass%20word@127.0.0.1:{port}", "Interlace <flow@example.com>")
    await mailer.send(
        ["bob@example.com"], subject="Pay 5 €?\r\nBcc: x@y", text="支払い", html="<p>支払い</p>"
    )
    (message,) = inbox.messages
    assert message["Subject"] == "Pay 5 €? Bcc: x@y"
    assert message["To"] == "bob@example.com"
    assert message["Bcc"] is None
    plain, html = message.get_body(("plain",)), message.get_body(("html",))
    assert plain is not None
    assert plain.get_content().strip() == "支払い"
    assert html is not None
    assert "<p>支払い</p>" in html.get_content()


@pytest.mark.parametrize(
    ("url", "to", "words"),
    [
        ("smtp://127.0.0.1:{port}", "refused@example.com", "550"),
        ("smtp://ada:wrong-secret@127.0.0.1:{port}", "bob@example.com", "535"),
        ("smtp+starttls://127.0.0.1:{port}", "bob@example.com", "did not take"),
        ("smtp://127.0.0.1:1", "bob@example.com", "did not take"),
        (None, "bob@example.com", "INTERLACE_SMTP_URL"),
    ],
)
async def test_what_goes_wrong_is_told_without_the_password(
    inbox: Inbox, port: int, url: str | None, to: str, words: str
) -> None:
    mailer = Mailer(None if url is None else url.format(port=port), "flow@example.com")
    with pytest.raises(NodeError) as caught:
        await mailer.send([to], subject="x", text="x")
    assert caught.value.kind == "mail"
    assert words in caught.value.message
    assert "wrong-secret" not in caught.value.message
    assert not inbox.messages


@pytest.mark.parametrize("url", ["http://x", "smtp://", "smtp://host:port", "mail"])
def test_a_wrong_setting_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(MailSettingError) as caught:
        Server.parse(url)
    assert "INTERLACE_SMTP_URL" in str(caught.value)


async def test_a_request_is_announced_again_after_a_passing_failure(inbox: Inbox, port: int) -> None:
    inbox.failures = 1
    http = HttpClient()
    notices = Notices(
        http, Mailer(f"smtp://127.0.0.1:{port}", "flow@example.com"), lambda: "https://flow.example.com/"
    )
    request = {"title": "Pay <b>5</b>?", "message": "For **tea**", "actions": ["approve", "reject"]}
    channel = {"type": "email", "to": ["bob@example.com"]}
    assert await notices.post(channel, request, "w1", reminder=True) is None
    (message,) = inbox.messages
    assert message["Subject"] == "Reminder: Pay <b>5</b>?"
    html = message.get_body(("html",))
    assert html is not None
    assert "Pay &lt;b&gt;5&lt;/b&gt;?" in html.get_content()
    assert "https://flow.example.com/" in html.get_content()
    assert "interlace approvals answer w1" in html.get_content()
    await http.close()
