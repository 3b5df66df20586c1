"""Every link leads somewhere, every heading stands once."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import NAMES, PAGES, ROOT, anchors, links


@pytest.mark.parametrize("name", NAMES)
def test_links_resolve(name: str) -> None:
    page = ROOT / name
    for link in links(page):
        if link.startswith(("https://", "http://")):
            continue
        target, _, anchor = link.partition("#")
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), link
        assert not anchor or anchor in anchors(path), link


def test_every_page_of_the_documentation_is_linked() -> None:
    reached = {(page.parent / link.partition("#")[0]).resolve() for page in PAGES for link in links(page)}
    missed = [
        path.relative_to(ROOT).as_posix()
        for path in PAGES
        if path not in reached and path.name != "README.md"
    ]
    assert missed == []


def test_the_pictures_are_self_contained() -> None:
    for name in ("storm_report.svg", "run.svg"):
        text = (ROOT / "docs" / "images" / name).read_text("utf-8")
        assert text.count("http") == 1, "only the name space of SVG"
        assert "<script" not in text
        assert f"docs/images/{name}" in (ROOT / "README.md").read_text("utf-8")


def test_the_code_map_names_what_is_there() -> None:
    """First cells of the map's tables are paths, in the package that the heading names."""
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    assert len(text.splitlines()) <= 240
    named = 0
    for section in text.partition("## Code map")[2].partition("\n## ")[0].split("\n### ")[1:]:
        package = (
            section.partition(":")[0]
            if section.split(":")[0]
            in ("engine", "store", "resources", "agents", "flows", "server", "importers")
            else ""
        )
        for line in section.splitlines():
            for path in re.findall(r"`([\w./]+)`", line.split("|")[1]) if line.startswith("| `") else []:
                assert (ROOT / package / path).exists(), f"{package}/{path}"
                named += 1
    assert named > 40


def test_messages_that_a_page_quotes_are_the_programs() -> None:
    page = (ROOT / "docs/guide/durability.md").read_text("utf-8")
    begin, end = re.findall(r"`(» going on with run )…([^`]*)`", page)[0]
    for name in ("watching", "session"):
        assert f"{begin}{{run_id}}{end}" in (ROOT / f"server/cli/{name}.py").read_text("utf-8")
