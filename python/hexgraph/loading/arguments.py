"""How tables are loaded: arguments as they are guessed, and what to say of those that are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from .. import guesses
from ..errors import QueryError
from ..homes import expanded
from .pairs import FROM, PAIR, TO, TRIPLE, edges_of, nodes_of
from .tables import Prepared, points_of, prepare

ENDPOINTS = (
    ("source", "target"),
    ("from", "to"),
    ("src", "dst"),
    ("start", "end"),
    ("head", "tail"),
)
"""The names that the columns of edges usually have."""

TEXT_OPTIONS = (
    "header",
    "quote",
    "escape",
    "comment",
    "skip",
    "null_values",
    "quoted_null",
    "ragged",
    "names",
)
"""Options that say how a text file is written."""

PLAIN_OPTIONS: dict[str, Any] = {
    **dict.fromkeys(TEXT_OPTIONS),
    "quoted_null": False,
    "ragged": "error",
    "names": "clean",
    **dict.fromkeys(("separator", "encoding", "column_names", "filename", "types", "schema")),
    "on_error": "raise",
    "memory": None,
    "progress": None,
}
"""The options of a load of tables as the native module takes them, where none is given."""

OTHER_NAMES = {
    "load_nodes": {
        **dict.fromkeys(("label", "labels", "kind", "node_type", "node_label"), "type"),
        **dict.fromkeys(("key", "primary_key", "id_column", "index", "index_col"), "id"),
        **dict.fromkeys(("sep", "delimiter", "delim", "delim_whitespace"), "separator"),
        **dict.fromkeys(("quotechar", "quote_char"), "quote"),
        **dict.fromkeys(("escapechar", "escape_char"), "escape"),
        **dict.fromkeys(("comment_prefix", "comment_char"), "comment"),
        **dict.fromkeys(("skiprows", "skip_rows", "skip_lines"), "skip"),
        **dict.fromkeys(("na_values", "nullstr", "null_strings"), "null_values"),
        **dict.fromkeys(("has_header", "names_in_first_line"), "header"),
        **dict.fromkeys(("truncate_ragged_lines", "on_bad_lines"), "ragged"),
        **dict.fromkeys(("location", "point", "coordinates"), "geo"),
        **dict.fromkeys(("dtype", "dtypes", "schema_overrides"), "types"),
        "rename": "columns",
        **dict.fromkeys(("include_file_paths", "file_name", "path_column"), "filename"),
        **dict.fromkeys(("foreign_keys", "links", "relations", "references"), "edges"),
    },
    "load_edges": {
        **dict.fromkeys(("src", "from_", "source_column", "start"), "source"),
        **dict.fromkeys(("dst", "to", "target_column", "end"), "target"),
        **dict.fromkeys(("properties", "attributes", "weights", "edge_attr"), "facets"),
        **dict.fromkeys(("type", "label", "relation", "rel_type", "name"), "predicate"),
        **dict.fromkeys(("id", "key", "by"), "on"),
        **dict.fromkeys(("sep", "delimiter", "delim", "delim_whitespace"), "separator"),
        **dict.fromkeys(("quotechar", "quote_char"), "quote"),
        **dict.fromkeys(("escapechar", "escape_char"), "escape"),
        **dict.fromkeys(("comment_prefix", "comment_char"), "comment"),
        **dict.fromkeys(("skiprows", "skip_rows", "skip_lines"), "skip"),
        **dict.fromkeys(("na_values", "nullstr", "null_strings"), "null_values"),
        **dict.fromkeys(("has_header", "names_in_first_line"), "header"),
        **dict.fromkeys(("truncate_ragged_lines", "on_bad_lines"), "ragged"),
    },
}
"""Arguments as others call them, and what they are called here."""


def refuse(method: str, other: Mapping[str, Any], names: list[str]) -> None:
    """Refuse arguments that there are not, and name those that are likely meant."""
    for name in other:
        guesses.refuse(f"{method}()", name, names, OTHER_NAMES[method])


def load_nodes(db: Any, table: Any, type: Any, options: dict[str, Any]) -> Any:  # noqa: A002
    """Load a table of nodes; see `Database.load_nodes`."""
    types_of_nodes = names_of_types(type)
    identifier = None if options["id"] is None else str(options["id"])
    prepared = prepare(nodes_of(table, identifier))
    geo = options.pop("geo")
    points, types = points_of(geo, prepared)
    check_id(identifier, prepared)
    columns, column_names = columns_of(options["columns"])
    native = {
        "table": {
            **common(options, {**prepared.types, **types}, prepared),
            "column_names": column_names,
        },
        "id": identifier,
        "xid": options["xid"],
        "uid": options["uid"],
        "node_types": types_of_nodes,
        "columns": columns,
        "points": points,
        "edges": foreign_keys(options["edges"]),
        "missing": options["missing"],
        "prefix": options["prefix"],
    }
    return db._load_nodes(prepared.tables, native)


def columns_of(given: Any) -> tuple[dict[str, str | None] | None, list[str] | None]:
    """Return the predicates of columns, and the names of the columns of a file that has none.

    Raises TypeError for what is neither a dict nor a list of texts.
    """
    if given is None or isinstance(given, Mapping):
        return given if given is None else dict(given), None
    is_list = isinstance(given, Sequence) and not isinstance(given, (str, bytes))
    if is_list and all(isinstance(name, str) for name in given):
        return None, list(given)
    raise TypeError(
        "columns is a dict of columns and their predicates, or a list that names the columns of a"
        f" file without a header, not {given!r}"
    )


def names_of_types(given: Any) -> list[str]:
    """Return the names of the types of nodes: one, or several in a list."""
    if given is None:
        return []
    if isinstance(given, str):
        return [given]
    if isinstance(given, (list, tuple)) and all(isinstance(name, str) for name in given):
        return list(given)
    raise TypeError(
        "type is the name of the type of the nodes, a str, or a list of such; the table comes"
        ' first: load_nodes(table, "Airport", id="iata")'
    )


def foreign_keys(edges: Any) -> list[tuple[str, str | None, str | None, str]]:
    """Return the columns that are edges: column, predicate, type, and what names the nodes.

    Raises TypeError for what says no such column.
    """
    if edges is None:
        return []
    if not isinstance(edges, Mapping):
        raise TypeError(
            'edges is a dict of columns and what their cells name: {"origin": "Airport.faa"}, not'
            f" {type(edges).__name__}"
        )
    keys: list[tuple[str, str | None, str | None, str]] = []
    for column, target in edges.items():
        parts: list[Any] = [None, target] if isinstance(target, str) else []
        if isinstance(target, (tuple, list)):
            parts = list(target)
        if len(parts) == PAIR:
            parts.insert(1, None)
        are_names = all(it is None or isinstance(it, str) for it in parts)
        if len(parts) != TRIPLE or not are_names or parts[-1] is None:
            raise TypeError(
                f'edges[{column!r}] is "Type.predicate", or a tuple ("edge", "Type", "predicate")'
                f" of the predicate of the edges and what names their endpoints, not {target!r}"
            )
        predicate, kind, name = parts
        keys.append((str(column), predicate, kind, name))
    return keys


def check_id(identifier: str | None, prepared: Prepared) -> None:
    """Refuse a column of ids that there is not, and name one that may be meant."""
    columns = prepared.columns
    if identifier is None or columns is None or identifier in columns or not columns:
        return
    near = get_close_matches(identifier, columns, 1)
    meant = near[0] if near else columns[0]
    raise QueryError(
        f"the table has no column {identifier!r} that names its nodes; it has"
        f" {', '.join(repr(name) for name in columns)}",
        hint=f"say which column names the nodes, id={meant!r}, or id=None where each row is a new"
        " node",
    )


def load_edges(  # noqa: PLR0913, PLR0917 - as it is called
    db: Any,
    table: Any,
    predicate: Any,
    source: str | None,
    target: str | None,
    options: dict[str, Any],
) -> Any:
    """Load a table of edges; see `Database.load_edges`."""
    if not isinstance(predicate, str):
        raise TypeError(
            "the predicate of the edges is a str; the table comes first:"
            ' load_edges(table, "route", "from", "to")'
        )
    on, xid = options.pop("on"), options.pop("xid")
    if on is not None and xid is not None:
        raise TypeError("`on` and `xid` are two names of one argument: use `on`")
    owned = options["types"] is not False
    if not owned:
        options["types"] = None
    rows, endpoints = edges_of(table)
    prepared = prepare(rows)
    if endpoints is not None:
        # Columns that are called as endpoints usually are may be attributes.
        source = endpoints[0] if source in {None, FROM} else source
        target = endpoints[1] if target in {None, TO} else target
    column_names = names_of_columns(options["columns"])
    source, target = endpoints_of(source, target, prepared, column_names)
    native = {
        "table": {**common(options, prepared.types, prepared), "column_names": column_names},
        "predicate": predicate,
        "source": source,
        "target": target,
        "facets": options["facets"],
        "on": on if on is not None else xid,
        "uid": options["uid"],
        "missing": options["missing"],
        "owned": owned,
    }
    return db._load_edges(prepared.tables, native)


def names_of_columns(given: Any) -> list[str] | None:
    """Return the names of the columns of a file of edges that has none.

    Raises TypeError for what is no list of texts.
    """
    if isinstance(given, Mapping):
        raise TypeError(
            "columns is a list that names the columns of a file of edges without a header;"
            " source=, target= and facets= say what columns are"
        )
    return columns_of(given)[1]


def endpoints_of(
    source: str | None, target: str | None, prepared: Prepared, names: list[str] | None
) -> tuple[str, str]:
    """Return the columns of the endpoints: those that are given, or that have the usual names.

    A table of two columns has the source first.
    """
    columns = prepared.columns if names is None else names
    if source is not None and target is not None:
        return source, target
    if columns is not None:
        lower = {name.lower(): name for name in columns}
        for one, other in ENDPOINTS:
            if one in lower and other in lower:
                return source or lower[one], target or lower[other]
        if len(columns) == len(ENDPOINTS[0]) and source is None and target is None:
            return columns[0], columns[1]
    return source or "source", target or "target"


def common(
    options: Mapping[str, Any], types: Mapping[str, str], prepared: Prepared
) -> dict[str, Any]:
    """Return the options that nodes and edges have in common. Types that are given count."""
    columns = prepared.columns
    own = {name: kind for name, kind in types.items() if columns is None or name in columns}
    keys = ("on_error", "memory", "separator", "encoding", "progress", *TEXT_OPTIONS)
    filename = options["filename"]
    return {
        **PLAIN_OPTIONS,
        **{key: options[key] for key in keys},
        "filename": "filename" if filename is True else (filename or None),
        "schema": expanded(options["schema"]),
        "types": {**own, **(options["types"] or {})},
    }
