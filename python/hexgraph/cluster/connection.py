"""A connection to a cluster, with the methods of the embedded database."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Never, NoReturn, Self, TypeVar

from .. import frames, transactions
from .._native import ArrowTable, SchemaReport, json_table, schema_text
from ..errors import (
    Error,
    NotSupportedError,
    ParseError,
    QueryError,
    ReadOnlyError,
    SchemaError,
)
from ..guesses import refuse_of_query
from ..homes import expanded
from ..methods import DatabaseMethods
from . import lists, paging, requests
from . import schema as definitions
from .answers import Asked, Result, Upsert
from .each import Answers
from .mirror import Mirror
from .requests import Json
from .transaction import DELETE, Txn
from .wire import faults
from .wire.address import parse
from .wire.channel import Channel, api, grpc
from .wire.subscription import Subscription
from .wire.web import Web

T = TypeVar("T")

MANY_AT_ONCE = 16
"""The most queries of `query_many` and `query_each` that are under way at a time."""

NAMESPACES = "the cluster has its own, administered at /admin"
KEYS = "keys are those of an embedded database and its server"


def _refused(name: str, advice: str) -> Callable[..., NoReturn]:
    """Return a method that a cluster can't have."""

    def method(_self: Cluster, *_arguments: object, **_named: object) -> NoReturn:
        raise NotSupportedError(f"{name}: {advice}")

    method.__doc__ = f"Raise NotSupportedError: {advice}."
    method.__name__ = name
    return method


