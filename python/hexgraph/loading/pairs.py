"""Graphs of networkx, and edges as pairs, as the tables that nodes and edges are loaded from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

PAIR, TRIPLE = 2, 3
TABLES = ("__arrow_c_stream__", "__fspath__", "columns", "dtype", "to_table")
"""What tables have, and lists of edges have not."""


def nodes_of(table: Any) -> Any:
    """Return the nodes of a graph of networkx as rows, with the node as `id`; else what it is."""
    if not is_graph(table):
        return table
    return [{"id": node, **texts(data)} for node, data in table.nodes(data=True)]


def edges_of(table: Any) -> Any:
    """Return a graph of networkx, or pairs, as rows with `from` and `to`; else what it is.

    A pair is a tuple or a list of two ends, and perhaps a third item: a dict of attributes, or a
    number, the `weight`. A dict by pairs has the third items as its values. An array of numpy with
    two columns is pairs, too.
    """
    if is_graph(table):
        return [row_of(edge) for edge in table.edges(data=True)]
    # A frame of pandas has two dimensions too, but no `dtype`.
    kind = getattr(getattr(table, "dtype", None), "kind", None)
    if getattr(table, "ndim", None) == PAIR and kind in {"i", "u", "U"}:
        return {"from": table[:, 0], "to": table[:, 1]} if table.shape[1] == PAIR else table
    items = listed(table)
    if items and all(is_pair(item) for item in items):
        return [row_of(item) for item in items]
    return table if items is None else items


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
    """Whether an item is an edge by its ends; a tuple with names is a row."""
    is_plain = isinstance(item, (tuple, list)) and not hasattr(item, "_asdict")
    if not is_plain or len(item) not in {PAIR, TRIPLE}:
        return False
    return all(isinstance(end, (int, str)) or hasattr(end, "item") for end in item[:PAIR])


def row_of(item: Sequence[Any]) -> dict[str, Any]:
    """Return an edge as a row; its attributes stand behind its ends."""
    row = {"from": item[0], "to": item[1]}
    if len(item) == TRIPLE:
        more = item[PAIR]
        row |= texts(more) if isinstance(more, Mapping) else {"weight": more}
    return row


def texts(data: Mapping[Any, Any]) -> dict[str, Any]:
    """Return attributes with texts as their names."""
    return {str(name): value for name, value in data.items()}
