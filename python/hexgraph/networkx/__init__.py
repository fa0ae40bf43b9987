"""hexgraph as a backend of networkx: `networkx.pagerank(hexgraph.networkx.graph(db, "follows"))`.

`graph` gives a read-only graph of networkx over the edges of a database, which networkx's functions
accept without a conversion where this package has them; docs/networkx.md lists these. Graphs of
networkx itself are converted once: `networkx.pagerank(G, backend="hexgraph")`, or for all calls
`networkx.config.backend_priority = ["hexgraph"]`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .views import DiGraph, Graph, graph

__all__ = ["DiGraph", "Graph", "graph"]


def __getattr__(name: str) -> Any:
    # networkx requests `info` while it is imported itself: nothing else is imported until needed.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import views

    return getattr(views, name)
