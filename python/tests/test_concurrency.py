import multiprocessing
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

COUNT = "{ q(func: has(name)) { count(uid) } }"
STOP_SECONDS_MAX = 0.2


def count(db):
    return db.query(COUNT).to_dict()["q"][0]["count"]


def test_many_threads_use_one_handle(people):
    def work(number):
        people.mutate(set=f'<{100 + number}> <name> "N{number}" .')
        return count(people)

    with ThreadPoolExecutor(8) as threads:
        counts = list(threads.map(work, range(100)))
    assert max(counts) == count(people) == 103


def test_a_server_and_threads_at_once(people):
    with people.serve(port=0), ThreadPoolExecutor(4) as threads:
        assert set(threads.map(lambda _: count(people), range(50))) == {3}


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_the_handle_works_after_a_fork(people):
    count(people)
    people.load(b'<0x50> <name> "Before" .', progress=False)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()

    def child():
        queue.put(count(people))
        people.load(b'<0x51> <name> "Child" .', progress=False)
        people.alter("name: string @index(exact, trigram) @lang .")
        people.mutate(set='<0x52> <name> "Child" .')
        queue.put(count(people))

    process = context.Process(target=child)
    process.start()
    counts = [queue.get(timeout=30), queue.get(timeout=30)]
    process.join(30)
    assert process.exitcode == 0
    assert counts == [4, 6]
    assert count(people) == 4


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_forked_child_does_not_write_the_directory(tmp_path):
    import hexgraph

    with hexgraph.connect(tmp_path / "db") as db:
        db.load(b'<0x1> <name> "Ada" .', progress=False)
        context = multiprocessing.get_context("fork")
        queue = context.Queue()

        def child():
            try:
                db.mutate(set='<0x2> <name> "Child" .')
            except hexgraph.ReadOnlyError as error:
                queue.put((count(db), str(error)))
            db.close()

        process = context.Process(target=child)
        process.start()
        result, message = queue.get(timeout=30)
        process.join(30)
        assert (result, process.exitcode) == (1, 0)
        assert "forked child may only read" in message
        db.mutate(set='<0x2> <name> "Parent" .')
    with hexgraph.connect(tmp_path / "db", read_only=True) as db:
        assert count(db) == 2


# Each prepares, says so, and works until it is interrupted.
LONG_WORK = {
    "query": """
        import random
        random.seed(7)
        pairs = ((a, random.randrange(1, 3000)) for a in range(1, 3000) for _ in range(40))
        edges = (f"<{a}> <e> <{b}> .\\n" for a, b in pairs)
        db.load("".join(edges).encode(), schema="e: [uid] .", progress=False)
        block = "b%d(func: has(e)) { e { e { e { e { count(e) } } } } }"
        dql = "{" + " ".join(block % number for number in range(3000)) + "}"
        print("ready", flush=True)
        db.query(dql)
    """,
    "answer": """
        edges = (f"<{a}> <e> <{b}> .\\n" for a in range(1, 121) for b in range(1, 121))
        db.load("".join(edges).encode(), schema="e: [uid] .", progress=False)
        result = db.query("{ q(func: has(e)) { uid e { uid e { uid e { uid } } } } }")
        print("ready", flush=True)
        result.to_dict()
    """,
    "json": """
        edges = (f"<{a}> <e> <{b}> .\\n" for a in range(1, 121) for b in range(1, 121))
        db.load("".join(edges).encode(), schema="e: [uid] .", progress=False)
        result = db.query("{ q(func: has(e)) { uid e { uid e { uid e { uid } } } } }")
        print("ready", flush=True)
        result.json()
    """,
    "load": """
        import gzip
        lines = "".join(f'<{uid}> <name> "name number {uid}" .\\n' for uid in range(1, 200_000))
        data = gzip.compress(lines.encode() * 20, 1)
        schema = "name: string @index(exact, term, trigram, fulltext) ."
        print("ready", flush=True)
        db.load(data, schema=schema, progress=False)
    """,
    "alter": """
        import random
        vectors = (random.choices(range(100), k=128) for _ in range(15_000))
        lines = (f'<{uid}> <v> "{vector}" .\\n' for uid, vector in enumerate(vectors, 1))
        db.load("".join(lines).encode(), schema="v: float32vector .", progress=False)
        print("ready", flush=True)
        db.alter("v: float32vector @index(hnsw) .")
    """,
}

PROGRAM = """
import hexgraph
db = hexgraph.connect()
try:
{work}
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


def seconds_to_stop(work):
    program = PROGRAM.format(work=textwrap.indent(textwrap.dedent(work), "    "))
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        started = time.perf_counter()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "stopped\n"
        seconds = time.perf_counter() - started
        process.kill()
    return seconds


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ there")
@pytest.mark.parametrize("work", LONG_WORK.values(), ids=LONG_WORK)
def test_ctrl_c_stops_at_once(work):
    # A machine that is busy with other things may be slow once.
    best = min(seconds_to_stop(work) for _ in range(3))
    assert best < STOP_SECONDS_MAX
