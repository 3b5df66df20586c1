"""For all tests: properties are judged by what they find, and the long ones run only where they are asked for."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("interlace", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("interlace")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "slow" in str(config.option.markexpr):
        return
    for item in items:
        if item.get_closest_marker("slow") is not None:
            item.add_marker(pytest.mark.skip(reason="run on demand with -m slow"))
