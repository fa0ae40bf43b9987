"""Methods of `Txn` that are written in Python, and work that is tried again after a conflict."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .errors import ConflictError

if TYPE_CHECKING:
    from .cypher import CypherResult
    from .deleting import Deleted

FIRST_PAUSE = 0.001
"""Seconds that the first pause may last. Each one may last twice as long as the one before."""

LONGEST_PAUSE = 0.5
"""Seconds that any pause may last."""

T = TypeVar("T")


class TxnMethods:
    """What `attach` puts on `Txn`."""

    def delete(self, nodes: Any, variables: Any = None, *, timeout: float | None = None) -> Deleted:
        r"""Delete nodes with all their values and edges in the transaction; as `Database.delete`.

        A query and a root select from what the transaction sees. The commit raises ConflictError
        where others have meanwhile given one of the nodes a value or an edge, or an edge to it.
        Where it fails nothing is deleted, and the transaction goes on.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set='<1> <name> "Ada" .\n<2> <name> "Bob" .\n<2> <knows> <1> .')
        >>> with db.txn() as txn:
        ...     gone = txn.delete("0x1")
        ...     inside = txn.query("{ q(func: has(name)) { name } }").rows()
        ...     outside = db.query("{ q(func: has(name)) { name } }").rows()
        >>> gone, inside, outside
        (Deleted(nodes=1, values=1, edges=1), [('Bob',)], [('Ada',), ('Bob',)])
        """
        from .deleting import delete

        return delete(cast(Any, self), nodes, variables, timeout)

    def cypher(
        self, text: str, params: Any = None, *, timeout: float | None = None
    ) -> CypherResult:
        """Run a read-only query in openCypher on what the transaction sees; as `Database.cypher`.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> with db.txn() as txn:
        ...     _ = txn.mutate(set='<1> <name> "Ada" .')
        ...     inside = txn.cypher("MATCH (n) RETURN count(n)").rows()
        ...     outside = db.cypher("MATCH (n) RETURN count(n)").rows()
        >>> inside, outside
        ([(1,)], [(0,)])
        """
        from .cypher import cypher

        return cypher(cast(Any, self), text, params, timeout)


def run(db: Any, work: Callable[[Any], T], retries: int) -> T:
    """Call `work` in a transaction until it is committed, or `retries` are used up.

    `db` is a database or a connection to a cluster.
    """
    if retries < 0:
        raise ValueError(f"retries must not be negative, not {retries}")
    for tried in range(retries + 1):
        try:
            with db.txn() as txn:
                result = work(txn)
        except ConflictError:
            if tried == retries:
                raise
        else:
            return result
        # Those who met must not meet again: each waits for a time of its own.
        longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(tried, 30))
        time.sleep(random.uniform(0, longest))
    raise AssertionError("the last try returned or raised")
