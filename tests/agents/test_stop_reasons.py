"""Why an answer ended early is said in words, in both languages of the web UI."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest

from interlace.agents.loop.spending import WORDS, StopReason

_TEXTS = Path(__file__).parents[2] / "web" / "src" / "i18n"


@pytest.mark.parametrize("language", ["en", "ja"])
def test_each_reason_has_words(language: str) -> None:
    said = json.loads((_TEXTS / language / "chat.json").read_text("utf-8"))
    reasons = {reason for reason in get_args(StopReason) if reason != "answer"}
    assert reasons == set(WORDS)
    assert {key.removeprefix("stop_") for key in said if key.startswith("stop_")} == reasons | {"other"}
