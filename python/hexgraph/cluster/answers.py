"""What a cluster answers, with the methods that embedded results have."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .. import display, frames
from .._native import ArrowTable, json_table
from .._native import Result as NativeResult
from ..errors import QueryError
from ..guesses import RESULT, attribute_error

if TYPE_CHECKING:
    import pandas
    import polars

    from .mirror import Mirror

_ALIAS = re.compile(r"([\w.~-]+)\s*:\s*<?([\w.~/#-]+)>?")


@dataclasses.dataclass(frozen=True)
class SentQuery:
    """A query, as far as its answer needs it later."""

    dql: str
    variables: dict[str, Any] | None
    mirror: Mirror
    rdf: Callable[[], str]
    """Queries again, on the same version, for N-Quads."""


class Result:
    """The result of a query, converted on request; as `hexgraph.Result`.

    The keys of `columns` and their order come from the text of the query. In data frames a text
    that is an instant is a time, unless the schema says that its predicate is something else.
    """

    def __init__(self, text: bytes, latency: dict[str, float], sent: SentQuery) -> None:
        self._text = text
        self.sent = sent
        """The query that was sent."""
        self._native: NativeResult | None = None
        self._is_mirrored = False
        self._parsed: dict[str, Any] | None = None
        self.latency = latency
        """Seconds of the query there: "parsing" and "processing"."""

    def to_dict(self) -> dict[str, Any]:
        """Return the data as plain Python objects."""
        data: dict[str, Any] = json.loads(self._text) if self._text else {}
        return data

    def json(self) -> str:
        """Return the data as JSON text, as the cluster wrote it."""
        return self._text.decode() if self._text else "{}"

    def to_rdf(self) -> str:
        """Return the result as N-Quads: queries the cluster again, on the same version."""
        return self.sent.rdf()

    def columns(self, block: str | None = None) -> list[str]:
        """Return the keys of the objects of a block, in the order of the query."""
        native = self._mirrored()
        name = self._block_name(block)
        names = native.columns(name) if native is not None else []
        return _merged(names, self._records(name), self.sent.dql)

    def rows(
        self, block: str | None = None, *, uids: type[str] | type[int] | None = None
    ) -> list[tuple[Any, ...]]:
        """Return the objects of a block as tuples, with a value or None for each of `columns`."""
        columns = self.columns(block)
        objects = self._records(self._block_name(block))
        if uids is int:
            keys = self._uid_keys()
            objects = [_with_numbers(node, keys) for node in objects]
        elif uids not in (None, str):
            raise ValueError(f"uids are of type str or int, not {uids!r}")
        times = {key for key, kind in self.types().items() if kind == "datetime"}
        objects = [_with_all_times(node, times) for node in objects]
        return [tuple(node.get(column) for column in columns) for node in objects]

    def to_arrow(self, block: str | None = None) -> ArrowTable:
        """Return the rows of a block as a table that every Arrow library takes."""
        name = self._block_name(block)
        records = self._records(name)
        text = self._text
        if records is not self._data()[name]:
            text = json.dumps({name: records}).encode()
        return json_table(text or b"{}", name, self.columns(name), self.types())

    def flatten(self, block: str | None = None) -> ArrowTable:
        """Return the rows of a block as a table without nested columns."""
        return self.to_arrow(block).flatten()

    def explode(self, column: str, block: str | None = None) -> ArrowTable:
        """Return the rows of a block with a row for each item of the lists in a column."""
        return self.to_arrow(block).explode(column)

    def frames(self, kind: str = "arrow") -> dict[str, Any]:
        """Return a table of each block, by its name."""
        tables = {name: self.to_arrow(name) for name in self._data()}
        match kind:
            case "arrow":
                return tables
            case "pandas":
                return {name: frames.to_pandas(table) for name, table in tables.items()}
            case "polars":
                return {name: frames.to_polars(table) for name, table in tables.items()}
        raise ValueError(f'kind is "arrow", "pandas" or "polars", not "{kind}"')

    @property
    def warnings(self) -> list[str]:
        """What the query names and the schema does not know."""
        native = self._mirrored()
        return native.warnings if native is not None else []

    def paths(self) -> ArrowTable:
        """Return the hops of the paths of `shortest`, as a table."""
        return frames.paths_of(self._data())

    def to_pandas(self, block: str | None = None) -> pandas.DataFrame:
        """Return the rows of a block as a pandas.DataFrame."""
        return frames.to_pandas(self.to_arrow(block))

    def to_polars(self, block: str | None = None) -> polars.DataFrame:
        """Return the rows of a block as a polars.DataFrame."""
        return frames.to_polars(self.to_arrow(block))

    def memory(self) -> dict[str, int]:
        """Return the bytes that the answer takes; it holds no version of the cluster."""
        return {"own": len(self._text), "version": 0}

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self._records(self._only()))

    def __bool__(self) -> bool:
        return any(display.row_count(rows) for rows in self._data().values())

    def __getitem__(self, block: str) -> Any:
        data = self.to_dict()
        if block not in data:
            names = ", ".join(data)
            raise KeyError(f"the answer has no block {block!r}, it has: {names}")
        return data[block]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._records(self._only()))

    def __repr__(self) -> str:
        data = self._data()
        return display.to_text(data, _counts(data))

    def _repr_html_(self) -> str:
        data = self._data()
        return display.to_html(data, _counts(data))

    def objects(self, block: str | None = None) -> list[dict[str, Any]]:
        """Return the objects of a block. They are not to be changed."""
        return self._block(self._block_name(block))

    def _data(self) -> dict[str, Any]:
        """Return the data, read once. Callers get copies."""
        if self._parsed is None:
            self._parsed = self.to_dict()
        return self._parsed

    def _mirrored(self) -> NativeResult | None:
        if not self._is_mirrored:
            sent = self.sent
            self._native = sent.mirror.result(sent.dql, sent.variables)
            self._is_mirrored = True
        return self._native

    def _block_name(self, block: str | None) -> str:
        names = list(self._data())
        if block is not None:
            if block not in names:
                shown = ", ".join(names)
                raise QueryError(f'the answer has no block "{block}", it has: {shown}')
            return block
        if len(names) != 1:
            shown = ", ".join(names)
            raise QueryError(f"the answer has several blocks, choose one: {shown}")
        return names[0]

    def _block(self, name: str) -> list[dict[str, Any]]:
        rows = self._data()[name]
        return rows if isinstance(rows, list) else [rows]

    def _only(self) -> str:
        try:
            return self._block_name(None)
        except QueryError as error:
            hint = 'frames() has a table of each, and result["name"] the objects of one'
            raise QueryError(error.message, hint=hint) from None

    def _records(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of a block: its objects, its groups, or what it computes as one."""
        objects = self._block(name)
        if any("@groupby" in node for node in objects):
            return [group for node in objects for group in node.get("@groupby", [])]
        native = self._mirrored()
        if native is None or not native._is_joined(name):
            return objects
        return [{key: value for node in objects for key, value in node.items()}] if objects else []

    def _uid_keys(self) -> set[str]:
        """Return the keys whose texts are uids: that of nodes, and those of groups by edges."""
        aliases = {alias for alias, name in _ALIAS.findall(self.sent.dql) if name == "uid"}
        edges = {key for key, kind in self.types().items() if kind == "uid"}
        return {"uid"} | aliases | edges

    def types(self) -> dict[str, str]:
        """Return the types of the schema by the keys that predicates have in the answer."""
        schema_types = {it.name: it.type for it in self.sent.mirror.predicates()}
        types = dict(schema_types)
        for alias, name in _ALIAS.findall(self.sent.dql):
            types.pop(alias, None)
            if name in schema_types:
                types[alias] = schema_types[name]
        return types


