"""How a database is opened, and closed when the interpreter ends."""

import atexit
import os
import weakref

from ._native import Database, open_database

MEMORY = ":memory:"

_open: weakref.WeakSet[Database] = weakref.WeakSet()


def connect(
    path: str | os.PathLike[str] = MEMORY,
    *,
    read_only: bool = False,
    threads: int = 0,
    txn_timeout: float = 300.0,
) -> Database:
    """Open the database in the directory `path`, or an empty one in memory.

    A missing directory is created, unless `read_only` is set. One process may have a directory
    open for writing; any number may open it read-only, and share its pages in memory. `threads`
    are those that loads and large queries use, 0 for as many as there are cores.
    A transaction that nobody uses for `txn_timeout` seconds is discarded.

    >>> import hexgraph
    >>> with hexgraph.connect() as db:
    ...     db
    <hexgraph.Database :memory:>

    Raises StorageError when another process writes there; CorruptError when the data is damaged.
    """
    if path == MEMORY:
        if read_only:
            raise ValueError("a database in memory is empty: read_only needs a path")
        return open_database(None, read_only, threads, txn_timeout)
    database = open_database(os.fspath(path), read_only, threads, txn_timeout)
    _open.add(database)
    return database


@atexit.register
def _close_all() -> None:
    for database in list(_open):
        database.close()
