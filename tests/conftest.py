"""For all tests: properties are judged by what they find, and the long ones run only where they are asked for."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("interlace", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("interlace")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # A group stays in one process: those begin first, and the single tests fill what is left of the others' time.
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)
    if "slow" in str(config.option.markexpr):
        return
    for item in items:
        if item.get_closest_marker("slow") is not None:
            item.add_marker(pytest.mark.skip(reason="run on demand with -m slow"))
