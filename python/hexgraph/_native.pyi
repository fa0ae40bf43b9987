"""The native half of hexgraph."""

import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Any, BinaryIO, Literal, Never, Self, TypeAlias, TypeVar, final

import pandas
import polars

from .administration import ApiKey
from .algo import Algorithms
from .algo.text import Nodes
from .arrays.edges import Edges
from .arrays.sampled import Sample
from .deleting import Deleted
from .frames import ArrowStream
from .schemas.describing import Description
from .schemas.profiling import Profile
from .schemas.suggesting import Suggestion
from .schemas.text import SchemaText

__all__ = [
    "Answers",
    "ArrowTable",
    "Cancel",
    "CompactGraph",
    "Database",
    "Explanation",
    "LoadReport",
    "Pages",
    "Result",
    "SchemaReport",
    "Server",
    "Subscription",
    "Txn",
    "Upsert",
    "__version__",
    "algorithms",
    "columns_table",
    "compact_graph",
    "delete_nodes",
    "encode_json",
    "generate",
    "graph_of_arrays",
    "json_table",
    "layout",
    "load_graph",
    "numbers_table",
    "open_database",
    "run_algorithm",
    "run_command",
    "schema_text",
    "variable_texts",
]

__version__: str

_T = TypeVar("_T")
_Source: TypeAlias = str | os.PathLike[str] | bytes | bytearray | BinaryIO
_Table: TypeAlias = (
    str
    | os.PathLike[str]
    | ArrowStream
    | pandas.DataFrame
    | polars.LazyFrame
    | Mapping[str, Any]
    | Iterable[Any]
)
_Schema: TypeAlias = str | os.PathLike[str] | Mapping[str, Any] | type | Sequence[type]

def open_database(
    path: str | None,
    read_only: bool,
    resources: tuple[int, str | None],
    limits: list[tuple[str, str]],
    txn_timeout: float | None,
    durability: tuple[str, str, bool, str],
    strict: bool = False,
    warns: bool = True,
) -> Database: ...
def algorithms() -> list[dict[str, Any]]: ...
def run_algorithm(
    database: Database, dql: str, timeout: float | None = None
) -> tuple[ArrowTable, tuple[int, float | None, bool | None]]: ...
def delete_nodes(
    owner: Database | Txn,
    uids: Sequence[int],
    dql: str | None,
    variables: dict[str, Any] | None,
    timeout: float | None,
) -> tuple[int, int, int]: ...
def compact_graph(database: Database, dql: str, timeout: float | None = None) -> CompactGraph: ...
def graph_of_arrays(
    database: Database,
    uids: bytes,
    sources: bytes,
    targets: bytes,
    weights: bytes | None = None,
    *,
    directed: bool = True,
) -> CompactGraph: ...
def numbers_table(columns: list[tuple[str, str, bytes]]) -> ArrowTable: ...
def run_command(arguments: list[str]) -> int: ...
def generate(
    db: Database,
    kind: str,
    numbers: tuple[int, int, int],
    progress: bool | Callable[[dict[str, Any]], object] | None,
) -> LoadReport: ...
def load_graph(db: Database, graph: Any, options: dict[str, Any]) -> LoadReport: ...
def layout(nodes: int, edges: list[tuple[int, int]]) -> list[tuple[float, float]]: ...
def encode_json(name: str, value: Any) -> str: ...
def schema_text(given: _Schema) -> str: ...
def columns_table(columns: list[tuple[str, list[Any]]]) -> tuple[ArrowTable, dict[str, str]]: ...
def variable_texts(
    given: dict[str, Any] | None,
) -> list[tuple[str, str, list[str] | None]]: ...
def json_table(
    json: bytes, block: str, order: Sequence[str], types: dict[str, str]
) -> ArrowTable: ...

