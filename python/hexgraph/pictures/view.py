"""The view of a graph: read once, then shown as it is, or live where notebooks have widgets."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from .._native import layout
from ..errors import QueryError
from .drawing import Picture, shortened
from .graph import (
    EDGES_MAX,
    NODES_MAX,
    TYPE,
    Subgraph,
    around,
    limit_to_most_connected,
    of_database,
    of_result,
)
from .still import NODES_SHOWN, graph_svg

if TYPE_CHECKING:
    from .live import Live

STILL_NODES, STILL_EDGES = 2_000, 6_000
"""Of more than so many, the picture of a live view has the most connected ones only."""

GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))


class GraphView(Picture):
    r"""A view of the result of a query, or of a database: nodes, and the edges between them.

    In a notebook where anywidget is installed (`pip install "hexgraph[widget]"`) it is live: the
    mouse moves and zooms it, a click or a box selects nodes, which `selected` lists, a double click
    expands one. Elsewhere it is a picture; `save` writes that to a file, `svg` is its text. The
    positions are computed in Rust, the same for the same graph.

    - `source`, a Result (request `uid`, so that a node that is met twice is one), or a Database
    - `label`, the key that is written at nodes; without it the first one of name, title, … that
      they have
    - `color`, the key whose values colour them: texts by kinds, numbers from light to dark.
      Without it nodes of a database have the colour of their type, and those of a result that of
      the block or the edge by which they were met
    - `size`, the key of a number that decides how large they are; without it their edges do
    - `edges`, the predicates of a database that are shown; all of them without it
    - `nodes`, the most nodes that are shown: of more, those with the most edges
    - `width` and `height` in pixels; a live view is as wide as its cell
    - `db`, the database that is queried when nodes of a result are expanded
    - `interactive`, whether it is live: where anywidget is installed, unless this is False

    >>> import hexgraph
    >>> db = hexgraph.connect()
    >>> _ = db.mutate(set='<1> <name> "Ada" .\n<1> <knows> <2> .\n<2> <name> "Bob" .')
    >>> view = hexgraph.GraphView(db.query("{ q(func: uid(1)) { uid name knows { uid name } } }"))
    >>> view
    <hexgraph.GraphView: 2 nodes, 1 edge>
    >>> view.uids
    ['0x1', '0x2']

    Raises QueryError for more than 20,000 nodes, and for a key that no node has; TypeError for what
    is neither a result nor a database.
    """

    def __init__(  # noqa: PLR0913 - options by keyword
        self,
        source: Any,
        *,
        label: str | None = None,
        color: str | None = None,
        size: str | None = None,
        edges: Sequence[str] | str | None = None,
        nodes: int = NODES_SHOWN,
        width: int = 760,
        height: int = 520,
        db: Any = None,
        interactive: bool | None = None,
    ) -> None:
        if not 1 <= nodes <= NODES_MAX:
            raise QueryError(
                f"nodes is {nodes}, and from 1 to {NODES_MAX}: a picture has no space for more"
            )
        if interactive and not has_widgets():
            raise QueryError(
                "a live view needs anywidget, which is not installed: "
                "pip install 'hexgraph[widget]'"
            )
        is_database = hasattr(source, "query")
        chosen = [edges] if isinstance(edges, str) else edges
        predicates = [key for key in (label, color, size) if key and key != TYPE]
        if is_database:
            subgraph = of_database(source, chosen, predicates, nodes)
            subgraph.total_nodes = source.stats()["nodes"]
        elif hasattr(source, "to_dict"):
            if edges is not None and db is None:
                raise QueryError("edges= chooses those of a database; of a result all are shown")
            subgraph = of_result(source.to_dict())
        else:
            raise TypeError(f"a view is of a Result or a Database, not {type(source).__name__}")
        self.total = subgraph.total_nodes
        """The number of nodes that the database or the result has."""
        limit_to_most_connected(subgraph, nodes)
        for key in (label, color, size):
            if (
                key
                and subgraph.nodes
                and not any(key in it.values for it in subgraph.nodes.values())
            ):
                names = sorted({name for it in subgraph.nodes.values() for name in it.values})
                raise QueryError(
                    f"no node has {key!r}; they have {', '.join(names) or 'no values'}"
                )
        self._subgraph, self._db = subgraph, source if is_database else db
        self._edges, self._predicates = chosen, predicates
        self._keys = label, color or (TYPE if is_database else None), size
        self._space = width, height
        self._is_live = has_widgets() if interactive is None else interactive
        self._selected: list[str] = []
        self._followers: list[Callable[[list[str]], object]] = []

    @property
    def uids(self) -> list[str]:
        r"""The uids of the nodes, in the order in which they were met.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set='<1> <name> "Ada" .\n<1> <knows> <2> .')
        >>> hexgraph.GraphView(db).uids
        ['0x1', '0x2']
        """
        return [key for key in self._subgraph.nodes if is_uid(key)]

    @property
    def selected(self) -> list[str]:
        r"""The uids of the selected nodes: by the mouse in a live view, or by setting them.

        Raises QueryError where one is set that is not in the view.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set='<1> <name> "Ada" .\n<1> <knows> <2> .')
        >>> view = hexgraph.GraphView(db)
        >>> view.selected = ["0x2"]
        >>> view.selected
        ['0x2']
        """
        return [key for key in self._selected if is_uid(key)]

    @selected.setter
    def selected(self, uids: Iterable[str]) -> None:
        chosen = list(dict.fromkeys(uids))
        for uid in chosen:
            if uid not in self._subgraph.nodes:
                raise QueryError(f"the view has no node {uid!r}; `uids` are those that it has")
        self._choose(chosen)
        if "_live" in self.__dict__:
            self._live.show_chosen(chosen)

    def on_select(self, follower: Callable[[list[str]], object]) -> None:
        r"""Call a function with the uids whenever other nodes are selected.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set='<1> <name> "Ada" .\n<1> <knows> <2> .')
        >>> view = hexgraph.GraphView(db)
        >>> view.on_select(print)
        >>> view.selected = ["0x2"]
        ['0x2']
        """
        self._followers.append(follower)

    def expand(self, uid: str) -> int:
        """Add neighbours of a node, and return how many; a live view does it by a double click.

        It queries the database for at most 40 neighbours for each kind of edge, those back too
        where the predicate has `@reverse`, for which there are no edges in the view yet: call it
        again for others. Its timeout is 5 s.

        >>> import hexgraph
        >>> db = hexgraph.datasets.films()
        >>> result = db.query('{ q(func: eq(name, "Akira Kurosawa")) { uid name } }')
        >>> view = hexgraph.GraphView(result, db=db)
        >>> view.expand(view.uids[0])
        6
        >>> view
        <hexgraph.GraphView: 7 nodes, 6 edges>

        Raises QueryError for a node that the view has not, where there is no database to query, and
        where the view has 20,000 nodes or 100,000 edges; LimitError after 5 s.
        """
        if uid not in self._subgraph.nodes or not is_uid(uid):
            raise QueryError(f"the view has no node {uid!r}; `uids` are those that it has")
        if self._db is None:
            raise QueryError("of a result, GraphView(result, db=db) lets nodes be expanded")
        if len(self._subgraph.nodes) >= NODES_MAX or len(self._subgraph.edges) >= EDGES_MAX:
            raise QueryError(
                f"the view has {self._summary()}: it shows {NODES_MAX:,} nodes and {EDGES_MAX:,} "
                "edges at most"
            )
        existing: dict[str, list[str]] = {}
        for source, name, target in self._subgraph.edges:
            if source == uid and is_uid(target):
                existing.setdefault(name, []).append(target)
            elif target == uid and is_uid(source):
                existing.setdefault(f"~{name}", []).append(source)
        more = around(self._db, uid, existing, self._edges, self._predicates)
        return self._add(uid, more)

    def _add(self, uid: str, more: Subgraph) -> int:
        """Add nodes and edges of a node, which lie around it, and show them."""
        subgraph = self._subgraph
        nodes, edges = len(subgraph.nodes), len(subgraph.edges)
        positions = self._positions
        x, y = positions[list(subgraph.nodes).index(uid)]
        for key, node in more.nodes.items():
            if key not in subgraph.nodes and len(subgraph.nodes) < NODES_MAX:
                at = len(subgraph.nodes) - nodes
                far, angle = 0.012 * math.sqrt(at + 2), at * GOLDEN_ANGLE + nodes
                positions.append((x + far * math.cos(angle), y + far * math.sin(angle)))
                subgraph.nodes[key] = node
        for edge, facets in more.edges.items():
            endpoints = edge[0], edge[2]
            if edge not in subgraph.edges and all(end in subgraph.nodes for end in endpoints):
                subgraph.edges[edge] = facets
                for end in endpoints:
                    subgraph.nodes[end].degree += 1
        subgraph.total_nodes = max(subgraph.total_nodes, len(subgraph.nodes))
        subgraph.total_edges = max(subgraph.total_edges, len(subgraph.edges))
        self.total = subgraph.total_nodes
        self.__dict__.pop("svg", None)
        if "_live" in self.__dict__:
            self._live.show_added(nodes, edges)
        return len(subgraph.nodes) - nodes

    @cached_property
    def _positions(self) -> list[tuple[float, float]]:
        """Where the nodes lie, from 0 to 1, in their order."""
        number = {key: at for at, key in enumerate(self._subgraph.nodes)}
        endpoints = ((number[source], number[target]) for source, _, target in self._subgraph.edges)
        # A loop pulls nowhere.
        return layout(len(number), [(one, two) for one, two in endpoints if one != two])

    @cached_property
    def svg(self) -> str:  # type: ignore[override]
        """The text of the picture."""
        return graph_svg(
            self._subgraph,
            within(self._positions),
            self._keys,
            self._space,
            self._left_out(self._subgraph),
        )

    @cached_property
    def _live(self) -> Live:
        from .live import Live

        return Live(self)

    def _choose(self, keys: list[str]) -> None:
        """Note which nodes are selected, and call the listeners."""
        if keys != self._selected:
            self._selected = keys
            for follower in self._followers:
                follower(self.selected)

    def _summary(self) -> str:
        """Return how many nodes and edges there are, and of how many."""
        subgraph = self._subgraph
        nodes, edges = len(subgraph.nodes), len(subgraph.edges)
        more = "more than " if subgraph.is_cut else ""
        of_nodes = f" of {more}{self.total:,}" if nodes < self.total or more else ""
        of_edges = (
            f" of {subgraph.total_edges:,}" if edges == EDGES_MAX < subgraph.total_edges else ""
        )
        nodes_text = f"{nodes:,}{of_nodes} node{'' if nodes == 1 else 's'}"
        return f"{nodes_text}, {edges:,}{of_edges} edge{'' if edges == 1 else 's'}"

    def _left_out(self, shown: Subgraph) -> str:
        """Return what a picture says of nodes and edges that it does not have; "" for nothing."""
        if len(shown.nodes) == self.total and not shown.is_cut:
            return ""
        more = "more than " if shown.is_cut else ""
        return f"{len(shown.nodes):,} of {more}{self.total:,} nodes"

    def _describe(self, at: int) -> list[tuple[str, str]]:
        """Return the values of a node as texts, what is too long shortened."""
        node = list(self._subgraph.nodes.values())[at]
        values = [(name, shortened(text_of(it), 200)) for name, it in node.values.items()]
        return [
            *((shortened(name, 60), it) for name, it in values[:20]),
            ("edges", f"{node.degree:,}"),
        ]

    def __repr__(self) -> str:
        return f"<hexgraph.GraphView: {self._summary()}>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """Return the live view, where there is one; with the picture."""
        if not self._is_live:
            return None
        shown = self._live._repr_mimebundle_(include=include, exclude=exclude)
        bundle, metadata = shown if isinstance(shown, tuple) else (shown, {})
        return {**(bundle or {}), "text/plain": repr(self)}, metadata

    def _repr_svg_(self) -> str:
        subgraph = self._subgraph
        is_small = len(subgraph.nodes) <= STILL_NODES and len(subgraph.edges) <= STILL_EDGES
        if is_small or not self._is_live:
            return self.svg
        # A notebook that is stored with its output is not to have megabytes of it.
        some = Subgraph(dict(subgraph.nodes), subgraph.edges, is_cut=subgraph.is_cut)
        degrees = {key: node.degree for key, node in subgraph.nodes.items()}
        limit_to_most_connected(some, NODES_SHOWN)
        positions = [
            position
            for key, position in zip(subgraph.nodes, within(self._positions), strict=True)
            if key in some.nodes
        ]
        picture = graph_svg(some, positions, self._keys, self._space, self._left_out(some))
        for key, node in subgraph.nodes.items():
            node.degree = degrees[key]
        return picture


def has_widgets() -> bool:
    """Whether anywidget is installed."""
    return find_spec("anywidget") is not None


def is_uid(key: str) -> bool:
    """Whether the key of a node is a uid, and not its values."""
    return re.fullmatch("0x[0-9a-f]{1,16}", key) is not None


def text_of(value: Any) -> str:
    """Return a value as it is shown; of a long text or list its beginning."""
    if isinstance(value, list):
        return ", ".join(text_of(it) for it in value[:20])
    return str(value[:1000] if isinstance(value, str) else value)


def within(positions: Sequence[tuple[float, float]]) -> Sequence[tuple[float, float]]:
    """Return positions from 0 to 1; nodes that were added may lie outside."""
    spots = [it for position in positions for it in position]
    low, high = min(spots, default=0), max(spots, default=1)
    if low >= 0 and high <= 1:
        return positions
    low, high = min(low, 0), max(high, 1)
    return [((x - low) / (high - low), (y - low) / (high - low)) for x, y in positions]
