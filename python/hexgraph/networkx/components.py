"""Components, and orders of graphs without cycles."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from .arrays import Arrays
from .convert import arrays_of
from .registry import dispatched

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]


def parts(arrays: Arrays, name: str = "components") -> Any:
    """Return the number of the part that each node is in."""
    return arrays.shape(name)


def _count(arrays: Arrays, name: str = "components") -> int:
    return int(parts(arrays, name).max(initial=-1)) + 1


def _sets(arrays: Arrays, labels: Array, backward: bool = False) -> Iterator[set[Any]]:
    """Yield the nodes of each part, by its number."""
    order = np.argsort(labels, kind="stable")
    bounds = np.cumsum(np.bincount(labels, minlength=0)) if len(labels) else []
    groups = np.split(order, bounds[:-1]) if len(labels) else []
    for group in reversed(groups) if backward else groups:
        yield set(arrays.named(group))


def _is_one(G: Any, name: str, word: str) -> bool:
    arrays = arrays_of(G)
    if not len(arrays):
        raise nx.NetworkXPointlessConcept(f"{word} is undefined for the null graph.")
    return _count(arrays, name) == 1


@dispatched()
def connected_components(G: Any) -> Iterator[set[Any]]:
    """Yield the nodes of each component, in the order of the first node of each."""
    arrays = arrays_of(G)
    return _sets(arrays, parts(arrays))


@dispatched()
def number_connected_components(G: Any) -> int:
    """Return the number of components."""
    return _count(arrays_of(G))


@dispatched()
def is_connected(G: Any) -> bool:
    """Return whether there is one component."""
    return _is_one(G, "components", "Connectivity")


@dispatched()
def node_connected_component(G: Any, n: Hashable) -> set[Any]:
    """Return the nodes of the component that a node is in."""
    arrays = arrays_of(G)
    if n not in arrays.index:
        raise KeyError(n)
    labels = parts(arrays)
    return set(arrays.named(np.flatnonzero(labels == labels[arrays.index[n]])))


@dispatched()
def weakly_connected_components(G: Any) -> Iterator[set[Any]]:
    """Yield the nodes of each component, whatever the directions."""
    arrays = arrays_of(G)
    return _sets(arrays, parts(arrays))


@dispatched()
def number_weakly_connected_components(G: Any) -> int:
    """Return the number of components, whatever the directions."""
    return _count(arrays_of(G))


@dispatched()
def is_weakly_connected(G: Any) -> bool:
    """Return whether there is one component, whatever the directions."""
    return _is_one(G, "components", "Connectivity")


@dispatched()
def strongly_connected_components(G: Any) -> Iterator[set[Any]]:
    """Yield the parts within which each node reaches each: what others point to comes first."""
    arrays = arrays_of(G)
    return _sets(arrays, parts(arrays, "strong_components"), backward=True)


@dispatched()
def number_strongly_connected_components(G: Any) -> int:
    """Return the number of parts within which each node reaches each."""
    return _count(arrays_of(G), "strong_components")


@dispatched()
def is_strongly_connected(G: Any) -> bool:
    """Return whether each node reaches each."""
    return _is_one(G, "strong_components", "Connectivity")


def _has_no_cycle(arrays: Arrays) -> bool:
    is_alone = _count(arrays, "strong_components") == len(arrays)
    return is_alone and not arrays.loops.any()


@dispatched()
def is_directed_acyclic_graph(G: Any) -> bool:
    """Return whether edges have a direction, and lead nowhere back."""
    arrays = arrays_of(G)
    return arrays.directed and _has_no_cycle(arrays)


def _generations(arrays: Arrays) -> Iterator[Any]:
    if not arrays.directed:
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")
    left = arrays.in_degrees.astype(np.int64)
    ready: Any = np.flatnonzero(left == 0)
    done = 0
    while len(ready):
        done += len(ready)
        yield ready
        few = arrays.few(ready)
        if few is None:
            ready = _ready_of_many(arrays, np.asarray(ready), left)
        else:
            ready = _ready_of_few(arrays, few, left.data)
    if done < len(arrays):
        raise nx.NetworkXUnfeasible("Graph contains a cycle.")


def _ready_of_many(arrays: Arrays, done: Array, left: Array) -> Array:
    """Return the nodes to which nodes lead that are done, and no others any more.

    `left` has how many edges point to each from nodes that are not done.
    """
    targets = arrays.indices[arrays.leaving(done)[0]]
    # A node is ready with the last edge that points to it.
    distinct, lasts, counts = np.unique(targets[::-1], return_index=True, return_counts=True)
    left[distinct] -= counts
    is_ready = left[distinct] == 0
    distinct, lasts = distinct[is_ready], lasts[is_ready]
    ready: Array = distinct[np.argsort(-lasts, kind="stable")]
    return ready


def _ready_of_few(arrays: Arrays, done: list[int], left: Any) -> list[int]:
    """Return the same as a list: long paths have many generations, of a few nodes each."""
    begins, indices = arrays.cells
    ready = []
    for node in done:
        for target in indices[begins[node] : begins[node + 1]].tolist():
            left[target] -= 1
            if not left[target]:
                ready.append(target)
    return ready


@dispatched()
def topological_generations(G: Any) -> Iterator[list[Any]]:
    """Yield the nodes to which none leads, then those to which only these lead, and so on."""
    arrays = arrays_of(G)
    for nodes in _generations(arrays):
        yield arrays.named(nodes)


@dispatched()
def topological_sort(G: Any) -> Iterator[Any]:
    """Yield the nodes so that each edge points to a later one."""
    arrays = arrays_of(G)
    for nodes in _generations(arrays):
        yield from arrays.named(nodes)


def _check_nodes(arrays: Arrays) -> None:
    if not len(arrays):
        raise nx.NetworkXPointlessConcept("G has no nodes.")


@dispatched()
def is_tree(G: Any) -> bool:
    """Return whether the graph hangs together and has one edge less than nodes."""
    arrays = arrays_of(G)
    _check_nodes(arrays)
    return len(arrays) - 1 == arrays.edge_count and _count(arrays) == 1


@dispatched()
def is_forest(G: Any) -> bool:
    """Return whether each component is a tree."""
    arrays = arrays_of(G)
    _check_nodes(arrays)
    return len(arrays) - _count(arrays) == arrays.edge_count


@dispatched()
def is_bipartite(G: Any) -> bool:
    """Return whether nodes fall into two sets so that no edge lies within one."""
    arrays = arrays_of(G)
    if not len(arrays):
        return True
    if arrays.loops.any():
        return False
    if arrays.directed:
        arrays = _undirected(arrays)
    labels = parts(arrays)
    _, firsts = np.unique(labels, return_index=True)
    side = arrays.shape("bfs", {"source": firsts.tolist()}) % 2
    return bool((side[arrays.sources] != side[arrays.indices]).all())


def _undirected(arrays: Arrays) -> Arrays:
    """Return the graph with its edges in both directions."""
    from scipy.sparse import csr_array

    made = arrays.matrix(None, np.int64)
    made = csr_array(made + made.T)
    return Arrays(arrays.labels, (made.indptr, made.indices), {}, directed=False)
