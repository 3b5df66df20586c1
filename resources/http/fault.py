"""Turns failures of the wire into errors in plain words."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Protocol

from interlace.engine.errors import NodeError
from interlace.resources.http.url import Target
from interlace.resources.http.wire import ConnectError, MalformedError, SilenceError, WireError


class Unanswered(NodeError):  # noqa: N818 - named by what happened
    """The request was sent and no complete answer came: nobody knows whether it did its work."""


class Sent(Protocol):
    """What must be known of a call to judge its failure."""

    target: Target
    sent: bool


@contextmanager
def plain_errors(call: Sent) -> Iterator[None]:
    """Raise a `WireError` as `NodeError`, those after sending as `Unanswered`."""
    try:
        yield
    except SilenceError as error:
        raise timed_out(call, str(error)) from error
    except WireError as error:
        raise _broken(call, error) from error


def timed_out(call: Sent, what: str) -> NodeError:
    """The error of kind `timeout`."""
    return _error(call)(f"{_place(call)}: {what}.", kind="timeout")


def _broken(call: Sent, error: Exception) -> NodeError:
    where = _place(call)
    if isinstance(error, MalformedError):
        return NodeError(
            f"the request to {where} cannot be sent: {error}.", kind="bad_header", retryable=False
        )
    if isinstance(error, ConnectError):
        lasting = isinstance(error.__cause__, ssl.SSLCertVerificationError)
        return _error(call)(
            f"no connection to {where}: {error}.", kind="connection", retryable=False if lasting else None
        )
    return _error(call)(
        f"{where} broke off: {str(error).rstrip('.') or type(error).__name__}.", kind="connection"
    )


def _error(call: Sent) -> Callable[..., NodeError]:
    return Unanswered if call.sent else partial(NodeError, outcome_known=True)


def _place(call: Sent) -> str:
    return f"{call.target.scheme}://{call.target.host_header}"
