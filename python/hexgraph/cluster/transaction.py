"""Transactions on a cluster."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any, Never, NoReturn, Self

from ..errors import ConflictError, Error, NotSupportedError, QueryError
from ..guesses import refuse_of_query
from . import requests
from .answers import Result, Upsert
from .changes import Changes, Upserting
from .session import Session
from .wire import faults
from .wire.channel import api, grpc

_ENDED = "Transaction has already been committed or discarded"
_READ_ONLY = "Readonly transaction cannot run mutations"
DELETE = "delete by an upsert: the edges to the nodes, then `uid(v) * * .`"
"""The alternative to `delete`, which a cluster can't do in one request."""

CYPHER = "a cluster has no Cypher; bring the data back: hexgraph import dgraph://... PATH"
"""The error of `cypher`."""

_FIRST = "{ q(func: uid(0x1)) { uid } }"
"""What a transaction sends to begin: it sees the snapshot of the answer."""


class Txn(Changes):
    """Several requests that read one snapshot and are committed as one; as `hexgraph.Txn`.

    A change that fails closes it: a part of the cluster may have applied it already. It may be used
    from several threads.
    """

    def __init__(self, session: Session, *, read_only: bool) -> None:
        self._session = session
        self._lock = threading.Lock()
        self._read_only = read_only
        self._is_open = True
        self._was_aborted = False
        self._has_changes = False
        self._context: Any = api.TxnContext()
        message = api.Request(query=_FIRST, read_only=read_only)
        self._merge(session.channel.request("query", message).txn)

    @property
    def is_open(self) -> bool:
        """Whether it is open: not committed, not discarded, not aborted."""
        return self._is_open

    @property
    def read_only(self) -> bool:
        """Whether it is read-only."""
        return self._read_only

    def query(
        self,
        dql: str,
        variables: dict[str, Any] | None = None,
        *,
        timeout: float | None = None,
        debug: bool = False,
        **other: Never,
    ) -> Result:
        """Answer a query from what the transaction sees."""
        refuse_of_query(other)
        self._check_open()
        message = requests.query(dql, variables, start=self._context.start_ts)
        message.read_only = self._read_only
        message.hash = self._context.hash
        return self._session.answer(message, dql, variables, timeout=timeout, debug=debug)

    def _mutate(self, arguments: dict[str, Any]) -> dict[str, str]:
        mutation = requests.mutation(**arguments)
        if mutation is None:
            return {}
        self._check_writable()
        response = self._change(
            api.Request(mutations=[mutation]), lambda txn: txn.mutate(**arguments), None
        )
        return dict(response.uids)

    def _upsert(self, given: Upserting) -> Upsert:
        dql, variables, arguments, messages, timeout = given
        if not messages:
            raise NotSupportedError(
                "a cluster accepts blocks `upsert { ... }` outside of transactions only: pass"
                " the query, and what is changed as set=... or delete=..."
            )
        self._check_writable()
        message = requests.query(dql, variables)
        message.mutations.extend(messages)
        response = self._change(
            message, lambda txn: txn.upsert(dql, variables, **arguments), timeout
        )
        return self._session.upserted(response, dql, variables)

    def cypher(self, *_given: object, **_named: object) -> NoReturn:
        """Raise NotSupportedError, which says what to do instead."""
        raise NotSupportedError(f"cypher: {CYPHER}")

    def delete(self, *_given: object, **_named: object) -> NoReturn:
        """Raise NotSupportedError, which says what to do instead."""
        raise NotSupportedError(f"delete: {DELETE}")

    def commit(self) -> None:
        """Make the changes visible to all. The transaction has ended then, also when it fails."""
        self._check_open()
        with self._lock:
            self._is_open = False
            context = self._context
        if self._has_changes:
            self._session.channel.request("commit_or_abort", context)
        else:
            self._abort()

    def discard(self) -> None:
        """Discard the changes. Does nothing if the transaction has ended."""
        if self._is_open:
            self._is_open = False
            self._abort()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, *exception: type[BaseException] | BaseException | TracebackType | None
    ) -> None:
        # An exception inside of `with` means that the work is incomplete.
        if exception[0] is None and self._is_open and not self._read_only:
            self.commit()
        else:
            self.discard()

    def __repr__(self) -> str:
        mode = "read-only" if self._read_only else "read-write"
        return f"<hexgraph.Txn: {mode}, {'open' if self._is_open else 'ended'}>"

    def _check_open(self) -> None:
        if self._was_aborted:
            raise ConflictError(faults.ABORTED)
        if not self._is_open:
            raise QueryError(_ENDED)

    def _check_writable(self) -> None:
        if self._read_only:
            raise QueryError(_READ_ONLY)
        self._session.check_writable()

    def _change(self, message: Any, mirrored: Any, timeout: float | None) -> Any:
        message.start_ts = self._context.start_ts
        message.hash = self._context.hash
        message.read_only = False
        self._has_changes = True
        try:
            response = self._session.change(message, mirrored, timeout)
        except Error as error:
            self._was_aborted = isinstance(error, ConflictError)
            self.discard()
            raise
        self._merge(response.txn)
        return response

    def _merge(self, context: Any) -> None:
        """Store the keys that a commit has to name."""
        with self._lock:
            self._context.start_ts = context.start_ts
            self._context.hash = context.hash
            self._context.keys.extend(context.keys)
            self._context.preds.extend(context.preds)

    def _abort(self) -> None:
        """Have the cluster discard the transaction; it does so itself after a while."""
        if self._read_only:
            return
        context = api.TxnContext()
        context.CopyFrom(self._context)
        context.aborted = True
        try:
            self._session.channel.call("commit_or_abort", context)
        except (grpc.RpcError, Error):
            return
