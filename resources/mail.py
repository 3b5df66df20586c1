"""E-mail over the operator's SMTP server."""

from __future__ import annotations

import asyncio
import smtplib
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import Final
from urllib.parse import unquote, urlsplit

from interlace.engine.errors import InterlaceError, NodeError

SETTING: Final = "INTERLACE_SMTP_URL"
_PORTS: Final = {"smtp": 25, "smtp+starttls": 587, "smtps": 465}
_SECONDS: Final = 15.0


class MailSettingError(InterlaceError):
    """The address of the SMTP server is wrong."""


@dataclass(frozen=True, slots=True)
class Server:
    """Where mail is handed over: `smtp://`, `smtp+starttls://` or `smtps://`, with `user:password@` where it asks."""

    scheme: str
    host: str
    port: int
    user: str = ""
    password: str = ""

    @classmethod
    def parse(cls, url: str) -> Server:
        """Read INTERLACE_SMTP_URL.

        Raises:
            MailSettingError: it is no such URL; the text never shows it, for it may hold a password.
        """
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise MailSettingError(f"{SETTING} is no URL: its port is not a number") from error
        if parts.scheme not in _PORTS or not parts.hostname:
            raise MailSettingError(f"{SETTING} has to be smtp://, smtp+starttls:// or smtps:// and a host")
        return cls(
            parts.scheme, parts.hostname, port or _PORTS[parts.scheme], unquote(parts.username or ""),
            unquote(parts.password or ""),
        )  # fmt: skip


class Mailer:
    """Sends mail.

    Args:
        url: the SMTP server; None where the operator named none.
        sender: the From address.
    """

    def __init__(self, url: str | None, sender: str) -> None:
        self._server = None if url is None else Server.parse(url)
        self._sender = sender

    @property
    def is_set(self) -> bool:
        """Whether there is a server to send over."""
        return self._server is not None

    async def send(self, to: Sequence[str], *, subject: str, text: str, html: str | None = None) -> None:
        """Hand a message over, in a thread.

        Raises:
            NodeError: `mail`, when no server is set, it cannot be reached, or it refuses.
        """
        server = self._server
        if server is None:
            raise NodeError(f"no SMTP server is set; an operator sets {SETTING}", kind="mail")
        message = EmailMessage()
        try:
            message["From"], message["To"] = self._sender, ", ".join(to)
            message["Subject"] = " ".join(subject.split())
        except (ValueError, IndexError) as error:
            raise NodeError(
                f"an address or the subject cannot stand in a mail: {error}", kind="mail"
            ) from error
        message["Date"], message["Message-ID"] = formatdate(), make_msgid(domain="interlace.invalid")
        message.set_content(text)
        if html is not None:
            message.add_alternative(html, subtype="html")
        try:
            await asyncio.to_thread(_hand_over, server, message)
        except (OSError, smtplib.SMTPException) as error:
            raise NodeError(
                f"the mail server {server.host}:{server.port} did not take the message: {_words(error)}",
                kind="mail",
            ) from error


def _hand_over(server: Server, message: EmailMessage) -> None:
    context = ssl.create_default_context()
    if server.scheme == "smtps":
        connection: smtplib.SMTP = smtplib.SMTP_SSL(
            server.host, server.port, timeout=_SECONDS, context=context
        )
    else:
        connection = smtplib.SMTP(server.host, server.port, timeout=_SECONDS)
    with connection:
        if server.scheme == "smtp+starttls":
            connection.starttls(context=context)
        if server.user:
            connection.login(server.user, server.password)
        connection.send_message(message)


def _words(error: Exception) -> str:
    """What the server said; an error of the login does not repeat what was sent."""
    if isinstance(error, smtplib.SMTPResponseException):
        said = error.smtp_error
        return f"{error.smtp_code} {said.decode(errors='replace') if isinstance(said, bytes) else said}"
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return "; ".join(f"{who}: {code}" for who, (code, _) in error.recipients.items())
    return str(error) or type(error).__name__
