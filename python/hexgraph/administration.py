"""Namespaces of a database, and the keys that clients name to a server of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    from ._native import Database

Role = Literal["admin", "client", "read-only"]


@dataclass(frozen=True)
class ApiKey:
    """A key of a client, as `Database.keys` lists it. Times are in UTC.

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
    """The name by which it is revoked. It opens nothing."""
    name: str
    """What it is for."""
    role: Role
    """What its holder may do."""
    namespace: int
    """The namespace that it opens."""
    made: datetime
    """When it was made."""
    expires: datetime | None = None
    """When it ends; None for one that does not."""
    revoked: datetime | None = None
    """When it was revoked; None for one that was not."""
    secret: str | None = field(default=None, repr=False, compare=False)
    """What requests name in the header X-Auth-Token; only `Database.create_key` tells it."""


class AdministrationMethods:
    """What `attach` puts on `Database`."""

    def namespaces(self) -> list[int]:
        """Return the numbers of all namespaces: graphs beside each other that share nothing.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> db.create_namespace()
        1
        >>> db.namespaces()
        [0, 1]
        """
        found: list[int] = cast(Any, self)._namespaces()
        return found

    def open_namespace(self, number: int) -> Database:
        """Return the namespace of a number as a database of its own.

        It has its own predicates, types, transactions and schemas. Closing it closes all. What
        `connect` opens is the namespace 0, unless its `namespace` says otherwise.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> other = db.open_namespace(db.create_namespace())
        >>> _ = other.mutate(set='_:ada <name> "Ada" .')
        >>> db.stats()["nodes"], other.stats()["nodes"]
        (0, 1)

        Raises QueryError when there is none of that number.
        """
        found: Database = cast(Any, self)._open_namespace(number)
        return found

    def create_namespace(self) -> int:
        """Make a namespace, and return its number, which no other one ever had.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> db.create_namespace()
        1

        Raises ReadOnlyError, and StorageError when the system refuses.
        """
        made: int = cast(Any, self)._create_namespace()
        return made

    def drop_namespace(self, number: int) -> None:
        """Drop a namespace with all that is in it. What `open_namespace` gave fails from now on.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> db.drop_namespace(db.create_namespace())
        >>> db.namespaces()
        [0]

        Raises QueryError when there is none of that number, and for 0.
        """
        cast(Any, self)._drop_namespace(number)

    def create_key(
        self,
        name: str = "",
        *,
        role: Role = "client",
        expires: timedelta | float | None = None,
    ) -> ApiKey:
        """Make a key for the namespace of this database: its `secret` is told this once.

        A server of the database answers nobody without a key from then on. `role` is what its
        holder may do: "read-only", "client" (read and write data) or "admin" (everything).
        `expires` is how long it holds, a timedelta or seconds; without it there is no end.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> key = db.create_key("dashboard", role="read-only")
        >>> key.role, key.secret[:4], len(key.secret)
        ('read-only', 'hxg_', 68)

        Raises QueryError for another role, ReadOnlyError, and StorageError when the system
        refuses.
        """
        seconds = expires.total_seconds() if isinstance(expires, timedelta) else expires
        fields, secret = cast(Any, self)._create_key((name, role, seconds))
        return _key(fields, secret)

    def keys(self) -> list[ApiKey]:
        """List the keys that were ever made, the first one first, without their secrets.

        Those that have ended or were revoked are among them. From the namespace 0 they are those of
        all namespaces.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.create_key("loader")
        >>> [(key.name, key.role, key.revoked) for key in db.keys()]
        [('loader', 'client', None)]
        """
        return [_key(fields, None) for fields in cast(Any, self)._keys()]

    def revoke_key(self, id: str) -> None:  # noqa: A002 - as the key has it
        """Have a key open nothing any more: neither new requests nor what began with it.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> key = db.create_key("loader")
        >>> db.revoke_key(key.id)
        >>> db.keys()[0].revoked is None
        False

        Raises QueryError when there is none of that id, and when it is revoked already.
        """
        cast(Any, self)._revoke_key(id)


def _key(fields: Iterable[Any], secret: str | None) -> ApiKey:
    key, name, role, namespace, *times = fields
    made, expires, revoked = (None if time is None else _moment(time) for time in times)
    return ApiKey(key, name, role, namespace, cast(datetime, made), expires, revoked, secret)


def _moment(seconds: float) -> datetime:
    """Return a moment in seconds since 1970; the last one for what is behind the year 9999."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.max.replace(tzinfo=UTC)
