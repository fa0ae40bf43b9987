"""Python's own objects as the JSON that mutations take."""

import json
from typing import Any


def to_json(value: Any) -> str:
    """Return the JSON of a node, or of a list of nodes.

    >>> from datetime import date
    >>> to_json({"uid": "_:ada", "born": date(1815, 12, 10)})
    '{"uid": "_:ada", "born": "1815-12-10"}'
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=plain)


def plain(value: Any) -> Any:
    """Return what JSON has instead of a value that it has no form for."""
    # Dates and times; shapes of shapely and its kin; scalars of numpy and its kin, and arrays,
    # which are vectors: those are written as text.
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "__geo_interface__"):
        shape = value.__geo_interface__
        return {"type": shape["type"], "coordinates": shape["coordinates"]}
    if hasattr(value, "tolist"):
        inner = value.tolist()
        return json.dumps(inner) if isinstance(inner, list) else inner
    if isinstance(value, (set, frozenset)):
        return list(value)
    if hasattr(value, "__float__"):
        return str(value)
    kind = type(value).__name__
    raise TypeError(f"a value of type {kind} has no form in JSON: pass it as str, int or float")
