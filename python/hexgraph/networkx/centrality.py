"""Centralities: by degree, by distance, by shortest paths, and by walks."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from networkx.utils import py_random_state

from .arrays import Arrays
from .convert import arrays_of
from .registry import dispatched, is_default
from .searches import levels

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]

UNIT_RANGE = (0, 1)
"""The values of damping and tolerance for which the engine counts ranks."""


def _of_degrees(arrays: Arrays, degrees: Array) -> dict[Any, Any]:
    if len(arrays) <= 1:
        return dict.fromkeys(arrays.labels, 1)
    return arrays.by_label(degrees * (1.0 / (len(arrays) - 1)))


@dispatched()
def degree_centrality(G: Any) -> dict[Any, float]:
    """Return the degree of each node by the number of other nodes."""
    arrays = arrays_of(G)
    return _of_degrees(arrays, arrays.degrees)


@dispatched()
def in_degree_centrality(G: Any) -> dict[Any, float]:
    """Return the number of edges that point to each node by that of other nodes."""
    arrays = arrays_of(G)
    return _of_degrees(arrays, arrays.in_degrees)


@dispatched()
def out_degree_centrality(G: Any) -> dict[Any, float]:
    """Return the number of edges that leave each node by that of other nodes."""
    arrays = arrays_of(G)
    return _of_degrees(arrays, arrays.out_degrees)


@dispatched(is_default(distance=None))
def closeness_centrality(
    G: Any,
    u: Hashable | None = None,
    distance: None = None,
    wf_improved: bool = True,
) -> Any:
    """Return one by the average distance from the nodes with a path to a node."""
    arrays = arrays_of(G)
    if u is not None and u not in arrays.index:
        raise nx.NodeNotFound(f"Node {u} is not in G")
    nodes = None if u is None else {"source": [arrays.index[u]]}
    scores = np.nan_to_num(arrays.shape("closeness", nodes, normalized=True))
    if not wf_improved and len(arrays) > 1:
        # The engine's numbers are (r²/s)/(n-1) and 1/s, where r nodes have paths to a node, with s
        # edges together.
        raw = np.nan_to_num(arrays.shape("closeness", nodes))
        squares = np.divide(
            scores * (len(arrays) - 1), raw, out=np.zeros(len(arrays)), where=raw > 0
        )
        scores = np.rint(np.sqrt(squares)) * raw
    return arrays.by_label(scores) if u is None else float(scores[arrays.index[u]])


@dispatched(is_default(distance=None, sources=None))
def harmonic_centrality(
    G: Any,
    nbunch: Any = None,
    distance: None = None,
    sources: None = None,
) -> dict[Any, float]:
    """Return the sum of one by the distance over the nodes with a path to a node."""
    arrays = arrays_of(G)
    if nbunch is None:
        return arrays.by_label(arrays.shape("harmonic"))
    numbers = [arrays.index[label] for label in dict.fromkeys(G.nbunch_iter(nbunch))]
    if not numbers:
        return {}
    scores = arrays.shape("harmonic", {"source": numbers})
    return arrays.by_label(scores[numbers], numbers)


def _add_passes(arrays: Arrays, start: int, edges: Array) -> None:
    """Add which fraction of the shortest paths from a node passes each edge.

    U. Brandes: A Faster Algorithm for Betweenness Centrality, 2001; level by level over all edges
    between a level and the next, forward for the numbers of paths, and back for the dependencies.
    """
    count = len(arrays)
    depth = np.full(count, -1, dtype=np.int64)
    paths = np.zeros(count)
    depth[start], paths[start] = 0, 1.0
    frontiers: list[Any] = [np.array([start])]
    frontiers += [nodes for nodes, _ in levels(arrays, frontiers[0])]
    for level, nodes in enumerate(frontiers[1:], 1):
        depth[nodes] = level
    steps: list[tuple[Any, Any, Any]] = []
    for nodes in frontiers[:-1]:
        few = arrays.few(nodes)
        if few is None:
            steps.append(_down_of_many(arrays, np.asarray(nodes), depth, paths))
        else:
            steps.append(_down_of_few(arrays, few, depth.data, paths.data))
    passed = np.zeros(count)
    cells = paths.data, passed.data, edges.data
    for sources, targets, positions in reversed(steps):
        if isinstance(sources, list):
            _up_of_few((sources, targets, positions), *cells)
            continue
        dependencies = paths[sources] / paths[targets] * (1 + passed[targets])
        np.add.at(passed, sources, dependencies)
        edges[positions] += dependencies


def _down_of_many(arrays: Arrays, nodes: Array, depth: Array, paths: Array) -> tuple[Any, Any, Any]:
    """Return the edges to the next level by sources, targets and positions, and count the paths."""
    positions, counts = arrays.leaving(nodes)
    sources = np.repeat(nodes, counts)
    is_down = depth[arrays.indices[positions]] == depth[nodes[0]] + 1
    positions, sources = positions[is_down], sources[is_down]
    targets = arrays.indices[positions]
    np.add.at(paths, targets, paths[sources])
    return sources, targets, positions


def _down_of_few(arrays: Arrays, nodes: list[int], depth: Any, paths: Any) -> tuple[Any, Any, Any]:
    """Return the same as lists."""
    begins, indices = arrays.cells
    sources, targets, positions = [], [], []
    below = depth[nodes[0]] + 1
    for node in nodes:
        begin = begins[node]
        for position, target in enumerate(indices[begin : begins[node + 1]].tolist(), begin):
            if depth[target] == below:
                paths[target] += paths[node]
                sources.append(node)
                targets.append(target)
                positions.append(position)
    return sources, targets, positions


def _up_of_few(
    step: tuple[list[int], list[int], list[int]],
    paths: Any,
    passed: Any,
    edges: Any,
) -> None:
    """Add the dependencies of the edges to a level to these edges, and to the nodes above."""
    for source, target, position in zip(*step, strict=True):
        dependency = paths[source] / paths[target] * (1 + passed[target])
        passed[source] += dependency
        edges[position] += dependency


def _between_sources(arrays: Arrays, numbers: Sequence[int], normalized: bool) -> Array:
    """Return the betweenness by the paths from some nodes, scaled up to all.

    A sampled node says nothing about paths that begin at itself, so it was passed by those
    from one node less.
    """
    scores = arrays.shape("betweenness", {"source": numbers})
    if not arrays.directed:
        # The engine counts a pair of endpoints once.
        scores = scores * 2
    others = len(arrays) - 1
    if others < 2:  # noqa: PLR2004 - two other nodes make a pair
        return scores
    factor = 1 / (others - 1) if normalized else others / (1 if arrays.directed else 2)
    sampled = len(numbers)
    scale = np.full(len(arrays), factor / sampled)
    scale[numbers] = factor / (sampled - 1) if sampled > 1 else np.nan
    scaled: Array = scores * scale
    return scaled


def _is_plain_betweenness(arguments: dict[str, Any]) -> str | None:
    k = arguments["k"]
    if arguments.get("endpoints"):
        return "endpoints is not supported"
    if arguments["weight"] is not None:
        return "weight is not supported"
    is_fine = k is None or (isinstance(k, int) and 0 < k <= len(arguments["G"]))
    return None if is_fine else "k is to be a number of nodes"


def _sampled(count: int, k: int | None, seed: Any) -> Sequence[int]:
    """Return the nodes that paths begin at: all, or `k` of them as networkx samples them."""
    if k is None or count <= k:
        return range(count)
    nodes: list[int] = seed.sample(list(range(count)), k)
    return nodes


@dispatched(_is_plain_betweenness)
@py_random_state("seed")
def betweenness_centrality(
    G: Any,
    k: int | None = None,
    normalized: bool = True,
    weight: None = None,
    endpoints: bool = False,
    seed: Any = None,
) -> dict[Any, float]:
    """Return on which fraction of the shortest paths of others each node lies."""
    arrays = arrays_of(G)
    count = len(arrays)
    sampled = _sampled(count, k, seed)
    if len(sampled) < count:
        return arrays.by_label(_between_sources(arrays, sampled, normalized))
    if count < 3:  # noqa: PLR2004 - no node lies between two others
        return dict.fromkeys(arrays.labels, 0.0)
    scores = arrays.shape("betweenness")
    if normalized:
        scores = scores * ((1 if arrays.directed else 2) / ((count - 1) * (count - 2)))
    return arrays.by_label(scores)


@dispatched(_is_plain_betweenness)
@py_random_state("seed")
def edge_betweenness_centrality(
    G: Any,
    k: int | None = None,
    normalized: bool = True,
    weight: None = None,
    seed: Any = None,
) -> dict[tuple[Any, Any], float]:
    """Return on which fraction of the shortest paths each edge lies."""
    arrays = arrays_of(G)
    count = len(arrays)
    sampled = _sampled(count, k, seed)
    passed = np.zeros(len(arrays.indices))
    for number in sampled:
        _add_passes(arrays, number, passed)
    # Without a direction an edge is in two rows: its two numbers belong together.
    keys = list(zip(arrays.sources.tolist(), arrays.indices.tolist(), strict=True))
    sums: dict[tuple[int, int], float] = {}
    for (source, target), value in zip(keys, passed.tolist(), strict=True):
        if not arrays.directed and (target, source) in sums and source != target:
            sums[target, source] += value
        else:
            sums[source, target] = value
    scale = 1.0
    if count > 1:
        chosen = len(sampled)
        pairs = 1 / (count - 1) if normalized else count / (1 if arrays.directed else 2)
        scale = pairs / chosen
    labels = arrays.labels
    return {(labels[a], labels[b]): value * scale for (a, b), value in sums.items()}


def _vector(arrays: Arrays, given: dict[Any, float]) -> Array:
    return np.array([given.get(label, 0) for label in arrays.labels], dtype=float)


@dispatched()
def pagerank(
    G: Any,
    alpha: float = 0.85,
    personalization: dict[Any, float] | None = None,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: dict[Any, float] | None = None,
    weight: str | None = "weight",
    dangling: dict[Any, float] | None = None,
) -> dict[Any, float]:
    """Return how often a walk that follows edges at random is at each node."""
    arrays = arrays_of(G)
    if not len(arrays):
        return {}
    if max_iter < 1:
        raise nx.PowerIterationFailedConvergence(max_iter)
    low, high = UNIT_RANGE
    is_plain = personalization is None and nstart is None and dangling is None
    if is_plain and low <= alpha <= high and low <= tol <= high:
        compact = arrays.compact(weight)
        # The tolerance of networkx is one for each node, that of the engine for all together.
        most = len(arrays) * float(tol)
        arguments = {"damping": float(alpha), "iterations": max_iter, "tolerance": most}
        ranks, _, residual = compact.compute("pagerank", arguments)
        if residual is None or not residual < most:
            raise nx.PowerIterationFailedConvergence(max_iter)
        return arrays.by_label(ranks)
    return _walked(arrays, (alpha, max_iter, tol), weight, (personalization, nstart, dangling))


def _walked(
    arrays: Arrays,
    limits: tuple[float, int, float],
    weight: str | None,
    vectors: tuple[dict[Any, float] | None, ...],
) -> dict[Any, float]:
    """Return the ranks of walks that start, restart, or leave dangling nodes by given weights."""
    alpha, max_iter, tol = limits
    count = len(arrays)
    starts, first, dangling = (
        None if vector is None else _vector(arrays, vector) for vector in vectors
    )
    if starts is not None and starts.sum() == 0:
        raise ZeroDivisionError
    anew = np.full(count, 1.0 / count) if starts is None else starts / starts.sum()
    ranks = np.full(count, 1.0 / count) if first is None else first / first.sum()
    after = anew if dangling is None else dangling / dangling.sum()
    # Rows are walked against their direction, so that a round is one product.
    transposed = arrays.matrix(weight, float).T.tocsr()
    totals = np.asarray(transposed.sum(axis=0)).ravel()
    is_dead_end = totals == 0
    weights = np.divide(1.0, totals, out=np.zeros(count), where=~is_dead_end)
    for _ in range(max_iter):
        before = ranks
        followed = transposed @ (before * weights) + before[is_dead_end].sum() * after
        ranks = alpha * followed + (1 - alpha) * anew
        if np.abs(ranks - before).sum() < count * tol:
            return arrays.by_label(ranks)
    raise nx.PowerIterationFailedConvergence(max_iter)


@dispatched()
def hits(
    G: Any,
    max_iter: int = 100,
    tol: float = 1.0e-8,
    nstart: dict[Any, float] | None = None,
    normalized: bool = True,
) -> tuple[dict[Any, float], dict[Any, float]]:
    """Return how good nodes are as hubs, and as authorities."""
    from scipy.sparse.linalg import ArpackNoConvergence, svds

    arrays = arrays_of(G)
    if not len(arrays):
        return {}, {}
    if max_iter <= 0:
        raise nx.PowerIterationFailedConvergence(max_iter)
    matrix = arrays.matrix("weight", float)
    first = None if nstart is None else np.array(list(nstart.values()), dtype=float)
    try:
        _, _, vectors = svds(matrix, k=1, v0=first, maxiter=max_iter, tol=tol)
    except ArpackNoConvergence as error:
        raise nx.PowerIterationFailedConvergence(max_iter) from error
    authorities = vectors.ravel().real
    hubs = matrix @ authorities
    if normalized:
        hubs, authorities = hubs / hubs.sum(), authorities / authorities.sum()
    return arrays.by_label(hubs), arrays.by_label(authorities)


@dispatched()
def eigenvector_centrality(
    G: Any,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: dict[Any, float] | None = None,
    weight: str | None = None,
) -> dict[Any, float]:
    """Return the leading left eigenvector of the edges, by repeated products."""
    arrays = arrays_of(G)
    count = len(arrays)
    if not count:
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    values = np.ones(count)
    if nstart is not None:
        values = _vector(arrays, nstart)
        if not values.any():
            raise nx.NetworkXError("initial vector cannot have all zero values")
    values /= values.sum()
    transposed = arrays.matrix(weight, float).T.tocsr()
    for _ in range(max_iter):
        before = values
        values = before + transposed @ before
        values /= np.linalg.norm(values) or 1
        if np.abs(values - before).sum() < count * tol:
            return arrays.by_label(values)
    raise nx.PowerIterationFailedConvergence(max_iter)


@dispatched()
def eigenvector_centrality_numpy(
    G: Any, weight: str | None = None, max_iter: int = 50, tol: float = 0
) -> dict[Any, float]:
    """Return the leading left eigenvector of the edges, by ARPACK."""
    from scipy.sparse.linalg import eigs

    arrays = arrays_of(G)
    if not len(arrays):
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    part = arrays.shape("strong_components" if arrays.directed else "components")
    if part.max() > 0:
        raise nx.AmbiguousSolution(
            "`eigenvector_centrality_numpy` does not give consistent results"
            " for disconnected graphs"
        )
    matrix = arrays.matrix(weight, float)
    _, vectors = eigs(matrix.T, k=1, which="LR", maxiter=max_iter, tol=tol)
    largest = vectors.ravel().real
    return arrays.by_label(largest / (np.sign(largest.sum()) * np.linalg.norm(largest)))


def _beta(arrays: Arrays, beta: Any) -> Array:
    if hasattr(beta, "keys"):
        if set(beta) != set(arrays.labels):
            raise nx.NetworkXError("beta dictionary must have a value for every node")
        return np.array([beta[label] for label in arrays.labels], dtype=float)
    try:
        return np.full(len(arrays), float(beta))
    except (TypeError, ValueError) as error:
        raise nx.NetworkXError("beta must be a number") from error


@dispatched()
def katz_centrality(
    G: Any,
    alpha: float = 0.1,
    beta: Any = 1.0,
    max_iter: int = 1000,
    tol: float = 1.0e-6,
    nstart: dict[Any, float] | None = None,
    normalized: bool = True,
    weight: str | None = None,
) -> dict[Any, float]:
    """Return the number of walks to each node, long ones counting less."""
    arrays = arrays_of(G)
    if not len(arrays):
        return {}
    values = np.zeros(len(arrays)) if nstart is None else _vector(arrays, nstart)
    bias = _beta(arrays, beta)
    transposed = arrays.matrix(weight, float).T.tocsr()
    for _ in range(max_iter):
        before = values
        with np.errstate(over="ignore", invalid="ignore"):
            values = alpha * (transposed @ before) + bias
            change = np.abs(values - before).sum()
        if change < len(arrays) * tol:
            return arrays.by_label(values / (np.linalg.norm(values) or 1) if normalized else values)
    raise nx.PowerIterationFailedConvergence(max_iter)


@dispatched()
def katz_centrality_numpy(
    G: Any,
    alpha: float = 0.1,
    beta: Any = 1.0,
    normalized: bool = True,
    weight: str | None = None,
) -> dict[Any, float]:
    """Return the number of walks to each node, by solving for it."""
    from scipy.sparse import csc_array, eye_array
    from scipy.sparse.linalg import spsolve

    arrays = arrays_of(G)
    if not len(arrays):
        return {}
    bias = _beta(arrays, beta)
    left = eye_array(len(arrays)) - alpha * arrays.matrix(weight, float).T
    values = np.atleast_1d(spsolve(csc_array(left), bias))
    norm = np.sign(values.sum()) * np.linalg.norm(values) if normalized else 1
    return arrays.by_label(values / norm)
