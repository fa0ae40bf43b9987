"""Communities, and how good they are."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
from networkx.utils import py_random_state

from .convert import arrays_of
from .registry import dispatched, undirected

SEEDS = 1 << 31
"""The number of seeds of the engine to choose from."""


def _is_full_partition(arguments: dict[str, Any]) -> str | None:
    if arguments["max_level"] is not None:
        return "max_level is not supported"
    resolution = arguments["resolution"]
    is_fine = isinstance(resolution, (int, float)) and resolution >= 0
    return None if is_fine else "resolution is to be a number from 0 on"


def _communities(G: Any, name: str, weight: str | None, resolution: float, seed: Any) -> Any:
    arrays = arrays_of(G)
    if not arrays.edge_count:
        return [{label} for label in arrays.labels]
    compact = arrays.compact(weight)
    given = {"resolution": float(resolution)}
    labels = compact.compute(name, given, seed=seed.randrange(SEEDS))[0]
    order = np.argsort(labels, kind="stable")
    bounds = np.cumsum(np.bincount(labels))[:-1]
    return [set(arrays.named(part)) for part in np.split(order, bounds) if len(part)]


@dispatched(undirected(_is_full_partition))
@py_random_state("seed")
def louvain_communities(
    G: Any,
    weight: str | None = "weight",
    resolution: float = 1,
    threshold: float = 0.0000001,
    max_level: None = None,
    seed: Any = None,
) -> list[set[Any]]:
    """Return communities with as many edges within them as possible, by Louvain."""
    communities: list[set[Any]] = _communities(G, "louvain", weight, resolution, seed)
    return communities


@dispatched(undirected(_is_full_partition))
@py_random_state("seed")
def leiden_communities(
    G: Any,
    weight: str | None = "weight",
    resolution: float = 1,
    max_level: None = None,
    seed: Any = None,
) -> list[set[Any]]:
    """Return communities that hang together, by Leiden."""
    communities: list[set[Any]] = _communities(G, "leiden", weight, resolution, seed)
    return communities


@dispatched()
def modularity(
    G: Any, communities: Any, weight: str | None = "weight", resolution: float = 1
) -> float:
    """Return by how much more edges lie within communities than would by chance."""
    arrays = arrays_of(G)
    parts = communities if isinstance(communities, list) else list(communities)
    part_of = np.full(len(arrays), -1)
    for number, part in enumerate(parts):
        for label in part:
            position = arrays.index.get(label, -1)
            if position < 0 or part_of[position] >= 0:
                raise nx.community.quality.NotAPartition(G, parts)
            part_of[position] = number
    if (part_of < 0).any():
        raise nx.community.quality.NotAPartition(G, parts)
    values = arrays.weights_of(weight)
    values = np.ones(len(arrays.indices)) if values is None else values.astype(float)
    sources, targets = part_of[arrays.sources], part_of[arrays.indices]
    if not arrays.directed:
        # A loop stands there once, and counts at both of its endpoints.
        values = values * np.where(arrays.sources == arrays.indices, 2, 1)
    total = values.sum()
    if not total:
        raise ZeroDivisionError("division by zero")
    leaving = np.bincount(sources, weights=values, minlength=len(parts))
    coming = np.bincount(targets, weights=values, minlength=len(parts))
    within = values[sources == targets].sum() / total
    return float(within - resolution * (leaving * coming).sum() / total**2)