class Cluster:
    """A connection to a cluster of Dgraph. Made by `connect`; usable from many threads at once.

    Its methods are those of `hexgraph.Database`. What a cluster can't do raises NotSupportedError,
    which says what does it instead. GraphQL is asked over HTTP: `?http=host:8080` in the connection
    string says where.
    """

    def __init__(self, text: str, *, read_only: bool = False) -> None:
        self._address = parse(text)
        self._read_only = read_only
        self.channel = Channel(self._address)
        """The calls over gRPC."""
        self._mirror = Mirror(self._read_schema)
        self._web = Web(self._address, self.channel.access_token)
        self._subscriptions: weakref.WeakSet[Subscription] = weakref.WeakSet()

    @property
    def path(self) -> None:
        """None: the data is elsewhere."""
        return None

    @property
    def read_only(self) -> bool:
        """Whether it was opened to be read only."""
        return self._read_only

    def alter(self, schema: str | os.PathLike[str]) -> SchemaReport:
        """Set definitions of predicates and types, and build their indexes.

        The report says what was added, changed and dropped; what a cluster builds it does not tell.
        """
        self.check_writable()
        text = schema_text(expanded(schema))
        self._mirror.forget()
        before = self._mirror.database()
        self._alter(api.Operation(schema=text), lambda db: db.alter(text))
        return self._mirror.altered(text, before)

    def drop(self, what: str, name: str | None = None) -> None:
        """Drop "all", the "data" (the schema stays), or the "predicate" or "type" of a name."""
        operation = api.Operation
        match (what, name):
            case ("all", None):
                wanted = operation(drop_all=True)
            case ("data", None):
                wanted = operation(drop_op=operation.DropOp.DATA)
            case ("predicate", str()):
                wanted = operation(drop_op=operation.DropOp.ATTR, drop_value=name)
            case ("type", str()):
                wanted = operation(drop_op=operation.DropOp.TYPE, drop_value=name)
            case _:
                given = repr(what) if name is None else f"{what!r}, {name!r}"
                raise ValueError(
                    'it is drop("all"), drop("data"), drop("predicate", name) or'
                    f' drop("type", name), not drop({given})'
                )
        self.check_writable()
        self._alter(wanted, lambda _: None)

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
        result = self.answer(message, dql, variables, timeout=timeout, debug=debug)
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
        """Answer one query for each row of a table, all from one moment, as one Arrow table.

        Each row is a request of its own, some at once; `timeout` bounds each.
        """
        given = [_without_gaps(row, place) for place, row in enumerate(frames.rows_of(table))]
        with self.txn(read_only=True) as moment, ThreadPoolExecutor(MANY_AT_ONCE) as pool:
            answers = list(pool.map(lambda row: moment.query(dql, row, timeout=timeout), given))
        objects: list[dict[str, Any]] = []
        columns: list[str] = []
        for place, answer in enumerate(answers):
            columns = columns or answer.columns(block)
            if number in columns:
                raise QueryError(
                    f'the answer has a key "{number}" already: choose another name for the column'
                    " of numbers"
                )
            objects += [{number: place, **node} for node in answer.objects(block)]
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
        """Answer one query for each row of a table, all from one moment, one after the other.

        Each row is a request of its own, some at once; `timeout` bounds each.
        """
        rows = frames.each_row_of(table)
        moment = self.txn(read_only=True)

        def ask(row: Any, place: int) -> Result:
            return moment.query(dql, _without_gaps(row, place), timeout=timeout)

        return Answers(ask, rows, MANY_AT_ONCE, moment.discard)

    def graphql_schema(self, sdl: str | os.PathLike[str] | None = None) -> str | None:
        """Set the GraphQL schema, a text or the path of a file, and return the one in force."""
        if sdl is None:
            return self._web.schema()
        self.check_writable()
        self._web.set_schema(schema_text(expanded(sdl)))
        self._mirror.forget()
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
        if self._read_only and _mutates(text):
            raise ReadOnlyError(_READ_ONLY)
        return self._web.ask(text, variables, operation=operation, headers=headers, timeout=timeout)

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

        They come in the order of their uids, and all pages show the same moment.
        """
        refusal = self._mirror.refusal(lambda db: db.pages(dql, size, variables))
        if refusal is not None:
            raise refusal
        moment = self.txn(read_only=True)
        return paging.Pages(paging.split(dql), size, lambda text: moment.query(text, variables))

    def mutate(
        self,
        *given: object,
        set: str | None = None,  # noqa: A002 - as DQL calls it
        delete: str | None = None,
        set_json: Json | None = None,
        delete_json: Json | None = None,
    ) -> dict[str, str]:
        """Delete and set in one commit. Returns the uids of new nodes by their blank nodes."""
        arguments: dict[str, Any] = {
            "set": set,
            "delete": delete,
            "set_json": set_json,
            "delete_json": delete_json,
        }
        requests.refuse_unnamed(given)
        mutation = requests.mutation(**arguments)
        self.check_writable()
        if mutation is None:
            return {}
        message = api.Request(mutations=[mutation], commit_now=True)
        response = self.change(message, lambda txn: txn.mutate(**arguments), None)
        return dict(response.uids)

    def upsert(  # noqa: PLR0913 - as the embedded one
        self,
        dql: str,
        variables: dict[str, Any] | None = None,
        *,
        set: str | None = None,  # noqa: A002 - as DQL calls it
        delete: str | None = None,
        set_json: Json | None = None,
        delete_json: Json | None = None,
        cond: str = "",
        mutations: Sequence[dict[str, Any]] | None = None,
        timeout: float | None = None,
    ) -> Upsert:
        """Ask a query, and change what it found, in one commit."""
        first: dict[str, Any] = {
            "set": set,
            "delete": delete,
            "set_json": set_json,
            "delete_json": delete_json,
            "cond": cond,
        }
        wanted = requests.mutations(first, mutations)
        self.check_writable()
        asking = {**first, "mutations": mutations}
        if not wanted and not variables and not cond:
            # The text may be a whole upsert block, which brings its own mutations.
            message = api.RunDQLRequest(dql_query=dql)
            method = "run_dql"
        else:
            message = requests.query(dql, variables)
            message.read_only = False
            message.mutations.extend(wanted)
            message.commit_now = True
            method = "query"
        response = self.change(
            message, lambda txn: txn.upsert(dql, variables, **asking), timeout, method=method
        )
        return self.upserted(response, dql, variables)

    def txn(self, *, read_only: bool = False) -> Txn:
        """Begin a transaction: requests that see one moment and are committed as one."""
        return Txn(self, read_only=read_only)

    def run(self, work: Callable[[Txn], T], *, retries: int = 10) -> T:
        """Call `work` with a transaction, commit, and try again after a conflict."""
        return transactions.run(self, work, retries)

    def assign_uids(self, count: int) -> range:
        """Take `count` uids in a row that no new node gets, and return them."""
        if count < 1:
            # In the words of the embedded database.
            raise self._mirror.refusal(lambda db: db.assign_uids(count)) or ValueError(count)
        self.check_writable()
        message = api.AllocateIDsRequest(how_many=count, lease_type=api.UID)
        first: int = self.channel.ask("allocate_ids", message).start
        return range(first, first + count)

    def schema(self) -> str:
        """Return the schema in the language of `alter`."""
        self._mirror.forget()
        return self._mirror.database().schema()

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
    explain = _refused("explain", "a cluster tells no plans; a database with the same data does")
    slow_queries = _refused("slow_queries", "the logs of the cluster have its slow queries")
    stats = _refused("stats", "count by queries, { q(func: has(name)) { count(uid) } }")
    export = _refused("export", "bring the data back first: hexgraph import dgraph://... PATH")
    save = _refused("save", "bring the data back: hexgraph import dgraph://... PATH")
    backup = _refused("backup", "a cluster has its own backups, asked for at /admin")
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
        return self._address.namespace

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
        mode = ", read-only" if self._read_only else ""
        return f"<hexgraph.cluster.Cluster {self._address}{mode}>"

    # What transactions and imports use, too.

    @property
    def has_web(self) -> bool:
        """Whether the connection string says where GraphQL is answered."""
        return self._address.http is not None

    def predicates(self) -> list[definitions.Predicate]:
        """Return what the schema says of predicates, Dgraph's own included."""
        return self._mirror.predicates()

    def answer(
        self,
        message: Any,
        dql: str,
        variables: dict[str, Any] | None,
        *,
        timeout: float | None,
        debug: bool,
    ) -> Result:
        """Ask a query. Raises what the embedded database does where it refuses the query, too."""
        if lists.may_be_in(variables):
            # A cluster would take a list for a text where no list may be.
            refusal = self._mirror.parse_fault(dql, variables)
            if refusal is not None:
                raise refusal
        try:
            response = self.channel.call("query", message, timeout=timeout, debug=debug)
        except grpc.RpcError as error:
            raise self._exception(error, lambda db: db.query(dql, variables)) from None
        return self._result(response, message, dql, variables)

    def change(
        self,
        message: Any,
        mirrored: Callable[[Any], object],
        timeout: float | None,
        *,
        method: str = "query",
    ) -> Any:
        """Carry out mutations. Raises what the embedded database does, as `answer`."""

        def refuse(db: Any) -> None:
            txn = db.txn()
            try:
                mirrored(txn)
            finally:
                txn.discard()

        try:
            return self.channel.call(method, message, timeout=timeout)
        except grpc.RpcError as error:
            raise self._exception(error, refuse) from None

    def upserted(self, response: Any, dql: str, variables: dict[str, Any] | None) -> Upsert:
        """Return what an upsert did."""
        found = None
        if response.json:
            found = self._result(response, requests.query(dql, variables), dql, variables)
        return Upsert(dict(response.uids), found)

    def check_writable(self) -> None:
        """Raise ReadOnlyError where it was opened to be read only."""
        if self._read_only:
            raise ReadOnlyError(_READ_ONLY)

    def _result(
        self, response: Any, message: Any, dql: str, variables: dict[str, Any] | None
    ) -> Result:
        told = response.latency
        latency = {"parsing": told.parsing_ns / 1e9, "processing": told.processing_ns / 1e9}

        def rdf() -> str:
            again = api.Request()
            again.CopyFrom(message)
            again.ClearField("mutations")
            again.start_ts = response.txn.start_ts
            again.resp_format = api.Request.RespFormat.RDF
            try:
                text: bytes = self.channel.call("query", again).rdf
            except grpc.RpcError as error:
                raise self._exception(error, lambda db: db.query(dql, variables).to_rdf()) from None
            return text.decode()

        return Result(response.json, latency, Asked(dql, variables, self._mirror, rdf))

    def _exception(self, error: Any, ask: Callable[[Any], object]) -> Error:
        told = faults.exception(error, str(self._address))
        if not faults.is_about_the_request(error) or not isinstance(told, faults.ABOUT_TEXTS):
            return told
        try:
            known = self._mirror.refusal(ask)
        except Error:
            return told
        if known is None and isinstance(told, ParseError):
            # The text is well formed, so it is about what it asks for.
            return QueryError(told.message, told.line, told.column)
        return known or told

    def _alter(self, operation: Any, ask: Callable[[Any], object]) -> None:
        try:
            self.channel.call("alter", operation)
        except grpc.RpcError as error:
            found = self._exception(error, ask)
            if type(found) is QueryError:
                found = SchemaError(found.message)
            raise found from None
        finally:
            self._mirror.forget()

    def _read_schema(self) -> dict[str, Any]:
        message = api.Request(query="schema {}", read_only=True)
        return requests.json_from(self.channel.ask("query", message).json)


_READ_ONLY = "the connection is read-only: open it without read_only to change something"


def _mutates(text: str) -> bool:
    """Whether a GraphQL request may have a mutation."""
    return "mutation" in text


def _without_gaps(row: Any, place: int) -> dict[str, Any]:
    """Return the variables of a row without missing values, so that defaults count."""
    if not isinstance(row, dict):
        kind = type(row).__name__
        raise TypeError(f"row {place}: the variables of a query are a dict, not {kind}")
    return {name: value for name, value in row.items() if not _is_gap(value)}


def _is_gap(value: Any) -> bool:
    if value is None or type(value).__name__ == "NAType":
        return True
    return isinstance(value, float) and value != value  # noqa: PLR0124 - only NaN differs
