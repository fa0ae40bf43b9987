"""Graphs of networkx, and edges as pairs, as the tables that nodes and edges are loaded from."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import chain, count
from typing import Any

from ..errors import QueryError

PAIR, TRIPLE = 2, 3
FROM, TO = ENDPOINTS = "from", "to"
"""The columns of the endpoints of pairs."""

TABLES = ("__arrow_c_stream__", "__fspath__", "columns", "dtype", "to_table")
"""What tables have, and lists of edges have not."""


def nodes_of(table: Any, identifier: str | None) -> Any:
    """Return the nodes of a graph of networkx as rows; else what it is.

    The column of the nodes themselves is `id`, or called as `identifier` where no node has an
    attribute of that name. Raises QueryError for an attribute that would replace it.
    """
    if not is_graph(table):
        return table
    rows = [(node, texts(data)) for node, data in table.nodes(data=True)]
    names = {name for _, data in rows for name in data}
    column = identifier if identifier is not None and identifier not in names else "id"
    if column in names:
        raise QueryError(
            f"nodes of the graph have an attribute {column!r}, which is also the column of the"
            " nodes themselves",
            hint=f"name that one, id={free_name('node', names)!r}, or rename the attribute",
        )
    nodes = [node for node, _ in rows]
    refuse_lists(nodes, "node")
    return [{column: node, **data} for node, data in rows]


def edges_of(table: Any) -> tuple[Any, tuple[str, str] | None]:
    """Return a graph of networkx, or pairs, as rows, and the columns of endpoints; else what it is.

    A pair is a tuple or a list of two endpoints, and perhaps a third item: a dict of attributes, or
    a number, the `weight`. A dict by pairs has the third items as its values. An array of numpy
    with two columns is pairs, too. The endpoints are called `from` and `to`, or `from_2` and `to_2`
    where attributes have these names.
    """
    if is_graph(table):
        return rows_of(graph_edges(table))
    # A frame of pandas has two dimensions too, but no `dtype`.
    kind = getattr(getattr(table, "dtype", None), "kind", None)
    if getattr(table, "ndim", None) == PAIR and kind in {"i", "u", "U"}:
        is_pairs = table.shape[1] == PAIR
        return ({FROM: table[:, 0], TO: table[:, 1]}, ENDPOINTS) if is_pairs else (table, None)
    items = listed(table)
    if items and all(is_pair(item) for item in items):
        return rows_of(items)
    return (table if items is None else items), None


def graph_edges(graph: Any) -> list[tuple[Any, Any, Mapping[Any, Any]]]:
    """Return the edges of a graph of networkx with their attributes.

    The key of an edge of a multigraph is an attribute, `key` or `key_2`, where one of the keys is
    other than the numbers that networkx gives.
    """
    is_multigraph = getattr(graph, "is_multigraph", None)
    if is_multigraph is None or not is_multigraph():
        return list(graph.edges(data=True))
    edges = list(graph.edges(keys=True, data=True))
    if all(isinstance(key, int) for _, _, key, _ in edges):
        return [(one, other, data) for one, other, _, data in edges]
    name = free_name("key", {str(name) for *_, data in edges for name in data})
    return [(one, other, {name: str(key), **data}) for one, other, key, data in edges]


def rows_of(items: Iterable[Sequence[Any]]) -> tuple[list[dict[str, Any]], tuple[str, str]]:
    """Return edges as rows, whose attributes follow their endpoints, and the columns of these."""
    edges = [(item[0], item[1], attributes_of(item)) for item in items]
    names = {name for _, _, data in edges for name in data}
    source, target = free_name(FROM, names), free_name(TO, names)
    refuse_lists([end for edge in edges for end in edge[:PAIR]], "end of an edge")
    return [{source: one, target: other, **data} for one, other, data in edges], (source, target)


def attributes_of(item: Sequence[Any]) -> dict[str, Any]:
    """Return the attributes of an edge by its endpoints."""
    more = item[PAIR] if len(item) == TRIPLE else {}
    return texts(more) if isinstance(more, Mapping) else {"weight": more}


def free_name(name: str, used: Container[str]) -> str:
    """Return a name that is not used: itself, or with the first number that makes it one."""
    names = chain([name], (f"{name}_{number}" for number in count(2)))
    return next(name for name in names if name not in used)


def refuse_lists(ids: Iterable[Any], what: str) -> None:
    """Refuse ids of several items: a node would have only one.

    Raises QueryError, which says what to do.
    """
    wrong = next((it for it in ids if isinstance(it, (tuple, list, set, frozenset))), None)
    if wrong is not None:
        raise QueryError(
            f"{wrong!r} is no id: the {what} is a {type(wrong).__name__}, and an id is a whole"
            " number or a text",
            hint="make one text of each; for a graph, networkx.relabel_nodes(graph, str)",
        )


def is_graph(table: Any) -> bool:
    """Whether it is a graph as networkx has them: not imported for that."""
    return all(hasattr(table, name) for name in ("nodes", "edges", "adj", "is_directed"))


def listed(table: Any) -> list[Any] | None:
    """Return the items of a list, of a view of edges or of what yields them; None for a table."""
    if isinstance(table, Mapping):
        # Of networkx's view of edges, and of a dict by pairs, the values are attributes.
        is_by_pairs = bool(table) and all(isinstance(key, tuple) for key in table)
        return [(*key, value) for key, value in table.items()] if is_by_pairs else None
    is_table = isinstance(table, (str, bytes, bytearray)) or any(
        hasattr(table, name) for name in TABLES
    )
    return list(table) if isinstance(table, Iterable) and not is_table else None


def is_pair(item: Any) -> bool:
    """Whether an item is an edge by its endpoints; a tuple with names is a row."""
    is_plain = isinstance(item, (tuple, list)) and not hasattr(item, "_asdict")
    if not is_plain or len(item) not in {PAIR, TRIPLE}:
        return False
    # A tuple names a node of networkx, and is refused with what to do.
    return all(
        isinstance(end, (int, str, tuple, list)) or hasattr(end, "item") for end in item[:PAIR]
    )


def texts(data: Mapping[Any, Any]) -> dict[str, Any]:
    """Return attributes, or the cells of a row, with texts as their names.

    Raises QueryError for two whose names are the same text, such as 1 and "1".
    """
    named = {str(name): value for name, value in data.items()}
    if len(named) < len(data):
        names = [str(name) for name in data]
        raise equal_keys(next(name for name in named if names.count(name) > 1))
    return named


def equal_keys(name: str) -> QueryError:
    """Return the exception for two keys of a row that become one."""
    return QueryError(f"two keys of one row are called {name!r}", hint="rename one of them")