@final
class Database:
    @property
    def algo(self) -> Algorithms: ...
    @property
    def path(self) -> os.PathLike[str] | None: ...
    @property
    def read_only(self) -> bool: ...
    @property
    def namespace(self) -> int: ...
    def _namespaces(self) -> list[int]: ...
    def _open_namespace(self, id: int) -> Database: ...
    def _create_namespace(self) -> int: ...
    def _drop_namespace(self, id: int) -> None: ...
    def _create_key(self, key: tuple[str, str, float | None]) -> tuple[tuple[Any, ...], str]: ...
    def _keys(self) -> list[tuple[Any, ...]]: ...
    def _revoke_key(self, id: str) -> None: ...
    def namespaces(self) -> list[int]: ...
    def open_namespace(self, number: int) -> Database: ...
    def create_namespace(self) -> int: ...
    def drop_namespace(self, number: int) -> None: ...
    def create_key(
        self,
        name: str = "",
        *,
        role: Literal["admin", "client", "read-only"] = "client",
        expires: timedelta | float | None = None,
    ) -> ApiKey: ...
    def keys(self) -> list[ApiKey]: ...
    def revoke_key(self, id: str) -> None: ...
    def alter(self, schema: _Schema) -> SchemaReport: ...
    def drop(
        self, what: Literal["all", "data", "predicate", "type"], name: str | None = None
    ) -> None: ...
    def load(
        self,
        source: _Source | Sequence[_Source],
        schema: _Schema | None = None,
        *,
        graphql_schema: str | os.PathLike[str] | None = None,
        xid: str | None = None,
        on_error: Literal["raise", "skip"] = "raise",
        progress: bool | Callable[[dict[str, Any]], object] | None = None,
        memory: int | str | None = None,
    ) -> LoadReport: ...
    def _load_nodes(self, tables: Any, options: dict[str, Any]) -> LoadReport: ...
    def _load_edges(self, tables: Any, options: dict[str, Any]) -> LoadReport: ...
    def load_nodes(
        self,
        table: _Table,
        type: str | Sequence[str] | None = None,
        id: str | None = "id",
        *,
        geo: str | Mapping[str, tuple[str, str]] | None = None,
        columns: Mapping[str, str | None] | None = None,
        edges: Mapping[str, str | tuple[str | None, ...]] | None = None,
        missing: Literal["make", "skip", "raise"] = "make",
        prefix: bool = False,
        types: Mapping[str, str] | None = None,
        schema: _Schema | None = None,
        xid: str | None = None,
        uid: bool = False,
        separator: str | None = None,
        encoding: str | None = None,
        header: bool | None = None,
        quote: str | None = None,
        escape: str | None = None,
        comment: str | None = None,
        skip: int | None = None,
        null_values: Sequence[str] | None = None,
        quoted_null: bool = False,
        ragged: Literal["error", "skip", "fill"] = "error",
        names: Literal["clean", "keep", "error"] = "clean",
        filename: bool | str = False,
        on_error: Literal["raise", "skip"] = "raise",
        progress: bool | Callable[[dict[str, Any]], object] | None = None,
        memory: int | str | None = None,
        **other: Any,
    ) -> LoadReport: ...
    def load_edges(
        self,
        table: _Table,
        predicate: str,
        source: str | None = None,
        target: str | None = None,
        *,
        on: str | tuple[str, str] | None = None,
        facets: str | Sequence[str] | Mapping[str, str] | None = None,
        missing: Literal["make", "skip", "raise"] = "make",
        types: Mapping[str, str] | Literal[False] | None = None,
        schema: _Schema | None = None,
        xid: str | tuple[str, str] | None = None,
        uid: bool = False,
        separator: str | None = None,
        encoding: str | None = None,
        header: bool | None = None,
        quote: str | None = None,
        escape: str | None = None,
        comment: str | None = None,
        skip: int | None = None,
        null_values: Sequence[str] | None = None,
        quoted_null: bool = False,
        ragged: Literal["error", "skip", "fill"] = "error",
        names: Literal["clean", "keep", "error"] = "clean",
        filename: bool | str = False,
        on_error: Literal["raise", "skip"] = "raise",
        progress: bool | Callable[[dict[str, Any]], object] | None = None,
        memory: int | str | None = None,
        **other: Any,
    ) -> LoadReport: ...
    def load_graph(
        self,
        graph: Any,
        type: str | Sequence[str] | None = None,
        predicate: str = "edge",
        *,
        xid: str = "id",
        missing: Literal["make", "raise"] = "make",
        schema: _Schema | None = None,
        on_error: Literal["raise", "skip"] = "raise",
        progress: bool | Callable[[dict[str, Any]], object] | None = None,
        memory: int | str | None = None,
        **other: Any,
    ) -> LoadReport: ...
    def index(self, predicate: str, *tokenizers: str) -> SchemaReport: ...
    def describe(self) -> Description: ...
    async def aquery(
        self,
        dql: str,
        variables: dict[str, Any] | None = None,
        *,
        timeout: float | None = None,
        debug: bool = False,
        strict: bool | None = None,
        **other: Never,
    ) -> Result: ...
    async def amutate(self, **mutation: Any) -> dict[str, str]: ...
    async def aupsert(
        self, dql: str, variables: dict[str, Any] | None = None, **mutation: Any
    ) -> Upsert: ...
    async def agraphql(
        self,
        text: str,
        variables: dict[str, Any] | None = None,
        *,
        operation: str | None = None,
        headers: dict[str, str] | None = None,
        timeout: float | None = None,
    ) -> dict[str, Any]: ...
    def suggest(self, *names: str) -> Suggestion: ...
    def sql(self, query: str, parameters: Any = None, **tables: Any) -> Any: ...
    def edges(
        self,
        *on: str,
        weight: str | None = None,
        nodes: Nodes | None = None,
        direction: Literal["out", "in", "both"] = "out",
        timeout: float | None = None,
    ) -> Edges: ...
    def matrix(
        self,
        *on: str,
        weight: str | None = None,
        nodes: Nodes | None = None,
        direction: Literal["out", "in", "both"] = "out",
        timeout: float | None = None,
    ) -> Any: ...
    def sample(
        self,
        *on: str,
        source: Nodes,
        fanouts: Sequence[int] = (10, 5),
        replace: bool = False,
        weight: str | None = None,
        **common: Any,
    ) -> Sample: ...
    def query(
        self,
        dql: str,
        variables: dict[str, Any] | None = None,
        *,
        timeout: float | None = None,
        debug: bool = False,
        strict: bool | None = None,
        **other: Never,
    ) -> Result: ...
    def query_many(
        self,
        dql: str,
        table: Iterable[Mapping[str, Any]] | ArrowStream | pandas.DataFrame | polars.LazyFrame,
        *,
        block: str | None = None,
        number: str = "row",
        timeout: float | None = None,
    ) -> ArrowTable: ...
    def query_each(
        self,
        dql: str,
        table: Iterable[Mapping[str, Any]] | ArrowStream | pandas.DataFrame | polars.LazyFrame,
        *,
        timeout: float | None = None,
    ) -> Answers: ...
    def explain(
        self, dql: str, variables: dict[str, Any] | None = None, *, timeout: float | None = None
    ) -> Explanation: ...
    def graphql_schema(self, sdl: str | os.PathLike[str] | None = None) -> str | None: ...
    def graphql(
        self,
        text: str,
        variables: dict[str, Any] | None = None,
        *,
        operation: str | None = None,
        headers: dict[str, str] | None = None,
        timeout: float | None = None,
    ) -> dict[str, Any]: ...
    def graphql_subscribe(
        self,
        text: str,
        variables: dict[str, Any] | None = None,
        *,
        operation: str | None = None,
        headers: dict[str, str] | None = None,
        timeout: float | None = None,
    ) -> Subscription: ...
    def slow_queries(self) -> list[dict[str, Any]]: ...
    def pages(
        self, dql: str, size: int = 1000, variables: dict[str, Any] | None = None
    ) -> Pages: ...
    def mutate(
        self,
        *,
        set: str | None = None,
        delete: str | None = None,
        set_json: str | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        delete_json: str | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> dict[str, str]: ...
    def upsert(
        self,
        dql: str,
        variables: dict[str, Any] | None = None,
        *,
        set: str | None = None,
        delete: str | None = None,
        set_json: str | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        delete_json: str | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        cond: str = "",
        mutations: Sequence[dict[str, Any]] | None = None,
        timeout: float | None = None,
    ) -> Upsert: ...
    def txn(self, *, read_only: bool = False) -> Txn: ...
    def run(self, work: Callable[[Txn], _T], *, retries: int = 10) -> _T: ...
    def assign_uids(self, count: int) -> range: ...
    def delete(
        self, nodes: Any, variables: Any = None, *, timeout: float | None = None
    ) -> Deleted: ...
    def profile(self, *names: str) -> Profile: ...
    def _schema(self) -> str: ...
    def schema(self) -> SchemaText: ...
    def stats(self) -> dict[str, Any]: ...
    def export(
        self, path: str | os.PathLike[str], *, format: Literal["dgraph"] | None = None
    ) -> int: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    def backup(self, path: str | os.PathLike[str]) -> None: ...
    def checkpoint(self) -> None: ...
    def compact(self) -> None: ...
    def refresh(self) -> int: ...
    @property
    def recovery(self) -> dict[str, int]: ...
    def _serve(self, settings: dict[str, Any]) -> Server: ...
    def serve(
        self,
        port: int | None = 8080,
        host: str = "127.0.0.1",
        *,
        security: str = "",
        export: str | os.PathLike[str] | None = None,
        allow_host: Sequence[str] = ...,
        allow_origin: Sequence[str] = ...,
        allow_get_changes: bool = False,
        grpc_port: int | None = None,
        unix_socket: str | os.PathLike[str] | None = None,
        unix_socket_mode: int = 0o600,
        tls_cert: str | os.PathLike[str] | None = None,
        tls_key: str | os.PathLike[str] | None = None,
        tls_client_ca: str | os.PathLike[str] | None = None,
        anonymous: bool = True,
        acl: str | None = None,
        acl_initial_password: str | None = None,
        acl_allow_default_password: bool = False,
        audit_log: str | os.PathLike[str] | None = None,
        audit_log_size: str = "100MiB",
    ) -> Server: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        *_exception: type[BaseException] | BaseException | TracebackType | None,
    ) -> None: ...

