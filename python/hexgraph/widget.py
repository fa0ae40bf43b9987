"""Pictures of graphs: `GraphView` of a result or a database, `degrees` of a predicate.

>>> import hexgraph
>>> from hexgraph import widget
>>> db = hexgraph.datasets.words()
>>> widget.GraphView(db, nodes=50)
<hexgraph.GraphView: 50 of 3,445 nodes, 36 edges>
"""

from __future__ import annotations

from typing import Any

from .pictures.degrees import degree_counts, degrees_svg
from .pictures.drawing import Picture
from .pictures.view import GraphView

__all__ = ["GraphView", "Picture", "degrees"]


def degrees(db: Any, predicate: str) -> Picture:
    """Return a picture of how many nodes have how many edges of a predicate.

    Both axes go by powers; each bar spans degrees up to twice the least one. `~name` counts the
    edges back, where the predicate has `@reverse`. Costs a pass over the nodes that have some.

    >>> import hexgraph
    >>> db = hexgraph.datasets.social(1000, seed=1)
    >>> hexgraph.widget.degrees(db, "~follows").save("/dev/null")

    Raises SchemaError for a predicate that there is not, or that has values or no edges back.
    """
    return Picture(degrees_svg(degree_counts(db, predicate), predicate))
