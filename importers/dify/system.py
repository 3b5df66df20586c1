"""Dify's system variables (`sys.…`) as inputs and facts about the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from interlace.importers.build import Draft
from interlace.importers.dify.file import DifyFile
from interlace.importers.expressions import Ref, path
from interlace.importers.foreign import Json

FILE: Final[Json] = {"type": "object", "format": "file"}
FILES: Final[Json] = {"type": "array", "items": FILE, "default": []}
_RUN: Final = {"workflow_run_id": Ref("run.id", is_text=True), "timestamp": Ref("run.started_at | timestamp")}
_ASKED: Final[dict[str, Json]] = {
    "conversation_id": {"type": "string", "description": "Names the conversation.", "default": ""},
    "user_id": {"type": "string", "description": "Names the person.", "default": ""},
    "app_id": {"type": "string", "description": "Names the app.", "default": ""},
    "workflow_id": {"type": "string", "description": "Names the workflow.", "default": ""},
    "dialogue_count": {
        "type": "integer",
        "description": "How many messages the conversation has.",
        "default": 0,
    },
    "histories": {"type": "string", "description": "What was said before.", "default": ""},
}


def system_value(keys: Sequence[str], draft: Draft, file: DifyFile, say: Callable[[str], None]) -> Ref:
    """What `sys.<keys>` stands for; inputs that it needs are declared.

    Args:
        keys: the name after `sys`, and keys below it.
        draft: takes the inputs.
        file: the file, which says whether it is a chat.
        say: takes a remark where the value comes from somewhere else.
    """
    name, rest = keys[0], keys[1:]
    if name == "query":
        wanted = "message" if file.is_chat else "query"
        draft.need_input(wanted, {"type": "string", **({} if file.is_chat else {"default": ""})})
        return Ref(path("inputs", wanted), is_text=True)
    if name == "files":
        draft.need_input("files", dict(FILES))
        return Ref(path("inputs", "files", *rest))
    if name in _RUN:
        return _RUN[name]
    schema = _ASKED.get(name, {"description": f"Dify's system variable {name}.", "default": ""})
    draft.need_input(name, dict(schema))
    say(f"Dify gives sys.{name} by itself; here it is the optional input {name!r} of the workflow.")
    return Ref(path("inputs", name, *rest), is_text=schema.get("type") == "string")
