"""What requests hold."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Body(BaseModel):
    """The body of a request: a field that is not known is an error, so that a misspelt one is not silently left out."""

    model_config = ConfigDict(extra="forbid")
