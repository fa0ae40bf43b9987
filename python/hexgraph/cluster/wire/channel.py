"""Calls to a cluster over gRPC, by pydgraph."""

from __future__ import annotations

import base64
import json
import math
import time
from typing import Any

from ...errors import ClosedError, Error
from . import faults
from .address import Address

try:
    import grpc
    import pydgraph
    from pydgraph import util
    from pydgraph.proto import api_pb2 as api
except ImportError as error:  # pragma: no cover - an environment without the extra
    raise Error(
        "a connection to a cluster needs pydgraph: pip install 'hexgraph[dgraph]'"
    ) from error

__all__ = ["Channel", "api", "grpc", "seconds"]

LOGIN_SECONDS = 30.0

SECONDS_MAX = 1e9
"""Thirty years, which nobody waits. gRPC has times as nanoseconds since 1970, in 64 bits: a
longer timeout would be over before it begins."""

RENEWAL_SECONDS = 5.0
"""How long before its end a login is renewed."""

# Answers and mutations may be as long as the server lets them be; by itself gRPC takes 4 MiB.
_OPTIONS = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


class Channel:
    """A connection to one address. It may be used from several threads.

    A login that has run out is renewed by its refresh token, once for each call.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self._metadata = _metadata(address)
        self._stub: Any = pydgraph.DgraphClientStub(
            address.target, _credentials(address), list(_OPTIONS)
        )
        self._client: Any = pydgraph.DgraphClient(self._stub)
        self._closed = False
        if address.user:
            self._log_in()

    def call(
        self, method: str, message: Any, *, timeout: float | None = None, debug: bool = False
    ) -> Any:
        """Call a method of pydgraph's stub.

        Raises grpc.RpcError for what the cluster refuses; LimitError after `timeout`; ClosedError
        after `close`.
        """
        if self._closed:
            raise ClosedError("the database is closed")
        timeout = seconds(timeout)
        more = [*self._metadata, ("debug", "true")] if debug else self._metadata

        def call() -> Any:
            metadata = self._client.add_login_metadata(more)
            return getattr(self._stub, method)(message, timeout=timeout, metadata=metadata)

        try:
            return call()
        except grpc.RpcError as error:
            if timeout is not None and error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                raise faults.timed_out(timeout) from None
            if not util.is_jwt_expired(error) or not self.address.user:
                raise
        self._renew()
        return call()

    def request(self, method: str, message: Any, **options: Any) -> Any:
        """Call a method. Raises the exception for what the cluster refuses."""
        try:
            return self.call(method, message, **options)
        except grpc.RpcError as error:
            raise faults.exception(error, str(self.address)) from None

    def access_token(self) -> str | None:
        """Return the token of the login, which HTTP requires as well.

        One that is about to run out is renewed before: of a GraphQL mutation that is refused in the
        middle nobody could say whether it may be sent again.
        """
        token = self._token()
        if token is not None and _expires(token) < time.time() + RENEWAL_SECONDS:
            self._renew()
            token = self._token()
        return token

    def close(self) -> None:
        """End all calls."""
        if not self._closed:
            self._closed = True
            self._stub.close()

    def _token(self) -> str | None:
        return dict(self._client.add_login_metadata(None)).get("accessjwt")

    def _renew(self) -> None:
        try:
            self._client.retry_login(timeout=LOGIN_SECONDS)
        except (grpc.RpcError, ValueError):
            # The refresh token has run out as well.
            self._log_in()

    def _log_in(self) -> None:
        user, password = self.address.user, self.address.password
        try:
            self._client.login_into_namespace(
                user, password, self.address.namespace, timeout=LOGIN_SECONDS
            )
        except grpc.RpcError as error:
            # Its arguments are no part of an error of gRPC, so no secret is reported.
            raise faults.exception(error, str(self.address)) from None


def seconds(timeout: float | None) -> float | None:
    """Return a timeout as gRPC takes it. Raises ValueError for what is no time."""
    if timeout is None:
        return None
    if not 0 <= timeout < math.inf:
        shown = "NaN" if timeout != timeout else timeout  # noqa: PLR0124 - only NaN differs
        raise ValueError(f"a timeout is a number of seconds from 0 on, not {shown}")
    if timeout == 0:
        # It is over before it begins. To gRPC it would be no timeout.
        raise faults.timed_out(timeout)
    return min(timeout, SECONDS_MAX)


def _expires(token: str) -> float:
    """Return when a token runs out, in seconds since 1970; never, where it does not say so."""
    try:
        body = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        return float(claims["exp"])
    except (IndexError, KeyError, TypeError, ValueError):
        return math.inf


def _metadata(address: Address) -> list[tuple[str, str]]:
    named = {"x-auth-token": address.key, "auth-token": address.auth_token}
    return [(name, value) for name, value in named.items() if value]


def _credentials(address: Address) -> Any:
    if not address.encrypted:
        return None
    channel = grpc.ssl_channel_credentials()
    header = address.authorization
    if header is None:
        return channel
    # Any function does; its class is for those who want one.
    sign: Any = lambda _context, callback: callback((("authorization", header),), None)  # noqa: E731
    call = grpc.metadata_call_credentials(sign)
    return grpc.composite_channel_credentials(channel, call)
