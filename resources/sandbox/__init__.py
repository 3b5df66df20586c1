"""Runs code that nobody vouches for: no file, secret, network or process of the service is within its reach."""

from __future__ import annotations

from interlace.resources.sandbox.contract import (
    CodeError,
    CodeResult,
    JsonValue,
    Limits,
    SandboxStatus,
    Setting,
)
from interlace.resources.sandbox.sandbox import Sandbox

__all__ = ["CodeError", "CodeResult", "JsonValue", "Limits", "Sandbox", "SandboxStatus", "Setting"]
