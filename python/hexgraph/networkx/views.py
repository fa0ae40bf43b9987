"""Graphs of networkx that can be read only, over the edges of a database or over arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

import networkx as nx

from ..arrays.compact import Compact
from .arrays import Arrays

if TYPE_CHECKING:
    from .._native import Database
    from ..algo.text import Nodes


T = TypeVar("T")


class _Data(dict[str, Any]):
    """The attributes of an edge, which can be read only; a copy is a dict of its own."""

    def _refuse(self, *_arguments: Any, **_named: Any) -> NoReturn:
        raise TypeError("the edge is one of a read-only view: change the database, or a `copy()`")

    __setitem__ = __delitem__ = __ior__ = _refuse
    update = setdefault = pop = popitem = clear = _refuse

    def copy(self) -> dict[str, Any]:
        """Return the attributes as a dict."""
        return dict(self)

    def __deepcopy__(self, _memo: Any) -> dict[str, Any]:
        return dict(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return (dict, (dict(self),))


NO_DATA: Mapping[str, Any] = _Data()
"""The attributes of an edge that has none."""


class _ByLabel(Mapping[Hashable, T]):
    """Something for each node, in the order of the nodes."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays

    def __contains__(self, label: object) -> bool:
        return label in self._arrays.index

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._arrays.labels)

    def __len__(self) -> int:
        return len(self._arrays)


class _Nodes(_ByLabel[Mapping[str, Any]]):
    """The nodes, which have no attributes."""

    def __getitem__(self, label: Hashable) -> Mapping[str, Any]:
        self._arrays.index[label]
        return {}


class _Rows(_ByLabel[Mapping[Hashable, Mapping[str, Any]]]):
    """The neighbours of each node with what edges have; a row is made when it is requested."""

    def __getitem__(self, label: Hashable) -> Mapping[Hashable, Mapping[str, Any]]:
        arrays = self._arrays
        number = arrays.index[label]
        row = slice(int(arrays.indptr[number]), int(arrays.indptr[number + 1]))
        targets = arrays.named(arrays.indices[row])
        if not arrays.weights:
            return dict.fromkeys(targets, NO_DATA)
        columns = (values[row].tolist() for values in arrays.weights.values())
        cells = zip(*columns, strict=True)
        names = list(arrays.weights)
        data = (_Data(zip(names, cell, strict=True)) for cell in cells)
        return dict(zip(targets, data, strict=True))


class _ReadOnly:
    """What both kinds of graph have: they are made of arrays, and can't be changed."""

    __networkx_backend__ = "hexgraph"
    arrays: Arrays

    def __new__(cls, arrays: Arrays | None = None, *_options: Any) -> Any:
        """Make one over arrays; without them an empty graph of networkx, as its copies need."""
        if arrays is None:
            return nx.DiGraph() if issubclass(cls, nx.DiGraph) else nx.Graph()
        return object.__new__(cls)

    def __init__(self, arrays: Arrays, name: str = "") -> None:
        """Store the arrays that the graph is about."""
        self.arrays = arrays
        self.graph = {"name": name} if name else {}
        self._node = _Nodes(arrays)
        self._adj = _Rows(arrays)
        if arrays.directed:
            self._succ, self._pred = self._adj, _Rows(arrays.transposed)
        self.__networkx_cache__: dict[str, Any] = {}

    def number_of_nodes(self) -> int:
        """Return the number of nodes."""
        return len(self.arrays)

    order = number_of_nodes

    def __len__(self) -> int:
        return len(self.arrays)

    def number_of_edges(self, u: Any = None, v: Any = None) -> int:
        """Return the number of edges, or of those between two nodes."""
        if u is not None:
            return int(v in self._adj[u])
        return self.arrays.edge_count

    def to_networkx(self) -> Any:
        """Return a graph of networkx's own with the same nodes and edges, which can be changed."""
        made = nx.DiGraph() if self.arrays.directed else nx.Graph()
        made.graph.update(self.graph)
        made.add_nodes_from(self.arrays.labels)
        for label in self.arrays.labels:
            row = self._adj[label].items()
            made.add_edges_from((label, target, dict(data)) for target, data in row)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle, and copy deeply, as a graph of networkx's own."""
        return (_same, (self.to_networkx(),))

    def _refuse(self, *_arguments: Any, **_named: Any) -> NoReturn:
        raise nx.NetworkXError(
            "the graph is a read-only view: change the database and make a new one, or a `copy()`"
        )

    add_node = add_nodes_from = remove_node = remove_nodes_from = _refuse
    add_edge = add_edges_from = add_weighted_edges_from = _refuse
    remove_edge = remove_edges_from = clear = clear_edges = update = _refuse


