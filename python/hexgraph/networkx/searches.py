"""Breadth-first searches: trees, layers, paths by the number of edges, reachable nodes.

A search walks level by level over arrays. It finds the nodes, and from where, in the very order in
which one with a queue does: neighbours in the order of the rows, each by its first predecessor.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from math import ceil
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from .arrays import Arrays
from .convert import arrays_of
from .registry import dispatched, is_default

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]


def levels(
    arrays: Arrays, starts: Array, depth: float | None = None, until: int | None = None
) -> Iterator[tuple[Any, Any]]:
    """Yield the nodes of each level from the second on, and from where each was read.

    Both are arrays, or lists where the level before has few edges: long paths have many such
    levels, and a walk over lists costs them less than some calls of numpy. It stops after `depth`
    levels, or with the level that has the node `until`.
    """
    seen = np.zeros(len(arrays), dtype=bool)
    seen[starts] = True
    frontier: Any = starts
    level = 0
    while len(frontier) and (depth is None or level < depth):
        level += 1
        few = arrays.few(frontier)
        if few is None:
            frontier, parents = _next_of_many(arrays, np.asarray(frontier), seen)
        else:
            frontier, parents = _next_of_few(arrays, few, seen.data)
        if not len(frontier):
            return
        yield frontier, parents
        if until is not None and seen[until]:
            return


def _next_of_many(arrays: Arrays, frontier: Array, seen: Array) -> tuple[Any, Any]:
    """Return the nodes that a level finds, and from where; they are seen then."""
    positions, counts = arrays.leaving(frontier)
    targets, from_nodes = arrays.indices[positions], np.repeat(frontier, counts)
    is_new = ~seen[targets]
    targets, from_nodes = targets[is_new], from_nodes[is_new]
    # By which row a node comes first: the position among all edges of the level.
    _, firsts = np.unique(targets, return_index=True)
    firsts.sort()
    reached_nodes = targets[firsts]
    seen[reached_nodes] = True
    return reached_nodes, from_nodes[firsts]


def _next_of_few(arrays: Arrays, frontier: list[int], seen: Any) -> tuple[Any, Any]:
    """Return the same as lists."""
    begins, indices = arrays.cells
    new, parents = [], []
    for node in frontier:
        for target in indices[begins[node] : begins[node + 1]].tolist():
            if not seen[target]:
                seen[target] = True
                new.append(target)
                parents.append(node)
    return new, parents


def tree(
    arrays: Arrays, start: int, depth: float | None = None, until: int | None = None
) -> tuple[list[int], list[int]]:
    """Return the nodes that a search finds, in its order, without the first; and their parents."""
    nodes: list[int] = []
    parents: list[int] = []
    for level in levels(arrays, np.array([start]), depth, until):
        for numbers, more in zip((nodes, parents), level, strict=True):
            numbers.extend(more if isinstance(more, list) else more.tolist())
    return nodes, parents


def hops(arrays: Arrays, start: int, depth: float | None = None) -> Any:
    """Return the number of edges from a node to each; the least int64 for unreachable ones."""
    # As networkx has it: one level more is begun where less than `depth` are done.
    limit = {} if depth is None else {"depth": max(0, ceil(min(depth, len(arrays))))}
    return arrays.shape("bfs", {"source": [start]}, **limit)


def _lengths(arrays: Arrays, start: int, cutoff: float | None) -> dict[Any, int]:
    depths = hops(arrays, start, cutoff)
    numbers = np.flatnonzero(depths >= 0)
    numbers = numbers[np.argsort(depths[numbers], kind="stable")]
    return arrays.by_label(depths[numbers], numbers.tolist())


def _paths(arrays: Arrays, start: int, cutoff: float | None) -> dict[Any, list[Any]]:
    labels = arrays.labels
    paths: dict[int, list[Any]] = {start: [labels[start]]}
    nodes, parents = tree(arrays, start, cutoff)
    for node, parent in zip(nodes, parents, strict=True):
        paths[node] = [*paths[parent], labels[node]]
    return {labels[node]: path for node, path in paths.items()}


def path_between(arrays: Arrays, source: int, target: int) -> list[Any] | None:
    """Return the labels on a shortest path; None where there is none."""
    if source == target:
        return [arrays.labels[source]]
    nodes, parents = tree(arrays, source, until=target)
    before = dict(zip(nodes, parents, strict=True))
    if target not in before:
        return None
    path = [target]
    while path[-1] != source:
        path.append(before[path[-1]])
    return [arrays.labels[number] for number in reversed(path)]


def is_fine_cutoff(arguments: dict[str, Any]) -> str | None:
    """Report errors of a bound on the length of paths."""
    cutoff = arguments.get("cutoff")
    is_number = isinstance(cutoff, (int, float)) and cutoff >= 0
    return None if cutoff is None or is_number else "cutoff is to be a number from 0 on"


@dispatched(is_fine_cutoff)
def single_source_shortest_path_length(
    G: Any, source: Hashable, cutoff: float | None = None
) -> dict[Any, int]:
    """Return the number of edges to each reachable node, the nearest first."""
    arrays = arrays_of(G)
    return _lengths(arrays, arrays.number(source, "Source {} is not in G"), cutoff)


@dispatched(is_fine_cutoff)
def single_target_shortest_path_length(
    G: Any, target: Hashable, cutoff: float | None = None
) -> dict[Any, int]:
    """Return the number of edges from each node that reaches the target, the nearest first."""
    arrays = arrays_of(G)
    return _lengths(arrays.transposed, arrays.number(target, "Target {} is not in G"), cutoff)


@dispatched(is_fine_cutoff)
def all_pairs_shortest_path_length(
    G: Any, cutoff: float | None = None
) -> Iterator[tuple[Any, dict[Any, int]]]:
    """Yield each node with the number of edges to each that it reaches."""
    arrays = arrays_of(G)
    for number, label in enumerate(arrays.labels):
        yield label, _lengths(arrays, number, cutoff)


@dispatched(is_fine_cutoff)
def single_source_shortest_path(
    G: Any, source: Hashable, cutoff: float | None = None
) -> dict[Any, list[Any]]:
    """Return a shortest path to each reachable node, in the order of the search."""
    arrays = arrays_of(G)
    return _paths(arrays, arrays.number(source, "Source {} not in G"), cutoff)


@dispatched(is_fine_cutoff)
def single_target_shortest_path(
    G: Any, target: Hashable, cutoff: float | None = None
) -> dict[Any, list[Any]]:
    """Return a shortest path from each node that reaches the target."""
    arrays = arrays_of(G)
    paths = _paths(arrays.transposed, arrays.number(target, "Target {} not in G"), cutoff)
    return {label: path[::-1] for label, path in paths.items()}


def _is_in(arrays: Arrays, node: Hashable) -> int:
    try:
        return arrays.number(node)
    except nx.NodeNotFound:
        raise nx.NetworkXError(f"The node {node} is not in the graph.") from None


@dispatched()
def descendants(G: Any, source: Hashable) -> set[Any]:
    """Return the nodes that are reachable from a node, without itself."""
    arrays = arrays_of(G)
    depths = hops(arrays, _is_in(arrays, source))
    return set(arrays.named(np.flatnonzero(depths > 0)))


@dispatched()
def ancestors(G: Any, source: Hashable) -> set[Any]:
    """Return the nodes with a path to a node, without itself."""
    arrays = arrays_of(G)
    depths = hops(arrays.transposed, _is_in(arrays, source))
    return set(arrays.named(np.flatnonzero(depths > 0)))


@dispatched()
def descendants_at_distance(G: Any, source: Hashable, distance: int) -> set[Any]:
    """Return the nodes that are so many edges from a node."""
    arrays = arrays_of(G)
    depths = hops(arrays, _is_in(arrays, source))
    return set(arrays.named(np.flatnonzero(depths == distance))) if distance >= 0 else set()


@dispatched()
def bfs_layers(G: Any, sources: Any) -> Iterator[list[Any]]:
    """Yield the nodes of each level, those of `sources` first."""
    arrays = arrays_of(G)
    given = [sources] if sources in G else sources
    try:
        distinct = dict.fromkeys(arrays.index[label] for label in given)
    except KeyError as error:
        raise nx.NetworkXError(f"The node {error.args[0]} is not in the graph.") from None
    starts = np.array(list(distinct), dtype=int)

    def each() -> Iterator[list[Any]]:
        if len(starts):
            yield arrays.named(starts)
        for nodes, _ in levels(arrays, starts):
            yield arrays.named(nodes)

    return each()


def _tree_edges(
    G: Any, source: Hashable, depth: float | None, reverse: bool = False
) -> Iterator[Any]:
    arrays = arrays_of(G)
    start = _is_in(arrays, source)
    nodes, parents = tree(arrays.transposed if reverse else arrays, start, depth)
    return zip(arrays.named(parents), arrays.named(nodes), strict=True)


def _is_plain_search(arguments: dict[str, Any]) -> str | None:
    depth = arguments["depth_limit"]
    if arguments.get("reverse") and arguments["G"].is_directed():
        return "edges are not stored in the order of their sources"
    if arguments["sort_neighbors"] is not None:
        return "sort_neighbors is not supported"
    is_fine = depth is None or (isinstance(depth, (int, float)) and depth >= 0)
    return None if is_fine else "depth_limit is to be a number from 0 on"


@dispatched(_is_plain_search)
def bfs_edges(
    G: Any,
    source: Hashable,
    reverse: bool = False,
    depth_limit: float | None = None,
    sort_neighbors: None = None,
) -> Iterator[tuple[Any, Any]]:
    """Yield the edges of a search in its order."""
    return _tree_edges(G, source, depth_limit, reverse)


@dispatched(_is_plain_search)
def bfs_predecessors(
    G: Any,
    source: Hashable,
    depth_limit: float | None = None,
    sort_neighbors: None = None,
) -> Iterator[tuple[Any, Any]]:
    """Yield each node with that from which it was read."""
    return ((node, parent) for parent, node in _tree_edges(G, source, depth_limit))


@dispatched(_is_plain_search)
def bfs_successors(
    G: Any,
    source: Hashable,
    depth_limit: float | None = None,
    sort_neighbors: None = None,
) -> Iterator[tuple[Any, list[Any]]]:
    """Yield each node that finds others with those."""
    children: dict[Any, list[Any]] = {source: []}
    for parent, node in _tree_edges(G, source, depth_limit):
        children.setdefault(parent, []).append(node)
    return iter(children.items())


def _eccentricities(arrays: Arrays, numbers: Iterable[int]) -> list[int]:
    result = []
    for number in numbers:
        distances = hops(arrays, number)
        if (distances < 0).any():
            kind = "strongly connected" if arrays.directed else "connected"
            graph = "digraph" if arrays.directed else "graph"
            said = f"Found infinite path length because the {graph} is not {kind}"
            raise nx.NetworkXError(said)
        result.append(int(distances.max()))
    return result


@dispatched(is_default(sp=None, weight=None))
def eccentricity(G: Any, v: Any = None, sp: None = None, weight: None = None) -> Any:
    """Return the greatest distance of each node, of some, or of one."""
    arrays = arrays_of(G)
    if v is None:
        return arrays.by_label(_eccentricities(arrays, range(len(arrays))))
    if v in G:
        return _eccentricities(arrays, [arrays.index[v]])[0]
    numbers = [arrays.index[label] for label in G.nbunch_iter(v)]
    return arrays.by_label(_eccentricities(arrays, numbers), numbers)


_PLAIN = is_default(e=None, usebounds=False, weight=None)


@dispatched(_PLAIN)
def diameter(G: Any, e: None = None, usebounds: bool = False, weight: None = None) -> int:
    """Return the greatest distance of all."""
    result: int = max(eccentricity(G).values())
    return result


@dispatched(_PLAIN)
def radius(G: Any, e: None = None, usebounds: bool = False, weight: None = None) -> int:
    """Return the least of the greatest distances of the nodes."""
    result: int = min(eccentricity(G).values())
    return result


@dispatched(_PLAIN)
def center(G: Any, e: None = None, usebounds: bool = False, weight: None = None) -> list[Any]:
    """Return the nodes whose greatest distance is the least."""
    if not len(G) and not G.is_directed():
        # networkx checks first whether it is a tree.
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    distances = eccentricity(G)
    least = min(distances.values())
    return [label for label, distance in distances.items() if distance == least]


@dispatched(_PLAIN)
def periphery(G: Any, e: None = None, usebounds: bool = False, weight: None = None) -> list[Any]:
    """Return the nodes whose greatest distance is the greatest."""
    distances = eccentricity(G)
    most = max(distances.values())
    return [label for label, distance in distances.items() if distance == most]


def _sum_of_hops(arrays: Arrays) -> int | None:
    """Return the sum of the distances of all ordered pairs; None where one has no path."""
    total = 0
    for number in range(len(arrays)):
        distances = hops(arrays, number)
        if (distances < 0).any():
            return None
        total += int(distances.sum())
    return total


@dispatched(is_default(weight=None, method=None))
def average_shortest_path_length(G: Any, weight: None = None, method: None = None) -> float:
    """Return the average distance of all pairs of nodes."""
    arrays = arrays_of(G)
    count = len(arrays)
    if count == 0:
        raise nx.NetworkXPointlessConcept(
            "the null graph has no paths, thus there is no average shortest path length"
        )
    if count == 1:
        return 0
    total = _sum_of_hops(arrays)
    if total is None:
        kind = "strongly connected" if arrays.directed else "connected"
        raise nx.NetworkXError(f"Graph is not {kind}.")
    return total / (count * (count - 1))


@dispatched(is_default(weight=None))
def wiener_index(G: Any, weight: None = None) -> float:
    """Return the sum of the distances of all pairs of nodes."""
    arrays = arrays_of(G)
    if not len(arrays):
        raise NotImplementedError("a graph without nodes")
    total = _sum_of_hops(arrays)
    if total is None:
        return float("inf")
    return total if arrays.directed else total / 2


@dispatched()
def global_efficiency(G: Any) -> float:
    """Return the average of one by the distance of all pairs of nodes."""
    arrays = arrays_of(G)
    pairs = len(arrays) * (len(arrays) - 1)
    if not pairs:
        return 0
    return float(arrays.shape("harmonic").sum()) / pairs
