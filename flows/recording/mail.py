"""Mail as recorded and offline runs see it."""

from __future__ import annotations

from collections.abc import Sequence

from interlace.flows.recording.outside import Form, Outside
from interlace.resources.mail import Mailer

_SENT: Form[None] = Form(lambda _: True, lambda _: None)


class RecordedMailer(Mailer):
    """The mails of one attempt of a node; offline none is sent again."""

    def __init__(self, mailer: Mailer, outside: Outside) -> None:
        self._mailer = mailer
        self._outside = outside

    @property
    def is_set(self) -> bool:
        """Whether there is a server to send over; offline the record knows what became of a mail."""
        return self._outside.offline or self._mailer.is_set

    async def send(self, to: Sequence[str], *, subject: str, text: str, html: str | None = None) -> None:
        """Hand a message over."""
        request = {"to": list(to), "subject": subject, "text": text, "html": html}
        await self._outside.ask(
            "mail", request, lambda: self._mailer.send(to, subject=subject, text=text, html=html), _SENT
        )
