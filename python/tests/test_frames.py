import pytest

import hexgraph

pytestmark = pytest.mark.shared

KEYS = "uid name born height alive since"
ROWS = "{ q(func: has(name)) { uid name born height alive since alias boss { name } } }"


def test_arrow_needs_no_library(people):
    table = people.query(ROWS).to_arrow()
    assert len(table) == table.num_rows == 3
    assert set(table.column_names) >= {"uid", "name", "born", "boss"}
    assert set(table.flatten().column_names) >= {"uid", "name", "born", "boss.name"}
    assert "name: Utf8" in repr(table)
    assert hasattr(table, "__arrow_c_stream__")


def test_polars(people):
    polars = pytest.importorskip("polars")
    result = people.query(ROWS)
    frame = result.to_polars()
    assert frame["name"].to_list() == ["Ada", "Bob", "Eve <b>"]
    assert frame["born"].to_list() == [1815, 1900, None]
    assert frame["alias"].to_list() == [["Augusta", "Countess"], None, None]
    assert frame["boss"].to_list() == [None, {"name": "Ada"}, None]
    assert result.flatten().to_polars()["boss.name"].to_list() == [None, "Ada", None]
    assert frame.schema["since"] == polars.Datetime("ns", "UTC")
    assert polars.DataFrame(result).equals(frame)


def test_pandas(people):
    pandas = pytest.importorskip("pandas")
    frame = people.query(ROWS).to_pandas()
    assert frame["name"].tolist() == ["Ada", "Bob", "Eve <b>"]
    assert str(frame["born"].dtype) == "Int64"
    assert frame["born"].isna().tolist() == [False, False, True]
    assert str(frame["alive"].dtype) == "boolean"
    assert frame["height"].dtype == "float64"
    assert frame["since"][0] == pandas.Timestamp("1833-06-05T12:00:00Z")
    assert frame["alias"][0] == ["Augusta", "Countess"]
    full = people.query("{ q(func: has(born)) { born } }").to_pandas()
    assert full["born"].dtype == "int64"
    assert full["born"].sum() == 3715


def test_times_beyond_the_nanoseconds(people):
    pytest.importorskip("pandas")
    people.mutate(set='<0x2> <since> "0800-12-25T00:00:00Z" .')
    frame = people.query("{ q(func: has(since)) { since } }").to_pandas()
    assert frame["since"].dt.year.tolist() == [1833, 800]


def test_nothing_makes_an_empty_table(people):
    """Its columns have the types of the schema."""
    result = people.query('{ q(func: eq(name, "Nobody")) { name born height since alive } }')
    assert repr(result.to_arrow()).partition("columns ")[2] == (
        'name: Utf8, born: Int64, height: Float64, since: Timestamp(ns, "UTC"), alive: Boolean>'
    )
    assert result.columns() == result.to_arrow().column_names
    assert (len(result), result.rows()) == (0, [])
    polars = pytest.importorskip("polars")
    assert result.to_polars().schema["born"] == polars.Int64


def test_a_block_is_chosen(people):
    result = people.query("{ p(func: has(name)) { name } q(func: has(born)) { born } }")
    assert result.to_arrow("q").column_names == ["born"]
    with pytest.raises(hexgraph.QueryError, match="several blocks"):
        result.to_arrow()
    with pytest.raises(hexgraph.QueryError, match="no block"):
        result.to_arrow("r")


TREE = "{ q(func: has(friend)) { name friend { name } } }"


def test_a_tree_is_a_table_with_lists(people):
    result = people.query(TREE)
    report = 'LargeList(Struct("name": Utf8))'
    assert repr(result.to_arrow()).endswith(f"columns name: Utf8, friend: {report}>")
    assert result.to_arrow().rows() == result.rows()
    assert result.rows() == [
        ("Ada", [{"name": "Bob"}, {"name": "Eve <b>"}]),
        ("Bob", [{"name": "Eve <b>"}]),
    ]
    flat = result.flatten()
    assert flat.column_names == ["name", "friend.name"]
    assert flat.rows() == [("Ada", "Bob"), ("Ada", "Eve <b>"), ("Bob", "Eve <b>")]
    assert result.explode("friend").rows() == flat.rows()
    polars = pytest.importorskip("polars")
    assert result.to_polars()["friend"][0].to_list() == result.rows()[0][1]
    assert polars.DataFrame(flat).rows() == flat.rows()


