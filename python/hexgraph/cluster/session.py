"""What a connection and its transactions ask of a cluster, and what they raise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import Error, ParseError, QueryError, ReadOnlyError, SchemaError
from . import lists, requests
from .answers import Asked, Result, Upsert
from .mirror import Mirror
from .wire import faults
from .wire.address import Address
from .wire.channel import Channel, api, grpc

READ_ONLY = "the connection is read-only: open it without read_only to change something"


class Session:
    """The calls to a cluster. Raises what the embedded database raises for the same request."""

    def __init__(self, address: Address, *, read_only: bool) -> None:
        self.address = address
        self.read_only = read_only
        self.channel = Channel(address)
        """The calls over gRPC."""
        self.mirror = Mirror(self._read_schema)

    def answer(
        self,
        message: Any,
        dql: str,
        variables: dict[str, Any] | None,
        *,
        timeout: float | None,
        debug: bool,
    ) -> Result:
        """Ask a query. Raises what the embedded database does where it refuses the query, too."""
        if lists.may_be_in(variables):
            # A cluster would take a list for a text where no list may be.
            refusal = self.mirror.parse_fault(dql, variables)
            if refusal is not None:
                raise refusal
        try:
            response = self.channel.call("query", message, timeout=timeout, debug=debug)
        except grpc.RpcError as error:
            raise self._exception(error, lambda db: db.query(dql, variables)) from None
        return self._result(response, message, dql, variables)

    def change(
        self,
        message: Any,
        mirrored: Callable[[Any], object],
        timeout: float | None,
        *,
        method: str = "query",
    ) -> Any:
        """Carry out mutations. Raises what the embedded database does, as `answer`."""

        def refuse(db: Any) -> None:
            txn = db.txn()
            try:
                mirrored(txn)
            finally:
                txn.discard()

        try:
            return self.channel.call(method, message, timeout=timeout)
        except grpc.RpcError as error:
            raise self._exception(error, refuse) from None

    def upserted(self, response: Any, dql: str, variables: dict[str, Any] | None) -> Upsert:
        """Return what an upsert did."""
        found = None
        if response.json:
            found = self._result(response, requests.query(dql, variables), dql, variables)
        return Upsert(dict(response.uids), found)

    def alter(self, operation: Any, ask: Callable[[Any], object]) -> None:
        """Change the schema, or drop data."""
        try:
            self.channel.call("alter", operation)
        except grpc.RpcError as error:
            found = self._exception(error, ask)
            if type(found) is QueryError:
                found = SchemaError(found.message)
            raise found from None
        finally:
            self.mirror.forget()

    def check_writable(self) -> None:
        """Raise ReadOnlyError where it was opened to be read only."""
        if self.read_only:
            raise ReadOnlyError(READ_ONLY)

    def _result(
        self, response: Any, message: Any, dql: str, variables: dict[str, Any] | None
    ) -> Result:
        told = response.latency
        latency = {"parsing": told.parsing_ns / 1e9, "processing": told.processing_ns / 1e9}

        def rdf() -> str:
            again = api.Request()
            again.CopyFrom(message)
            again.ClearField("mutations")
            again.start_ts = response.txn.start_ts
            again.resp_format = api.Request.RespFormat.RDF
            try:
                text: bytes = self.channel.call("query", again).rdf
            except grpc.RpcError as error:
                raise self._exception(error, lambda db: db.query(dql, variables).to_rdf()) from None
            return text.decode()

        return Result(response.json, latency, Asked(dql, variables, self.mirror, rdf))

    def _exception(self, error: Any, ask: Callable[[Any], object]) -> Error:
        told = faults.exception(error, str(self.address))
        if not faults.is_about_the_request(error) or not isinstance(told, faults.ABOUT_TEXTS):
            return told
        try:
            known = self.mirror.refusal(ask)
        except Error:
            return told
        if known is None and isinstance(told, ParseError):
            # The text is well formed, so it is about what it requests.
            return QueryError(told.message, told.line, told.column)
        return known or told

    def _read_schema(self) -> dict[str, Any]:
        message = api.Request(query="schema {}", read_only=True)
        return requests.json_from(self.channel.ask("query", message).json)
