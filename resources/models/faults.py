"""What goes wrong with a model, as the errors of nodes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Final

from interlace.engine.errors import NodeError, is_retryable

_MOST_CHARACTERS: Final = 400
_LEAST_SECRET: Final = 4
_TOO_MANY, _TOO_LARGE, _BAD = 429, 413, 400
_OVERLOADED: Final = frozenset({503, 529})


def falls_back(error: NodeError) -> bool:
    """Whether another model may do better: this one is busy, broken, empty or out of reach. Never where it refuses."""
    return is_retryable(error.kind) or error.kind in {"quota_exceeded", "bad_response"}


def translated(error: Exception, who: str, secrets: Iterable[str]) -> NodeError:
    """The error of a node for what the SDK raised; an error that is none of the call's is raised again.

    Args:
        error: what was raised.
        who: the model, for the message.
        secrets: texts that must not stand in the message.
    """
    import openai  # noqa: PLC0415 - it takes a second, and was imported for the call

    inner = _node_error(error)
    if inner is not None:
        return _made(who, inner.message, inner.kind, secrets, retryable=inner.retryable)
    if isinstance(error, openai.APIStatusError):
        return _of_status(error, who, secrets)
    if isinstance(error, openai.APITimeoutError):
        return _made(who, "no answer in time", "timeout", secrets)
    if isinstance(error, openai.APIConnectionError):
        return _made(who, "it cannot be reached", "connection", secrets)
    if isinstance(error, openai.APIError):
        kind = "rate_limit" if error.code == "rate_limit_exceeded" else "overloaded"
        return _made(who, error.message, kind, secrets)
    if isinstance(error, ValueError | TypeError | AttributeError | KeyError):
        return _made(
            who, "the answer cannot be read as a chat completion", "bad_response", secrets, retryable=False
        )
    raise error


def _node_error(error: BaseException | None) -> NodeError | None:
    """The error of our own HTTP client behind what the SDK made of it."""
    while error is not None:
        if isinstance(error, NodeError):
            return error
        error = error.__cause__
    return None


def _of_status(error: object, who: str, secrets: Iterable[str]) -> NodeError:
    import openai  # noqa: PLC0415 - see above

    assert isinstance(error, openai.APIStatusError)
    status, code = error.status_code, str(error.code or "")
    body = error.body if isinstance(error.body, dict) else {}
    message = str(body.get("message") or "").strip() or f"HTTP status {status}"
    kind = f"http_{status}"
    if code == "insufficient_quota":
        kind = "quota_exceeded"
    elif status == _TOO_MANY:
        kind = "rate_limit"
    elif status in _OVERLOADED:
        kind = "overloaded"
    elif code == "context_length_exceeded" or (status in {_BAD, _TOO_LARGE} and "context length" in message):
        kind = "context_length"
    elif code == "content_filter":
        kind = "refused"
    return _made(who, f"{message} (HTTP {status})", kind, secrets, wait=_retry_after(error.response.headers))


def _retry_after(headers: object) -> float | None:
    get = getattr(headers, "get", None)
    if get is None:
        return None
    with contextlib.suppress(TypeError, ValueError):
        return max(0.0, float(get("retry-after-ms")) / 1000)
    with contextlib.suppress(TypeError, ValueError):
        return max(0.0, float(get("retry-after")))
    return None


def _made(
    who: str,
    message: str,
    kind: str,
    secrets: Iterable[str],
    *,
    wait: float | None = None,
    retryable: bool | None = None,
) -> NodeError:
    for secret in secrets:
        if len(secret) >= _LEAST_SECRET:
            message = message.replace(secret, "***")
    if len(message) > _MOST_CHARACTERS:
        message = message[:_MOST_CHARACTERS] + "…"
    return NodeError(f"model {who}: {message}", kind=kind, retry_after=wait, retryable=retryable)
