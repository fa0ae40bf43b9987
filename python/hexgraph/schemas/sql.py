"""SQL over types, edges and results: DuckDB reads them as tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ..errors import SchemaError
from ..frames import missing, to_arrow
from .definitions import definition_of, named
from .suggesting import parts_of


def sql(db: Any, query: str, tables: Mapping[str, Any], parameters: Any) -> Any:
    """Return what DuckDB finds; see `Database.sql`."""
    if not isinstance(query, str):
        raise TypeError(f"a query of SQL is a text, not {type(query).__name__}")
    try:
        import duckdb
    except ImportError as error:
        raise missing("duckdb") from error
    connection = duckdb.connect()
    own = _tables_of(db)
    # Names of SQL have no case. A word that is no table there costs a table that nobody reads.
    words = {word.lower() for word in re.findall(r"\w[\w.]*", query)}
    for name in {**own, **tables}:
        if name.lower() in words or not re.fullmatch(r"\w[\w.]*", name):
            if name in tables:
                connection.register(name, _readable(to_arrow(tables[name])))
            else:
                own[name](connection)
    try:
        return connection.sql(query, params=parameters)
    except duckdb.CatalogException as error:
        names = ", ".join(dict.fromkeys([*tables, *own])) or "none"
        raise SchemaError(
            str(error).split("\n", maxsplit=1)[0], hint=f"there are {names}"
        ) from error


def _readable(table: Any) -> Any:
    """Return a table that DuckDB can scan more than once."""
    if type(table).__module__.partition(".")[0] in ("duckdb", "_duckdb", "polars", "pyarrow"):
        return table
    if not hasattr(table, "__arrow_c_stream__"):
        kind = type(table).__name__
        raise TypeError(f"a table of SQL is a result, a frame or columns of Arrow, not {kind}")
    try:
        import pyarrow
    except ImportError as error:
        raise missing("pyarrow") from error
    return pyarrow.table(table)


def _tables_of(db: Any) -> dict[str, Callable[[Any], None]]:
    """Return what puts the table of each type and of each predicate of edges into a connection.

    Where a type and a predicate have the same name, the type has it.
    """
    schema = db.schema()
    predicates, types = parts_of(schema)
    is_edge = {
        name: definition_of(schema, name).startswith(("uid", "[uid]")) for name in predicates
    }
    made: dict[str, Callable[[Any], None]] = {}
    for name, matches in is_edge.items():
        if matches:
            made[name] = partial(_edges_of, db, name)
    for name, fields in types.items():
        if not name.startswith("dgraph."):
            values = [field for field in fields if not is_edge.get(field, False)]
            made[name] = partial(_nodes_of, db, name, values)
    return made


def _edges_of(db: Any, name: str, connection: Any) -> None:
    numbers = f"{name} by numbers"
    connection.register(numbers, _readable(db.edges(named(name)).to_arrow(uids=int)))
    # Uids are texts in the tables of nodes and in results, so they are here.
    endpoints = ", ".join(f"format('0x{{:x}}', {end}) as {end}" for end in ("source", "target"))
    connection.execute(f"create view {_quoted(name)} as select {endpoints} from {_quoted(numbers)}")


def _nodes_of(db: Any, name: str, values: list[str], connection: Any) -> None:
    fields = " ".join(named(value) for value in values)
    result = db.query(f"{{ nodes(func: type({named(name)})) {{ uid {fields} }} }}")
    connection.register(name, _readable(result.to_arrow()))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