class Graph(_ReadOnly, nx.Graph):
    """A read-only networkx.Graph over arrays."""


class DiGraph(_ReadOnly, nx.DiGraph):
    """A read-only networkx.DiGraph over arrays."""


def _same(graph: Any) -> Any:
    return graph


def of_arrays(arrays: Arrays, name: str = "") -> Graph | DiGraph:
    """Return the graph over arrays."""
    return DiGraph(arrays, name) if arrays.directed else Graph(arrays, name)


def graph(
    db: Database,
    *on: str,
    weight: str | None = None,
    nodes: Nodes | None = None,
    direction: Literal["out", "in", "both"] = "out",
    key: str | None = None,
) -> Graph | DiGraph:
    r"""Return the edges of predicates as a read-only graph for networkx's functions.

    Nothing is copied for the functions that docs/networkx.md lists, and most run in the
    engine; all others of networkx read the graph as any other, where
    `networkx.config.fallback_to_nx` is set. It shows the edges of now: later commits do not change
    it.

    - `on`, `nodes` and `direction` are those of `db.algo`; "both" gives a Graph, else a DiGraph
    - `weight`, a facet: the attribute of this name that edges have
    - `key`, a predicate whose values are the nodes' names; else they are uids as texts

    >>> import hexgraph, networkx, hexgraph.networkx
    >>> db = hexgraph.connect()
    >>> _ = db.mutate(set="<1> <road> <2> (km=5) .\n<2> <road> <3> (km=1.5) .")
    >>> G = hexgraph.networkx.graph(db, "road", weight="km", direction="both")
    >>> networkx.shortest_path_length(G, "0x1", "0x3", weight="km")
    6.5
    >>> G["0x2"]["0x3"]["km"]
    1.5

    Raises QueryError for invalid predicates, nodes, weights and keys; LimitError.
    """
    compact = Compact.of(
        db, on, 'graph(db, "follows")', weight=weight, nodes=nodes, direction=direction
    )
    labels: Sequence[Hashable] = [hex(uid) for uid in compact.uids.tolist()]
    if key is not None:
        labels = _keyed(db, labels, key)
    # Facets that single predicates weigh by have no name in common.
    weight = weight or "weight"
    return of_arrays(Arrays.of_compact(compact, labels, weight), " ".join(on))


def _keyed(db: Database, uids: Sequence[Hashable], key: str) -> Sequence[Hashable]:
    """Return the values of a predicate instead of uids; a node without one has its uid."""
    from ..errors import QueryError

    rows = db.query(f"{{ q(func: has(<{key}>)) {{ uid key: <{key}> }} }}").rows()
    names: dict[Hashable, Hashable] = {}
    for uid, value in rows:
        if isinstance(value, (list, dict)):
            raise QueryError(
                f"`{key}` is {value!r} for a node, which is no name: use texts or numbers"
            )
        names[uid] = value
    labels = [names.get(uid, uid) for uid in uids]
    if len(set(labels)) < len(labels):
        twice = next(label for label, times in Counter(labels).items() if times > 1)
        raise QueryError(f"`{key}` is {twice!r} for more than one node, where names are distinct")
    return labels
