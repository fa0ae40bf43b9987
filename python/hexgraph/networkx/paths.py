"""Paths by weight, and those by the number of edges or by weight, whichever is requested."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

import networkx as nx
import numpy as np

from . import searches
from .arrays import EXACT, Arrays
from .convert import arrays_of
from .registry import Check, dispatched

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]


def distances(arrays: Arrays, starts: list[int], weight: str | None) -> Any:
    """Return the least weight of a path to each node from the nearest start; NaN for no path."""
    is_integer, values = arrays.are_integers(weight), arrays.weights_of(weight)
    # Each weight is looked at for itself: one that was rounded may be on no path of the result.
    if is_integer and values is not None and len(values) and values.max() >= EXACT:
        raise NotImplementedError(f"{weight!r} has weights that floats can not tell apart")
    lengths = arrays.compute("distances", weight, {"source": starts})
    if is_integer and (np.nan_to_num(lengths) >= EXACT).any():
        raise NotImplementedError("sums of weights are greater than floats can tell apart")
    return lengths


def _listed(arrays: Arrays, lengths: Array, weight: str | None) -> list[Any]:
    """Return distances as numbers of Python: integers where all weights are."""
    return (lengths.astype(np.int64) if arrays.are_integers(weight) else lengths).tolist()


def _lengths(
    arrays: Arrays, starts: list[int], weight: str | None, cutoff: float | None = None
) -> dict[Any, Any]:
    lengths = distances(arrays, starts, weight)
    is_near = ~np.isnan(lengths) if cutoff is None else lengths <= cutoff
    numbers = np.flatnonzero(is_near)
    numbers = numbers[np.argsort(lengths[numbers], kind="stable")]
    return arrays.by_label(_listed(arrays, lengths[numbers], weight), numbers.tolist())


def _parents(arrays: Arrays, lengths: Array, start: int, weight: str | None) -> Array:
    """Return for each node its predecessor on a least path; -1 for the start and where no path is.

    It is the nearest one whose distance and edge together are the node's distance. With weights of
    zero that could be a circle, which is why they are left out.
    """
    values = arrays.weights_of(weight)
    values = np.ones(len(arrays.indices)) if values is None else values
    if len(values) and not values.min() > 0:
        raise NotImplementedError("paths over edges that weigh nothing")
    sources, targets = arrays.sources, arrays.indices
    with np.errstate(invalid="ignore"):
        is_tight = lengths[sources] + values == lengths[targets]
    sources, targets = sources[is_tight], targets[is_tight]
    order = np.argsort(lengths[sources], kind="stable")[::-1]
    parents = np.full(len(arrays), -1, dtype=np.int64)
    # Of several assignments to one position the last one, from the nearest node, stays.
    parents[targets[order]] = sources[order]
    parents[start] = -1
    return parents


def _paths(
    arrays: Arrays, start: int, weight: str | None, cutoff: float | None = None
) -> tuple[dict[Any, Any], dict[Any, list[Any]]]:
    distances_to = distances(arrays, [start], weight)
    parents = _parents(arrays, distances_to, start, weight).tolist()
    is_near = ~np.isnan(distances_to) if cutoff is None else distances_to <= cutoff
    numbers = np.flatnonzero(is_near)
    numbers = numbers[np.argsort(distances_to[numbers], kind="stable")]
    labels = arrays.labels
    paths: dict[int, list[Any]] = {}
    for number in numbers.tolist():
        before = [] if number == start else paths[parents[number]]
        paths[number] = [*before, labels[number]]
    lengths = arrays.by_label(_listed(arrays, distances_to[numbers], weight), numbers.tolist())
    return lengths, {labels[number]: path for number, path in paths.items()}


def _between(
    arrays: Arrays, source: int, target: int, weight: str | None
) -> tuple[Any, list[Any]] | None:
    """Return the weight of a lightest path and its nodes; None where there is none."""
    if source == target:
        return 0, [arrays.labels[source]]
    lengths = distances(arrays, [source], weight)
    if np.isnan(lengths[target]):
        return None
    parents = _parents(arrays, lengths, source, weight)
    path = [target]
    while path[-1] != source:
        path.append(int(parents[path[-1]]))
    length = _listed(arrays, lengths[target : target + 1], weight)[0]
    return length, [arrays.labels[number] for number in reversed(path)]


def _source(arrays: Arrays, label: Hashable) -> int:
    return arrays.number(label, "Node {} not found in graph")


def _target(arrays: Arrays, label: Hashable, source: Hashable) -> int:
    """Return the number of a target: a node that there is not has no path, as networkx has it."""
    try:
        return arrays.number(label)
    except nx.NodeNotFound:
        raise nx.NetworkXNoPath(f"Node {label} not reachable from {source}") from None


@dispatched(searches.is_fine_cutoff)
def single_source_dijkstra_path_length(
    G: Any, source: Hashable, cutoff: float | None = None, weight: str | None = "weight"
) -> dict[Any, Any]:
    """Return the least weight of a path to each reachable node, the nearest first."""
    arrays = arrays_of(G)
    return _lengths(arrays, [_source(arrays, source)], weight, cutoff)


@dispatched(searches.is_fine_cutoff)
def multi_source_dijkstra_path_length(
    G: Any, sources: Any, cutoff: float | None = None, weight: str | None = "weight"
) -> dict[Any, Any]:
    """Return the least weight of a path from the nearest source to each node."""
    arrays = arrays_of(G)
    if not sources:
        raise ValueError("sources must not be empty")
    numbers = [_source(arrays, label) for label in sources]
    return _lengths(arrays, numbers, weight, cutoff)


@dispatched(searches.is_fine_cutoff)
def single_source_dijkstra_path(
    G: Any, source: Hashable, cutoff: float | None = None, weight: str | None = "weight"
) -> dict[Any, list[Any]]:
    """Return a path of the least weight to each reachable node."""
    arrays = arrays_of(G)
    return _paths(arrays, _source(arrays, source), weight, cutoff)[1]


@dispatched(searches.is_fine_cutoff)
def single_source_dijkstra(
    G: Any,
    source: Hashable,
    target: Hashable | None = None,
    cutoff: float | None = None,
    weight: str | None = "weight",
) -> tuple[Any, Any]:
    """Return the least weights and paths to all nodes, or to one."""
    arrays = arrays_of(G)
    start = _source(arrays, source)
    if target is None:
        return _paths(arrays, start, weight, cutoff)
    result = _between(arrays, start, _target(arrays, target, source), weight)
    if result is None or (cutoff is not None and cutoff < result[0]):
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return result


@dispatched()
def dijkstra_path(
    G: Any, source: Hashable, target: Hashable, weight: str | None = "weight"
) -> list[Any]:
    """Return a path of the least weight between two nodes."""
    path: list[Any] = single_source_dijkstra(G, source, target, None, weight)[1]
    return path


@dispatched()
def dijkstra_path_length(
    G: Any, source: Hashable, target: Hashable, weight: str | None = "weight"
) -> Any:
    """Return the least weight of a path between two nodes."""
    arrays = arrays_of(G)
    start = _source(arrays, source)
    if source == target:
        return 0
    end = _target(arrays, target, source)
    lengths = distances(arrays, [start], weight)
    if np.isnan(lengths[end]):
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return _listed(arrays, lengths[end : end + 1], weight)[0]


def _has_an_end(arguments: dict[str, Any]) -> str | None:
    if arguments["method"] != "dijkstra":
        return "the method is to be dijkstra"
    if arguments["source"] is None and arguments["target"] is None:
        return "the paths of all pairs are not supported"
    return None


_END: Check = _has_an_end


def _endpoints(arrays: Arrays, source: Any, target: Any) -> tuple[int, int]:
    start = arrays.number(source, "Source {} is not in G")
    return start, arrays.number(target, "Target {} is not in G")


class _Searches(NamedTuple):
    """How one function answers by edges, from a source and to a target, and by weight."""

    from_source: Callable[[Any, Any], Any]
    to_target: Callable[[Any, Any], Any]
    from_source_by_weight: Callable[[Any, Any, str], Any]
    to_target_by_weight: Callable[[Arrays, int, str], Any]


def _from_or_to(G: Any, source: Any, target: Any, weight: str | None, by: _Searches) -> Any:
    """Return the results from a source to all nodes, or from all nodes to a target."""
    if target is None:
        if weight is None:
            return by.from_source(G, source)
        return by.from_source_by_weight(G, source, weight)
    if weight is None:
        return by.to_target(G, target)
    arrays = arrays_of(G)
    return by.to_target_by_weight(arrays.transposed, _source(arrays, target), weight)


def _paths_to(reverse: Arrays, target: int, weight: str) -> dict[Any, list[Any]]:
    paths = _paths(reverse, target, weight)[1]
    return {label: path[::-1] for label, path in paths.items()}


_PATHS = _Searches(
    searches.single_source_shortest_path,
    searches.single_target_shortest_path,
    lambda G, source, weight: single_source_dijkstra_path(G, source, None, weight),
    _paths_to,
)
_LENGTHS = _Searches(
    searches.single_source_shortest_path_length,
    searches.single_target_shortest_path_length,
    lambda G, source, weight: single_source_dijkstra_path_length(G, source, None, weight),
    lambda reverse, target, weight: _lengths(reverse, [target], weight),
)


@dispatched(_END)
def shortest_path(
    G: Any,
    source: Any = None,
    target: Any = None,
    weight: str | None = None,
    method: str = "dijkstra",
) -> Any:
    """Return a shortest path between two nodes, or those from one, or to one."""
    if source is None or target is None:
        return _from_or_to(G, source, target, weight, _PATHS)
    arrays = arrays_of(G)
    start, end = _endpoints(arrays, source, target)
    if weight is None:
        path = searches.path_between(arrays, start, end)
    else:
        result = _between(arrays, start, end, weight)
        path = None if result is None else result[1]
    if path is None:
        raise _no_path(source, target)
    return path


@dispatched(_END)
def shortest_path_length(
    G: Any,
    source: Any = None,
    target: Any = None,
    weight: str | None = None,
    method: str = "dijkstra",
) -> Any:
    """Return the length of a shortest path between two nodes, or of those from one, or to one."""
    if source is None or target is None:
        return _from_or_to(G, source, target, weight, _LENGTHS)
    if weight is not None:
        return dijkstra_path_length(G, source, target, weight)
    arrays = arrays_of(G)
    start, end = _endpoints(arrays, source, target)
    hops = int(searches.hops(arrays, start)[end])
    if hops < 0:
        raise _no_path(source, target)
    return hops


def _no_path(source: Any, target: Any) -> nx.NetworkXNoPath:
    return nx.NetworkXNoPath(f"No path between {source} and {target}.")


@dispatched()
def has_path(G: Any, source: Hashable, target: Hashable) -> bool:
    """Return whether there is a path between two nodes."""
    arrays = arrays_of(G)
    start, end = _endpoints(arrays, source, target)
    return bool(searches.hops(arrays, start)[end] >= 0)
