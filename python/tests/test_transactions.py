import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import hexgraph

pytestmark = pytest.mark.shared

BORN = "{ q(func: uid(0x1)) { born } }"
EVERYONE = "{ q(func: has(name)) { name } }"


def born(query):
    return query.query(BORN)["q"][0]["born"]


def test_changes_are_seen_inside_at_once_and_outside_after_the_commit(people):
    with people.txn() as txn:
        assert txn.mutate(set='<0x1> <born> "1816" .') == {}
        assert (born(txn), born(people)) == (1816, 1815)
        assert txn.upsert(BORN.replace("{ born }", "{ v as uid }"), set='uid(v) <born> "1817" .')
        assert (born(txn), born(people)) == (1817, 1815)
    assert born(people) == 1817
    assert not txn.is_open


@pytest.mark.otherwise("a drop takes the data of open transactions, too")
def test_a_transaction_sees_one_moment(people):
    txn, reader = people.txn(), people.txn(read_only=True)
    people.mutate(set='<0x1> <born> "1" .\n_:new <name> "New" .')
    assert (born(txn), born(reader), born(people)) == (1815, 1815, 1)
    assert len(txn.query(EVERYONE)) == len(reader.query(EVERYONE)) == 3
    people.drop("data")
    assert born(reader) == 1815


def leave_with(people, error):
    with people.txn() as txn:
        txn.mutate(set='<0x1> <born> "1" .')
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_exception_discards(people, error):
    with pytest.raises(error):
        leave_with(people, error)
    assert born(people) == 1815


def test_a_discarded_or_dropped_one_leaves_nothing(people):
    txn = people.txn()
    txn.mutate(set='<0x1> <born> "1" .')
    txn.discard()
    txn.discard()
    people.txn().mutate(set='<0x1> <born> "2" .')
    with people.txn() as txn:
        txn.mutate(set='<0x1> <born> "3" .')
        txn.discard()
    assert born(people) == 1815
    people.mutate(set='<0x1> <born> "4" .')


def test_what_has_ended_refuses(people):
    txn = people.txn()
    txn.commit()
    for use in (lambda: txn.query(BORN), txn.commit, lambda: txn.mutate(set='<1> <born> "1" .')):
        with pytest.raises(hexgraph.QueryError, match="already been committed or discarded"):
            use()
    assert "ended" in repr(txn)
    # An early commit is none of the context manager's business.
    with people.txn() as txn:
        txn.mutate(set='<0x1> <born> "1" .')
        txn.commit()
    assert born(people) == 1


def test_read_only(people):
    with people.txn(read_only=True) as txn:
        assert txn.read_only
        assert "read-only" in repr(txn)
        with pytest.raises(hexgraph.QueryError, match="Readonly transaction cannot run mutations"):
            txn.mutate(set='<0x1> <born> "1" .')
        assert born(txn) == 1815


@pytest.mark.embedded("a change that fails closes a transaction of a cluster")
def test_a_failed_request_changes_nothing_and_the_others_count(people):
    with people.txn() as txn:
        txn.mutate(set='<0x1> <born> "1" .')
        with pytest.raises(hexgraph.QueryError):
            txn.mutate(set='<0x1> <height> "2" .\n<0x1> <born> "soon" .')
        with pytest.raises(hexgraph.ParseError):
            txn.mutate(set="<0x1>")
        assert born(txn) == 1
    assert people.query("{ q(func: uid(1)) { born height } }")["q"] == [{"born": 1, "height": 1.65}]


SCHEMA = """
plain: string .
exact: string @index(exact) .
email: string @index(exact) @upsert .
unique: string @index(exact) @unique .
free: string @noconflict .
list: [string] @index(exact) .
spoken: string @lang .
one: uid @reverse .
many: [uid] @reverse .
counted: [uid] @reverse @count .
"""

