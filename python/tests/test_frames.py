import pytest

import hexgraph

pytestmark = pytest.mark.shared

ROWS = "{ q(func: has(name)) { uid name born height alive since alias boss { name } } }"


def test_arrow_needs_no_library(people):
    table = people.query(ROWS).to_arrow()
    assert len(table) == table.num_rows == 3
    assert set(table.column_names) >= {"uid", "name", "born", "boss.name"}
    assert "name: Utf8" in repr(table)
    assert hasattr(table, "__arrow_c_stream__")


def test_polars(people):
    polars = pytest.importorskip("polars")
    result = people.query(ROWS)
    frame = result.to_polars()
    assert frame["name"].to_list() == ["Ada", "Bob", "Eve <b>"]
    assert frame["born"].to_list() == [1815, 1900, None]
    assert frame["alias"].to_list() == [["Augusta", "Countess"], None, None]
    assert frame["boss.name"].to_list() == [None, "Ada", None]
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
    whole = people.query("{ q(func: has(born)) { born } }").to_pandas()
    assert whole["born"].dtype == "int64"
    assert whole["born"].sum() == 3715


def test_times_beyond_the_nanoseconds(people):
    pytest.importorskip("pandas")
    people.mutate(set='<0x2> <since> "0800-12-25T00:00:00Z" .')
    frame = people.query("{ q(func: has(since)) { since } }").to_pandas()
    assert frame["since"].dt.year.tolist() == [1833, 800]


def test_nothing_makes_an_empty_table(people):
    table = people.query('{ q(func: eq(name, "Nobody")) { name } }').to_arrow()
    assert (len(table), table.column_names) == (0, [])


def test_a_block_is_chosen(people):
    result = people.query("{ p(func: has(name)) { name } q(func: has(born)) { born } }")
    assert result.to_arrow("q").column_names == ["born"]
    with pytest.raises(hexgraph.QueryError, match="several blocks"):
        result.to_arrow()
    with pytest.raises(hexgraph.QueryError, match="no block"):
        result.to_arrow("r")


def test_a_tree_is_no_table(people):
    tree = people.query("{ q(func: has(friend)) { name friend { name } } }")
    with pytest.raises(hexgraph.QueryError, match=r'"friend".*@normalize'):
        tree.to_arrow()
    dql = "{ q(func: has(friend)) @normalize { name: name friend { friend: name } } }"
    assert len(people.query(dql).to_arrow()) == 3
