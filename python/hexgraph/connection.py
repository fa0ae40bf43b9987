"""How a database is opened, and closed when the interpreter exits."""

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

    A `path` like "dgraph://user:password@host:9080?http=host:8080" connects to a Dgraph cluster
    instead (hexgraph[dgraph]; docs/cluster.md). The returned object has the same methods. Of the
    other arguments only `read_only` applies.

    A missing directory is created, unless `read_only` is set. A leading `~` is the home folder,
    here and in all paths of methods. One process may open a directory for writing; any number may
    open it read-only, with common pages in memory.

    `threads` is the number of threads for loads and large queries; 0 means the number of cores.

    In the same process, `connect` returns another handle of the same database, so a cell of a
    notebook may be run again. The settings must be the same, except `strict`, `warnings` and
    `namespace`, which belong to a handle. `close` closes one handle; the last one closes the
    database. A handle with `read_only` is a separate database with its version of the data until
    `refresh`.

    A transaction without use for `txn_timeout` seconds is discarded.

    A commit is appended to a log in the directory. `sync` controls when it returns:

    - "always": when it is on disk; neither a crash of the process nor of the machine loses it.
      Concurrent commits have one common wait
    - "every=100ms" or another time: when the system has it, which writes it to disk that often. A
      crash of the machine loses the last commits, a crash of the process none
    - "never": the same, but the system decides when to write it to disk

    When the log exceeds `checkpoint` bytes and a quarter of the snapshot, a new snapshot replaces
    it. Readers and writers continue meanwhile.

    Changes are stored as a delta, which slows down scans of entire columns. A background thread
    compacts a column when more than one in 64 rows has changed, or one in 256 and there is no
    commit for a moment. `fold="manual"` leaves compaction to `Database.compact`.

    A snapshot of more than a MiB is memory-mapped: it opens at once, and processes share its
    memory. If another program shortens that file while it is open, or its disk disappears, the
    system ends this process (SIGBUS); hexgraph itself never shortens it. `map=False` reads the file
    into memory instead, which is slower to open, but safe.

    `memory`, bytes or "8GB", limits all queries, transactions, loads and index builds together, in
    addition to the data. By default all databases of the process share four fifths of what the
    machine, the control group and `ulimit` allow. A call that needs more raises LimitError; others
    are not affected.

    With `strict`, a query with a predicate, type or language that the schema does not have raises
    QueryError. Otherwise the name has no values, and `Result.warnings` lists it. `rows()`,
    `to_dict()` and the frames of a result emit the content of `Result.warnings` as Python warnings
    (`QueryWarning`, `UnknownNameWarning`), unless `warnings=False`.

    `namespace` is the number of the graph, if the database has several isolated ones
    (`Database.create_namespace`).

    `limits` apply to a single request; exceeding one raises LimitError with its name:

    - `timeout`: seconds for a query without its own timeout (none)
    - `memory`: bytes of its sets, lists and variables (4 GiB), and `result`: bytes of its
      serialized result (4 GiB); "512MiB" is accepted
    - `edges`: the edges that one @recurse may follow (a million), and its `levels` (256; up to
      100,000)
    - `normalize`: objects that @normalize may make of one node (10,000)
    - `frontier`: partial paths of one shortest (a million)
    - `uids`: uids of one `Database.assign_uids` (a million)
    - `text`: bytes of a query's text (64 MiB), and `body`: bytes of a request over HTTP (256 MiB)
    - `slow`: seconds above which `Database.slow_queries` records a query (1)

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
            f"{path} is no directory: a server is named by its gRPC port, as dgraph://host:9080, "
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
    location = os.fspath(expanded(path))
    database = open_database(
        location, read_only, resources, settings, txn_timeout, durability, strict, warnings
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
