"""What the pages show, made once for all their tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from interlace.resources.models.testing import ScriptedModels
from tests.loopback import Loopback
from tests.web.conftest import Server
from tests.web.pages.seeds import RULES, Seeded, seed


@pytest.fixture(scope="package")
def seeded(server: Server) -> Iterator[Seeded]:
    with Loopback() as web, ScriptedModels(RULES, models=["small"]) as models:
        yield seed(server, web, models)
        server.call("DELETE", "/api/v1/models/desk")  # other tests of this server bring models of their own


@pytest.fixture(scope="package")
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
