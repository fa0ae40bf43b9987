"""Calls as coroutines: each runs on a thread, and is cancelled with its task."""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ._native import Cancel

T = TypeVar("T")

THREADS = 32
"""The maximum number of concurrent calls; others wait."""

_pools: dict[int, ThreadPoolExecutor] = {}
"""The threads of this process, by its number: a fork has none of them."""


def _pool() -> ThreadPoolExecutor:
    pool = _pools.get(os.getpid())
    if pool is None:
        pool = _pools[os.getpid()] = ThreadPoolExecutor(THREADS, "hexgraph")
    return pool


async def call(function: Callable[..., T], *arguments: object, **named: object) -> T:
    """Call a method of a database on a thread, and await it.

    Cancelling a task returns at once; the engine stops within about 50 ms. Earlier commits stay.
    """
    cancel = Cancel()
    work = functools.partial(cancel.run, function, *arguments, **named)
    future = asyncio.get_running_loop().run_in_executor(_pool(), work)
    try:
        return await future
    except asyncio.CancelledError:
        cancel.cancel()
        raise
