"""What the store refuses, as one tree; `code` is stable and ends in the API's problem+json.

StoreError                   (engine) the store refused
├── FencedError              another process owns the run now: this one must stop
├── NotJsonError             a value cannot be recorded
├── TooLargeError            a value is larger than the limit
├── UnfitError               a value is none that the database can hold or look for
├── CommitError              the database did not take a commit
├── ConflictError            the object's state does not allow it
├── NotFoundError            there is no such object, or none that the asker sees
├── ForbiddenError           the asker sees the object and may not do this with it
└── SchemaError              the database belongs to another version of the product
"""

from __future__ import annotations

from typing import ClassVar

from interlace.engine.errors import StoreError


class FencedError(StoreError):
    """Another process owns the run now."""

    code: ClassVar[str] = "fenced"


class NotJsonError(StoreError):
    """The value is not JSON."""

    code: ClassVar[str] = "not_json"
    breaks_run: ClassVar[bool] = False

    def __init__(self, message: str = "", *, path: str = "", reason: str = "") -> None:
        super().__init__(message)
        self.path = path
        self.reason = reason


class TooLargeError(StoreError):
    """The value is larger than the limit."""

    code: ClassVar[str] = "too_large"
    breaks_run: ClassVar[bool] = False


class UnfitError(StoreError):
    """A value is none that the database can hold or look for."""

    code: ClassVar[str] = "unfit_value"
    breaks_run: ClassVar[bool] = False

    def __init__(self, cause: object) -> None:
        super().__init__(
            f"a number is too large, or a text holds what no text can: {cause}; send another value"
        )


class CommitError(StoreError):
    """The database did not take the commit."""

    code: ClassVar[str] = "commit_failed"


class ConflictError(StoreError):
    """The object's state does not allow it."""

    code: ClassVar[str] = "conflict"
    breaks_run: ClassVar[bool] = False


class NotFoundError(StoreError):
    """There is no such object."""

    code: ClassVar[str] = "not_found"
    breaks_run: ClassVar[bool] = False


class ForbiddenError(StoreError):
    """You see the object and may not do this with it."""

    code: ClassVar[str] = "forbidden"
    breaks_run: ClassVar[bool] = False


class SchemaError(StoreError):
    """The database belongs to another version of the product."""

    code: ClassVar[str] = "schema"