@pytest.mark.embedded("of a key that no object has, a cluster does not report the position")
def test_two_lists_of_a_row_are_multiplied(people):
    dql = "{ q(func: uid(1, 3)) { name friend { name alias } boss { name } ~boss { name } } }"
    flat = people.query(dql).flatten()
    assert flat.column_names == ["name", "friend.name", "friend.alias", "boss.name", "~boss.name"]
    assert flat.rows() == [
        ("Ada", "Bob", None, None, "Bob"),
        ("Ada", "Eve <b>", None, None, "Bob"),
        ("Eve <b>", None, None, None, None),
    ]
    listed = people.query("{ q(func: uid(1, 2)) { name alias } }")
    assert listed.flatten().rows() == listed.rows()
    assert listed.explode("alias").rows() == [
        ("Ada", "Augusta"),
        ("Ada", "Countess"),
        ("Bob", None),
    ]
    with pytest.raises(hexgraph.QueryError, match='"name" has no lists, but Utf8'):
        listed.explode("name")
    with pytest.raises(hexgraph.QueryError, match='no column "nmae"; there are name, alias'):
        listed.explode("nmae")


FORMS = {
    "flat": "{ q(func: has(name)) { uid name born height } }",
    "normalized": "{ q(func: has(name)) @normalize { z: name friend { m: name } a: born } }",
    "a tree": "{ q(func: has(name)) { name boss { name } friend { uid friend { name } } } }",
    "groups": "{ q(func: has(name)) @groupby(alive) { count(uid) } }",
    "no groups": "{ q(func: uid(9)) @groupby(alive) { count(uid) } }",
    "groups below": "{ q(func: uid(1)) { name friend @groupby(alive) { count(uid) } } }",
    "aggregates": (
        "{ var(func: has(born)) { b as born } q() { min(val(b)) max(val(b)) c: avg(val(b)) } }"
    ),
    "counts": "{ q(func: has(name)) { count(uid) } }",
    "a count below": "{ q(func: has(name)) { name n: count(friend) } }",
    "nothing": "{ q(func: uid(9)) { name friend { name born } } }",
    "facets": "{ q(func: has(name)) { name friend @facets { name } } }",
    "languages": "{ q(func: has(name)) { name@ja name } }",
    "recursion": "{ q(func: uid(2)) @recurse(depth: 3) { name friend } }",
}


@pytest.mark.parametrize("form", FORMS)
def test_rows_columns_and_frames_agree(people, form):
    """Names, their order, and the number of rows, whatever the query is."""
    people.alter("name: string @index(exact, term) @lang .")
    people.mutate(set="<0x1> <friend> <0x2> (since=1840) .")
    if form == "no groups" and not isinstance(people, hexgraph.Database):
        pytest.skip("an answer of a cluster does not have the block")
    result = people.query(FORMS[form])
    columns, rows, table = result.columns(), result.rows(), result.to_arrow()
    assert table.column_names == columns
    assert len(table) == len(rows) == len(result) == len(list(result))
    assert {len(row) for row in rows} <= {len(columns)}
    assert [[row.get(name) for name in columns] for row in result] == [list(row) for row in rows]
    assert table.rows() == rows or form == "flat"
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    assert result.to_polars().columns == list(result.to_pandas().columns) == columns
    assert len(result.to_polars()) == len(result.to_pandas()) == len(rows)
    assert polars.DataFrame(result.flatten()).height >= len(rows)
    assert isinstance(result.flatten().to_pandas(), pandas.DataFrame)


