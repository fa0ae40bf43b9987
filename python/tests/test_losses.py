"""Values that the types of predicates do not hold: mutations warn, loads refuse."""

import asyncio
import subprocess
import sys
from datetime import UTC, datetime

import pytest

import hexgraph


def test_values_that_are_cut_come_with_a_warning():
    db = hexgraph.connect()
    db.alter("age: int .\nalive: bool .\nscore: float .\nday: int .")
    person = {"uid": "0x1", "age": 2.75}
    words = (
        "a value was converted with loss, and 2 is stored: 2.75 has a fraction, which an int "
        "cannot hold (alter the predicate to float, or load it into another one) "
        "(`age` of 0x1 is of type int)"
    )
    with pytest.warns(hexgraph.LossWarning) as caught:
        db.mutate(set_json=person)
    assert str(caught[0].message) == words
    assert caught[0].message.count == 1
    assert caught[0].filename == __file__
    with pytest.raises(hexgraph.LoadError, match="has a fraction, which an int cannot hold"):
        db.load_nodes([{"id": 1, "age": 2.75}], id="id")
    with pytest.warns(hexgraph.LossWarning, match="2 values were converted with loss"):
        db.mutate(set='<0x1> <age> "2.75"^^<xs:float> .\n<0x1> <alive> "5"^^<xs:int> .')
    with pytest.warns(hexgraph.LossWarning, match="9007199254740992 is stored"):
        db.mutate(set_json={"uid": "0x1", "score": 2**53 + 1})
    noon = datetime(2024, 5, 6, 12, 0, 0, 500_000, tzinfo=UTC)
    with pytest.warns(hexgraph.LossWarning, match="2024-05-06T12:00:00.5Z has a fraction"):
        db.mutate(set_json={"uid": "0x1", "day": noon})
    with db.txn() as txn, pytest.warns(hexgraph.LossWarning, match="2 is stored"):
        txn.mutate(set_json=person)
    find = "{ q(func: has(score)) { v as uid } }"
    with pytest.warns(hexgraph.LossWarning, match="2 is stored"):
        done = db.upsert(find, set_json={"uid": "uid(v)", "age": 2.75})
    assert done.lossy_values == 1
    assert "1 value converted with loss" in repr(done)
    with pytest.warns(hexgraph.LossWarning, match="2 is stored"):
        asyncio.run(db.amutate(set_json=person))


def test_values_in_full_come_without_a_warning():
    db = hexgraph.connect()
    db.alter("age: int .\nalive: bool .")
    db.mutate(set_json={"uid": "0x1", "age": 2.0, "alive": 1, "new": 2.75})
    done = db.upsert("{ v as var(func: has(age)) }", set='uid(v) <age> "3" .')
    assert done.lossy_values == 0
    quiet = hexgraph.connect(warnings=False)
    quiet.alter("age: int .")
    quiet.mutate(set_json={"uid": "0x1", "age": 2.75})


def test_the_command_line_warns_of_values_that_are_cut(tmp_path):
    with hexgraph.connect(tmp_path / "db") as db:
        db.alter("age: int .")
    command = [sys.executable, "-m", "hexgraph", "mutate", str(tmp_path / "db")]
    text = '{"uid": "0x1", "age": 2.75}'
    done = subprocess.run([*command, text], capture_output=True, text=True, check=True)
    assert done.stderr.startswith("warning: a value was converted with loss, and 2 is stored")
