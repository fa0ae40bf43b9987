"""Subscriptions over WebSocket, in the protocol `graphql-ws` that Dgraph speaks."""

from __future__ import annotations

import json
import threading
import time
import weakref
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self

from ... import subscriptions
from ...errors import Error, QueryError, StorageError
from .faults import of_text

PROTOCOL = "graphql-ws"
BEGIN_SECONDS = 30.0
"""The timeout for the cluster to begin a subscription."""
_BYTES_MAX = 1 << 28
"""The longest answer."""


class Subscription:
    """The answers to a GraphQL subscription: one at once and one whenever the answer changes.

    As `hexgraph.Subscription`. Of answers that come faster than they are read the newest counts.
    One that nobody holds any more is closed.
    """

    def __init__(
        self, url: str, request: dict[str, Any], headers: dict[str, str], *, timeout: float | None
    ) -> None:
        self.timeout = timeout
        """The seconds that an answer is waited for, or None."""
        self._feed = feed = _Feed(_connect(url, headers))
        # Neither the thread nor this holds the subscription.
        weakref.finalize(self, feed.close)
        try:
            feed.begin(request, headers)
        except BaseException:
            feed.close()
            raise
        threading.Thread(target=feed.listen, daemon=True).start()

    def close(self) -> None:
        """Close it; threads that wait for a result are woken."""
        self._feed.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> dict[str, Any]:
        return self._feed.next(self.timeout)

    def __aiter__(self) -> Self:
        return self

    def __anext__(self) -> Coroutine[Any, Any, dict[str, Any]]:
        return subscriptions.next_answer(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, *_exception: type[BaseException] | BaseException | TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, *_exception: type[BaseException] | BaseException | TracebackType | None
    ) -> None:
        self.close()

    def _wait(self) -> None:
        self._feed.wait()

    def _release(self) -> None:
        self._feed.release()

    def _ask(self) -> dict[str, Any] | None:
        return self._feed.poll()

    def _forget(self) -> None:
        self._feed.forget()


class _Feed:
    """A connection, and the newest answer that came over it and that is not yet read."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self._changed = threading.Condition()
        self._news: dict[str, Any] | None = None
        self._last: dict[str, Any] | None = None
        self._is_over = False
        self._releases = 0

    def begin(self, request: dict[str, Any], headers: dict[str, str]) -> None:
        """Send the request, and wait for the first answer. Raises what refuses the request."""
        self._send({"type": "connection_init", "payload": headers})
        self._send({"id": "1", "type": "start", "payload": request})
        end = time.monotonic() + BEGIN_SECONDS
        while True:
            message = self._receive(max(0.0, end - time.monotonic()))
            payload = message.get("payload") or {}
            kind = message.get("type")
            if kind in ("error", "connection_error"):
                raise of_text(_messages(payload))
            if kind == "complete":
                raise QueryError("the cluster ended the subscription before its first answer")
            if kind == "data":
                if payload.get("data") is None and payload.get("errors"):
                    raise of_text(_messages(payload))
                self._put(payload)
                return

    def listen(self) -> None:
        """Receive answers until the end. An answer with the same data as before is skipped."""
        before = self._last or self._news
        try:
            while True:
                message = self._receive(None)
                if message.get("type") in ("complete", "error", "connection_error"):
                    return
                if message.get("type") == "data":
                    payload = message.get("payload") or {}
                    if payload.get("data") != (before or {}).get("data"):
                        self._put(payload)
                    before = payload
        except Error:
            return
        finally:
            self._end()

    def next(self, timeout: float | None) -> dict[str, Any]:
        """Wait for the next answer."""
        end = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            while True:
                if self._is_over:
                    raise StopIteration
                answer = self._pop()
                if answer is not None:
                    return answer
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0:
                    raise TimeoutError("nothing has changed in time")
                self._changed.wait(None if left is None else min(left, threading.TIMEOUT_MAX))

    def close(self) -> None:
        """End it."""
        self._end()
        self._socket.close()

    def wait(self) -> None:
        """Wait until there is a result, until the end, or until `release`."""
        with self._changed:
            before = self._releases
            self._changed.wait_for(
                lambda: self._news is not None or self._is_over or self._releases != before
            )

    def release(self) -> None:
        """Have all threads return from `wait`."""
        with self._changed:
            self._releases += 1
            self._changed.notify_all()

    def poll(self) -> dict[str, Any] | None:
        """Return the answer if there is another one; raise StopAsyncIteration at the end."""
        with self._changed:
            if self._is_over:
                raise StopAsyncIteration
            return self._pop()

    def forget(self) -> None:
        """Return the last answer for one that nobody has seen."""
        with self._changed:
            self._news = self._news or self._last
            self._changed.notify_all()

    def _pop(self) -> dict[str, Any] | None:
        answer, self._news = self._news, None
        self._last = answer or self._last
        return answer

    def _put(self, payload: dict[str, Any]) -> None:
        answer = {key: payload[key] for key in ("errors", "data") if payload.get(key) is not None}
        with self._changed:
            self._news = answer
            self._changed.notify_all()

    def _end(self) -> None:
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self._socket.send(json.dumps(message))
        except Exception as error:
            raise StorageError(f"the cluster closed the connection: {error}") from None

    def _receive(self, timeout: float | None) -> dict[str, Any]:
        try:
            message: dict[str, Any] = json.loads(self._socket.recv(timeout))
        except TimeoutError:
            raise StorageError("the cluster does not begin the subscription") from None
        except Exception as error:
            raise StorageError(f"the cluster closed the connection: {error}") from None
        return message


def _connect(url: str, headers: dict[str, str]) -> Any:
    try:
        from websockets.sync import client
        from websockets.typing import Subprotocol
    except ImportError as error:
        raise Error(
            "a subscription on a cluster needs websockets: pip install 'hexgraph[dgraph]'"
        ) from error
    try:
        connecting = client.connect(
            url,
            subprotocols=[Subprotocol(PROTOCOL)],
            additional_headers=headers,
            open_timeout=BEGIN_SECONDS,
            max_size=_BYTES_MAX,
        )
        # Its newer versions hand out the connection only so. `close` closes it.
        return connecting.__enter__()
    except Exception as error:
        raise StorageError(f"{url} can't be reached: {error}") from None


def _messages(payload: Any) -> str:
    errors = payload.get("errors", [payload]) if isinstance(payload, dict) else payload
    return "; ".join(str(error.get("message", error)) for error in errors)
