"""A Dgraph cluster with the interface of the embedded database.

`hexgraph.connect("dgraph://host:9080")` imports this. The parts, in the order in which a request
passes through them: `connection` and `transaction` (the methods), `requests`, `lists` and `paging`
(arguments as messages), `wire` (address, gRPC, HTTP, statuses as exceptions), `mirror` and `schema`
(what the embedded engine knows of a request without data), `answers` (what comes back). `importing`
brings all data back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .connection import Cluster

__all__ = ["Cluster"]


def __getattr__(name: str) -> Any:
    """Import the connection when it is requested: the folder of an export needs no pydgraph."""
    if name == "Cluster":
        from .connection import Cluster

        return Cluster
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
