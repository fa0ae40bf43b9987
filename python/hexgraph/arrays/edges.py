"""The edges of predicates: a table, arrays, and the graphs of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import about
from ..frames import missing, to_pandas, to_polars

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars

    from .._native import ArrowTable
    from .compact import Compact

UIDS_AT_ONCE = 200_000
"""The maximum number of nodes in one query, since its text is limited."""

SHOWN = 10
"""The number of printed rows."""


class Edges:
    r"""The edges of some predicates at the time of the call.

    It is an Arrow table with the columns `source` and `target`, which are uids as strings, and the
    weights under the name of the facet. As arrays, nodes are numbered from 0 in the order of
    `uids`. Undirected edges appear in both directions, and a loop once.

    >>> import hexgraph
    >>> db = hexgraph.connect()
    >>> _ = db.mutate(set="<1> <road> <5> (km=2) .\n<5> <road> <7> (km=1.5) .")
    >>> edges = db.edges("road", weight="km")
    >>> len(edges), edges.columns
    (2, ['source', 'target', 'km'])
    """

    def __init__(self, graph: Compact, weight: str | None) -> None:
        """Wrap a compact graph, whose weights are the facet `weight`."""
        self._graph = graph
        # Facets that single predicates weigh by have no name in common.
        is_weighted = weight is None and graph.native.weights() is not None
        self._weight = "weight" if is_weighted else weight
        self._table: ArrowTable | None = None

    @property
    def columns(self) -> list[str]:
        """The names of the columns.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <road> <5> (km=2) .")
        >>> db.edges("road").columns, db.edges("road", weight="km").columns
        (['source', 'target'], ['source', 'target', 'km'])
        """
        return ["source", "target", *([] if self._column is None else [self._column])]

    @property
    def _column(self) -> str | None:
        """The column of weights: named after the facet, unless that name is in use."""
        return "weight" if self._weight in {"source", "target"} else self._weight

    @property
    def uids(self) -> numpy.ndarray[Any, Any]:
        r"""The uids of the nodes, ascending: the number of a node is its index.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <road> <5> .\n<5> <road> <7> .")
        >>> db.edges("road").uids.tolist()
        [1, 5, 7]
        """
        return self._graph.uids

    @property
    def is_directed(self) -> bool:
        """Whether edges have a direction.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <road> <5> .")
        >>> db.edges("road").is_directed, db.edges("road", direction="both").is_directed
        (True, False)
        """
        return not self._graph.is_undirected

    def to_arrow(self, *, uids: type[str | int] = str) -> ArrowTable:
        """Return the table in Arrow's layout, for `pyarrow.table` and similar.

        With `uids=int` they are numbers, which are smaller and faster to make.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <road> <5> (km=2) .")
        >>> db.edges("road", weight="km").to_arrow()
        <hexgraph.ArrowTable: 1 row, columns source: Utf8, target: Utf8, km: Float64>
        >>> db.edges("road", weight="km").to_arrow(uids=int)
        <hexgraph.ArrowTable: 1 row, columns source: UInt64, target: UInt64, km: Float64>
        """
        if uids not in (str, int):
            raise ValueError(f"uids are of type str or int, not {uids!r}")
        if self._table is None:
            self._table = self._graph.native.table(self._column)
        return self._table if uids is int else self._table._with_text_uids()

    def to_polars(self, *, uids: type[str | int] = str) -> polars.DataFrame:
        r"""Return the table as a polars.DataFrame; `uids` are as in `to_arrow`.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <road> <5> (km=2) .\n<5> <road> <7> (km=1.5) .")
        >>> db.edges("road", weight="km").to_polars()["km"].sum()
        3.5
        """
        return to_polars(self.to_arrow(uids=uids))

    def to_pandas(self, *, uids: type[str | int] = str) -> pandas.DataFrame:
        r"""Return the table as a pandas.DataFrame; `uids` are as in `to_arrow`.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <road> <5> (km=2) .\n<5> <road> <7> (km=1.5) .")
        >>> float(db.edges("road", weight="km").to_pandas()["km"].sum())
        3.5
        """
        return to_pandas(self.to_arrow(uids=uids))

    def to_numpy(self) -> tuple[numpy.ndarray[Any, Any], ...]:
        r"""Return the edges as COO arrays: the numbers of sources and of targets, and weights.

        The weights are omitted if each is 1.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <road> <5> (km=2) .\n<5> <road> <7> (km=1.5) .")
        >>> sources, targets, weights = db.edges("road", weight="km").to_numpy()
        >>> sources.tolist(), targets.tolist(), weights.tolist()
        ([0, 1], [1, 2], [2.0, 1.5])
        """
        graph = self._graph
        endpoints = (graph.sources, graph.indices)
        return endpoints if graph.weights is None else (*endpoints, graph.weights)

    def edge_index(self) -> numpy.ndarray[Any, Any]:
        r"""Return numbers as an int64 array with two rows, sources and targets.

        `torch.from_numpy` converts it to the `edge_index` of PyTorch Geometric.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <road> <5> .\n<5> <road> <7> .")
        >>> db.edges("road").edge_index()
        array([[0, 1],
               [1, 2]])
        """
        import numpy

        index: numpy.ndarray[Any, Any] = numpy.empty((2, len(self)), dtype="int64")
        index[0], index[1] = self._graph.sources, self._graph.indices
        return index

    def matrix(self) -> Any:
        r"""Return a scipy.sparse.csr_array, whose rows and columns are the nodes by their numbers.

        Targets and weights are zero-copy and read-only.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <road> <5> .\n<5> <road> <7> .")
        >>> db.edges("road").matrix().toarray().tolist()
        [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
        """
        return self._graph.matrix()

    def to_networkx(self, *, label: str | None = None) -> Any:
        r"""Return a networkx.Graph or DiGraph as a copy, whose nodes are uids as strings.

        With `label="name"` nodes have their current values of this predicate as an attribute of its
        name; those without a value have none. `hexgraph.networkx.graph` returns a graph for
        networkx's functions without a copy.

        For one for networkx's functions without any copy see `hexgraph.networkx.graph`.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <road> <5> (km=2) .\n<5> <road> <7> (km=1.5) .")
        >>> list(db.edges("road", weight="km").to_networkx().edges(data="km"))
        [('0x1', '0x5', 2.0), ('0x5', '0x7', 1.5)]
        >>> _ = db.mutate(set='<1> <name> "Bern" .')
        >>> dict(db.edges("road").to_networkx(label="name").nodes(data="name"))
        {'0x1': 'Bern', '0x5': None, '0x7': None}
        """
        try:
            import networkx
        except ImportError as error:
            raise missing("networkx") from error
        made = networkx.DiGraph() if self.is_directed else networkx.Graph()
        names = self._names()
        made.add_nodes_from(names)
        if label is not None:
            networkx.set_node_attributes(made, self._values(label, names), label)
        sources, targets, *weights = (part.tolist() for part in self.to_numpy())
        endpoints = ([names[number] for number in part] for part in (sources, targets))
        if weights and self._weight is not None:
            made.add_weighted_edges_from(
                zip(*endpoints, weights[0], strict=True), weight=self._weight
            )
        else:
            made.add_edges_from(zip(*endpoints, strict=True))
        return made

    def to_igraph(self) -> Any:
        r"""Return an igraph.Graph: vertices have uids as `name`, edges have weights as `weight`.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <road> <5> .\n<5> <road> <7> .")
        >>> graph = db.edges("road").to_igraph()
        >>> graph.vs["name"], graph.diameter()
        (['0x1', '0x5', '0x7'], 2)
        """
        try:
            import igraph
        except ImportError as error:
            raise missing("igraph") from error
        pairs, weights = self._once()
        made = igraph.Graph(n=len(self._graph), edges=pairs, directed=self.is_directed)
        made.vs["name"] = self._names()
        if weights is not None:
            made.es["weight"] = weights.tolist()
        return made

    def to_rustworkx(self) -> Any:
        r"""Return a rustworkx.PyGraph or PyDiGraph: nodes are uids as texts, edges their weights.

        If all weights are 1, each edge has 1.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <road> <5> (km=2) .\n<5> <road> <7> (km=1.5) .")
        >>> graph = db.edges("road", weight="km").to_rustworkx()
        >>> graph.nodes(), list(graph.weighted_edge_list())
        (['0x1', '0x5', '0x7'], [(0, 1, 2.0), (1, 2, 1.5)])
        """
        try:
            import rustworkx
        except ImportError as error:
            raise missing("rustworkx") from error
        made = rustworkx.PyDiGraph() if self.is_directed else rustworkx.PyGraph()
        made.add_nodes_from(self._names())
        pairs, weights = self._once()
        each = [1.0] * len(pairs) if weights is None else weights.tolist()
        made.add_edges_from(
            [(source, target, weight) for (source, target), weight in zip(pairs, each, strict=True)]
        )
        return made

    def _values(self, label: str, uids: list[str]) -> dict[str, Any]:
        """Return the values of a predicate by uid, of the nodes that have one."""
        db = self._graph.db
        values: dict[str, Any] = {}
        with about(f"the label {label!r}"):
            for start in range(0, len(uids), UIDS_AT_ONCE):
                some = ", ".join(uids[start : start + UIDS_AT_ONCE])
                rows = db.query(f"{{ q(func: uid({some})) {{ uid value: {label} }} }}").rows()
                values.update((uid, value) for uid, value in rows if value is not None)
        return values

    def _names(self) -> list[str]:
        return [hex(uid) for uid in self._graph.uids.tolist()]

    def _once(self) -> tuple[list[list[int]], Any]:
        """Return the pairs of numbers, each edge once, with their weights."""
        graph = self._graph
        index, weights = self.edge_index(), graph.weights
        if graph.is_undirected:
            is_first = index[0] <= index[1]
            index = index[:, is_first]
            weights = None if weights is None else weights[is_first]
        return index.T.tolist(), weights

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Hand out the table as an Arrow stream."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._graph.indices)

    def __repr__(self) -> str:
        """Show the first rows, and how many there are."""
        graph = self._graph
        cells = [[hex(int(uid)) for uid in graph.uids[graph.sources[:SHOWN]]]]
        cells.append([hex(int(uid)) for uid in graph.uids[graph.indices[:SHOWN]]])
        if graph.weights is not None:
            cells.append([f"{weight:.6g}" for weight in graph.weights[:SHOWN].tolist()])
        names = self.columns[: len(cells)]
        widths = [max([len(n), *map(len, c)]) for n, c in zip(names, cells, strict=True)]
        rows = [names, *zip(*cells, strict=True)]
        lines = ["  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
        if len(self) > SHOWN:
            lines.append(f"... {len(self)} rows")
        return "\n".join(lines)
