"""A cluster of Dgraph behind the interface of the embedded database.

`hexgraph.connect("dgraph://host:9080")` imports this. The pieces, in the order in which a request
passes through them: `connection` and `transaction` (the methods), `requests`, `lists` and `paging`
(arguments as messages), `wire` (address, gRPC, HTTP, statuses as exceptions), `mirror` and `schema`
(what the embedded engine knows of a request without data), `answers` (what comes back). `importing`
brings all data back.
"""

from .connection import Cluster

__all__ = ["Cluster"]