MATRIX = [
    ('<1> <plain> "a" .', '<1> <plain> "b" .', False),
    ('<1> <exact> "a" .', '<1> <exact> "a" .', False),
    ('<1> <plain> "a" .', '<1> <exact> "a" .', True),
    ('<1> <exact> "a" .', '<2> <exact> "a" .', True),
    ('<1> <email> "a" .', '<2> <email> "a" .', False),
    ('<1> <email> "a" .', '<2> <email> "b" .', True),
    ('<1> <email> "a" .', '<3> <email> "x" .', True),
    ('<3> <email> "a" .', '<2> <email> "old" .', False),
    ('<1> <unique> "a" .', '<2> <unique> "a" .', False),
    ('<1> <free> "a" .', '<1> <free> "b" .', True),
    ('<1> <list> "a" .', '<1> <list> "b" .', True),
    ('<1> <list> "a" .', '<1> <list> "a" .', False),
    ('<1> <list> "a" .', '<2> <list> "a" .', True),
    ('<1> <spoken> "a"@en .', '<1> <spoken> "b"@de .', False),
    ("<1> <one> <2> .", "<1> <one> <3> .", False),
    ("<1> <one> <3> .", "<2> <one> <3> .", True),
    ("<1> <many> <2> .", "<1> <many> <3> .", True),
    ("<1> <many> <2> .", "<1> <many> <2> .", False),
    ("<1> <many> <3> .", "<2> <many> <3> .", True),
    ("<1> <counted> <2> .", "<1> <counted> <3> .", False),
    ("<1> <counted> <3> .", "<2> <counted> <3> .", False),
    ("<1> <counted> <2> .", "<3> <counted> <4> .", True),
]


@pytest.mark.parametrize(("first", "second", "both"), MATRIX)
def test_who_conflicts_with_whom(db, first, second, both):
    db.alter(SCHEMA)
    db.mutate(set='<3> <email> "old" .')
    one, other = db.txn(), db.txn()
    one.mutate(set=first)
    other.mutate(set=second)
    one.commit()
    if both:
        other.commit()
    else:
        with pytest.raises(hexgraph.ConflictError, match=r"aborted\. Please retry"):
            other.commit()
        assert not other.is_open


# The last two find nothing when they are sent.
@pytest.mark.parametrize("deleted", ['"a"', "*", '"b"', '"z"'])
def test_deletes_conflict_whatever_they_find(db, deleted):
    db.alter(SCHEMA)
    db.mutate(set='<1> <plain> "a" .')
    one, other = db.txn(), db.txn()
    one.mutate(set='<1> <plain> "b" .')
    other.mutate(delete=f"<1> <plain> {deleted} .")
    one.commit()
    with pytest.raises(hexgraph.ConflictError):
        other.commit()
    assert db.query("{ q(func: uid(1)) { plain } }").rows() == [("b",)]


@pytest.mark.embedded("a cluster loads no files")
def test_mutations_loads_and_other_schemas_conflict_too(people):
    def pending():
        txn = people.txn()
        txn.mutate(set='<0x1> <born> "1" .')
        return txn

    txn = pending()
    people.mutate(set='<0x1> <born> "2" .')
    with pytest.raises(hexgraph.ConflictError):
        txn.commit()
    txn = pending()
    people.load(b'<0x2> <born> "3" .', progress=False)
    with pytest.raises(hexgraph.ConflictError):
        txn.commit()
    other, txn = people.txn(), pending()
    people.alter("nick: string .")
    with pytest.raises(hexgraph.QueryError, match="Pending transactions found"):
        people.alter("born: string @index(exact) .")
    people.alter("born: string @index(exact) .")
    assert not txn.is_open
    with pytest.raises(hexgraph.ConflictError):
        txn.query(BORN)
    # One that began before, and learns only at its end that the schema is another one.
    other.mutate(set='<0x9> <born> "1" .')
    with pytest.raises(hexgraph.ConflictError):
        other.commit()


@pytest.mark.otherwise("the schema is changed when a mutation is staged")
def test_new_predicates_are_made_by_the_commit(db):
    one, other = db.txn(), db.txn()
    one.mutate(set='<1> <fresh> "1" .\n<1> <also> "x" .')
    one.mutate(set='<2> <fresh> "2" .')
    other.mutate(set="<3> <fresh> <4> .")
    assert "fresh" not in db.schema()
    one.commit()
    assert "fresh: default" in db.schema()
    with pytest.raises(hexgraph.ConflictError):
        other.commit()


