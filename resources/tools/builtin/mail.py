"""The tool that sends mail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from interlace.engine.document import Effects
from interlace.engine.errors import NodeError
from interlace.engine.schema import Schema
from interlace.resources.mail import Mailer
from interlace.resources.tools.tool import Category, Gate, ToolContext, ToolResult
from interlace.resources.tools.typed import Arguments, TypedTool

Address = Annotated[str, Field(max_length=320, pattern=r"^[^@\s,;<>]+@[^@\s,;<>]+$")]


class MailArguments(Arguments):
    """A message."""

    to: list[Address] = Field(min_length=1, max_length=50, description="Addresses.")
    subject: str = Field(min_length=1, max_length=500)
    text: str = Field(max_length=500_000, description="The message as plain text.")
    html: str | None = Field(None, max_length=1_000_000, description="The same as HTML.")


class SendEmail(TypedTool[MailArguments]):
    """E-mail."""

    name = "send_email"
    description = "Send an e-mail over the operator's mail server. A person has to agree to it."
    category: ClassVar[Category] = "mail"
    result: ClassVar[Schema] = {
        "type": "object",
        "properties": {"sent": {"type": "boolean"}, "to": {"type": "array", "items": {"type": "string"}}},
        "required": ["sent", "to"],
    }

    def effects(self, arguments: Mapping[str, Any]) -> Effects:
        """A mail that is sent twice arrives twice."""
        del arguments
        return "once"

    async def gate(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Gate | None:
        """Always.

        Raises:
            NodeError: `bad_arguments`; `mail`: there is no mail server, so that nobody is asked in vain.
        """
        asked = self.read(arguments)
        if not ctx.service(Mailer).is_set:
            raise NodeError(
                "no SMTP server is set; an operator sets INTERLACE_SMTP_URL", kind="mail", retryable=False
            )
        return Gate(
            title=f"Send an e-mail to {', '.join(asked.to)}: {asked.subject}"[:200],
            reason="a mail cannot be taken back",
        )

    async def call(self, arguments: MailArguments, ctx: ToolContext) -> ToolResult:
        """Hand it over.

        Raises:
            NodeError: `mail`.
        """
        mailer = ctx.service(Mailer)
        await mailer.send(arguments.to, subject=arguments.subject, text=arguments.text, html=arguments.html)
        return ToolResult(
            value={"sent": True, "to": arguments.to}, text=f"Sent to {', '.join(arguments.to)}."
        )
