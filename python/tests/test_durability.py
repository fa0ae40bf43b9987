"""What survives: closing, crashing, a damaged log; backups, and readers in other processes."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import hexgraph

NAMES = "{ q(func: has(name)) { name } }"


def names(db: hexgraph.Database) -> list[str]:
    return sorted(row[0] for row in db.query(NAMES).rows())


def add(db: hexgraph.Database, name: str) -> None:
    db.mutate(set=f'_:n <name> "{name}" .')


WRITER = """
import sys, hexgraph
db = hexgraph.connect(sys.argv[1], sync=sys.argv[2])
for number in range(1000000):
    db.mutate(set=f'_:n <name> "{number}" .')
    print(number, flush=True)
"""


@pytest.mark.parametrize("sync", ["always", "every=50ms", "never"])
def test_a_killed_process_loses_nothing(tmp_path: Path, sync: str) -> None:
    path = tmp_path / "db"
    command = [sys.executable, "-c", WRITER, str(path), sync]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            if line.strip() == "50":
                break
        writer.send_signal(signal.SIGKILL)
        acknowledged = 50 + len(writer.stdout.readlines())
    with hexgraph.connect(path) as db:
        result = {int(name) for name in names(db)}
        assert result >= set(range(acknowledged + 1))
        assert db.recovery["commits"] >= acknowledged


def test_a_reader_in_another_process_follows(tmp_path: Path) -> None:
    with hexgraph.connect(tmp_path / "db") as db:
        add(db, "Ada")
        script = (
            "import sys, hexgraph\n"
            "db = hexgraph.connect(sys.argv[1], read_only=True)\n"
            f"ask = lambda: print(len(db.query('{NAMES}').rows()), flush=True)\n"
            "ask()\n"
            "for line in sys.stdin:\n"
            "    db.refresh()\n"
            "    ask()\n"
        )
        command = [sys.executable, "-c", script, str(tmp_path / "db")]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as reader:
            assert reader.stdin is not None
            assert reader.stdout is not None
            assert reader.stdout.readline() == "1\n"
            for count in (2, 3, 4):
                add(db, str(count))
                if count == 3:
                    db.checkpoint()
                reader.stdin.write("\n")
                reader.stdin.flush()
                assert reader.stdout.readline() == f"{count}\n"
            reader.stdin.close()


def test_a_backup_is_made_while_the_database_is_used(tmp_path: Path) -> None:
    with hexgraph.connect(tmp_path / "db") as db:
        add(db, "Ada")
        db.backup(tmp_path / "copy")
        add(db, "Bob")
    with hexgraph.connect(tmp_path / "copy") as copy:
        assert names(copy) == ["Ada"]


def test_compact_and_checkpoint_preserve_the_data(tmp_path: Path) -> None:
    with hexgraph.connect(tmp_path / "db") as db:
        add(db, "Ada")
        db.checkpoint()
        add(db, "Bob")
        db.compact()
        assert names(db) == ["Ada", "Bob"]
        assert not list((tmp_path / "db").glob("*.hxl"))
    hexgraph.connect().compact()


def test_a_damaged_log_is_named(tmp_path: Path) -> None:
    path = tmp_path / "db"
    with hexgraph.connect(path) as db:
        for number in range(3):
            add(db, str(number))
    (log,) = path.glob("*.hxl")
    data = bytearray(log.read_bytes())
    data[170] ^= 1
    log.write_bytes(data)
    for read_only in (False, True):
        with pytest.raises(hexgraph.CorruptError, match=r"log-1\.hxl: the record at byte 128"):
            hexgraph.connect(path, read_only=read_only)


def test_a_snapshot_that_is_not_mapped(tmp_path: Path) -> None:
    path = tmp_path / "db"
    with hexgraph.connect(path) as db:
        db.mutate(set=f'<0x1> <text> "{"long " * 300_000}" .')
        add(db, "Ada")
        db.compact()
    (snapshot,) = path.glob("*.hxs")
    assert snapshot.stat().st_size > 1 << 20
    with hexgraph.connect(path, read_only=True, map=False) as db:
        # Mapped, this would end the interpreter.
        os.truncate(snapshot, 0)
        assert names(db) == ["Ada"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_is_read_only(tmp_path: Path) -> None:
    path = tmp_path / "db"
    hexgraph.connect(path).close()
    path.chmod(0o500)
    try:
        with pytest.raises(hexgraph.StorageError, match="Permission denied"):
            hexgraph.connect(path).mutate(set='_:n <name> "x" .')
        assert names(hexgraph.connect(path, read_only=True)) == []
    finally:
        path.chmod(0o700)


def test_one_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "db"
    with hexgraph.connect(path):
        script = "import sys, hexgraph; hexgraph.connect(sys.argv[1])"
        command = [sys.executable, "-c", script, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode != 0
        assert "open for writing already" in done.stderr


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"sync": "sometimes"}, "sync=sometimes: expected always, every=TIME"),
        ({"sync": "every=0s"}, "sync=every=0s"),
        ({"checkpoint": "much"}, "checkpoint=much: expected a number of bytes"),
        ({"checkpoint": 0}, "checkpoint=0"),
    ],
)
def test_wrong_settings(tmp_path: Path, settings: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        hexgraph.connect(tmp_path / "db", **settings)  # type: ignore[arg-type]


def test_who_compacts(tmp_path):
    with hexgraph.connect(tmp_path / "graph", fold="manual") as db:
        db.alter("n: int .")
        db.mutate(set="\n".join(f'<{i}> <n> "{i}" .' for i in range(1, 100)))
        db.compact()
        assert db.query("{ q(func: has(n)) { count(uid) } }").to_dict() == {"q": [{"count": 99}]}
    with pytest.raises(ValueError, match="fold=never: expected auto or manual"):
        hexgraph.connect(fold="never")


def test_a_working_directory_that_changes(tmp_path: Path) -> None:
    """Two databases of one relative path: each goes on where it was opened."""
    script = """
import os, hexgraph
from pathlib import Path
top = Path.cwd()
there = hexgraph.connect(top / "b" / "rel.db")
there.mutate(set_json={"who": "b"})
os.chdir(top / "a")
here = hexgraph.connect("rel.db")
here.mutate(set_json={"who": "a"})
os.chdir(top / "b")
here.compact()
here.mutate(set_json={"who": "a, later"})
here.close()
there.mutate(set_json={"who": "b, later"})
there.close()
"""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    for name in ("a", "b"):
        with hexgraph.connect(tmp_path / name / "rel.db") as db:
            result = db.query("{ q(func: has(who)) { who } }").rows()
        assert [who for (who,) in result] == [name, f"{name}, later"]
