"""Calls concurrent with other tasks of asyncio."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import hexgraph


async def ticks(seconds):
    """Count how often the event loop comes round."""
    count, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        await asyncio.sleep(0.005)
        count += 1
    return count


def test_queries_and_changes_are_awaited(people):
    async def main():
        await people.amutate(set='<0x9> <name> "Zoe" .')
        both = await asyncio.gather(
            people.aquery("{ q(func: uid(9)) { name } }"),
            people.aquery("query q($n: int) { q(func: eq(born, $n)) { name } }", {"n": 1815}),
        )
        return [answer.rows() for answer in both]

    assert asyncio.run(main()) == [[("Zoe",)], [("Ada",)]]
    with pytest.raises(hexgraph.ParseError):
        asyncio.run(people.aquery("{ q(func: "))
    with pytest.raises(hexgraph.LimitError):
        asyncio.run(people.aquery("{ q(func: has(name)) { name } }", timeout=0))


def test_a_cancelled_task_stops_the_engine(dense, long_query):
    async def main():
        task = asyncio.create_task(dense.aquery(long_query))
        count = await ticks(0.3)
        is_done = task.done()
        assert not is_done, "the query is too short for this test"
        task.cancel()
        started = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await task
        return count, started

    count, started = asyncio.run(main())
    assert count > 10, "the event loop stood still"
    # The threads that work for tasks are free again: a thread that goes on holds the process up.
    from hexgraph import tasks

    pool = tasks._pools.popitem()[1]
    pool.shutdown(wait=True)
    assert time.monotonic() - started < 1.0


def test_a_query_that_waits_for_a_slot_is_cancelled(dense, long_query, monkeypatch):
    from hexgraph import tasks

    pool = ThreadPoolExecutor(1)
    monkeypatch.setattr(tasks, "_pool", lambda: pool)

    async def main():
        first = asyncio.create_task(dense.aquery(long_query))
        second = asyncio.create_task(dense.aquery("{ q(func: uid(1)) { uid } }"))
        await asyncio.sleep(0.1)
        first.cancel()
        return (await second).rows()

    assert asyncio.run(main()) == [("0x1",)]
    pool.shutdown(wait=True)


def test_graphql_is_awaited(db):
    db.graphql_schema("type Film { id: ID! title: String! }")
    add = 'mutation { addFilm(input: [{title: "M"}]) { numUids } }'
    assert asyncio.run(db.agraphql(add)) == {"data": {"addFilm": {"numUids": 1}}}


def test_a_change_that_nobody_waits_for_is_not_made():
    """It was made seconds after the error, so who tried again made it twice."""
    with hexgraph.connect() as db:
        many = 500_000
        lines = "".join(f'<{uid}> <n> "{uid}" .\n' for uid in range(1, many))
        db.load(lines.encode(), schema="n: int @index(int) .", progress=False)
        with pytest.raises(hexgraph.LimitError):
            db.upsert("{ v as var(func: has(n)) }", delete="uid(v) <n> * .", timeout=0.01)

        async def main():
            async with asyncio.timeout(0.01):
                await db.aupsert("{ v as var(func: has(n)) }", delete="uid(v) <n> * .")

        with pytest.raises(TimeoutError):
            asyncio.run(main())
        time.sleep(1)
        assert db.query("{ q(func: has(n)) { count(uid) } }").rows() == [(many - 1,)]
