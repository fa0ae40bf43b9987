"""The functions of the backend, and the arguments that each takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import networkx as nx

from .info import BETWEEN, LEAST, LEAST_LINEAR, LINEAR, NEAR

_HINT = "; nx.config.backends.hexgraph.any_size = True has it done all the same"

_ROWS = ("__getitem__", "neighbors", "adjacency", "__iter__")
"""The methods by which a graph returns its neighbours; a class that has others means others."""

Check = Callable[[dict[str, Any]], str | None]
"""Says why a function can't run with its arguments, by their names; None if it can."""

FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""The functions, by networkx's names."""

_CHECKS: dict[str, tuple[inspect.Signature, Check | None]] = {}


def dispatched(check: Check | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function that has the name and the arguments of one of networkx."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        FUNCTIONS[function.__name__] = function
        _CHECKS[function.__name__] = (inspect.signature(function), check)
        return function

    return register


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return True if a function takes these arguments, else why it does not."""
    if name not in FUNCTIONS:
        return f"hexgraph has no {name}"
    signature, check = _CHECKS[name]
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        return str(error)
    bound.apply_defaults()
    graph = bound.arguments["G"]
    if getattr(graph, "is_multigraph", lambda: True)():
        return "hexgraph takes no graphs with parallel edges"
    if not _is_plain(graph):
        return f"the class {type(graph).__name__} has neighbours of its own making"
    for of_edges in ("weight", "distance"):
        if callable(bound.arguments.get(of_edges)):
            return f"{of_edges} is to be the name of an attribute"
    return (check(bound.arguments) if check else None) or True


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Return True if a function that can run here is worth it, else why networkx is faster.

    networkx calls it where a configuration names the backend, and not for `backend="hexgraph"`.
    """
    arguments = _CHECKS[name][0].bind(*args, **kwargs).arguments
    graph = arguments["G"]
    is_own = getattr(graph, "__networkx_backend__", "networkx") == "hexgraph"
    if is_own or nx.config.backends.hexgraph.any_size:
        return True
    if name in NEAR or (name in BETWEEN and None not in map(arguments.get, ("source", "target"))):
        return f"{name} of networkx looks at few nodes, and a conversion at all" + _HINT
    least = LEAST_LINEAR if name in LINEAR else LEAST
    if len(graph) < least:
        few = f"{name} takes less than a conversion on {len(graph)} nodes; {least} are worth it"
        return few + _HINT
    return True


def _is_plain(graph: Any) -> bool:
    """Return whether the graph has the neighbours that its rows say, as networkx's classes do."""
    if getattr(graph, "__networkx_backend__", "networkx") == "hexgraph":
        return True
    plain = nx.DiGraph if graph.is_directed() else nx.Graph
    kinds = (getattr(type(graph), name, None) is getattr(plain, name) for name in _ROWS)
    return all(kinds)


def is_default(**defaults: Any) -> Check:
    """Return a check that arguments have the only values that a function takes."""

    def check(arguments: dict[str, Any]) -> str | None:
        for name, value in defaults.items():
            if arguments[name] is not value and arguments[name] != value:
                return f"{name} is not supported"
        return None

    return check


def undirected(then: Check | None = None) -> Check:
    """Return a check that the graph has no direction, and `then`."""

    def check(arguments: dict[str, Any]) -> str | None:
        if arguments["G"].is_directed():
            return "it is for undirected graphs"
        return then(arguments) if then else None

    return check
