"""A connection to a cluster, with the methods of the embedded database."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Literal, Never, NoReturn, Self, TypeVar

from .. import frames, transactions
from .._native import ArrowTable, SchemaReport, json_table, schema_text
from ..errors import (
    NotSupportedError,
    QueryError,
    ReadOnlyError,
)
from ..guesses import refuse_of_query
from ..homes import expanded
from ..methods import DatabaseMethods
from . import paging, requests
from . import schema as definitions
from .answers import Result, Upsert
from .changes import Changes, Upserting
from .each import Answers
from .session import READ_ONLY, Session
from .transaction import CYPHER, DELETE, Txn
from .wire.address import parse
from .wire.channel import api
from .wire.subscription import Subscription
from .wire.web import Web

T = TypeVar("T")

MANY_AT_ONCE = 16
"""The most queries of `query_many` and `query_each` that run at a time."""

NAMESPACES = "the cluster has its own, administered at /admin"
KEYS = "keys are those of an embedded database and its server"


def _refused(name: str, advice: str) -> Callable[..., NoReturn]:
    """Return a method that a cluster can't have."""

    def method(_self: Cluster, *_arguments: object, **_named: object) -> NoReturn:
        raise NotSupportedError(f"{name}: {advice}")

    method.__doc__ = f"Raise NotSupportedError: {advice}."
    method.__name__ = name
    return method


