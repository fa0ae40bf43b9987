"""`connect` more than once: handles of one database, and the lock between processes."""

import gc
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import hexgraph

QUERY = "{ q(func: has(name), orderasc: name) { name } }"


def names(db: hexgraph.Database) -> list[str]:
    return [name for (name,) in db.query(QUERY).rows()] if db.stats()["nodes"] else []


def add(db: hexgraph.Database, name: str) -> None:
    db.mutate(set_json={"name": name})


def run(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_cell_that_is_run_twice(tmp_path: Path) -> None:
    scope: dict[str, Any] = {"hexgraph": hexgraph, "path": tmp_path / "db", "add": add}
    cell = "db = hexgraph.connect(path)\nadd(db, 'Ada')"
    exec(cell, scope)
    exec(cell, scope)
    assert names(scope["db"]) == ["Ada", "Ada"]
    scope["db"].close()
    assert names(hexgraph.connect(tmp_path / "db", read_only=True)) == ["Ada", "Ada"]


def test_a_database_is_closed_with_its_last_handle(tmp_path: Path) -> None:
    path = tmp_path / "db"
    one, other, third = (hexgraph.connect(path) for _ in range(3))
    add(one, "Ada")
    txn = one.txn()
    txn.mutate(set_json={"name": "lost"})
    one.close()
    one.close()
    assert names(other) == ["Ada"]
    for call in (one.stats, one.checkpoint, one.schema, one.txn, one.namespaces, txn.commit):
        with pytest.raises(hexgraph.ClosedError):
            call()
    with pytest.raises(hexgraph.ClosedError):
        one.query(QUERY)
    with pytest.raises(hexgraph.ClosedError):
        add(one, "Eve")
    add(other, "Bob")
    assert names(third) == ["Ada", "Bob"]
    # One is dropped, and the other one the last.
    del other
    gc.collect()
    assert "open for writing already" in run(OPEN, path).stderr
    third.close()
    assert run(OPEN, path).returncode == 0
    with hexgraph.connect(path, threads=3) as again:
        assert names(again) == ["Ada", "Bob"]


def test_a_dropped_handle_closes_as_a_closed_one(tmp_path: Path) -> None:
    path = tmp_path / "db"
    one, other = hexgraph.connect(path), hexgraph.connect(path)
    add(one, "Ada")
    del one
    gc.collect()
    add(other, "Bob")
    del other
    gc.collect()
    assert run(OPEN, path).returncode == 0


@pytest.mark.parametrize(
    ("settings", "own", "other"),
    [
        ({"threads": 2}, "threads=0", "threads=2"),
        ({"memory": "1GiB"}, "memory=None", "memory=1073741824"),
        ({"sync": "every=1s"}, "sync=always", "sync=every=1s"),
        ({"checkpoint": "1MiB"}, "checkpoint=67108864", "checkpoint=1048576"),
        ({"fold": "manual"}, "fold=auto", "fold=manual"),
        ({"map": False}, "map=true", "map=false"),
        ({"txn_timeout": 7.5}, "txn_timeout=300", "txn_timeout=7.5"),
        ({"limits": {"edges": 5}}, "limit edges=1000000", "limit edges=5"),
        ({"threads": 2, "sync": "never"}, "threads=0, sync=always", "threads=2, sync=never"),
    ],
)
def test_other_settings_are_refused(
    tmp_path: Path, settings: dict[str, Any], own: str, other: str
) -> None:
    path = tmp_path / "db"
    with hexgraph.connect(path) as db:
        with pytest.raises(hexgraph.StorageError) as caught:
            hexgraph.connect(path, **settings)
        assert f"open with {own}, and here {other}: connect with the same" in str(caught.value)
        add(db, "Ada")
    with hexgraph.connect(path, **settings) as db:
        # A setting that is written otherwise is the same.
        assert names(hexgraph.connect(path, **settings)) == ["Ada"]


def test_the_same_setting_in_other_words(tmp_path: Path) -> None:
    path = tmp_path / "db"
    with hexgraph.connect(path, memory="1GiB", checkpoint="64MiB") as db:
        add(db, "Ada")
        again = hexgraph.connect(path, memory=1 << 30, checkpoint=64 << 20, strict=True)
        assert names(again) == ["Ada"]
        with pytest.raises(hexgraph.QueryError, match="nmae"):
            again.query("{ q(func: has(nmae)) { uid } }")
        db.query("{ q(func: has(nmae)) { uid } }")


def test_other_paths_of_the_same_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "below").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "db")
    (tmp_path / "above").symlink_to(tmp_path)
    with hexgraph.connect("db") as db:
        add(db, "Ada")
        for path in (
            tmp_path / "db",
            "./db",
            "db/",
            "below/../db",
            "link",
            tmp_path / "above" / "db",
            str(tmp_path / "db"),
        ):
            with hexgraph.connect(path) as other:
                assert names(other) == ["Ada"], path
        monkeypatch.chdir(tmp_path / "below")
        assert names(hexgraph.connect("../db")) == ["Ada"]
        with hexgraph.connect("db") as third:
            assert names(third) == []


