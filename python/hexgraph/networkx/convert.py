"""Converts graphs of networkx to arrays, and back."""

from __future__ import annotations

from itertools import chain
from typing import Any

import networkx as nx
import numpy as np

from . import seen
from .arrays import EXACT, Arrays
from .views import DiGraph, Graph, of_arrays


def convert_from_nx(
    graph: Any,
    *,
    edge_attrs: dict[str, Any] | None = None,
    preserve_edge_attrs: bool = False,
    preserve_graph_attrs: bool = False,
    **_others: Any,
) -> Any:
    """Return a graph of networkx as one of this backend: O(nodes + edges), in Python.

    Of the attributes of edges those come along that `edge_attrs` names with the values that edges
    have without them. Raises NotImplementedError for graphs with parallel edges, and for weights
    that are no numbers: networkx goes on by itself then.
    """
    if isinstance(graph, (Graph, DiGraph)):
        return graph
    if graph.is_multigraph():
        raise NotImplementedError("hexgraph takes no graphs with parallel edges")
    defaults = edge_attrs or {}
    if not seen.is_view(graph):
        return _converted(graph, defaults, preserve_edge_attrs, preserve_graph_attrs)
    key = preserve_edge_attrs, *sorted((name, repr(value)) for name, value in defaults.items())
    # What is cached has all attributes of the graph, as networkx requires of a cache.
    return seen.of_view(graph, key, lambda: _converted(graph, defaults, preserve_edge_attrs, True))


def _converted(
    graph: Any, edge_attrs: dict[str, Any], all_edge_attrs: bool, graph_attrs: bool
) -> Any:
    labels = list(graph)
    adjacency = graph._adj
    rows = [adjacency[label] for label in labels]
    index = {label: number for number, label in enumerate(labels)}
    starts = np.zeros(len(labels) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=starts[1:])
    if starts[-1] <= np.iinfo(np.int32).max:
        starts = starts.astype(np.int32)
    targets = np.fromiter(
        map(index.__getitem__, chain.from_iterable(rows)), starts.dtype, count=int(starts[-1])
    )
    defaults = dict(edge_attrs)
    if all_edge_attrs:
        cells = chain.from_iterable(row.values() for row in rows)
        defaults |= {name: 1 for data in cells for name in data if name not in defaults}
    weights = {}
    for name, default in defaults.items():
        cells = chain.from_iterable(row.values() for row in rows)
        weights[name] = _numbers(name, [data.get(name, default) for data in cells])
    arrays = Arrays(labels, (starts, targets), weights, directed=graph.is_directed())
    arrays.index = index
    made = of_arrays(arrays)
    if graph_attrs:
        made.graph.update(graph.graph)
    return made


def _numbers(name: str, values: list[Any]) -> Any:
    if not values:
        return np.zeros(0, dtype=np.int64)
    try:
        numbers = np.array(values)
    except ValueError:
        numbers = np.array(values, dtype=object)
    if numbers.dtype.kind not in "iubf" or numbers.ndim != 1:
        raise NotImplementedError(f"the edges' {name!r} are no plain numbers")
    # An integer among fractions has become a float.
    has_large = numbers.dtype.kind == "f" and (np.abs(numbers) >= EXACT).any()
    if has_large and any(isinstance(it, int) and abs(it) >= EXACT for it in values):
        raise NotImplementedError(f"the edges' {name!r} are more than floats can tell apart")
    return numbers


def convert_to_nx(result: Any, **_others: Any) -> Any:
    """Return a graph of this backend as one of networkx's own; anything else as it is."""
    return result.to_networkx() if isinstance(result, (Graph, DiGraph)) else result


def arrays_of(graph: Any) -> Arrays:
    """Return the arrays of a graph of this backend, or of one of networkx."""
    if isinstance(graph, (Graph, DiGraph)):
        return graph.arrays
    if not isinstance(graph, nx.Graph):
        raise TypeError(f"a graph of networkx is expected, not {type(graph).__name__}")
    converted: Any = convert_from_nx(graph, preserve_edge_attrs=True)
    arrays: Arrays = converted.arrays
    return arrays