class Upsert:
    """What an upsert did; as `hexgraph.Upsert`, without counts, which no cluster reports."""

    def __init__(self, uids: dict[str, str], result: Result | None) -> None:
        self.uids = uids
        """The uids of new nodes, by the names of their blank nodes and by `uid(v)`."""
        self.result = result
        """The result of the query before the change."""

    def __repr__(self) -> str:
        count = len(self.uids)
        return f"<hexgraph.Upsert: {count} new node{'' if count == 1 else 's'}>"


def _counts(data: dict[str, Any]) -> dict[str, int]:
    return {name: display.row_count(rows) for name, rows in data.items()}


def _with_numbers(value: Any, keys: set[str], *, is_uid: bool = False) -> Any:
    """Return a value of an answer with the number of each uid instead of its text."""
    match value:
        case dict():
            return {key: _with_numbers(it, keys, is_uid=key in keys) for key, it in value.items()}
        case list():
            return [_with_numbers(it, keys, is_uid=is_uid) for it in value]
        case str() if is_uid:
            return int(value, 16)
    return value


def _with_all_times(value: Any, keys: set[str], *, is_time: bool = False) -> Any:
    """Return a value of an answer with the first instant of the year 1 for each empty time."""
    match value:
        case dict():
            return {
                key: _with_all_times(it, keys, is_time=key in keys) for key, it in value.items()
            }
        case list():
            return [_with_all_times(it, keys, is_time=is_time) for it in value]
        case "" if is_time:
            return "0001-01-01T00:00:00Z"
    return value


def _merged(of_schema: list[str], objects: list[dict[str, Any]], dql: str) -> list[str]:
    """Return all keys: those that the text of the query does not say where the text requests them.

    Keys of facets and of languages are such; one whose position the text does not say either stands
    after the key before it in its object.
    """
    columns = list(of_schema)
    names = set(columns)
    for node in objects:
        if node.keys() <= names:
            continue
        before = -1
        for key in node:
            if key not in names:
                index = _column_index(key, columns, dql)
                columns.insert(before + 1 if index is None else index, key)
                names.add(key)
            before = columns.index(key)
    return columns


def _column_index(key: str, columns: list[str], dql: str) -> int | None:
    """Return before which column the text requests a key; None where it does not name the key."""
    own = _offset(re.split(r"[|@]", key)[0], dql)
    if own is None:
        return None
    for index, column in enumerate(columns):
        other = _offset(column, dql)
        if other is not None and own < other:
            return index
    return len(columns)


def _offset(name: str, dql: str) -> int | None:
    """Return where a name is in the text, after the second brace: in a body."""
    body = dql.find("{", dql.find("{") + 1)
    match = re.compile(rf"(?<![\w.~]){re.escape(name)}(?![\w.])").search(dql, max(0, body))
    return match.start() if match else None


setattr(Result, "__getattr__", attribute_error("Result", "result", RESULT))  # noqa: B010
