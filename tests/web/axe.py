"""Accessibility of a page by axe, as the browser sees it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

PROGRAM = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
COLOURS = ["color-contrast", "link-in-text-block"]
STILL = (
    "() => document.getAnimations().every("
    "(one) => one.playState !== 'running' || one.effect.getTiming().iterations === Infinity)"
)


def violations(page: Page, within: str = "html", *, colours: bool = False) -> list[str]:
    """What is wrong seriously, one line a rule with the first places; of colours alone where the rest was judged before."""
    if not PROGRAM.is_file():
        pytest.skip("axe-core is not installed: npm ci in web/")
    page.wait_for_function(STILL)
    if not page.evaluate("'axe' in window"):
        # The page's policy allows no script of elsewhere; the debugger of the browser is not bound by it.
        page.evaluate(PROGRAM.read_text("utf-8"))
    found: list[dict[str, Any]] = page.evaluate(
        "async ([within, options]) => (await axe.run(within, {resultTypes: ['violations'], ...options})).violations",
        [within, {"runOnly": COLOURS} if colours else {}],
    )
    return [
        f"{one['id']} ({one['impact']}): {', '.join(node['html'][:160] for node in one['nodes'][:4])}"
        for one in found
        if one["impact"] in {"serious", "critical"}
    ]


def both_themes(page: Page, within: str = "html") -> list[str]:
    """Violations in light, and of colours in dark; `within` an element, as what lies behind a dialog is out of use."""
    page.emulate_media(reduced_motion="reduce")
    found = []
    for dark in (False, True):
        page.evaluate("dark => document.documentElement.classList.toggle('dark', dark)", dark)
        page.wait_for_function(
            "dark => document.documentElement.classList.contains('dark') === dark", arg=dark
        )
        found += [f"{'dark' if dark else 'light'}: {line}" for line in violations(page, within, colours=dark)]
    return found