@final
class Txn:
    @property
    def is_open(self) -> bool: ...
    @property
    def read_only(self) -> bool: ...
    def query(
        self,
        dql: str,
        variables: dict[str, Any] | None = None,
        *,
        timeout: float | None = None,
        debug: bool = False,
        strict: bool | None = None,
        **other: Never,
    ) -> Result: ...
    def mutate(
        self,
        *,
        set: str | None = None,
        delete: str | None = None,
        set_json: str | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        delete_json: str | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> dict[str, str]: ...
    def upsert(
        self,
        dql: str,
        variables: dict[str, Any] | None = None,
        *,
        set: str | None = None,
        delete: str | None = None,
        set_json: str | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        delete_json: str | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        cond: str = "",
        mutations: Sequence[dict[str, Any]] | None = None,
        timeout: float | None = None,
    ) -> Upsert: ...
    def delete(
        self, nodes: Any, variables: Any = None, *, timeout: float | None = None
    ) -> Deleted: ...
    def commit(self) -> None: ...
    def discard(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, *exception: type[BaseException] | BaseException | TracebackType | None
    ) -> None: ...

@final
class Cancel:
    def __new__(cls) -> Self: ...
    def cancel(self) -> None: ...
    def run(self, function: Callable[..., _T], *arguments: Any, **named: Any) -> _T: ...

@final
class Explanation:
    @property
    def steps(self) -> list[dict[str, Any]]: ...
    def _repr_html_(self) -> str: ...

@final
class Result:
    @property
    def latency(self) -> dict[str, float]: ...
    @property
    def warnings(self) -> list[str]: ...
    def to_dict(self) -> dict[str, Any]: ...
    def rows(
        self, block: str | None = None, *, uids: type[str] | type[int] | None = None
    ) -> list[tuple[Any, ...]]: ...
    def columns(self, block: str | None = None) -> list[str]: ...
    def flatten(self, block: str | None = None) -> ArrowTable: ...
    def explode(self, column: str, block: str | None = None) -> ArrowTable: ...
    def frames(self, kind: Literal["arrow", "pandas", "polars"] = "arrow") -> dict[str, Any]: ...
    def paths(self) -> ArrowTable: ...
    def memory(self) -> dict[str, int]: ...
    def _is_joined(self, block: str) -> bool: ...
    def to_rdf(self) -> str: ...
    def json(self) -> str: ...
    def to_arrow(self, block: str | None = None) -> ArrowTable: ...
    def to_pandas(self, block: str | None = None) -> pandas.DataFrame: ...
    def to_polars(self, block: str | None = None) -> polars.DataFrame: ...
    def _repr_html_(self) -> str: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __getitem__(self, block: str, /) -> Any: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...

@final
class Upsert:
    @property
    def uids(self) -> dict[str, str]: ...
    # None only where the query is empty, which type checkers need not ask about each time.
    @property
    def result(self) -> Result | Any: ...
    @property
    def values_set(self) -> int: ...
    @property
    def edges_set(self) -> int: ...
    @property
    def values_deleted(self) -> int: ...
    @property
    def edges_deleted(self) -> int: ...

@final
class ArrowTable:
    @property
    def column_names(self) -> list[str]: ...
    @property
    def num_rows(self) -> int: ...
    def columns(self) -> list[tuple[str, str, bytes | list[Any], bytes]]: ...
    def _frame_columns(
        self, with_texts: bool
    ) -> list[tuple[str, str, bytearray | list[Any] | None, bytes | None]]: ...
    def rows(self, first: int | None = None) -> list[tuple[Any, ...]]: ...
    def flatten(self) -> ArrowTable: ...
    def explode(self, column: str) -> ArrowTable: ...
    def to_pandas(self) -> pandas.DataFrame: ...
    def to_polars(self) -> polars.DataFrame: ...
    def _with_text_uids(self) -> ArrowTable: ...
    def _with_fields(self, fields: list[ArrowTable]) -> ArrowTable: ...
    def _column(self, name: str) -> tuple[str, bytes | list[Any], bytes] | None: ...
    def _numbers(self, name: str) -> tuple[str, Any] | None: ...
    def _vectors(self, name: str) -> tuple[int, Any] | None: ...
    def _greatest(self, name: str, count: int) -> ArrowTable: ...
    def _first(self, count: int) -> ArrowTable: ...
    def _repr_html_(self) -> str: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def __len__(self) -> int: ...

@final
class Pages:
    def __iter__(self) -> Self: ...
    def __next__(self) -> Result: ...

@final
class Answers:
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> Result: ...

@final
class Subscription:
    @property
    def timeout(self) -> float | None: ...
    def close(self) -> None: ...
    def _wait(self) -> None: ...
    def _release(self) -> None: ...
    def _ask(self) -> dict[str, Any] | None: ...
    def _forget(self) -> None: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> dict[str, Any]: ...
    def __aiter__(self) -> Self: ...
    def __anext__(self) -> Awaitable[dict[str, Any]]: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        *_exception: type[BaseException] | BaseException | TracebackType | None,
    ) -> None: ...
    def __aenter__(self) -> Awaitable[Self]: ...
    def __aexit__(
        self,
        *_exception: type[BaseException] | BaseException | TracebackType | None,
    ) -> Awaitable[None]: ...

