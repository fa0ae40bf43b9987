"""A graph of networkx as arrays: what all functions of the backend compute on.

Nodes are numbered in the order in which the graph has them. Rows have the neighbours in the order
in which networkx walks them, so that searches find what its own find. The engine's algorithms run
on a compact graph of the same numbers, which is made when one is first requested.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np

from .._native import graph_of_arrays
from ..arrays.compact import Compact

if TYPE_CHECKING:
    from .._native import Database

    Array = np.ndarray[Any, Any]


FEW = 256
"""The edges of a level of a search that are walked one by one sooner than by calls of numpy."""

EXACT = 2**53
"""The integer from which on floats, in which the engine adds, are no longer each its own."""


class Arrays:
    """The nodes, the edges and the weights of a graph."""

    def __init__(
        self,
        labels: Sequence[Hashable],
        rows: tuple[Array, Array],
        weights: dict[str, Array],
        *,
        directed: bool,
    ) -> None:
        """Store the labels of nodes, where rows begin and their targets, and the weights of these.

        Without a direction, rows have each edge in both directions, and a loop once.
        """
        self.labels = labels
        self.indptr, self.indices = rows
        self.weights = weights
        self.directed = directed
        self._compacts: dict[str | None, Compact] = {}

    @classmethod
    def of_compact(cls, compact: Compact, labels: Sequence[Hashable], weight: str) -> Arrays:
        """Return the arrays of a compact graph of a database."""
        weights = {} if compact.weights is None else {weight: compact.weights}
        rows = (compact.indptr, compact.indices)
        arrays = cls(labels, rows, weights, directed=not compact.is_undirected)
        arrays._compacts[weight if weights else None] = compact
        return arrays

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.labels)

    @cached_property
    def index(self) -> dict[Hashable, int]:
        """The number of each node by its label."""
        return {label: number for number, label in enumerate(self.labels)}

    @cached_property
    def sources(self) -> Array:
        """The numbers of the nodes that edges leave, next to the targets."""
        return np.repeat(np.arange(len(self)), np.diff(self.indptr))

    @cached_property
    def cells(self) -> tuple[Any, Any]:
        """Where rows begin, and their targets, as numbers of Python where one is read alone."""
        return self.indptr.data, self.indices.data

    def few(self, nodes: Any) -> list[int] | None:
        """Return nodes as a list where so few edges leave them that each is walked for itself."""
        if len(nodes) > FEW:
            return None
        listed: list[int] = nodes if isinstance(nodes, list) else nodes.tolist()
        begins = self.cells[0]
        edges = 0
        for node in listed:
            edges += begins[node + 1] - begins[node]
        return listed if edges <= FEW else None

    def leaving(self, nodes: Array) -> tuple[Array, Array]:
        """Return the positions of the edges that leave nodes, row by row, and how many each has."""
        begins = self.indptr[nodes]
        counts = self.indptr[nodes + 1] - begins
        positions = np.repeat(begins - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
        return positions + np.arange(len(positions)), counts

    @cached_property
    def loops(self) -> Array:
        """Whether each node has an edge to itself."""
        has_loop = np.zeros(len(self), dtype=bool)
        has_loop[self.indices[self.sources == self.indices]] = True
        return has_loop

    @cached_property
    def out_degrees(self) -> Array:
        """The number of edges that leave each node."""
        return np.diff(self.indptr)

    @cached_property
    def in_degrees(self) -> Array:
        """The number of edges that point to each node."""
        return np.bincount(self.indices, minlength=len(self))

    @cached_property
    def degrees(self) -> Array:
        """The degree of each node as networkx has it: a loop counts twice."""
        return self.out_degrees + (self.in_degrees if self.directed else self.loops)

    @property
    def edge_count(self) -> int:
        """The number of edges, each once."""
        if self.directed:
            return len(self.indices)
        return (len(self.indices) + int(self.loops.sum())) // 2

    @cached_property
    def transposed(self) -> Arrays:
        """The same graph with its edges reversed."""
        if not self.directed:
            return self
        order = np.argsort(self.indices, kind="stable")
        starts = np.zeros(len(self) + 1, dtype=self.indptr.dtype)
        np.cumsum(self.in_degrees, out=starts[1:])
        rows = (starts, self.sources[order].astype(self.indices.dtype))
        weights = {name: values[order] for name, values in self.weights.items()}
        return Arrays(self.labels, rows, weights, directed=True)

    def number(self, label: Hashable, said: str = "Node {} is not in G") -> int:
        """Return the number of a node, or raise NodeNotFound."""
        try:
            return self.index[label]
        except (KeyError, TypeError):
            raise nx.NodeNotFound(said.format(label)) from None

    def weights_of(self, weight: str | None) -> Array | None:
        """Return what edges weigh by an attribute; None where each weighs 1."""
        return None if weight is None else self.weights.get(weight)

    def are_integers(self, weight: str | None) -> bool:
        """Return whether all weights are integers by their type."""
        values = self.weights_of(weight)
        return values is None or values.dtype.kind in "iub"

    def check_weights(self, weight: str | None) -> None:
        """Raise NotImplementedError for weights that the engine's algorithms do not support."""
        values = self.weights_of(weight)
        if values is None or not len(values):
            return
        if not (np.isfinite(values).all() and values.min() >= 0):
            raise NotImplementedError(f"{weight!r} has weights that are no numbers from 0 on")

    def matrix(self, weight: str | None, kind: Any = None) -> Any:
        """Return the edges as a scipy.sparse.csr_array."""
        from scipy.sparse import csr_array

        values = self.weights_of(weight)
        if values is None:
            values = np.ones(len(self.indices), dtype=np.int64)
        size = (len(self), len(self))
        made = csr_array((values, self.indices, self.indptr), shape=size, dtype=kind)
        # What scipy sorts in place must be its own.
        return made if made.has_sorted_indices else made.sorted_indices()

    def compute(
        self, name: str, weight: str | None = None, nodes: Any = None, **arguments: Any
    ) -> Any:
        """Return what an algorithm of the engine gives, in the order of the nodes."""
        return self.compact(weight).compute(name, arguments, nodes)[0]

    def compact(self, weight: str | None = None) -> Compact:
        """Return the engine's graph of the edges, which weigh what an attribute says."""
        weight = weight if weight in self.weights else None
        if weight not in self._compacts:
            self.check_weights(weight)
            self._compacts[weight] = _made(self, weight)
        return self._compacts[weight]

    def any_compact(self) -> Compact:
        """Return the engine's graph for an algorithm that does not look at weights."""
        for compact in self._compacts.values():
            return compact
        return self.compact()

    def shape(self, name: str, nodes: Any = None, **arguments: Any) -> Any:
        """Return what an algorithm gives that does not look at weights."""
        return self.any_compact().compute(name, arguments, nodes)[0]

    def by_label(
        self, values: Iterable[Any], numbers: Iterable[int] | None = None
    ) -> dict[Any, Any]:
        """Return values by the labels of all nodes, or of those with the given numbers."""
        listed = values.tolist() if isinstance(values, np.ndarray) else values
        if numbers is None:
            return dict(zip(self.labels, listed, strict=True))
        return dict(zip((self.labels[number] for number in numbers), listed, strict=True))

    def named(self, numbers: Array | list[int]) -> list[Any]:
        """Return the labels of nodes."""
        listed = numbers if isinstance(numbers, list) else numbers.tolist()
        return [self.labels[number] for number in listed]


def _made(arrays: Arrays, weight: str | None) -> Compact:
    """Return the compact graph of arrays."""
    sources, targets, values = arrays.sources, arrays.indices, arrays.weights_of(weight)
    if not arrays.directed:
        is_first = sources <= targets
        sources, targets = sources[is_first], targets[is_first]
        values = None if values is None else values[is_first]
    native = graph_of_arrays(
        _threads(),
        np.arange(len(arrays), dtype="uint64").tobytes(),
        sources.astype("uint32").tobytes(),
        targets.astype("uint32").tobytes(),
        None if values is None else values.astype("float64").tobytes(),
        directed=arrays.directed,
    )
    return Compact(_threads(), native)


@cache
def _threads() -> Database:
    """Return the empty database whose threads and memory algorithms on converted graphs have."""
    from .. import connect

    return connect()
