"""The backend as networkx finds it by its entry point: functions by name, and conversions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Each registers its functions.
from . import centrality, communities, components, links, matrices, paths, searches, structure
from .convert import convert_from_nx, convert_to_nx
from .registry import FUNCTIONS, can_run, should_run

__all__ = ["can_run", "convert_from_nx", "convert_to_nx", "should_run"]

_MODULES = (centrality, communities, components, links, matrices, paths, searches, structure)


def __getattr__(name: str) -> Callable[..., Any]:
    try:
        return FUNCTIONS[name]
    except KeyError:
        raise AttributeError(f"hexgraph has no {name} for networkx") from None