def test_namespaces_of_one_directory(tmp_path: Path) -> None:
    path = tmp_path / "db"
    with hexgraph.connect(path) as db:
        number = db.create_namespace()
        other = hexgraph.connect(path, namespace=number)
        add(other, "Ada")
        assert (names(db), names(other)) == ([], ["Ada"])
        with hexgraph.connect(path, namespace=number) as again:
            assert names(again) == ["Ada"]
        assert names(other) == ["Ada"]
        db.close()
        assert names(other) == ["Ada"]
        other.close()
    assert run(OPEN, path).returncode == 0


def test_readers_of_a_written_directory_are_their_own(tmp_path: Path) -> None:
    path = tmp_path / "db"
    writer = hexgraph.connect(path)
    add(writer, "Ada")
    with (
        hexgraph.connect(path, read_only=True) as one,
        hexgraph.connect(path, read_only=True, threads=2) as other,
    ):
        add(writer, "Bob")
        one.refresh()
        assert (names(one), names(other)) == (["Ada", "Bob"], ["Ada"])
        with pytest.raises(hexgraph.ReadOnlyError):
            add(one, "Eve")
    add(writer, "Eve")
    reader = hexgraph.connect(path, read_only=True)
    writer.close()
    assert names(reader) == ["Ada", "Bob", "Eve"]
    # A reader is no handle of the writer, which is opened anew.
    with hexgraph.connect(path, threads=2) as again:
        assert names(again) == names(reader)


def test_databases_in_memory_are_not_shared() -> None:
    one, other = hexgraph.connect(), hexgraph.connect(":memory:")
    add(one, "Ada")
    assert names(other) == []
    one.close()
    add(other, "Bob")


def test_a_database_made_anew_under_the_same_path(tmp_path: Path) -> None:
    path = tmp_path / "db"
    old = hexgraph.connect(path)
    add(old, "Ada")
    shutil.rmtree(path)
    new = hexgraph.connect(path)
    assert names(new) == []
    add(new, "Bob")
    assert names(hexgraph.connect(path)) == ["Bob"]
    # The old one reads on, and writes nothing into the new one.
    assert names(old) == ["Ada"]
    with pytest.raises(hexgraph.StorageError, match="was removed or replaced"):
        old.checkpoint()
    new.checkpoint()
    old.close()
    new.close()
    assert names(hexgraph.connect(path, read_only=True)) == ["Bob"]


def test_threads_that_connect_at_once(tmp_path: Path) -> None:
    path = tmp_path / "new" / "db"
    threads, rounds = 8, 12
    barrier = threading.Barrier(threads)
    faults: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for step in range(rounds):
                barrier.wait(timeout=60)
                db = hexgraph.connect(path, sync="never")
                add(db, f"{number:02}-{step:02}")
                # Half of them leave it to the collector.
                if (number + step) % 2:
                    db.close()
                del db
        except BaseException as error:
            barrier.abort()
            faults.append(error)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not faults, faults
    with hexgraph.connect(path) as db:
        assert len(names(db)) == threads * rounds


OPEN = "import sys, hexgraph; hexgraph.connect(sys.argv[1])"


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
def test_the_lock_of_another_process_names_it(tmp_path: Path) -> None:
    path = tmp_path / "db"
    script = tmp_path / "hold it.py"
    script.write_text(
        "import sys, hexgraph\n"
        "db = hexgraph.connect(sys.argv[1])\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read()\n"
    )
    command = [sys.executable, str(script), str(path), "--key=secret"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "ready\n"
        with pytest.raises(hexgraph.StorageError) as caught:
            hexgraph.connect(path)
        said = str(caught.value)
        program = Path(sys.executable).name
        assert f"already, in process {holder.pid} ({program} hold it.py); close it there" in said
        assert "secret" not in said
        # It exits silently: the next one is not misled by what it has left.
        holder.kill()
    assert (path / "LOCK").read_text().startswith(f"{holder.pid} ")
    with hexgraph.connect(path):
        assert f"in process {os.getpid()} (" in run(OPEN, path).stderr
        (path / "LOCK").write_text(f"{holder.pid} 12345 other\n")
        assert "already, here or in another process;" in run(OPEN, path).stderr
    assert (path / "LOCK").read_text() == ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_has_no_handle(tmp_path: Path) -> None:
    # In a process of its own: this one has threads, and a child has none of them.
    script = """
import os, sys, hexgraph
path = sys.argv[1]
db = hexgraph.connect(path)
db.mutate(set_json={"name": "Ada"})
child = os.fork()
if child == 0:
    try:
        hexgraph.connect(path)
    except hexgraph.StorageError as error:
        print(error, flush=True)
    # What the child does to its copies of handles changes nothing for the parent.
    reader = hexgraph.connect(path, read_only=True)
    assert len(reader.query("{ q(func: has(name)) { name } }").rows()) == 1
    assert len(db.query("{ q(func: has(name)) { name } }").rows()) == 1
    db.close()
    del db
    other = hexgraph.connect(path + "2")
    again = hexgraph.connect(path + "2")
    other.close()
    again.mutate(set_json={"name": "Bob"})
    again.close()
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
db.mutate(set_json={"name": "Eve"})
again = hexgraph.connect(path)
db.close()
assert len(again.query("{ q(func: has(name)) { name } }").rows()) == 2
print(os.getpid())
"""
    done = run(script, tmp_path / "db")
    assert done.returncode == 0, done.stderr
    said, parent = done.stdout.splitlines()
    assert "open for writing already, " in said
    if sys.platform == "linux":
        assert f"in process {parent} (" in said
