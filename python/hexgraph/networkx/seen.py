"""What was made of views of networkx, as long as their graphs do not change.

A view shows another graph, and has a cache of its own that no change of that one clears. So views
store nothing there: what was made of one is cached here, with a mark in the cache of the graph at
the bottom, which networkx empties at each change of it. A view whose filters may be anything, such
as functions of the caller, is never cached: these may answer otherwise at any time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import networkx as nx

MARK = "hexgraph"
"""The key of the mark in a graph's cache."""

FILTERS = "networkx.classes.filters"
"""The module of the filters that say the same for as long as they are there."""

_MADE: WeakKeyDictionary[Any, tuple[object, dict[Any, Any]]] = WeakKeyDictionary()


def is_view(graph: Any) -> bool:
    """Return whether a graph shows another one."""
    return getattr(graph, "_graph", None) is not None


def of_view(view: Any, key: Any, make: Callable[[], Any]) -> Any:
    """Return what `make` makes of a view, or made of it under this key before the last change."""
    # networkx's word for it: nothing of this graph is cached.
    view.__networkx_cache__ = None
    mark = _mark(view)
    if mark is None:
        return make()
    cached, made = _MADE.get(view, (None, {}))
    if cached is not mark:
        made = {}
        _MADE[view] = mark, made
    if key not in made:
        made[key] = make()
    return made[key]


def _mark(view: Any) -> object | None:
    """Return the mark of the graph at the bottom, the same until it changes; None to cache nothing.

    It is read before the view: what changes meanwhile makes a new one.
    """
    graph = view
    while is_view(graph):
        for name in ("_NODE_OK", "_EDGE_OK"):
            chosen = getattr(graph, name, None)
            if chosen is not None and getattr(chosen, "__module__", None) != FILTERS:
                return None
        graph = graph._graph
    cache = getattr(graph, "__networkx_cache__", None)
    if cache is None or not nx.config.cache_converted_graphs:
        return None
    return cache.setdefault(MARK, object())
