"""The methods of `Database` that give edges as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    from ..algo.text import Nodes
    from .edges import Edges


class ArrayMethods:
    """What `attach` puts on `Database`."""

    def edges(
        self,
        *on: str,
        weight: str | None = None,
        nodes: Nodes | None = None,
        direction: Literal["out", "in", "both"] = "out",
        timeout: float | None = None,
    ) -> Edges:
        r"""Return the edges of predicates, as a table and as arrays.

        The arguments are those of `db.algo`: predicates, each with `@filter(...)` of the far end
        if wanted, the facet that edges weigh, the nodes to keep to (a root of DQL, or uids), and
        the direction. They are the edges of now; later commits do not change them.

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

        Raises QueryError for what is wrong with predicates, nodes or weights; LimitError.
        """
        from .compact import Compact
        from .edges import Edges

        options: Any = {"weight": weight, "nodes": nodes, "direction": direction}
        return Edges(Compact.of(cast(Any, self), on, timeout=timeout, **options), weight)

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
        nodes of the graph, in the order of their uids. The numbers are read where the engine has
        them, so they can't be written to: `.copy()` makes one's own.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <road> <5> (km=2) .\n<5> <road> <7> (km=1.5) .")
        >>> db.matrix("road", weight="km").toarray().tolist()
        [[0.0, 2.0, 0.0], [0.0, 0.0, 1.5], [0.0, 0.0, 0.0]]
        >>> db.matrix("road", direction="both").sum(axis=0).tolist()
        [1.0, 2.0, 1.0]

        Raises QueryError for what is wrong with predicates, nodes or weights; LimitError.
        """
        from .compact import Compact

        options: Any = {"weight": weight, "nodes": nodes, "direction": direction}
        return Compact.of(cast(Any, self), on, timeout=timeout, **options).matrix()
