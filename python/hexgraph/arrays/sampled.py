"""Samples of neighbours as arrays, for graph neural networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy

    from ..algo.result import AlgorithmResult

    Array = numpy.ndarray[Any, Any]


class Sample:
    r"""Nodes, a sample of their neighbours, and so on by layers, as arrays.

    Nodes are numbered from 0 in the order of `nodes`: first those of `source`, in the given order,
    then those of each layer.

    >>> import hexgraph
    >>> db = hexgraph.connect()
    >>> _ = db.mutate(set="<1> <knows> <2> .\n<2> <knows> <3> .")
    >>> sample = db.sample("knows", source=[1], fanouts=[1, 1], seed=7)
    >>> sample.nodes.tolist(), sample.edge_index.tolist(), sample.layers.tolist()
    ([1, 2, 3], [[1, 2], [0, 1]], [1, 1])
    """

    def __init__(self, result: AlgorithmResult, given: Sequence[int]) -> None:
        """Store the sampled pairs, and the requested nodes."""
        import numpy

        # Numbers come as bytes.
        columns = {name: cast(bytes, it) for name, _, it, _ in result._table.columns()}
        endpoints: list[Array] = [
            numpy.frombuffer(columns[name], "uint64") for name in ("uid", "to")
        ]
        layer = numpy.frombuffer(columns[result.name], "float64").astype("int64")
        first = numpy.array(given, dtype="uint64")
        # A node stands where it came first: those that were requested, then from layer to layer.
        met = numpy.concatenate([first, endpoints[1]])
        distinct, firsts = numpy.unique(met, return_index=True)
        order = numpy.argsort(firsts, kind="stable")
        self.nodes: Array = distinct[order]
        """The uids of the nodes."""
        rank: Array = numpy.empty(len(order), dtype="int64")
        rank[order] = numpy.arange(len(order))
        numbers = [rank[numpy.searchsorted(distinct, end)] for end in endpoints]
        self.edge_index: Array = numpy.stack([numbers[1], numbers[0]])
        """The edges by the numbers of nodes in two rows: from the sampled neighbour to the node,
        which is the direction of messages. The first layer comes first.
        """
        most = int(layer.max(initial=0))
        self.layers: Array = numpy.bincount(layer, minlength=most + 1)[1:]
        """The number of edges of each layer."""
        self.sources = len(numpy.unique(first))
        """The number of nodes of `source`: they are the first of `nodes`."""

    def layer(self, number: int) -> Array:
        r"""Return the edges of a layer, counted from 1, in the form of `edge_index`.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <knows> <2> .\n<2> <knows> <3> .")
        >>> db.sample("knows", source=[1], fanouts=[1, 1], seed=7).layer(2).tolist()
        [[2], [1]]
        """
        if not 1 <= number <= len(self.layers):
            raise IndexError(f"there are layers 1 to {len(self.layers)}, and none {number}")
        end = int(self.layers[:number].sum())
        edges: Array = self.edge_index[:, end - int(self.layers[number - 1]) : end]
        return edges

    def __len__(self) -> int:
        """Return the number of edges."""
        return int(self.edge_index.shape[1])

    def __repr__(self) -> str:
        """Show the numbers of nodes and edges."""
        layers = ", ".join(str(count) for count in self.layers.tolist())
        return f"<Sample: {len(self.nodes)} nodes, edges by layer: {layers or 'none'}>"
