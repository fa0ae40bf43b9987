"""A compact graph: nodes numbered in the order of their uids, and rows of targets, as arrays."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from .._native import compact_graph
from ..algo.text import Text, about_weight, without_predicate
from ..frames import missing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy

    from .._native import CompactGraph, Database
    from ..algo.text import Nodes


class Compact:
    """The edges of some predicates at the time of the call.

    The arrays are zero-copy and read-only. Later commits do not change them.
    """

    def __init__(self, db: Database, native: CompactGraph) -> None:
        """Wrap a graph of the engine; algorithms use the threads and memory of `db`."""
        self.db = db
        self.native = native

    @classmethod
    def of(  # noqa: PLR0913 - options by keyword
        cls,
        db: Database,
        on: tuple[str, ...],
        example: str,
        *,
        weight: str | None = None,
        nodes: Nodes | None = None,
        direction: str | None = None,
        timeout: float | None = None,
    ) -> Compact:
        """Return the graph of the edges of predicates; the arguments are those of algorithms.

        `example` is the call of the user, for a message if the predicates are missing.
        """
        if not on:
            raise TypeError(without_predicate(example.partition("(")[0], example))
        # Of all algorithms with weights and every direction this one does the least.
        text = Text("degree", on, weight)
        text.nodes("nodes", nodes)
        text.argument("direction", direction)
        with about_weight(text):
            return cls(db, compact_graph(db, text.dql(), timeout))

    @property
    def is_undirected(self) -> bool:
        """Whether edges are undirected: rows have each edge in both directions, a loop once."""
        return self.native.is_undirected

    @cached_property
    def uids(self) -> numpy.ndarray[Any, Any]:
        """The uids of the nodes, ascending; the number of a node is its index."""
        return _array(self.native.uids(), "uint64")

    @cached_property
    def indptr(self) -> numpy.ndarray[Any, Any]:
        """The offset of the row of each node, and the end of the last one."""
        return _array(*self.native.starts())

    @cached_property
    def indices(self) -> numpy.ndarray[Any, Any]:
        """The numbers of the targets, row by row, ascending in each."""
        wide = self.indptr.dtype == "int64"
        targets = _array(self.native.targets(), "int32")
        return targets.astype("int64") if wide else targets

    @cached_property
    def weights(self) -> numpy.ndarray[Any, Any] | None:
        """The weights of the edges, parallel to the targets; None if each is 1."""
        weights = self.native.weights()
        return None if weights is None else _array(weights, "float64")

    @cached_property
    def sources(self) -> numpy.ndarray[Any, Any]:
        """The numbers of the source nodes, parallel to the targets."""
        import numpy

        numbers = numpy.arange(len(self), dtype=self.indices.dtype)
        sources: numpy.ndarray[Any, Any] = numpy.repeat(numbers, numpy.diff(self.indptr))
        return sources

    def compute(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        nodes: Mapping[str, Sequence[int]] | None = None,
        seed: int = 0,
    ) -> tuple[Any, int, float | None]:
        """Run an algorithm: return its numbers, the rounds, and the change in the last one.

        `arguments` are its arguments except nodes; `nodes` has these as numbers. The numbers are an
        array in the order of the nodes (NaN, or the least int64, for a node without one), a float,
        an array of nodes, or three arrays for pairs.
        """
        texts = [
            (key, str(value).lower() if isinstance(value, bool) else str(value))
            for key, value in (arguments or {}).items()
        ]
        lists = [(key, [int(number) for number in given]) for key, given in (nodes or {}).items()]
        kind, parts, how = self.native.compute(self.db, name, texts, lists, seed=seed)
        kinds = {"floats": "float64", "ints": "int64", "float": "float64", "nodes": "uint32"}
        if kind == "pairs":
            result: Any = tuple(
                _array(part, of)
                for part, of in zip(parts, ("uint32", "uint32", "float64"), strict=True)
            )
        else:
            result = _array(parts[0], kinds[kind])
        return (float(result[0]) if kind == "float" else result), how[0], how[1]

    def matrix(self) -> Any:
        """Return the edges as a scipy.sparse.csr_array of floats."""
        try:
            from scipy.sparse import csr_array
        except ImportError as error:
            raise missing("scipy") from error
        import numpy

        weights = numpy.ones(len(self.indices)) if self.weights is None else self.weights
        shape = (len(self), len(self))
        matrix = csr_array((weights, self.indices, self.indptr), shape=shape, copy=False)
        # It is given, and need not be computed; nothing has to be sorted in place.
        matrix.has_sorted_indices = True
        matrix.has_canonical_format = True
        return matrix

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.native)


def _array(buffer: Any, kind: str) -> numpy.ndarray[Any, Any]:
    try:
        import numpy
    except ImportError as error:
        raise missing("numpy") from error
    array: numpy.ndarray[Any, Any] = numpy.frombuffer(buffer, dtype=kind)
    return array
