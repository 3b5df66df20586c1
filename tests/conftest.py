"""For all tests: properties are judged by what they find, and the long ones run only where they are asked for."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("interlace", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("interlace")


_LONGEST = ("tests/crash/", "tests/web/", "tests/machines/", "tests/flows/prefect/", "tests/server/")
"""A process that ends with one of these alone would be waited for by the others."""


def _turn(item: pytest.Item) -> int:
    return next((turn for turn, part in enumerate(_LONGEST) if item.nodeid.startswith(part)), len(_LONGEST))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=_turn)
    if "slow" in str(config.option.markexpr):
        return
    for item in items:
        if item.get_closest_marker("slow") is not None:
            item.add_marker(pytest.mark.skip(reason="run on demand with -m slow"))