def test_uids_are_handed_out_once(db):
    def add(number):
        with db.txn() as txn:
            result = [txn.mutate(set=f'_:a <name{number % 3}> "x" .')["a"] for _ in range(5)]
            if number % 4 == 0:
                txn.discard()
        return result + [f"{uid:#x}" for uid in db.assign_uids(3)]

    db.alter("name0: string .\nname1: string .\nname2: string .")
    with ThreadPoolExecutor(8) as threads:
        uids = [uid for result in threads.map(add, range(60)) for uid in result]
    assert len(set(uids)) == len(uids) == 60 * 8


def test_assigned_uids_stay_assigned(tmp_path):
    with hexgraph.connect(tmp_path / "db") as db:
        last = db.assign_uids(1000)[-1]
        with pytest.raises(hexgraph.QueryError):
            db.assign_uids(0)
    with hexgraph.connect(tmp_path / "db") as db:
        assert int(db.mutate(set='_:a <name> "x" .')["a"], 16) > last


def test_idle_ones_are_discarded():
    with hexgraph.connect(txn_timeout=0.05) as db:
        idle = db.txn()
        idle.mutate(set='<1> <name> "x" .')
        time.sleep(0.1)
        db.txn().discard()
        assert not idle.is_open
        with pytest.raises(hexgraph.ConflictError):
            idle.commit()


def test_a_closed_database_has_no_transactions(tmp_path):
    db = hexgraph.connect(tmp_path / "db")
    txn = db.txn()
    db.close()
    with pytest.raises(hexgraph.ClosedError, match="closed"):
        txn.mutate(set='<1> <name> "x" .')
    reader = hexgraph.connect(tmp_path / "db", read_only=True)
    with pytest.raises(hexgraph.ReadOnlyError, match="read-only"):
        reader.txn().mutate(set='<1> <name> "x" .')
    reader.close()


def test_run_tries_again(people):
    tried = []

    def work(txn):
        tried.append(born(txn))
        if len(tried) < 3:
            people.mutate(set=f'<0x1> <born> "{len(tried)}" .')
        txn.mutate(set='<0x1> <born> "100" .')
        return "done"

    assert people.run(work) == "done"
    assert tried == [1815, 1, 2]
    assert born(people) == 100
    tried.clear()
    with pytest.raises(hexgraph.ConflictError):
        people.run(work, retries=1)
    assert len(tried) == 2
    with pytest.raises(ZeroDivisionError):
        people.run(lambda _: 1 / 0)
    with pytest.raises(ValueError, match="negative"):
        people.run(work, retries=-1)


@pytest.mark.otherwise("has() does not see what its own transaction has staged")
def test_threads_use_one_transaction(people):
    with people.txn() as txn, ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda n: txn.mutate(set=f'<{500 + n}> <name> "N{n}" .'), range(40)))
        assert len(txn.query(EVERYONE)) == 43
    assert len(people.query(EVERYONE)) == 43


def test_money_is_neither_made_nor_lost(db):
    accounts, each = 6, 100
    db.alter("balance: int .")
    db.mutate(set="".join(f'<{n}> <balance> "{each}" .\n' for n in range(1, accounts + 1)))
    everything = "{ q(func: has(balance)) { uid balance } }"
    stop = threading.Event()

    def total(query):
        return sum(row["balance"] for row in query.query(everything)["q"])

    def watch():
        totals = set()
        while not stop.is_set():
            with db.txn(read_only=True) as txn:
                totals |= {total(txn), total(txn), total(db)}
        return totals

    def transfer(seed):
        chance = random.Random(seed)

        def work(txn):
            balances = {row["uid"]: row["balance"] for row in txn.query(everything)["q"]}
            giver, taker = chance.sample(sorted(balances), 2)
            amount = min(chance.randint(1, 50), balances[giver])
            txn.mutate(set_json={"uid": giver, "balance": balances[giver] - amount})
            txn.mutate(set_json={"uid": taker, "balance": balances[taker] + amount})

        for _ in range(25):
            db.run(work, retries=100)

    with ThreadPoolExecutor(6) as threads:
        watchers = [threads.submit(watch) for _ in range(2)]
        list(threads.map(transfer, range(4)))
        stop.set()
        assert {total for watcher in watchers for total in watcher.result()} == {accounts * each}
    assert total(db) == accounts * each
