"""Work that is tried again after a conflict."""

import random
import time
from collections.abc import Callable
from typing import Any, TypeVar

from .errors import ConflictError

FIRST_PAUSE = 0.001
"""Seconds that the first pause may last. Each one may last twice as long as the one before."""

LONGEST_PAUSE = 0.5
"""Seconds that any pause may last."""

T = TypeVar("T")


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
