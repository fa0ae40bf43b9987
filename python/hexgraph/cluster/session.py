"""What a connection and its transactions request of a cluster, and what they raise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import Error, ParseError, QueryError, ReadOnlyError, SchemaError
from . import lists, requests
from .answers import Result, SentQuery, Upsert
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
        """Send a query. Raises what the embedded database does where it refuses the query, too."""
        if lists.may_be_in(variables):
            # A cluster would read a list as a text where no list may be.
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
        """Run mutations. Raises what the embedded database does, as `answer`."""

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
        result = None
        if response.json:
            result = self._result(response, requests.query(dql, variables), dql, variables)
        return Upsert(dict(response.uids), result)

    def alter(self, operation: Any, run: Callable[[Any], object]) -> None:
        """Change the schema, or drop data."""
        try:
            self.channel.call("alter", operation)
        except grpc.RpcError as error:
            exception = self._exception(error, run)
            if type(exception) is QueryError:
                exception = SchemaError(exception.message)
            raise exception from None
        finally:
            self.mirror.forget()

    def check_writable(self) -> None:
        """Raise ReadOnlyError where it was opened to be read only."""
        if self.read_only:
            raise ReadOnlyError(READ_ONLY)

    def _result(
        self, response: Any, message: Any, dql: str, variables: dict[str, Any] | None
    ) -> Result:
        reported = response.latency
        latency = {"parsing": reported.parsing_ns / 1e9, "processing": reported.processing_ns / 1e9}

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

        return Result(response.json, latency, SentQuery(dql, variables, self.mirror, rdf))

    def _exception(self, error: Any, run: Callable[[Any], object]) -> Error:
        exception = faults.exception(error, str(self.address))
        if not faults.is_about_the_request(error) or not isinstance(exception, faults.ABOUT_TEXTS):
            return exception
        try:
            refusal = self.mirror.refusal(run)
        except Error:
            return exception
        if refusal is None and isinstance(exception, ParseError):
            # The text is well formed, so it is about what it requests.
            return QueryError(exception.message, exception.line, exception.column)
        return refusal or exception

    def _read_schema(self) -> dict[str, Any]:
        message = api.Request(query="schema {}", read_only=True)
        return requests.json_from(self.channel.request("query", message).json)
