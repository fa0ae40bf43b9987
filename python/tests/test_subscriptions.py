"""GraphQL subscriptions as iterators."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import hexgraph

pytestmark = pytest.mark.shared

SCHEMA = "type Film @withSubscription { id: ID! title: String! @search(by: [hash]) }"
COUNT = "subscription { aggregateFilm { count } }"
NAMED = "subscription Named($t: String) { queryFilm(filter: {title: {eq: $t}}) { title } }"


@pytest.fixture
def films(db):
    db.graphql_schema(SCHEMA)
    return db


def add(db, title="M"):
    text = "mutation($t: String!) { addFilm(input: [{title: $t}]) { numUids } }"
    assert "errors" not in db.graphql(text, {"t": title})


def count(answer):
    return answer["data"]["aggregateFilm"]["count"]


def until(answers, expected):
    """Read answers up to the one with a count: over a network there may be some in between."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            result = count(next(answers))
        except TimeoutError:
            continue
        assert result <= expected
        if result == expected:
            return
    raise AssertionError(f"no answer has the count {expected}")


def test_an_answer_comes_at_once_and_whenever_it_changes(films):
    with films.graphql_subscribe(COUNT, timeout=20) as answers:
        assert iter(answers) is answers
        assert count(next(answers)) == 0
        add(films)
        add(films)
        until(answers, 2)
        films.mutate(set='<0x5> <other> "x" .')
        threading.Timer(0.05, add, [films]).start()
        until(answers, 3)


def test_variables_and_operations(films):
    both = f"query Other {{ queryFilm {{ title }} }} {NAMED}"
    answers = films.graphql_subscribe(both, {"t": "M"}, operation="Named", timeout=20)
    assert next(answers) == {"data": {"queryFilm": []}}
    add(films, "Playtime")
    add(films, "M")
    assert next(answers) == {"data": {"queryFilm": [{"title": "M"}]}}
    with pytest.raises(hexgraph.QueryError, match="is not a subscription"):
        films.graphql_subscribe(both, operation="Other")
    with pytest.raises(hexgraph.QueryError, match='Cannot query field "year"'):
        films.graphql_subscribe("subscription { queryFilm { year } }")


def test_who_waits_too_long_may_wait_again(films):
    answers = films.graphql_subscribe(COUNT, timeout=0.1)
    assert answers.timeout == 0.1
    assert count(next(answers)) == 0
    for _ in range(2):
        started = time.monotonic()
        with pytest.raises(TimeoutError):
            next(answers)
        assert 0.09 < time.monotonic() - started < 10
    add(films)
    until(answers, 1)


def test_who_waits_for_ever_says_so_in_any_number(films):
    for timeout in (1e10, 1.5e19):
        with films.graphql_subscribe(COUNT, timeout=timeout) as answers:
            assert count(next(answers)) == 0
            threading.Timer(0.2, add, [films]).start()
            until(answers, 1)
        films.drop("data")
        films.graphql_schema(SCHEMA)
        report = films.graphql("{ queryFilm { title } }", timeout=timeout)
        assert report == {"data": {"queryFilm": []}}
        assert list(films.query("{ q(func: has(nothing)) { uid } }", timeout=timeout)) == []


def test_it_stops_with_the_schema_the_database_and_when_it_is_closed(films):
    subscribers = [films.graphql_subscribe(COUNT, timeout=20) for _ in range(2)]
    for answers in subscribers:
        next(answers)
    threading.Timer(0.05, subscribers[0].close).start()
    assert list(subscribers[0]) == []
    threading.Timer(0.05, films.graphql_schema, [SCHEMA + " type Other { name: String }"]).start()
    assert list(subscribers[1]) == []
    answers = films.graphql_subscribe(COUNT, timeout=20)
    next(answers)
    threading.Timer(0.05, films.close).start()
    assert list(answers) == []
    assert list(answers) == []


def test_others_run_while_one_waits(films):
    heard = []
    answers = films.graphql_subscribe(COUNT, timeout=20)
    listener = threading.Thread(target=lambda: heard.extend(answers))
    listener.start()
    for number in range(100):
        add(films, str(number))
    while not heard or count(heard[-1]) < 100:
        time.sleep(0.01)
    answers.close()
    listener.join(20)
    assert not listener.is_alive()
    counts = [count(answer) for answer in heard]
    assert counts == sorted(set(counts))


def test_asynchronous(films):
    async def listen(number, seen):
        async with films.graphql_subscribe(COUNT, timeout=20) as answers:
            async for answer in answers:
                seen.append(count(answer))
                if seen[-1] == 3:
                    break
        return number

    async def run():
        seen = [[] for _ in range(20)]
        tasks = [asyncio.create_task(listen(number, seen[number])) for number in range(20)]
        while any(not counts for counts in seen):
            await asyncio.sleep(0.01)
        for _ in range(3):
            await asyncio.to_thread(add, films)
        assert await asyncio.gather(*tasks) == list(range(20))
        assert all(counts[0] == 0 and counts[-1] == 3 for counts in seen)

    asyncio.run(run())


def test_asynchronous_waiting_may_be_cut_off(films):
    async def run():
        answers = films.graphql_subscribe(COUNT)
        assert count(await anext(answers)) == 0
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(answers), 0.05)
        with pytest.raises(TimeoutError):
            await anext(films.graphql_subscribe(COUNT, timeout=0.0001))
        add(films)
        assert count(await anext(answers)) == 1
        waiting = asyncio.ensure_future(anext(answers, None))
        await asyncio.sleep(0.05)
        answers.close()
        assert await asyncio.wait_for(waiting, 20) is None

    before = threading.active_count()
    asyncio.run(run())
    end = time.monotonic() + 20
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert threading.active_count() <= before


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_control_c_works_while_it_waits():
    script = f"""
import hexgraph
db = hexgraph.connect()
db.graphql_schema({SCHEMA!r})
answers = db.graphql_subscribe({COUNT!r})
next(answers)
print("waits", flush=True)
try:
    next(answers)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "waits\n"
        time.sleep(0.1)
        os.kill(process.pid, signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert process.wait(20) == 0


def test_a_waiting_thread_does_not_delay_the_exit():
    script = f"""
import threading, time, hexgraph
db = hexgraph.connect()
db.graphql_schema({SCHEMA!r})
answers = db.graphql_subscribe({COUNT!r})
threading.Thread(target=list, args=[answers], daemon=True).start()
time.sleep(0.1)
"""
    assert subprocess.run([sys.executable, "-c", script], timeout=60, check=False).returncode == 0
