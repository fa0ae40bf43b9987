"""The answers to many questions, one after the other."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self

from ..errors import QueryError
from .answers import Result

_ENDED = object()


class Answers:
    """An iterator of results, one for each row of arguments, in their order.

    `at_once` questions run or have an answer that is not yet read. `close`, or the end of `with`,
    lets go of those that have not begun, and waits for the others.
    """

    def __init__(
        self,
        run: Callable[[Any, int], Result],
        rows: Iterator[Any],
        at_once: int,
        done: Callable[[], None],
    ) -> None:
        self._run = run
        self._rows = rows
        self._at_once = at_once
        self._done = done
        self._count = 0
        self._delivered = 0
        self._process = os.getpid()
        self._pool = ThreadPoolExecutor(at_once)
        self._pending: deque[Future[Result]] = deque()
        self._failure: Exception | None = None
        self._is_closed = False

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Result:
        if self._process != os.getpid():
            raise QueryError("these answers belong to the parent process: query again here")
        self._read_on()
        if self._pending:
            self._delivered += 1
            try:
                return self._pending.popleft().result()
            except TypeError:
                # A row that can't be read is the last one.
                self.close()
                raise
        failure, self._failure = self._failure, None
        self.close()
        if failure is not None:
            raise failure
        raise StopIteration

    def close(self) -> None:
        """Let go of what has not begun. There are no more answers then."""
        if not self._is_closed:
            self._is_closed = True
            self._pending.clear()
            self._pool.shutdown(cancel_futures=True)
            self._done()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def _reads_more(self) -> bool:
        """Whether another row is read: few before the first answers, which a slow source delays."""
        if self._is_closed or self._failure is not None:
            return False
        return len(self._pending) < self._at_once and self._count < 2 * (self._delivered + 1)

    def _read_on(self) -> None:
        while self._reads_more():
            try:
                row = next(self._rows, _ENDED)
            except Exception as error:
                self._failure = error
                return
            if row is _ENDED:
                return
            self._pending.append(self._pool.submit(self._run, row, self._count))
            self._count += 1
