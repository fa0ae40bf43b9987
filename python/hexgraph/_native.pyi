"""The native half of hexgraph."""

import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, BinaryIO, Literal, Self, TypeAlias, TypeVar, final

import pandas
import polars

from .frames import ArrowStream
from .schemas.suggesting import Suggestion

__all__ = [
    "ArrowTable",
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
    "columns_table",
    "encode_json",
    "json_table",
    "open_database",
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
) -> Database: ...
def run_command(arguments: list[str]) -> int: ...
def encode_json(name: str, value: Any) -> str: ...
def schema_text(given: _Schema) -> str: ...
def columns_table(columns: list[tuple[str, list[Any]]]) -> tuple[ArrowTable, dict[str, str]]: ...
def variable_texts(
    given: dict[str, Any] | None,
) -> list[tuple[str, str, list[str] | None]]: ...
def json_table(
    json: bytes, block: str | None, order: Sequence[str], types: dict[str, str]
) -> ArrowTable: ...

@final
class Database:
    @property
    def path(self) -> os.PathLike[str] | None: ...
    @property
    def read_only(self) -> bool: ...
    def alter(self, schema: _Schema) -> SchemaReport: ...
    def drop(
        self, what: Literal["all", "data", "predicate", "type"], name: str | None = None
    ) -> None: ...
    def load(
        self,
        source: _Source | Sequence[_Source],
        schema: _Schema | None = None,
        *,
        on_error: Literal["raise", "skip"] = "raise",
        progress: bool | Callable[[dict[str, Any]], object] | None = None,
        memory: int | str | None = None,
    ) -> LoadReport: ...
    def _load_nodes(self, tables: Any, options: dict[str, Any]) -> LoadReport: ...
    def _load_edges(self, tables: Any, options: dict[str, Any]) -> LoadReport: ...
    def load_nodes(
        self,
        table: _Table,
        type: str | None = None,
        id: str | None = "id",
        *,
        geo: str | Mapping[str, tuple[str, str]] | None = None,
        columns: Mapping[str, str | None] | None = None,
        types: Mapping[str, str] | None = None,
        schema: _Schema | None = None,
        xid: str | None = None,
        uid: bool = False,
        separator: str | None = None,
        encoding: str | None = None,
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
        types: Mapping[str, str] | None = None,
        schema: _Schema | None = None,
        xid: str | tuple[str, str] | None = None,
        uid: bool = False,
        separator: str | None = None,
        encoding: str | None = None,
        on_error: Literal["raise", "skip"] = "raise",
        progress: bool | Callable[[dict[str, Any]], object] | None = None,
        memory: int | str | None = None,
        **other: Any,
    ) -> LoadReport: ...
    def index(self, predicate: str, *tokenizers: str) -> SchemaReport: ...
    def suggest(self, *names: str) -> Suggestion: ...
    def query(
        self,
        dql: str,
        variables: dict[str, Any] | None = None,
        *,
        timeout: float | None = None,
        debug: bool = False,
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
    def schema(self) -> str: ...
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
    def serve(
        self,
        port: int = 8080,
        host: str = "127.0.0.1",
        *,
        security: str = "",
        export: str | os.PathLike[str] | None = None,
        allow_host: Sequence[str] = ...,
        allow_origin: Sequence[str] = ...,
        allow_get_changes: bool = False,
        grpc_port: int | None = None,
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
    def commit(self) -> None: ...
    def discard(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, *exception: type[BaseException] | BaseException | TracebackType | None
    ) -> None: ...

@final
class Explanation:
    @property
    def steps(self) -> list[dict[str, Any]]: ...
    def _repr_html_(self) -> str: ...

@final
class Result:
    @property
    def latency(self) -> dict[str, float]: ...
    def to_dict(self) -> dict[str, Any]: ...
    def rows(self, block: str | None = None) -> list[tuple[Any, ...]]: ...
    def columns(self, block: str | None = None) -> list[str]: ...
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
    @property
    def result(self) -> Result | None: ...

@final
class ArrowTable:
    @property
    def column_names(self) -> list[str]: ...
    @property
    def num_rows(self) -> int: ...
    def columns(self) -> list[tuple[str, str, bytes | list[Any], bytes]]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def __len__(self) -> int: ...

@final
class Pages:
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
    def _repr_html_(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
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
    def stop(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        *_exception: type[BaseException] | BaseException | TracebackType | None,
    ) -> None: ...
