"""A graph of arrays: algorithms without a database."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from .._native import algorithms, graph_of_arrays, numbers_table
from ..errors import QueryError
from ..frames import missing
from .calls import Algorithms, Common, prepare
from .grouped import group_by_uid, numbered, split
from .result import AlgorithmResult
from .text import Argument, Text

if TYPE_CHECKING:
    import numpy

    from .._native import CompactGraph, Database

    Array = numpy.ndarray[Any, Any]


BEYOND = 1 << 63
"""The nodes of a graph of arrays are below this number."""


EXACT = 1 << 53
"""The greatest int up to which floats have each int."""


class Graph:
    r"""Edges that are given as arrays, for the algorithms of `db.algo` without a database.

    `sources` and `targets` are the nodes of each edge, as integers from 0 on, in arrays of
    numpy, Arrow, polars or pandas, or lists; `weights` are what edges weigh, numbers from 0 on.
    `nodes` names nodes that have no edges. Parallel edges are one, which weighs what they weigh
    together; with `directed=False` those in both directions are.

    >>> import hexgraph
    >>> graph = hexgraph.Graph([1, 2, 3, 3], [2, 3, 1, 7], directed=False)
    >>> graph
    <hexgraph.Graph: 4 nodes, 4 edges, undirected>
    >>> graph.algo.triangles().to_dict()
    {1: 1, 2: 1, 3: 1, 7: 0}
    >>> graph.algo.bfs(source=1).to_numpy().tolist()
    [0, 1, 1, 2]

    The methods of `algo` have the arguments of those of `db.algo`, except predicates and `weight`:
    the edges are those of the graph. Results have a column `node` where others have `uid`. Later
    changes of the arrays do not change the graph.

    Raises QueryError for arrays that make no edges, for weights below 0, and for ints above 2^53,
    which floats round.
    """

    def __init__(
        self,
        sources: Any,
        targets: Any,
        weights: Any = None,
        *,
        nodes: Any = None,
        directed: bool = True,
    ) -> None:
        """Store the edges."""
        numpy = _numpy()
        endpoints = [_integers(sources, "sources"), _integers(targets, "targets")]
        given = [] if nodes is None else [_integers(nodes, "nodes")]
        self.nodes: Array = numpy.unique(numpy.concatenate([*endpoints, *given]))
        """The nodes, ascending."""
        self._endpoints = [
            numpy.searchsorted(self.nodes, end).astype("uint32") for end in endpoints
        ]
        self._weights = None if weights is None else _floats(weights)
        _check(endpoints[0], endpoints[1], self._weights)
        self.is_directed = directed
        """Whether edges have a direction."""
        self._made: dict[str, CompactGraph] = {}

    @property
    def algo(self) -> Algorithms:
        """The algorithms, as methods.

        >>> import hexgraph
        >>> hexgraph.Graph([1, 2], [2, 3]).algo.bfs(source=1).to_dict()
        {1: 0, 2: 1, 3: 2}
        """
        return _OnGraph(self)

    def compact(self, direction: Literal["out", "in", "both"] = "out") -> CompactGraph:
        """Return the engine's graph; what is made of it is cached."""
        direction = direction if self.is_directed else "both"
        if direction not in self._made:
            sources, targets = self._endpoints[::-1] if direction == "in" else self._endpoints
            self._made[direction] = graph_of_arrays(
                _threads(),
                self.nodes.astype("uint64").tobytes(),
                sources.tobytes(),
                targets.tobytes(),
                None if self._weights is None else self._weights.tobytes(),
                directed=direction != "both",
            )
        return self._made[direction]

    def subgraph(self, nodes: Any) -> Graph:
        """Return the graph of some nodes and the edges between them.

        >>> import hexgraph
        >>> hexgraph.Graph([1, 2, 3], [2, 3, 1]).subgraph([1, 2])
        <hexgraph.Graph: 2 nodes, 1 edges, directed>
        """
        numpy = _numpy()
        inner = numpy.unique(_integers(nodes, "nodes"))
        sources, targets = (self.nodes[end] for end in self._endpoints)
        inside = numpy.isin(sources, inner) & numpy.isin(targets, inner)
        weights = None if self._weights is None else self._weights[inside]
        endpoints = sources[inside], targets[inside]
        return Graph(*endpoints, weights, nodes=inner, directed=self.is_directed)

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.nodes)

    def __repr__(self) -> str:
        """Return a text with its sizes."""
        kind = "directed" if self.is_directed else "undirected"
        return f"<hexgraph.Graph: {len(self)} nodes, {len(self._endpoints[0])} edges, {kind}>"


