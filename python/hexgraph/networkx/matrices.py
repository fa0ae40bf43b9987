"""Graphs as matrices of scipy and numpy."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from .convert import arrays_of
from .registry import dispatched


def _numbers(G: Any, nodelist: Any) -> Any:
    """Return the numbers of the nodes of a list, or networkx's error for it."""
    arrays = arrays_of(G)
    for label in nodelist:
        if label not in arrays.index:
            raise nx.NetworkXError(f"Node {label} in nodelist is not in G")
    numbers = np.array([arrays.index[label] for label in nodelist], dtype=int)
    if len(np.unique(numbers)) < len(numbers):
        raise nx.NetworkXError("nodelist contains duplicates.")
    return numbers


def _as(values: Any, kind: Any) -> Any:
    """Return numbers as those of a type; raise OverflowError and ValueError for what is none.

    An array that is cast wraps silently, where a list of numbers is refused, as networkx gives one.
    """
    is_narrower = kind.kind in "iu" and kind != values.dtype
    return np.array(values.tolist() if is_narrower else values, dtype=kind)


@dispatched()
def to_scipy_sparse_array(
    G: Any,
    nodelist: Any = None,
    dtype: Any = None,
    weight: str | None = "weight",
    format: str = "csr",  # noqa: A002
) -> Any:
    """Return the edges as a sparse array."""
    arrays = arrays_of(G)
    if not len(arrays):
        raise nx.NetworkXError("Graph has no nodes or edges")
    matrix = arrays.matrix(weight)
    if nodelist is not None:
        nodelist = list(nodelist)
        if not nodelist:
            raise nx.NetworkXError("nodelist has no nodes")
        numbers = _numbers(G, nodelist)
        matrix = matrix[numbers][:, numbers]
    if dtype is not None:
        cells = (_as(matrix.data, np.dtype(dtype)), matrix.indices, matrix.indptr)
        matrix = type(matrix)(cells, shape=matrix.shape)
    elif not matrix.nnz:
        matrix = matrix.astype(float)
    try:
        return matrix.copy() if format == "csr" else matrix.asformat(format)
    except ValueError as error:
        raise nx.NetworkXError(f"Unknown sparse matrix format: {format}") from error


def _is_plain(arguments: dict[str, Any]) -> str | None:
    if arguments["multigraph_weight"] is not sum:
        return "multigraph_weight is not supported"
    kind = arguments["dtype"]
    if kind is not None and np.dtype(kind).names:
        return "structured types are not supported"
    return None


@dispatched(_is_plain)
def to_numpy_array(
    G: Any,
    nodelist: Any = None,
    dtype: Any = None,
    order: Any = None,
    multigraph_weight: Any = sum,
    weight: str | None = "weight",
    nonedge: Any = 0.0,
) -> Any:
    """Return the edges as a square array, with `nonedge` where there is none."""
    arrays = arrays_of(G)
    nodelist = list(arrays.labels if nodelist is None else nodelist)
    unknown = {label for label in nodelist if label not in arrays.index}
    if unknown:
        raise nx.NetworkXError(f"Nodes {unknown} in nodelist is not in G")
    numbers = _numbers(G, nodelist)
    size = (len(numbers), len(numbers))
    made: Any = np.full(size, fill_value=nonedge, dtype=dtype, order=order)
    positions = np.full(len(arrays), -1)
    positions[numbers] = np.arange(len(numbers))
    sources, targets = positions[arrays.sources], positions[arrays.indices]
    is_in = (sources >= 0) & (targets >= 0)
    values = arrays.weights_of(weight)
    made[sources[is_in], targets[is_in]] = 1 if values is None else _as(values[is_in], made.dtype)
    return made
