"""Accessibility of a page by axe, as the browser sees it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

PROGRAM = Path(__file__).parents[3] / "web" / "node_modules" / "axe-core" / "axe.min.js"


def violations(page: Page, within: str = "html") -> list[str]:
    """What is wrong seriously, one line a rule with the first places."""
    # The page's policy allows no script of elsewhere; the debugger of the browser is not bound by it.
    page.evaluate(PROGRAM.read_text("utf-8"))
    found: list[dict[str, Any]] = page.evaluate(
        "async within => (await axe.run(within, {resultTypes: ['violations']})).violations",
        within,
    )
    return [
        f"{one['id']} ({one['impact']}): {', '.join(str(node['target']) for node in one['nodes'][:4])}"
        for one in found
        if one["impact"] in {"serious", "critical"}
    ]


def both_themes(page: Page, within: str = "html") -> list[str]:
    """Violations in light and in dark; `within` an element, as what lies behind a dialog is out of use."""
    page.emulate_media(reduced_motion="reduce")
    found = []
    for dark in (False, True):
        page.evaluate("dark => document.documentElement.classList.toggle('dark', dark)", dark)
        page.wait_for_function(
            "dark => document.documentElement.classList.contains('dark') === dark", arg=dark
        )
        found += [f"{'dark' if dark else 'light'}: {line}" for line in violations(page, within)]
    return found
