"""The methods of `Database` that return edges as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..algo.text import Nodes
    from .edges import Edges
    from .sampled import Sample


class ArrayMethods:
    """The methods that `attach` adds to `Database`."""

    def edges(
        self,
        *on: str,
        weight: str | None = None,
        nodes: Nodes | None = None,
        direction: Literal["out", "in", "both"] = "out",
        timeout: float | None = None,
    ) -> Edges:
        r"""Return the edges of predicates, as a table and as arrays.

        The arguments are those of `db.algo`: predicates, each with an optional `@filter(...)` of
        the target nodes, the facet with the weights, the nodes of the graph (a root of DQL, or
        uids), and the direction. The result is of the current version; later commits do not change
        it.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <road> <5> (km=2) .\n<5> <road> <7> (km=1.5) .")
        >>> edges = db.edges("road", weight="km")
        >>> edges
        source  target   km
           0x1     0x5    2
           0x5     0x7  1.5
        >>> edges.to_numpy()[0].tolist(), edges.uids.tolist()
        ([0, 1], [1, 5, 7])
        >>> edges.to_networkx()["0x1"]["0x5"]
        {'km': 2.0}

        A `weight` named "source" or "target" is the column `weight` of the table.

        Raises QueryError for invalid predicates, nodes or weights; LimitError.
        """
        from .compact import Compact
        from .edges import Edges

        options: Any = {"weight": weight, "nodes": nodes, "direction": direction}
        return Edges(
            Compact.of(cast(Any, self), on, 'edges("follows")', timeout=timeout, **options), weight
        )

    def matrix(
        self,
        *on: str,
        weight: str | None = None,
        nodes: Nodes | None = None,
        direction: Literal["out", "in", "both"] = "out",
        timeout: float | None = None,
    ) -> Any:
        r"""Return the edges of predicates as a square scipy.sparse.csr_array of floats.

        The arguments are those of `edges`, whose `uids` are the nodes of the rows and columns: all
        nodes of the graph, in the order of their uids. The arrays are zero-copy and read-only:
        `.copy()` returns a writable matrix.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <road> <5> (km=2) .\n<5> <road> <7> (km=1.5) .")
        >>> db.matrix("road", weight="km").toarray().tolist()
        [[0.0, 2.0, 0.0], [0.0, 0.0, 1.5], [0.0, 0.0, 0.0]]
        >>> db.matrix("road", direction="both").sum(axis=0).tolist()
        [1.0, 2.0, 1.0]

        Raises QueryError for invalid predicates, nodes or weights; LimitError.
        """
        from .compact import Compact

        options: Any = {"weight": weight, "nodes": nodes, "direction": direction}
        return Compact.of(
            cast(Any, self), on, 'matrix("follows")', timeout=timeout, **options
        ).matrix()

    def sample(
        self,
        *on: str,
        source: Nodes,
        fanouts: Sequence[int] = (10, 5),
        replace: bool = False,
        weight: str | None = None,
        **common: Any,
    ) -> Sample:
        r"""Sample neighbours of nodes, then neighbours of these, and so on by layers, as arrays.

        `fanouts` is the number of neighbours of a node to sample in each layer; a node with fewer
        yields all. Probabilities are proportional to weights. The same `seed` gives the same
        sample. Further arguments are those of `db.algo.sample`.
        `torch.from_numpy(sample.edge_index)` is the input of layers of PyTorch Geometric.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> edges = "<1> <knows> <2> .\n<2> <knows> <3> .\n<3> <knows> <1> .\n<3> <knows> <4> ."
        >>> _ = db.mutate(set=edges)
        >>> sample = db.sample("knows", source=[2], fanouts=[1, 2], seed=7)
        >>> sample
        <Sample: 4 nodes, edges by layer: 1, 2>
        >>> sample.nodes.tolist(), sample.layer(2).tolist()
        ([2, 3, 1, 4], [[2, 3], [1, 1]])

        Raises QueryError for invalid predicates, nodes or weights; LimitError.
        """
        from ..algo import Algorithms
        from ..algo.text import uids_of
        from .sampled import Sample

        given = uids_of(cast(Any, self), "source", source)
        options: Any = {"fanouts": fanouts, "replace": replace, "weight": weight, **common}
        return Sample(Algorithms(cast(Any, self)).sample(*on, source=given, **options), given)
