"""Addresses that stand in a file but cannot be used: placeholders such as `https://{YOUR-HOST}/` become settings."""

from __future__ import annotations

from interlace.engine.errors import NodeError
from interlace.importers.expressions import constant
from interlace.importers.report import Report
from interlace.resources.http.url import parse_url


def usable(url: str, *, step: str, source: str, report: Report) -> str:
    """The address, or a setting in its place whose default is what the file says."""
    if "{{" in url:
        return url
    try:
        parse_url(url)
    except NodeError:
        name = f"{step.upper()}_URL"
        report.add(
            "decision", "set_url", f"The address {url[:200]!r} of the file cannot be used; set {name}, or write it at the node.",
            source=source, node=step,
        )  # fmt: skip
        return "{{ " + f"env.{name} | default({constant(url)})" + " }}"
    return url
