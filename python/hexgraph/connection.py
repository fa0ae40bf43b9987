"""How a database is opened, and closed when the interpreter ends."""

import atexit
import os
import weakref
from collections.abc import Mapping
from typing import Any, Never, cast

from ._native import Database, open_database
from .homes import expanded

MEMORY = ":memory:"

CLUSTER = "dgraph://"

PLAIN = (0, None, 300.0, "always", "64MiB", "auto", None, True, False, True, 0)
"""The defaults of the arguments of `connect` that mean nothing to a cluster."""

_open: weakref.WeakSet[Any] = weakref.WeakSet()


def connect(  # noqa: PLR0913 - settings by keyword
    path: str | os.PathLike[str] = MEMORY,
    *,
    read_only: bool = False,
    threads: int = 0,
    limits: Mapping[str, float | str] | None = None,
    txn_timeout: float = 300.0,
    sync: str = "always",
    checkpoint: int | str = "64MiB",
    fold: str = "auto",
    memory: int | str | None = None,
    map: bool = True,  # noqa: A002 - the field's word for it
    strict: bool = False,
    warnings: bool = True,
    namespace: int = 0,
    **other: Never,
) -> Database:
    """Open the database in the directory `path`, or an empty one in memory.

    A `path` like "dgraph://user:password@host:9080?http=host:8080" connects to a cluster of Dgraph
    instead (hexgraph[dgraph]; docs/cluster.md): what comes back has the same methods. Of the other
    arguments only `read_only` means something there.

    A missing directory is created, unless `read_only` is set; a leading `~` is the home folder,
    here and in all paths that methods take. One process may have a directory open for writing; any
    number may open it read-only, and share its pages in memory. `threads`
    are those that loads and large queries use, 0 for as many as there are cores.

    In the process that has it open, `connect` returns another handle of the same database, so a
    cell of a notebook may be run again. The settings have to be the same, but for `strict`,
    `warnings` and `namespace`, which each handle has for itself. `close` closes one handle; the
    database is closed with the last. What is opened with `read_only` is a database of its own,
    which shows the moment when it was opened until it is told to `refresh`.

    A transaction that nobody uses for `txn_timeout` seconds is discarded.

    A commit is noted in a log in the directory. `sync` says when it counts as done:

    - "always", when it is on the disk: neither a crash of the process nor one of the machine loses
      it. Threads that commit at once share the wait
    - "every=100ms" or another time, when the system has it, which puts it on the disk that often:
      a crash of the machine loses the last ones, one of the process none
    - "never", the same, and the system puts it on the disk when it likes

    Past `checkpoint` bytes, and a quarter of the snapshot, a new snapshot takes the place of the
    log, beside readers and writers.

    Changes are kept beside the columns that they are about, where they make reading whole columns
    slower. When more than one in 64 rows has changed, or one in 256 and nobody commits for a
    moment, a thread folds them into a new column, beside readers and writers; `fold="manual"`
    leaves that to `Database.compact`.

    A snapshot of more than a MiB is mapped: opening takes no time, and memory is shared with other
    processes. If another program shortens that file while it is open, by copying over it in place
    or on a disk that goes away, the system ends this process (SIGBUS); hexgraph itself never does
    that. `map=False` reads the file into memory instead: slower to open, and safe from that.

    `memory`, bytes or "8GB", bounds what all queries, transactions, loads and builds of indexes
    may take together beside the data; without it, all databases of the process share four fifths
    of what the machine, the control group and `ulimit` let it have. Who needs more than is left
    raises LimitError, and nothing else is affected.

    With `strict`, a query that names a predicate, a type or a language that the schema does not
    know raises QueryError, where it is answered with nothing and `Result.warnings` otherwise.
    `rows()`, `to_dict()` and the frames of a result come with Python's warnings of what is in
    `Result.warnings` (`QueryWarning`, `UnknownNameWarning`), unless `warnings=False`.

    `namespace` is the number of the graph that is asked, where the database has several beside each
    other (`Database.create_namespace`).

    `limits` bound what a single request may use; past one it raises LimitError with its name:

    - `timeout`, seconds that a query may take where it does not say so itself (none)
    - `memory`, bytes of its sets, lists and variables (4 GiB), and `result`, bytes of its answer
      as it is written (4 GiB); "512MiB" will do
    - `edges` that one @recurse may walk (a million), and its `levels` (256; up to 100,000)
    - `normalize`, objects that @normalize may make of one node (10,000)
    - `frontier`, beginnings of paths that shortest may keep (a million)
    - `uids` that one `Database.assign_uids` hands out (a million)
    - `text`, bytes of a query's text (64 MiB), and `body`, bytes of a request over HTTP (256 MiB)
    - `slow`, seconds from which on `Database.slow_queries` keeps a query (1)

    >>> import hexgraph
    >>> with hexgraph.connect() as db:
    ...     db
    <hexgraph.Database :memory:>

    Raises StorageError when another process writes there, which it names, or this one with other
    settings; CorruptError when the data or the log is damaged; ValueError for a limit that there is
    not, and for an address of another kind.
    """
    if other:
        from .guesses import refuse_of_connect

        refuse_of_connect(other, list(cast(dict[str, Any], connect.__kwdefaults__)))
    if isinstance(path, str) and path.startswith(CLUSTER):
        given = (
            threads,
            limits,
            txn_timeout,
            sync,
            checkpoint,
            fold,
            memory,
            map,
            strict,
            warnings,
            namespace,
        )
        return _cluster(path, read_only=read_only, is_plain=given == PLAIN)
    if isinstance(path, str) and "://" in path:
        raise ValueError(
            f"{path} is no directory: a server is asked at its gRPC port, as dgraph://host:9080, "
            "or over HTTP by any client"
        )
    settings = [(name, str(value)) for name, value in (limits or {}).items()]
    durability = (sync, str(checkpoint), map, fold)
    resources = (threads, None if memory is None else str(memory))
    if path == MEMORY:
        if read_only:
            raise ValueError("a database in memory is empty: read_only needs a path")
        return open_database(
            None, read_only, resources, settings, txn_timeout, durability, strict, warnings
        )
    place = os.fspath(expanded(path))
    database = open_database(
        place, read_only, resources, settings, txn_timeout, durability, strict, warnings
    )
    if namespace != 0:
        database = database.open_namespace(namespace)
    _open.add(database)
    return database


def _cluster(text: str, *, read_only: bool, is_plain: bool) -> Database:
    if not is_plain:
        raise ValueError("a cluster has its own settings: of the arguments it takes read_only")
    from .cluster import Cluster

    cluster = Cluster(text, read_only=read_only)
    _open.add(cluster)
    # A program has one type for both: what is written for a database goes on with a cluster.
    return cast(Database, cluster)


@atexit.register
def _close_all() -> None:
    for database in list(_open):
        database.close()
