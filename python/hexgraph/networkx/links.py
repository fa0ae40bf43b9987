"""Link prediction: how likely two nodes are to be joined, by their common neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import Arrays
from .convert import arrays_of
from .registry import dispatched, undirected

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]

    Pairs = Iterable[tuple[Any, Any]]

CHUNK = 1 << 14
"""The pairs that are compared at once."""


def _all_pairs(arrays: Arrays) -> Iterator[tuple[Any, Any]]:
    """Yield the pairs of nodes that no edge joins."""
    labels = arrays.labels
    for number in range(len(arrays)):
        row = arrays.indices[arrays.indptr[number] : arrays.indptr[number + 1]]
        is_free = np.ones(len(arrays), dtype=bool)
        is_free[: number + 1] = False
        is_free[row] = False
        for other in np.flatnonzero(is_free).tolist():
            yield labels[number], labels[other]


def _scored(G: Any, ebunch: Pairs | None, score: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Yield each pair with what `score` gives for two arrays of nodes."""
    arrays = arrays_of(G)
    if ebunch is not None:
        ebunch = list(ebunch)
        for pair in ebunch:
            for label in pair:
                arrays.number(label, "Node {} not in G.")
    pairs = iter(_all_pairs(arrays) if ebunch is None else ebunch)

    def each() -> Iterator[tuple[Any, Any, Any]]:
        while chunk := list(islice(pairs, CHUNK)):
            endpoints = np.array([[arrays.index[u], arrays.index[v]] for u, v in chunk], dtype=int)
            values = score(arrays, endpoints[:, 0], endpoints[:, 1]).tolist()
            for (u, v), value in zip(chunk, values, strict=True):
                yield u, v, value

    return each()


def _shared(arrays: Arrays, one: Array, other: Array, worth: Array) -> Array:
    """Return what the common neighbours of two nodes are worth, the two themselves left out."""
    matrix = arrays.matrix(None, float)
    both = matrix[one].multiply(matrix[other]).tocsr()
    # A node with a loop is a neighbour of its own.
    pairs = np.repeat(np.arange(len(one)), np.diff(both.indptr))
    is_end = (both.indices == one[pairs]) | (both.indices == other[pairs])
    pairs, nodes = pairs[~is_end], both.indices[~is_end]
    if not np.isfinite(worth[nodes]).all():
        # A node that is compared with itself, say.
        raise ZeroDivisionError("float division by zero")
    scores: Array = np.bincount(pairs, weights=worth[nodes], minlength=len(one))
    return scores


def _by_degree(arrays: Arrays, worth: Any) -> Array:
    with np.errstate(divide="ignore"):
        scores: Array = 1 / worth(arrays.degrees.astype(float))
    return scores


@dispatched(undirected())
def jaccard_coefficient(G: Any, ebunch: Pairs | None = None) -> Iterator[tuple[Any, Any, float]]:
    """Yield pairs with the ratio of common neighbours to all neighbours."""

    def score(arrays: Arrays, one: Array, other: Array) -> Array:
        matrix = arrays.matrix(None, float)
        in_both = np.asarray(matrix[one].multiply(matrix[other]).sum(axis=1)).ravel()
        either = arrays.out_degrees[one] + arrays.out_degrees[other] - in_both
        shared = _shared(arrays, one, other, np.ones(len(arrays)))
        return np.divide(shared, either, out=np.zeros(len(one)), where=either > 0)

    return _scored(G, ebunch, score)


@dispatched(undirected())
def resource_allocation_index(
    G: Any, ebunch: Pairs | None = None
) -> Iterator[tuple[Any, Any, float]]:
    """Yield pairs with the sum of one by the degree of each shared neighbour."""

    def score(arrays: Arrays, one: Array, other: Array) -> Array:
        return _shared(arrays, one, other, _by_degree(arrays, lambda degrees: degrees))

    return _scored(G, ebunch, score)


@dispatched(undirected())
def adamic_adar_index(G: Any, ebunch: Pairs | None = None) -> Iterator[tuple[Any, Any, float]]:
    """Yield pairs with the sum of one by the logarithm of the degree of each shared neighbour."""

    def score(arrays: Arrays, one: Array, other: Array) -> Array:
        return _shared(arrays, one, other, _by_degree(arrays, np.log))

    return _scored(G, ebunch, score)


@dispatched(undirected())
def preferential_attachment(G: Any, ebunch: Pairs | None = None) -> Iterator[tuple[Any, Any, int]]:
    """Yield pairs with the product of the degrees."""

    def score(arrays: Arrays, one: Array, other: Array) -> Array:
        degrees = arrays.degrees.astype(np.int64)
        scores: Array = degrees[one] * degrees[other]
        return scores

    return _scored(G, ebunch, score)
