"""The asynchronous side of a GraphQL subscription.

A thread waits for changes, without the GIL, as long as somebody awaits a result: the event loop
continues meanwhile, and a commit never has to wait for it.
"""

from __future__ import annotations

import asyncio
from threading import Thread
from typing import Any, Protocol

from ._native import Subscription


class Waiting(Protocol):
    """A subscription, to a database or a cluster, as an asynchronous iterator."""

    @property
    def timeout(self) -> float | None:
        """The timeout for a result in seconds, or None."""

    def _wait(self) -> None: ...
    def _release(self) -> None: ...
    def _ask(self) -> dict[str, Any] | None: ...
    def _forget(self) -> None: ...


async def next_answer(subscription: Waiting) -> dict[str, Any]:
    """Return the next result, or raise StopAsyncIteration, or TimeoutError if none arrives."""
    async with asyncio.timeout(subscription.timeout):
        while True:
            await _change(subscription)
            # Not cancelled: a result that nobody receives would be lost.
            pending = asyncio.ensure_future(asyncio.to_thread(_answer, subscription))
            try:
                answer: dict[str, Any] | None = await asyncio.shield(pending)
            except asyncio.CancelledError:
                pending.add_done_callback(lambda _: subscription._forget())
                raise
            if answer is _END:
                raise StopAsyncIteration
            if answer is not None:
                return answer


async def enter(subscription: Subscription) -> Subscription:
    """Begin `async with`."""
    return subscription


async def leave(subscription: Subscription) -> None:
    """End `async with`."""
    subscription.close()


_END: Any = object()


def _answer(subscription: Waiting) -> Any:
    # A future can't hold StopAsyncIteration of a coroutine without turning it into RuntimeError.
    try:
        return subscription._ask()
    except StopAsyncIteration:
        return _END


async def _change(subscription: Waiting) -> None:
    loop = asyncio.get_running_loop()
    woken = loop.create_future()

    def wake() -> None:
        if not woken.done():
            woken.set_result(None)

    def wait() -> None:
        subscription._wait()
        if not loop.is_closed():
            loop.call_soon_threadsafe(wake)

    Thread(target=wait, daemon=True).start()
    try:
        await woken
    finally:
        subscription._release()