@final
class SchemaReport:
    @property
    def added(self) -> list[str]: ...
    @property
    def changed(self) -> list[str]: ...
    @property
    def dropped(self) -> list[str]: ...
    @property
    def rebuilt(self) -> list[str]: ...
    @property
    def unread(self) -> list[str]: ...

@final
class LoadReport:
    @property
    def triples(self) -> int: ...
    @property
    def nodes(self) -> int: ...
    @property
    def new_nodes(self) -> int: ...
    @property
    def merged(self) -> int: ...
    @property
    def repeated(self) -> int: ...
    @property
    def lost(self) -> int: ...
    @property
    def lost_ids(self) -> list[str]: ...
    @property
    def untyped(self) -> int: ...
    def _repr_html_(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def seconds(self) -> float: ...
    @property
    def skipped(self) -> int: ...
    @property
    def skipped_lines(self) -> list[tuple[int, str]]: ...

@final
class Server:
    @property
    def url(self) -> str: ...
    @property
    def grpc_address(self) -> str | None: ...
    @property
    def unix_socket(self) -> os.PathLike[str] | None: ...
    def stop(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        *_exception: type[BaseException] | BaseException | TracebackType | None,
    ) -> None: ...

@final
class CompactGraph:
    @property
    def is_undirected(self) -> bool: ...
    def uids(self) -> Any: ...
    def starts(self) -> tuple[Any, Literal["int32", "int64"]]: ...
    def targets(self) -> Any: ...
    def weights(self) -> Any: ...
    def table(self, weight: str | None) -> ArrowTable: ...
    def compute(
        self,
        database: Database,
        name: str,
        arguments: list[tuple[str, str]],
        nodes: list[tuple[str, list[int]]],
        *,
        threads: int | None = None,
        seed: int = 0,
        timeout: float | None = None,
    ) -> tuple[str, list[Any], tuple[int, float | None, bool | None]]: ...
    def __len__(self) -> int: ...
