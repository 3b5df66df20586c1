"""Stored resources as the API and the commands show them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from interlace.store.resources import Resource


def resource_json(resource: Resource) -> dict[str, Any]:
    """A resource as JSON; secrets stand in it by name alone."""
    return asdict(resource)