class Cluster(Changes):
    """A connection to a cluster of Dgraph. Made by `connect`; usable from many threads at once.

    Its methods are those of `hexgraph.Database`. What a cluster can't do raises NotSupportedError,
    which says what does it instead. GraphQL requests go over HTTP: `?http=host:8080` in the
    connection string says where.
    """

    def __init__(self, text: str, *, read_only: bool = False) -> None:
        self._session = Session(parse(text), read_only=read_only)
        self.channel = self._session.channel
        """The calls over gRPC."""
        self._web = Web(self._session.address, self.channel.access_token)
        self._subscriptions: weakref.WeakSet[Subscription] = weakref.WeakSet()

    @property
    def path(self) -> None:
        """None: the data is elsewhere."""
        return None

    @property
    def read_only(self) -> bool:
        """Whether it was opened to be read only."""
        return self._session.read_only

    def alter(self, schema: str | os.PathLike[str]) -> SchemaReport:
        """Set definitions of predicates and types, and build their indexes.

        The report says what was added, changed and dropped, and nothing of what a cluster builds.
        """
        self._session.check_writable()
        text = schema_text(expanded(schema))
        self._session.mirror.forget()
        before = self._session.mirror.database()
        self._session.alter(api.Operation(schema=text), lambda db: db.alter(text))
        return self._session.mirror.altered(text, before)

    def drop(self, what: str, name: str | None = None) -> None:
        """Drop "all", the "data" (the schema stays), or the "predicate" or "type" of a name."""
        operation = api.Operation
        match (what, name):
            case ("all", None):
                request = operation(drop_all=True)
            case ("data", None):
                request = operation(drop_op=operation.DropOp.DATA)
            case ("predicate", str()):
                request = operation(drop_op=operation.DropOp.ATTR, drop_value=name)
            case ("type", str()):
                request = operation(drop_op=operation.DropOp.TYPE, drop_value=name)
            case _:
                given = repr(what) if name is None else f"{what!r}, {name!r}"
                raise ValueError(
                    'it is drop("all"), drop("data"), drop("predicate", name) or'
                    f' drop("type", name), not drop({given})'
                )
        self._session.check_writable()
        self._session.alter(request, lambda _: None)

    def query(
        self,
        dql: str,
        variables: dict[str, Any] | None = None,
        *,
        timeout: float | None = None,
        debug: bool = False,
        strict: bool | None = None,
        **other: Never,
    ) -> Result:
        """Answer a query in DQL; with `strict`, names that the schema does not know are errors."""
        refuse_of_query(other)
        message = requests.query(dql, variables)
        result = self._session.answer(message, dql, variables, timeout=timeout, debug=debug)
        if strict and result.warnings:
            raise QueryError(result.warnings[0])
        return result

    def query_many(
        self,
        dql: str,
        table: Iterable[Mapping[str, Any]] | frames.ArrowStream,
        *,
        block: str | None = None,
        number: str = "row",
        timeout: float | None = None,
    ) -> ArrowTable:
        """Answer one query for each row of a table, all from one snapshot, as one Arrow table.

        Each row is a request of its own, some at once; `timeout` bounds each.
        """
        given = [
            _without_gaps(row, row_number) for row_number, row in enumerate(frames.rows_of(table))
        ]
        with self.txn(read_only=True) as snapshot, ThreadPoolExecutor(MANY_AT_ONCE) as pool:
            answers = list(pool.map(lambda row: snapshot.query(dql, row, timeout=timeout), given))
        objects: list[dict[str, Any]] = []
        columns: list[str] = []
        for row_number, answer in enumerate(answers):
            columns = columns or answer.columns(block)
            if number in columns:
                raise QueryError(
                    f'the answer has a key "{number}" already: choose another name for the column'
                    " of numbers"
                )
            objects += [{number: row_number, **node} for node in answer.objects(block)]
        if not answers:
            return json_table(b'{"q":[]}', "q", [], {})
        text = requests.json_of({"q": objects})
        return json_table(text, "q", [number, *columns], answers[0].types())

    def query_each(
        self,
        dql: str,
        table: Iterable[Mapping[str, Any]] | frames.ArrowStream,
        *,
        timeout: float | None = None,
    ) -> Answers:
        """Answer one query for each row of a table, all from one snapshot, one after the other.

        Each row is a request of its own, some at once; `timeout` bounds each.
        """
        rows = frames.each_row_of(table)
        snapshot = self.txn(read_only=True)

        def run(row: Any, row_number: int) -> Result:
            return snapshot.query(dql, _without_gaps(row, row_number), timeout=timeout)

        return Answers(run, rows, MANY_AT_ONCE, snapshot.discard)

    def graphql_schema(self, sdl: str | os.PathLike[str] | None = None) -> str | None:
        """Set the GraphQL schema, a text or the path of a file, and return the one in force."""
        if sdl is None:
            return self._web.schema()
        self._session.check_writable()
        self._web.set_schema(schema_text(expanded(sdl)))
        self._session.mirror.forget()
        return self._web.schema()

    def graphql(
        self,
        text: str,
        variables: dict[str, Any] | None = None,
        *,
        operation: str | None = None,
        headers: dict[str, str] | None = None,
        timeout: float | None = None,
    ) -> dict[str, Any]:
        """Answer a GraphQL request: a dict with "data", and "errors" when something is wrong."""
        if self._session.read_only and _mutates(text):
            raise ReadOnlyError(READ_ONLY)
        return self._web.send(
            text, variables, operation=operation, headers=headers, timeout=timeout
        )

    def graphql_subscribe(
        self,
        text: str,
        variables: dict[str, Any] | None = None,
        *,
        operation: str | None = None,
        headers: dict[str, str] | None = None,
        timeout: float | None = None,
    ) -> Subscription:
        """Subscribe to a GraphQL operation: an iterator of answers as `graphql` gives them."""
        request = self._web.request(text, variables, operation)
        url, all_headers = self._web.socket_url(), self._web.headers(headers)
        subscription = Subscription(url, request, all_headers, timeout=timeout)
        self._subscriptions.add(subscription)
        return subscription

    def pages(
        self, dql: str, size: int = 1000, variables: dict[str, Any] | None = None
    ) -> paging.Pages:
        """Answer a query page by page: `size` nodes of its one visible block at a time.

        They come in the order of their uids, and all pages show the same snapshot.
        """
        refusal = self._session.mirror.refusal(lambda db: db.pages(dql, size, variables))
        if refusal is not None:
            raise refusal
        snapshot = self.txn(read_only=True)
        return paging.Pages(paging.split(dql), size, lambda text: snapshot.query(text, variables))

    def _mutate(self, arguments: dict[str, Any]) -> dict[str, str]:
        mutation = requests.mutation(**arguments)
        self._session.check_writable()
        if mutation is None:
            return {}
        message = api.Request(mutations=[mutation], commit_now=True)
        response = self._session.change(message, lambda txn: txn.mutate(**arguments), None)
        return dict(response.uids)

    def _upsert(self, given: Upserting) -> Upsert:
        dql, variables, arguments, messages, timeout = given
        self._session.check_writable()
        if not messages and not variables and not arguments["cond"]:
            # The text may be an entire upsert block, which brings its own mutations.
            message = api.RunDQLRequest(dql_query=dql)
            method = "run_dql"
        else:
            message = requests.query(dql, variables)
            message.read_only = False
            message.mutations.extend(messages)
            message.commit_now = True
            method = "query"
        response = self._session.change(
            message, lambda txn: txn.upsert(dql, variables, **arguments), timeout, method=method
        )
        return self._session.upserted(response, dql, variables)

    def txn(self, *, read_only: bool = False) -> Txn:
        """Begin a transaction: requests that read one snapshot and are committed as one."""
        return Txn(self._session, read_only=read_only)

    def run(self, work: Callable[[Txn], T], *, retries: int = 10) -> T:
        """Call `work` with a transaction, commit, and try again after a conflict."""
        return transactions.run(self, work, retries)

    def assign_uids(self, count: int) -> range:
        """Reserve `count` uids in a row that no new node gets, and return them."""
        if count < 1:
            # In the words of the embedded database.
            raise self._session.mirror.refusal(lambda db: db.assign_uids(count)) or ValueError(
                count
            )
        self._session.check_writable()
        message = api.AllocateIDsRequest(how_many=count, lease_type=api.UID)
        first: int = self.channel.request("allocate_ids", message).start
        return range(first, first + count)

    def schema(self) -> str:
        """Return the schema in the language of `alter`."""
        self._session.mirror.forget()
        return self._session.mirror.database().schema()

    def grammar(self, format: Literal["gbnf", "lark"]) -> str:  # noqa: A002
        """Return the grammar of DQL for the schema; as `hexgraph.Database.grammar`."""
        self._session.mirror.forget()
        return self._session.mirror.database().grammar(format)

    def close(self) -> None:
        """End the connection. The data stays where it is."""
        self.channel.close()
        for subscription in list(self._subscriptions):
            subscription.close()

    load = _refused("load", "write the files with hexgraph, and load them by `dgraph live`")
    index = DatabaseMethods.index
    describe = DatabaseMethods.describe
    aquery = DatabaseMethods.aquery
    amutate = DatabaseMethods.amutate
    aupsert = DatabaseMethods.aupsert
    agraphql = DatabaseMethods.agraphql
    suggest = DatabaseMethods.suggest

    load_nodes = _refused("load_nodes", "load tables into a database, and export it to the cluster")
    load_edges = _refused("load_edges", "load tables into a database, and export it to the cluster")
    load_graph = _refused("load_graph", "load it into a database, and export it to the cluster")
    delete = _refused("delete", DELETE)
    cypher = _refused("cypher", CYPHER)
    acypher = _refused("acypher", CYPHER)
    cypher_many = _refused("cypher_many", CYPHER)
    acypher_many = _refused("acypher_many", CYPHER)
    explain = _refused("explain", "a cluster reports no plans; a database with the same data does")
    slow_queries = _refused("slow_queries", "the logs of the cluster have its slow queries")
    stats = _refused("stats", "count by queries, { q(func: has(name)) { count(uid) } }")
    export = _refused("export", "bring the data back first: hexgraph import dgraph://... PATH")
    save = _refused("save", "bring the data back: hexgraph import dgraph://... PATH")
    backup = _refused("backup", "a cluster has its own backups, requested at /admin")
    checkpoint = _refused("checkpoint", "a cluster does so by itself")
    compact = _refused("compact", "a cluster does so by itself")
    refresh = _refused("refresh", "each request sees what was committed before it")
    edges = _refused("edges", "bring the data back: hexgraph import dgraph://... PATH")
    matrix = _refused("matrix", "bring the data back: hexgraph import dgraph://... PATH")
    sample = _refused("sample", "bring the data back: hexgraph import dgraph://... PATH")
    sql = _refused("sql", "bring the data back: hexgraph import dgraph://... PATH")
    profile = _refused("profile", "bring the data back: hexgraph import dgraph://... PATH")
    serve = _refused("serve", "a cluster serves already")
    namespaces = _refused("namespaces", NAMESPACES)
    create_namespace = _refused("create_namespace", NAMESPACES)
    drop_namespace = _refused("drop_namespace", NAMESPACES)
    open_namespace = _refused("open_namespace", NAMESPACES)
    keys = _refused("keys", KEYS)
    create_key = _refused("create_key", KEYS)
    revoke_key = _refused("revoke_key", KEYS)

    @property
    def algo(self) -> NoReturn:
        """Raise NotSupportedError: algorithms run where the data are."""
        raise NotSupportedError("algo: bring the data back: hexgraph import dgraph://... PATH")

    @property
    def namespace(self) -> int:
        """The namespace that the connection string names."""
        return self._session.address.namespace

    @property
    def recovery(self) -> NoReturn:
        """Raise NotSupportedError: a cluster recovers by itself."""
        raise NotSupportedError("recovery: a cluster recovers by itself")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, *_exception: type[BaseException] | BaseException | TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        mode = ", read-only" if self._session.read_only else ""
        return f"<hexgraph.cluster.Cluster {self._session.address}{mode}>"

    # What imports use, too.

    @property
    def has_web(self) -> bool:
        """Whether the connection string says where GraphQL is answered."""
        return self._session.address.http is not None

    def predicates(self) -> list[definitions.Predicate]:
        """Return what the schema says of predicates, Dgraph's own included."""
        return self._session.mirror.predicates()


def _mutates(text: str) -> bool:
    """Whether a GraphQL request may have a mutation."""
    return "mutation" in text


def _without_gaps(row: Any, row_number: int) -> dict[str, Any]:
    """Return the variables of a row without missing values, so that defaults count."""
    if not isinstance(row, dict):
        kind = type(row).__name__
        raise TypeError(f"row {row_number}: the variables of a query are a dict, not {kind}")
    return {name: value for name, value in row.items() if not _is_gap(value)}


def _is_gap(value: Any) -> bool:
    if value is None or type(value).__name__ == "NAType":
        return True
    return isinstance(value, float) and value != value  # noqa: PLR0124 - only NaN differs
