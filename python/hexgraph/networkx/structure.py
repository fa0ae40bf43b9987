"""Degrees, triangles, cores, and other counts of neighbours."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import networkx as nx
import numpy as np

from .arrays import Arrays
from .convert import arrays_of
from .registry import dispatched, is_default, undirected


def _some(G: Any, arrays: Arrays, values: Any, nodes: Any) -> Any:
    """Return the values of all nodes, of those of `nodes`, or of a single one."""
    if nodes is None:
        return arrays.by_label(values)
    if nodes in G:
        return values[arrays.index[nodes]].item()
    numbers = [arrays.index[label] for label in G.nbunch_iter(nodes)]
    return arrays.by_label(values[numbers], numbers)


@dispatched(undirected())
def triangles(G: Any, nodes: Any = None) -> Any:
    """Return the number of triangles at each node."""
    arrays = arrays_of(G)
    return _some(G, arrays, arrays.shape("triangles"), nodes)


@dispatched(undirected(is_default(weight=None)))
def clustering(G: Any, nodes: Any = None, weight: None = None) -> Any:
    """Return the fraction of pairs of neighbours of each node that are neighbours."""
    arrays = arrays_of(G)
    return _some(G, arrays, arrays.shape("clustering"), nodes)


@dispatched(undirected(is_default(weight=None)))
def average_clustering(
    G: Any, nodes: Any = None, weight: None = None, count_zeros: bool = True
) -> float:
    """Return the average of the clustering of nodes."""
    coefficients = clustering(G, nodes, weight)
    values = [value for value in coefficients.values() if count_zeros or abs(value) > 0]
    return sum(values) / len(values)


@dispatched(undirected())
def transitivity(G: Any) -> float:
    """Return the fraction of all pairs of neighbours of a node that are neighbours themselves."""
    arrays = arrays_of(G)
    ratio: float = arrays.shape("transitivity")
    return ratio or 0


@dispatched(undirected())
def core_number(G: Any) -> dict[Any, int]:
    """Return the greatest k for which each node is in a part where all have k neighbours."""
    arrays = arrays_of(G)
    if arrays.loops.any():
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted;"
            " Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    return arrays.by_label(arrays.shape("core_numbers"))


@dispatched()
def number_of_selfloops(G: Any) -> int:
    """Return the number of edges of nodes to themselves."""
    return int(arrays_of(G).loops.sum())


@dispatched()
def is_empty(G: Any) -> bool:
    """Return whether there is no edge."""
    return not len(arrays_of(G).indices)


@dispatched()
def is_regular(G: Any) -> bool:
    """Return whether all nodes have the same degree."""
    arrays = arrays_of(G)
    if not len(arrays):
        raise nx.NetworkXPointlessConcept("Graph has no nodes.")
    kinds = (arrays.in_degrees, arrays.out_degrees) if arrays.directed else (arrays.degrees,)
    return all(bool((degrees == degrees[0]).all()) for degrees in kinds)


@dispatched()
def is_k_regular(G: Any, k: int) -> bool:
    """Return whether all nodes have the degree `k`."""
    return bool((arrays_of(G).degrees == k).all())


def _alone(arrays: Arrays) -> Any:
    return np.flatnonzero(arrays.degrees == 0)


@dispatched()
def isolates(G: Any) -> Iterator[Any]:
    """Yield the nodes without edges."""
    arrays = arrays_of(G)
    return iter(arrays.named(_alone(arrays)))


@dispatched()
def number_of_isolates(G: Any) -> int:
    """Return the number of nodes without edges."""
    return len(_alone(arrays_of(G)))


@dispatched()
def is_isolate(G: Any, n: Hashable) -> bool:
    """Return whether a node has no edges."""
    arrays = arrays_of(G)
    if n not in arrays.index:
        raise nx.NetworkXError(f"The node {n} is not in the graph.")
    return bool(arrays.degrees[arrays.index[n]] == 0)


@dispatched()
def s_metric(G: Any) -> float:
    """Return the sum of the products of the degrees of the endpoints of edges."""
    arrays = arrays_of(G)
    degrees = arrays.degrees.astype(float)
    products = degrees[arrays.sources] * degrees[arrays.indices]
    if arrays.directed:
        return float(products.sum())
    # A loop stands there once, any other edge twice.
    return float(products.sum() + (degrees[arrays.loops] ** 2).sum()) / 2


def _returned(arrays: Arrays) -> Any:
    """Return for each node the number of its edges that have one back, loops left out."""
    ones = arrays.matrix(None)
    both = ones.multiply(ones.T.tocsr())
    return np.asarray(both.sum(axis=1)).ravel() - arrays.loops


@dispatched()
def overall_reciprocity(G: Any) -> float:
    """Return the fraction of edges that have one back."""
    arrays = arrays_of(G)
    if not arrays.edge_count:
        raise nx.NetworkXError("Not defined for empty graphs")
    if not arrays.directed:
        raise NotImplementedError("the graph has no direction")
    if arrays.loops.any():
        raise NotImplementedError("the graph has loops")
    return float(_returned(arrays).sum()) / arrays.edge_count


@dispatched()
def reciprocity(G: Any, nodes: Any = None) -> Any:
    """Return the fraction of edges that have one back: of the graph, or of some nodes."""
    if nodes is None:
        return overall_reciprocity(G)
    arrays = arrays_of(G)
    if arrays.loops.any():
        raise NotImplementedError("the graph has loops")
    totals = arrays.in_degrees + arrays.out_degrees
    if nodes in G:
        number = arrays.index[nodes]
        if not totals[number]:
            raise nx.NetworkXError("Not defined for isolated nodes.")
        return float(2 * _returned(arrays)[number] / totals[number])
    returned = _returned(arrays)
    ratios = {}
    for label in G.nbunch_iter(nodes):
        number = arrays.index[label]
        total = totals[number]
        ratios[label] = float(2 * returned[number] / total) if total else None
    return ratios


@dispatched(undirected(is_default(source="out", target="out", weight=None)))
def average_neighbor_degree(
    G: Any,
    source: str = "out",
    target: str = "out",
    nodes: Any = None,
    weight: None = None,
) -> dict[Any, float]:
    """Return the average degree of the neighbours of each node."""
    arrays = arrays_of(G)
    degrees = arrays.degrees.astype(float)
    sums = np.bincount(arrays.sources, weights=degrees[arrays.indices], minlength=len(arrays))
    averages = np.divide(sums, degrees, out=np.zeros(len(arrays)), where=degrees > 0)
    if nodes is None:
        return arrays.by_label(averages)
    numbers = [arrays.index[label] for label in G.nbunch_iter(nodes)]
    return arrays.by_label(averages[numbers], numbers)
