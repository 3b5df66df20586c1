"""`interlace chat`: a conversation in the terminal."""

from __future__ import annotations

from typing import Annotated

import typer

from interlace.server.cli.output import FAILED, SUSPENDED, JsonFlag, run_async


def chat(
    agent: Annotated[
        str | None, typer.Option(help="Name or id of an agent; everything you see if not given.")
    ] = None,
    workflow: Annotated[
        str | None, typer.Option(help="Name or id of a workflow with settings.chat: true.")
    ] = None,
    session: Annotated[str | None, typer.Option(help="Id of a session that goes on.")] = None,
    message: Annotated[
        str | None, typer.Option("-m", "--message", help="Ask this alone, print the answer and end.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Chat: answers are shown while they are made, with the tools that are called. Ctrl-C cancels an answer.

    Turns run on the server of this home if one runs, else in this command. An answer is not lost when the command ends:
    `--session` goes on. Without a terminal every line of standard input is a message. Ends with 3 where somebody has to
    confirm something first.
    """
    from interlace.server.cli.chatting import Wanted, converse

    wanted = Wanted(agent=agent, workflow=workflow, session=session, message=message, as_json=as_json)
    status = run_async(converse(wanted), as_json=as_json)
    if status != "succeeded":
        raise typer.Exit(SUSPENDED if status == "suspended" else FAILED)
