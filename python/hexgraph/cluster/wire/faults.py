"""Statuses of gRPC as the exceptions that the embedded database raises."""

from __future__ import annotations

import re
from typing import Any

from ...errors import (
    AccessError,
    ConflictError,
    Error,
    LimitError,
    NotSupportedError,
    ParseError,
    QueryError,
    ReadOnlyError,
    StorageError,
)

ABORTED = "Transaction has been aborted. Please retry"
"""What an embedded transaction says, too."""


def timed_out(timeout: float | None) -> LimitError:
    """Return the exception for a request whose time is over."""
    bound = "" if timeout is None else f" of {timeout:g} s: request less, or raise `timeout`"
    return LimitError(f"the request took longer than its timeout{bound}")


ABOUT_TEXTS = (ParseError, QueryError, ReadOnlyError)
"""What the embedded database may explain better."""

_REFUSED = re.compile(r"code = (?:Unauthenticated|PermissionDenied) desc = (.*)", re.DOTALL)
_POSITION = re.compile(
    r"^(?:rpc error: code = \w+ desc = )?line (\d+) column (\d+): (.*)", re.DOTALL
)


def is_about_the_request(error: Any) -> bool:
    """Whether the request is refused for its content, and not for its caller or time."""
    return _name(error) in ("UNKNOWN", "INVALID_ARGUMENT", "FAILED_PRECONDITION")


def exception(error: Any, address: str) -> Error:  # noqa: PLR0911 - a table
    """Return the exception for a failed call to the cluster at `address`."""
    text = error.details() or "no reason is given"
    match _name(error):
        case "ABORTED":
            return ConflictError(ABORTED)
        case "FAILED_PRECONDITION":
            return ReadOnlyError(text) if "read-only" in text else ConflictError(ABORTED)
        case "DEADLINE_EXCEEDED":
            return LimitError(text)
        case "RESOURCE_EXHAUSTED":
            return LimitError(text)
        case "CANCELLED":
            return LimitError(f"the request was cancelled: {text}")
        case "UNAUTHENTICATED" | "PERMISSION_DENIED":
            return AccessError(text)
        case "UNAVAILABLE":
            return StorageError(f"{address} can't be reached now: {text}")
        case "UNIMPLEMENTED":
            return NotSupportedError(f"the cluster at {address} can't do that: {text}")
        case "INTERNAL" | "DATA_LOSS":
            return StorageError(f"a fault of the cluster at {address}: {text}")
    return of_text(text)


def of_text(text: str) -> Error:
    """Return the exception for a reason in words."""
    if "invalid username or password" in text:
        return AccessError("invalid username or password")
    refused = _REFUSED.search(text)
    if refused:
        return AccessError(refused[1])
    if "Please retry" in text and "aborted" in text:
        return ConflictError(ABORTED)
    placed = _POSITION.match(text)
    if placed:
        line, column, message = placed.groups()
        return ParseError(message, int(line), int(column))
    return QueryError(text)


def _name(error: Any) -> str:
    return str(error.code().name)
