"""How results are shown and walked through."""

import gc
import re
import time
import urllib.error
import urllib.request

import pytest

import hexgraph

pytestmark = pytest.mark.shared


@pytest.fixture
def crowd(db):
    db.alter("name: string .\nknows: [uid] .\ntags: [string] .")
    lines = (f'<{n}> <name> "node {n}" .\n<1> <knows> <{n}> .' for n in range(1, 1001))
    tags = (f'<1> <tags> "tag {n:03}" .' for n in range(100))
    db.mutate(set="\n".join([*lines, *tags]))
    return db


def test_a_long_result_is_shown_from_its_head(crowd):
    text = repr(crowd.query("{ q(func: has(name)) { name } }"))
    assert text.startswith("<hexgraph.Result q: the first 20 of 1000>\n{")
    assert "node 20" in text
    assert "node 21" not in text
    assert text.endswith("  },\n  …\n ]\n}")


def test_long_lists_inside_are_cut_too(crowd):
    result = crowd.query("{ q(func: uid(1)) { tags knows { name } } r(func: uid(2)) { name } }")
    text = repr(result)
    assert text.startswith("<hexgraph.Result q: 1, r: 1>\n")
    assert re.search(r'"tag \d+",\n    …\n   \]', text)
    html = result._repr_html_()
    assert html.count("tag ") == html.count("node ") - 1 == 20
    assert html.count("…") == 2
    assert "<b>q</b> (1 row)" in html


def test_a_short_result_is_shown_in_full(people):
    result = people.query("{ q(func: uid(1)) { name alias } }")
    assert "…" not in repr(result) + result._repr_html_()


def test_rows_are_walked_through(people):
    result = people.query("{ q(func: has(name)) { uid name } }")
    assert [node["name"] for node in result] == ["Ada", "Bob", "Eve <b>"]
    assert list(result) == result["q"] == result.to_dict()["q"]
    assert (len(result), bool(result)) == (3, True)
    assert list(people.query("{ q(func: has(nothing)) { uid } }")) == []
    several = people.query("{ q(func: uid(1)) { name } r(func: uid(2)) { name } }")
    with pytest.raises(hexgraph.QueryError, match="several blocks, choose one: q, r"):
        list(several)


def test_uids_have_one_form(people):
    result = people.query("{ q(func: uid(1, 2)) { uid } }")
    uids = ["0x1", "0x2"]
    assert [uid for (uid,) in result.rows()] == uids
    assert [node["uid"] for node in result] == uids
    pytest.importorskip("polars")
    assert result.to_polars()["uid"].to_list() == uids
    assert result.to_pandas()["uid"].to_list() == uids


def test_a_closed_database_does_not_serve(tmp_path):
    db = hexgraph.connect(tmp_path / "db")
    first, second = db.serve(port=0), db.serve(port=0)
    for server in [first, second]:
        with urllib.request.urlopen(f"{server.url}/health", timeout=60) as answer:
            assert answer.status == 200
    db.close()
    for server in [first, second]:
        assert "stopped" in repr(server)
        with pytest.raises(urllib.error.URLError):
            urllib.request.urlopen(f"{server.url}/health", timeout=60)
        server.stop()


@pytest.mark.embedded("a cluster writes the entire answer, which has no end")
def test_a_deep_tree_is_printed_at_once(db):
    """It has 39 to the power of 12 nodes; a print shows some of them."""
    nodes = range(1, 41)
    db.alter("e: [uid] .")
    db.mutate(set="\n".join(f"<{a}> <e> <{b}> ." for a in nodes for b in nodes if a != b))
    result = db.query("{ q(func: uid(1)) @recurse(depth: 12, loop: true) { uid e } }")
    started = time.monotonic()
    assert repr(result).startswith("<hexgraph.Result q: 1>")
    assert result._repr_html_()
    assert time.monotonic() - started < 10


def test_many_keys_cost_no_more_than_each_by_itself():
    db = hexgraph.connect()
    db.graphql_schema("type Item { id: ID! name: String }")
    db.mutate(set='<1> <Item.name> "a" .\n<1> <dgraph.type> "Item" .')
    many = 80_000
    started = time.monotonic()
    fields = " ".join(f"a{number}: Item.name" for number in range(many))
    result = db.query(f"{{ q(func: uid(1)) {{ {fields} }} }}").to_dict()
    assert len(result["q"][0]) == many
    fields = " ".join(f"a{number}: name" for number in range(many))
    result = db.graphql(f"{{ queryItem {{ {fields} }} }}")
    assert len(result["data"]["queryItem"][0]) == many
    # It runs for a second; a search for each key among all others needs ten and more.
    assert time.monotonic() - started < 5


