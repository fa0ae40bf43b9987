"""Namespaces of a database, and the API keys of its clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from datetime import timedelta

    from ._native import Database
    from .api_key import ApiKey, Role


class AdministrationMethods:
    """The methods that `attach` adds to `Database`."""

    def namespaces(self) -> list[int]:
        """Return the numbers of all namespaces: isolated graphs of the database.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> db.create_namespace()
        1
        >>> db.namespaces()
        [0, 1]
        """
        numbers: list[int] = cast(Any, self)._namespaces()
        return numbers

    def open_namespace(self, number: int) -> Database:
        """Return the namespace of a number as a separate database.

        It has its own predicates, types, transactions and schemas. Closing it closes all. `connect`
        opens the namespace 0, unless its `namespace` says otherwise.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> other = db.open_namespace(db.create_namespace())
        >>> _ = other.mutate(set='_:ada <name> "Ada" .')
        >>> db.stats()["nodes"], other.stats()["nodes"]
        (0, 1)

        Raises QueryError when there is none of that number.
        """
        database: Database = cast(Any, self)._open_namespace(number)
        return database

    def create_namespace(self) -> int:
        """Create a namespace, and return its number, which is never reused.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> db.create_namespace()
        1

        Raises ReadOnlyError, and StorageError on an error of the operating system.
        """
        made: int = cast(Any, self)._create_namespace()
        return made

    def drop_namespace(self, number: int) -> None:
        """Drop a namespace with all its data. Open handles of it fail from now on.

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
        """Create a key for the namespace of this database; its `secret` is returned only once.

        From then on, a server of the database requires a key. `role` is "read-only", "client" (read
        and write data) or "admin" (everything). `expires` is the lifetime, a timedelta or seconds;
        the default is no limit.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> key = db.create_key("dashboard", role="read-only")
        >>> key.role, key.secret[:4], len(key.secret)
        ('read-only', 'hxg_', 68)

        Raises QueryError for another role, ReadOnlyError, and StorageError when the system
        refuses.
        """
        from datetime import timedelta

        from .api_key import api_key

        seconds = expires.total_seconds() if isinstance(expires, timedelta) else expires
        fields, secret = cast(Any, self)._create_key((name, role, seconds))
        return api_key(fields, secret)

    def keys(self) -> list[ApiKey]:
        """List all keys in the order of their creation, without their secrets.

        Expired and revoked keys are included. The namespace 0 lists those of all namespaces.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.create_key("loader")
        >>> [(key.name, key.role, key.revoked) for key in db.keys()]
        [('loader', 'client', None)]
        """
        from .api_key import api_key

        return [api_key(fields, None) for fields in cast(Any, self)._keys()]

    def revoke_key(self, id: str) -> None:  # noqa: A002 - as the key has it
        """Revoke a key, for new requests and for what began with it.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> key = db.create_key("loader")
        >>> db.revoke_key(key.id)
        >>> db.keys()[0].revoked is None
        False

        Raises QueryError when there is none of that id, and when it is revoked already.
        """
        cast(Any, self)._revoke_key(id)