def test_groups_and_aggregates_are_rows(people):
    assert sorted(people.query(FORMS["groups"]).rows()) == [(False, 1), (True, 1)]
    assert people.query(FORMS["aggregates"]).rows() == [(1815, 1900, 1857.5)]


def test_several_blocks(people):
    result = people.query("{ p(func: has(name)) { name } q(func: has(born)) { born } }")
    frames = result.frames()
    assert list(frames) == ["p", "q"]
    assert frames["q"].rows() == [(1815,), (1900,)]
    assert list(result["p"][0]) == ["name"]
    for run in (len, list, iter):
        with pytest.raises(hexgraph.QueryError, match=r"several blocks.*frames\(\)"):
            run(result)
    polars = pytest.importorskip("polars")
    assert isinstance(result.frames("polars")["p"], polars.DataFrame)
    with pytest.raises(ValueError, match='kind is "arrow", "pandas" or "polars"'):
        result.frames("numpy")


def test_paths_are_tables_of_hops(people):
    for edge in ("<1> <friend> <2> (w=2)", "<2> <friend> <3> (w=1)", "<1> <friend> <3> (w=9)"):
        people.mutate(set=f"{edge} .")
    result = people.query("{ shortest(from: 1, to: 3, numpaths: 2) { friend @facets(w) } }").paths()
    assert result.column_names == ["path", "hop", "from", "predicate", "to", "w", "total"]
    assert result.rows() == [
        (0, 0, "0x1", "friend", "0x2", 2, 3.0),
        (0, 1, "0x2", "friend", "0x3", 1, 3.0),
        (1, 0, "0x1", "friend", "0x3", 9, 9.0),
    ]
    none = people.query("{ shortest(from: 3, to: 1) { friend } }").paths()
    assert none.column_names == ["path", "hop", "from", "predicate", "to", "total"]


def test_many_rows_are_the_few(people):
    """Rows are read column by column where there are many of them, with the same values."""
    lines = []
    for at in range(1, 400):
        for name, value in [
            ("name", f"n{at % 7}" if at % 5 else f"näme {at}"),
            ("born", at * 10_000_000_000 if at % 9 == 0 else at),
            ("height", at / 8),
            ("alive", "true" if at % 2 else "false"),
            ("since", f"{1900 + at % 90}-01-02T03:04:05Z"),
        ]:
            if (at + len(name)) % 4:
                lines.append(f'<{at + 100}> <{name}> "{value}" .')
    people.mutate(set="\n".join(lines))
    text = f"{{ q(func: uid(%s)) {{ {KEYS} }} }}"
    ids = [*range(101, 501), 700]
    many = people.query(text % ", ".join(map(str, ids)))
    few = [people.query(text % at).rows()[0] for at in ids]
    assert many.rows() == few
    keys = many.columns()
    dicts = [
        {key: cell for key, cell in zip(keys, row, strict=True) if cell is not None} for row in few
    ]
    assert many.to_dict()["q"] == dicts
    assert [row[:5] for row in many.to_arrow().rows()] == [row[:5] for row in few]
    without = people.query((text % ", ".join(map(str, ids))).replace(KEYS, "born name"))
    some = [(row[2], row[1]) for row in few if (row[1], row[2]) != (None, None)]
    assert without.rows() == some
    assert without.to_arrow().rows() == some


def test_a_frame_of_pandas_is_the_own(people):
    """It may be written to, its texts too, with pyarrow and without it."""
    pandas = pytest.importorskip("pandas")
    result = people.query("{ q(func: has(name)) { uid name born height alive since } }")
    frame = result.to_pandas()
    with pandas.option_context("mode.string_storage", "python"):
        plain = result.to_pandas()
    assert frame.map(str).to_dict() == plain.map(str).to_dict()
    full = people.query("{ q(func: has(born)) { uid born } }")
    frame = full.to_pandas()
    frame.loc[0, ["uid", "born"]] = ["0x77", 7]
    assert (frame["uid"][0], frame["born"][0]) == ("0x77", 7)
    assert full.to_pandas()["born"][0] == 1815