def test_dicts_inside_are_nobody_elses():
    db = hexgraph.connect()
    db.alter("name: string .\nknows: [uid] .\nboss: uid .")
    ids = [hex(n) for n in range(1, 42)]
    knows = [[{"uid": "0x1"}, {"uid": uid}] for uid in ids[1:]]
    people = [
        {"uid": uid, "knows": existing, "boss": {"uid": "0x2"}}
        for uid, existing in zip(ids[:-1], knows, strict=True)
    ]
    db.mutate(set_json=people + [{"uid": uid, "name": f"p{int(uid, 16)}"} for uid in ids])
    result = db.query("{ q(func: has(boss)) { name knows { uid name } boss { name } } }")
    result = result.to_dict()["q"]
    assert result[4] == {
        "name": "p5",
        "knows": [{"uid": "0x1", "name": "p1"}, {"uid": "0x6", "name": "p6"}],
        "boss": {"name": "p2"},
    }
    dicts = [one for row in result for one in [row, *row["knows"], row["boss"]]]
    assert len({id(one) for one in dicts}) == len(dicts) == 4 * 40
    result[4]["knows"][0]["name"] = result[4]["boss"]["name"] = "else"
    assert {row["knows"][0]["name"] for row in result} == {"p1", "else"}
    assert {row["boss"]["name"] for row in result} == {"p2", "else"}


@pytest.mark.parametrize("is_enabled", [True, False])
def test_the_collector_is_as_it_was(is_enabled):
    db = hexgraph.connect(limits={"result": 3_000_000})
    db.alter("n: int .\nknows: [uid] .")
    many = range(1, 60_001)
    db.mutate(set_json=[{"uid": hex(n), "n": n, "knows": {"uid": hex(n % 90 + 1)}} for n in many])
    result = db.query("{ q(func: has(n)) { n knows { n } } }")
    (gc.enable if is_enabled else gc.disable)()
    try:
        assert len(result.to_dict()["q"]) == len(result.rows("q")) == 60_000
        assert gc.isenabled() == is_enabled
        with pytest.raises(hexgraph.LimitError):
            db.query("{ q(func: has(n)) { n knows { n } } r(func: has(n)) { uid n } }").to_dict()
        assert gc.isenabled() == is_enabled
    finally:
        gc.enable()


def test_a_length_is_counted_once():
    db = hexgraph.connect()
    db.load_nodes({"n": range(100_000)}, id=None)
    result = db.query("{ q(func: has(n)) { n } }")

    def seconds():
        started = time.perf_counter()
        assert len(result) == 100_000
        return time.perf_counter() - started

    first = seconds()
    # To count is to write all of it, and what was counted is there.
    assert min(seconds() for _ in range(20)) * 20 < first
    groups = db.query("{ q(func: has(n)) @groupby(n) { count(uid) } }")
    assert [len(groups) for _ in range(2)] == [len(groups.rows())] * 2 == [100_000] * 2
    with pytest.raises(hexgraph.QueryError, match="several blocks"):
        len(db.query("{ a(func: uid(1)) { uid } b(func: uid(1)) { uid } }"))


def test_conversions_of_tables_reserve_memory():
    db = hexgraph.connect(memory="64MiB")
    db.alter("a: [uid] .\nb: [uid] .\nn: int .")
    endpoints = [{"uid": hex(number), "n": number} for number in range(2, 1202)]
    db.mutate(set_json={"uid": "0x1", "a": endpoints, "b": endpoints})
    table = db.query("{ q(func: uid(1)) { a { n } b { n } } }").to_arrow()
    # Of each of 1,200 with each of 1,200 there would be 1.4 million rows.
    with pytest.raises(hexgraph.LimitError, match="memory"):
        table.flatten()
    assert len(table.explode("a")) == 1200
    small = db.query("{ q(func: uid(1)) { a (first: 20) { n } b (first: 20) { n } } }")
    assert len(small.flatten()) == 400
    # What was reserved is released: many are as good as one.
    assert all(len(small.flatten().rows()) == 400 for _ in range(100))


def test_objects_of_tables_reserve_memory():
    db = hexgraph.connect(memory="128MiB")
    db.load_nodes({"n": range(1_000_000)}, id=None)
    table = db.query("{ q(func: has(n)) { n } }").to_arrow()
    # A row takes some hundred bytes as a tuple, and eight as a column.
    with pytest.raises(hexgraph.LimitError, match="memory"):
        table.rows()
    assert len(table.rows(1000)) == 1000
    (column,) = table.columns()
    assert len(memoryview(column[2]).cast("q")) == 1_000_000


def test_a_printed_table_has_its_first_rows(db):
    ada = '<1> <name> "Ada" .\n<1> <knows> <2> .\n'
    db.mutate(set=ada + '<2> <name> "Bob\\tB" .\n<2> <age> "7"^^<xs:int> .')
    table = db.query("{ q(func: has(name)) { name age knows { name } } }").to_arrow()
    assert str(table) == "name   age  knows.name\nAda         Bob B\nBob B    7"
    assert repr(table).startswith("<hexgraph.ArrowTable: 2 rows")
    assert str(db.query("{ q(func: uid(9)) { name } }").to_arrow()) == "name"
    db.mutate(set="\n".join(f'_:n{at} <number> "{at}"^^<xs:int> .' for at in range(1000)))
    lines = str(db.query("{ q(func: has(number)) { number } }").to_arrow()).splitlines()
    assert (lines[0], lines[1], lines[-1]) == ("number", "     0", "… 1000 rows")
    assert len(lines) == 22
