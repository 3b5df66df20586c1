"""What the pages show, made once for the tests of a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from interlace.resources.models.testing import ScriptedModels
from tests.loopback import Loopback
from tests.web.conftest import Server
from tests.web.pages.seeds import RULES, Seeded, seed


@pytest.fixture(scope="module")
def seeded(server: Server) -> Iterator[Seeded]:
    with Loopback() as web, ScriptedModels(RULES, models=["small"]) as models:
        yield seed(server, web, models)


@pytest.fixture(scope="module")
def places(seeded: Seeded) -> dict[str, str]:
    """Ids of things that have a page."""
    return {
        "run": seeded.runs["Month-end close"],
        "failed": seeded.runs["Exchange rates"],
        "agent": seeded.runs["Ask the analyst"],
        "request": seeded.asked,
        "schedule": seeded.schedule,
        "webhook": seeded.webhook,
    }
