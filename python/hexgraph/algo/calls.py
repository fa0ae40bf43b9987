"""The algorithms as methods: `db.algo.pagerank("follows", damping=0.9)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

from .._native import run_algorithm
from .found import Found
from .text import Argument, Nodes, Text

if TYPE_CHECKING:
    from .._native import Database

Direction = Literal["out", "in", "both"]


class Common(TypedDict, total=False):
    """The arguments that all algorithms have."""

    nodes: Nodes
    """The nodes of the graph; else all that the edges join."""
    direction: Direction
    """How edges are taken: as they are, turned round, or without a direction."""
    threads: int
    """The most threads; else all of the database. The result is the same."""
    seed: int
    """What random draws begin with."""
    timeout: float
    """Seconds after which LimitError is raised."""


class Algorithms:
    r"""Graph algorithms on the edges of predicates, as they are in the newest version.

    Each takes the names of one or more predicates (`"follows"`, `"~follows"` for its edges turned
    round), of which a text may go on with a filter of the far end: `"follows @filter(ge(age, 18))"`.
    Further arguments are the same for all:

    - `nodes`: the nodes of the graph, as a root of DQL (`"type(Person)"`, `"has(name)
      @filter(ge(age, 18))"`) or as uids; else all that the edges join. Edges to others are left
      out, and nodes without edges are in
    - `weight`: the facet that edges weigh, where an algorithm takes weights. An edge without it
      weighs 1, parallel edges weigh what they weigh together
    - `direction`: "out", "in", or "both" for edges without a direction
    - `threads`, `seed`, `timeout` in seconds

    Nothing has to be prepared: the graph is made when it is first asked for, and kept until one of
    its predicates changes. The result is a `Found`.

    >>> import hexgraph
    >>> db = hexgraph.connect()
    >>> _ = db.mutate(set="<1> <follows> <2> .\n<2> <follows> <3> .\n<3> <follows> <2> .")
    >>> db.algo.pagerank("follows").top(1)
    [{'uid': '0x2', 'pagerank': 0.48648582432442095}]

    Raises QueryError for what is wrong with predicates, weights or arguments; LimitError.
    """

    def __init__(self, db: Database) -> None:
        """Take the database that the algorithms are to read."""
        self._db = db

    def pagerank(
        self,
        *on: str,
        damping: float = 0.85,
        iterations: int = 100,
        tolerance: float = 1e-6,
        from_nodes: Nodes | None = None,
        weight: str | None = None,
        **common: Unpack[Common],
    ) -> Found:
        r"""Return how often a walk that follows edges at random is at each node; the sum is 1.

        With `damping` the walk goes on, else it starts anew: anywhere, or at one of `from_nodes`.
        It stops after `iterations` rounds, or when a round changes the ranks by less than
        `tolerance` on average.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <follows> <2> .\n<3> <follows> <2> .")
        >>> db.algo.pagerank("follows", damping=0.5)
        uid  pagerank
        0x1      0.25
        0x2       0.5
        0x3      0.25
        """
        text = Text("pagerank", on, weight)
        text.nodes("from", from_nodes)
        return self._run(text, common, damping=damping, iterations=iterations, tolerance=tolerance)

    def components(self, *on: str, **common: Unpack[Common]) -> Found:
        r"""Return the part of the graph that each node is in, numbered from 0 in the order of uids.

        Two nodes are in one part where edges join them, whatever the directions.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <follows> <2> .\n<3> <follows> <4> .")
        >>> db.algo.components("follows").to_dict()
        {'0x1': 0, '0x2': 0, '0x3': 1, '0x4': 1}
        """
        return self._run(Text("components", on, None), common)

    def strong_components(self, *on: str, **common: Unpack[Common]) -> Found:
        r"""Return the part that each node is in, within which each node reaches each.

        The numbers are an order of the parts: an edge between two leads to the greater one.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <follows> <2> .\n<2> <follows> <1> .\n<2> <follows> <3> .")
        >>> db.algo.strong_components("follows").to_dict()
        {'0x1': 0, '0x2': 0, '0x3': 1}
        """
        return self._run(Text("strong_components", on, None), common)

    def bfs(
        self, *on: str, source: Nodes, depth: int | None = None, **common: Unpack[Common]
    ) -> Found:
        r"""Return the number of edges on the shortest way from `source` to each node.

        Of several sources the nearest counts. Nodes that are not reached, or are farther than
        `depth`, have None.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <follows> <2> .\n<2> <follows> <3> .\n<4> <follows> <1> .")
        >>> db.algo.bfs("follows", source="0x1").to_dict()
        {'0x1': 0, '0x2': 1, '0x3': 2, '0x4': None}
        """
        text = Text("bfs", on, None)
        text.nodes("source", source)
        return self._run(text, common, depth=depth)

    def distances(
        self, *on: str, source: Nodes, weight: str | None = None, **common: Unpack[Common]
    ) -> Found:
        r"""Return the least sum of weights on a way from `source` to each node.

        Of several sources the nearest counts. Nodes that are not reached have None.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <road> <2> (km=5) .\n<2> <road> <3> (km=1.5) .")
        >>> db.algo.distances("road", source="0x1", weight="km").to_dict()
        {'0x1': 0.0, '0x2': 5.0, '0x3': 6.5}
        """
        text = Text("distances", on, weight)
        text.nodes("source", source)
        return self._run(text, common)

    def _run(self, text: Text, common: Common, **arguments: Argument) -> Found:
        known = ("nodes", "direction", "threads", "seed", "timeout")
        for name in common:
            if name not in known:
                raise TypeError(f"{text.name} has no argument {name!r}")
        for name, value in arguments.items():
            text.argument(name, value)
        text.nodes("nodes", common.get("nodes"))
        text.argument("direction", common.get("direction"))
        text.argument("threads", common.get("threads"))
        text.argument("seed", common.get("seed"))
        return Found(
            self._db, text.name, run_algorithm(self._db, text.dql(), common.get("timeout"))
        )
