"""`ApiKey`: an API key of a database.

It is imported when it is first needed: `dataclasses` alone takes a quarter of `import hexgraph`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, cast

Role = Literal["admin", "client", "read-only"]


@dataclass(frozen=True)
class ApiKey:
    """An API key, as `Database.keys` lists it. Times are in UTC.

    >>> import hexgraph
    >>> db = hexgraph.connect()
    >>> key = db.create_key("dashboard", role="read-only")
    >>> key.name, key.role, key.expires
    ('dashboard', 'read-only', None)
    >>> [listed] = db.keys()
    >>> listed == key, listed.secret
    (True, None)
    """

    id: str
    """The id by which it is revoked. It gives no access."""
    name: str
    """Its purpose."""
    role: Role
    """Its role."""
    namespace: int
    """Its namespace."""
    made: datetime
    """When it was created."""
    expires: datetime | None = None
    """When it expires; None for never."""
    revoked: datetime | None = None
    """When it was revoked; None if it was not."""
    secret: str | None = field(default=None, repr=False, compare=False)
    """The value of the header X-Auth-Token; only `Database.create_key` returns it."""


def api_key(fields: Iterable[Any], secret: str | None) -> ApiKey:
    """Return a key of the fields that the native module lists."""
    key, name, role, namespace, *times = fields
    made, expires, revoked = (None if time is None else _moment(time) for time in times)
    return ApiKey(key, name, role, namespace, cast(datetime, made), expires, revoked, secret)


def _moment(seconds: float) -> datetime:
    """Return a time in seconds since 1970; the last one for what is after the year 9999."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.max.replace(tzinfo=UTC)
