"""Servers as the base URL of a connector."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urljoin

from interlace.resources.connectors.report import Report

_CREDENTIALS = re.compile(r"//[^/?#]*@")
_HOLE = re.compile(r"\{([^{}]+)\}")
_USABLE = re.compile(r"(?:https?|\{\w+\})://[^\s/?#]+[^\s?#]*|\{\w+\}[^\s?#]*", re.IGNORECASE)


class Servers:
    """Chooses base URLs, and collects the values of the names in them."""

    def __init__(self, report: Report, source_url: str | None) -> None:
        self._report = report
        self._source_url = None if source_url is None else _CREDENTIALS.sub("//", source_url)
        self.variables: dict[str, str] = {}

    def general(self, servers: Any) -> str:
        """The base URL of the connector; empty where the description names none that can be used."""
        listed = _listed(servers)
        found = self._url(listed[0], "servers") if listed else ""
        if not listed and self._source_url is not None:
            found = urljoin(self._source_url, "/").rstrip("/")
        if not found:
            self._report.add(
                "warning",
                "no_server",
                "servers",
                "the description says no address; set base_url before the first call.",
            )
        others = [_CREDENTIALS.sub("//", str(server.get("url"))) for server in listed[1:]]
        if others:
            self._report.add(
                "info",
                "other_servers",
                "servers",
                f"{found or 'none'} is taken; it also names {', '.join(others[:10])}.",
            )
        return found

    def own(self, servers: Any, place: str) -> str:
        """The base URL of one operation or path, empty where it has none of its own."""
        listed = _listed(servers)
        return self._url(listed[0], place) if listed else ""

    def _url(self, server: dict[str, Any], place: str) -> str:
        url = server.get("url")
        url = url.strip() if isinstance(url, str) else ""
        if _CREDENTIALS.search(url):
            url = _CREDENTIALS.sub("//", url)
            self._report.add(
                "warning",
                "credentials_left_out",
                place,
                "the address held a user or a password, which are not kept; set them as credentials (`auth`: basic).",
            )
        variables = server.get("variables")
        variables = variables if isinstance(variables, dict) else {}
        for name in _HOLE.findall(url):
            entry = variables.get(name)
            default = entry.get("default") if isinstance(entry, dict) else None
            clean = re.sub(r"\W", "_", name)
            url = url.replace(f"{{{name}}}", f"{{{clean}}}")
            self.variables.setdefault(clean, "" if default is None else str(default))
            choice = entry.get("enum") if isinstance(entry, dict) else None
            which = f", one of {', '.join(map(str, choice))}" if isinstance(choice, list) else ""
            self._report.add(
                "info",
                "server_variable",
                place,
                f"{{{clean}}} in the base URL is {str(default or '')!r}{which}; change it in `variables`.",
            )
        if not _USABLE.match(url):
            if self._source_url is None:
                if url:
                    self._report.add(
                        "warning",
                        "relative_server",
                        place,
                        f"the address {url!r} is relative; set base_url before the first call.",
                    )
                return ""
            url = urljoin(self._source_url, url)
        return url.partition("?")[0].partition("#")[0].rstrip("/") if _USABLE.match(url) else ""


def _listed(servers: Any) -> list[dict[str, Any]]:
    return [server for server in servers if isinstance(server, dict)] if isinstance(servers, list) else []
