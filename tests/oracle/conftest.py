"""The long comparison runs only where it is asked for."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "slow" in str(config.option.markexpr):
        return
    for item in items:
        if item.get_closest_marker("slow") is not None and "oracle" in item.path.parts:
            item.add_marker(pytest.mark.skip(reason="run on demand with -m slow"))