class _OnGraph(Algorithms):
    """The algorithms on a graph of arrays."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def _run(self, text: Text, common: Common, **arguments: Argument) -> AlgorithmResult:
        if text.on or text.weight is not None:
            name = "weight" if text.weight is not None else repr(text.on[0])
            raise TypeError(f"{text.name}({name}): a graph of arrays has its own edges and weights")
        prepare(text, common, arguments)
        graph, values, timeout = self._graph, dict(text.values), common.get("timeout")
        within = text.lists.pop("nodes", None)
        if within is not None:
            graph = graph.subgraph(_listed("nodes", within))
        directions = _directions()[text.name]
        direction = values.pop("direction", None)
        # As without a database: the default is the first of those that the algorithm knows.
        if direction is not None and direction not in directions:
            accepted = ", ".join(directions)
            raise ValueError(
                f"{text.name} can't follow edges with {direction!r}; it knows {accepted}"
            )
        lists = [(name, _numbers(graph, name, nodes)) for name, nodes in text.lists.items()]
        for name, groups in text.groups.items():
            lists.append((name, numbered(graph.nodes.tolist(), group_by_uid(groups))))
        texts, threads, seed = split(values)
        chosen: Any = directions[0] if direction is None else direction
        kind, parts, how = graph.compact(chosen).compute(
            _threads(), text.name, texts, lists, threads=threads, seed=seed, timeout=timeout
        )
        return AlgorithmResult(None, text.name, _table(text.name, graph, kind, parts), how)


def _table(name: str, graph: Graph, kind: str, parts: list[Any]) -> Any:
    """Return what an algorithm gave as a table."""
    numpy = _numpy()
    arrays = [memoryview(part) for part in parts]

    def of_node(part: memoryview) -> bytes:
        named: Array = graph.nodes[numpy.frombuffer(part, "uint32")]
        return named.astype("int64").tobytes()

    everyone = ("node", "int64", graph.nodes.astype("int64").tobytes())
    if kind in ("floats", "ints"):
        columns = [everyone, (name, kind, bytes(arrays[0]))]
    elif kind == "float":
        columns = [(name, "float64", bytes(arrays[0]))]
    elif kind == "nodes":
        columns = [("node", "int64", of_node(arrays[0]))]
    elif kind == "some":
        columns = [
            ("node", "int64", of_node(arrays[0])),
            (name, "float64", bytes(arrays[1])),
        ]
    elif kind == "pairs":
        columns = [
            ("node", "int64", of_node(arrays[0])),
            ("to", "int64", of_node(arrays[1])),
            (name, "float64", bytes(arrays[2])),
        ]
    elif kind == "paths":
        bounds = numpy.frombuffer(arrays[0], "int64")
        paths = numpy.repeat(numpy.arange(len(bounds)), numpy.diff(bounds, prepend=0))
        columns = [
            ("path", "int64", paths.astype("int64").tobytes()),
            ("node", "int64", of_node(arrays[1])),
            (name, "float64", bytes(arrays[2])),
        ]
    else:
        [length] = numpy.frombuffer(arrays[0], "int64").tolist()
        columns = [everyone, (name, f"float32x{length}", bytes(arrays[1]))]
    return numbers_table(columns)


def _numbers(graph: Graph, name: str, nodes: str | list[int]) -> list[int]:
    """Return the numbers of nodes; those that are not in the graph are left out."""
    numpy = _numpy()
    requested = numpy.asarray(
        [node for node in _listed(name, nodes) if node < BEYOND], dtype="int64"
    )
    positions = numpy.searchsorted(graph.nodes, requested)
    is_there = positions < len(graph.nodes)
    is_there[is_there] = graph.nodes[positions[is_there]] == requested[is_there]
    numbers: list[int] = positions[is_there].tolist()
    return numbers


def _listed(name: str, nodes: str | list[int]) -> list[int]:
    if isinstance(nodes, str):
        raise ValueError(
            f"{name}={nodes!r} is a root of DQL, and nodes of a graph of arrays are numbers"
        )
    return nodes


def _check(sources: Array, targets: Array, weights: Array | None) -> None:
    """Raise QueryError for arrays that make no edges."""
    numpy = _numpy()
    counts = {"sources": len(sources), "targets": len(targets)}
    if weights is not None:
        counts["weights"] = len(weights)
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{count} {name}" for name, count in counts.items())
        listed = " and ".join(listed.rsplit(", ", 1))
        raise QueryError(f"{listed} make no edges", hint="give one of each for an edge")
    if weights is None:
        return
    wrong = numpy.flatnonzero(~(numpy.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        edge = int(wrong[0])
        raise QueryError(
            f"edge {edge}, from {sources[edge]} to {targets[edge]}, weighs {weights[edge]:g}",
            hint="weights are numbers from 0 on",
        )


def _array(values: Any, name: str) -> Array:
    try:
        array: Array = _numpy().asarray(values)
    except Exception as error:  # each library raises its own
        kind = getattr(values, "dtype", type(values).__name__)
        raise TypeError(
            f"{name} are one dimension of numbers of 64 bits at most, and {kind} is none that numpy"
            " reads: cast them to Int64 or Float64"
        ) from error
    return array


def _integers(values: Any, name: str) -> Array:
    array = _array(values, name)
    if array.size == 0:
        return array.reshape(-1).astype("int64")
    if array.ndim != 1 or array.dtype.kind not in "iu":
        kind = f"{array.ndim} dimensions of {array.dtype}"
        raise TypeError(f"{name} are one dimension of whole numbers, not {kind}")
    if int(array.min()) < 0 or int(array.max()) >= BEYOND:
        raise ValueError(f"{name} are nodes by numbers from 0 on, and below 2 to the power of 63")
    return array.astype("int64")


def _floats(values: Any) -> Array:
    array = _array(values, "weights")
    if array.ndim != 1 or array.dtype.kind not in "iufb":
        kind = f"{array.ndim} dimensions of {array.dtype}"
        raise TypeError(f"weights are one dimension of numbers, not {kind}")
    if array.dtype.kind in "iu":
        wide = _numpy().flatnonzero(array > EXACT)
        if len(wide):
            edge = int(wide[0])
            raise QueryError(
                f"edge {edge} weighs {array[edge]}, and algorithms compute in floats, which have no"
                " digits for ints above 2^53",
                hint="divide the weights by a common factor, or give them as floats, which are"
                " rounded",
            )
    return array.astype("float64")


def _numpy() -> Any:
    try:
        import numpy
    except ImportError as error:
        raise missing("numpy") from error
    return numpy


@cache
def _directions() -> dict[str, list[str]]:
    """Return for each algorithm the directions in which it takes edges, the default first."""
    return {row["name"]: row["directions"] for row in algorithms()}


@cache
def _threads() -> Database:
    """Return the empty database whose threads and memory algorithms have."""
    from .. import connect

    return connect()
