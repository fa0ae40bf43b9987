"""Names that are also those of something else: nothing replaces another thing."""

from pathlib import Path
from typing import Any

import networkx
import pandas
import polars
import pyarrow
import pytest

import hexgraph
from hexgraph.errors import QueryError, SchemaError

NAMES = ["from", "to", "source", "target", "id", "hop", "total", "weight", "path", "predicate"]
ENDPOINTS = '{ q(func: eq(xid, "a")) { xid knows @facets { xid } } }'


def facets_of(db: hexgraph.Database) -> dict[str, Any]:
    """Return the facets of the only edge, which leads from a to b."""
    (row,) = db.query(ENDPOINTS).to_dict()["q"]
    (end,) = row["knows"]
    assert end.pop("xid") == "b"
    return {key.removeprefix("knows|"): value for key, value in end.items()}


@pytest.mark.parametrize("names", [*([name] for name in NAMES), ["source", "target"], NAMES])
def test_attributes_of_edges(names: list[str]) -> None:
    """Of a graph, and of tuples with a dict: the endpoints stay, and the attributes are facets."""
    values = {name: position for position, name in enumerate(names)}
    graph = networkx.DiGraph()
    graph.add_edge("a", "b", **values)
    for table in (graph, [("a", "b", values)], {("a", "b"): values}, graph.edges(data=True)):
        db = hexgraph.connect()
        db.load_edges(table, "knows", facets=names)
        assert facets_of(db) == values
        db = hexgraph.connect()
        db.load_edges(table, "knows", "from", "to", facets={names[0]: "f"})
        assert facets_of(db) == {"f": 0}


def test_an_attribute_that_is_named_as_an_end_is_one() -> None:
    """A column that the caller names is meant, also where it is an attribute."""
    db = hexgraph.connect()
    graph = networkx.DiGraph()
    graph.add_edge("x", "b", start="a")
    db.load_edges(graph, "knows", source="start")
    assert facets_of(db) == {}


@pytest.mark.parametrize("name", [name for name in NAMES if name != "id"])
def test_attributes_of_nodes(name: str) -> None:
    graph = networkx.Graph()
    graph.add_node("a", **{name: 5})
    db = hexgraph.connect()
    db.load_nodes(graph, "P")
    assert db.query(f"{{ q(func: type(P)) {{ id {name} }} }}").rows() == [("a", 5)]


def test_an_attribute_that_is_called_as_the_node() -> None:
    """It is refused, and goes with another name for the node."""
    graph = networkx.Graph()
    graph.add_node("a", id=5)
    db = hexgraph.connect()
    for identifier in ("id", None):
        with pytest.raises(QueryError, match=r"attribute 'id', which is also .*id='node'"):
            db.load_nodes(graph, "P", id=identifier)
    db.load_nodes(graph, "P", id="node")
    assert db.query("{ q(func: type(P)) { node id } }").rows() == [("a", 5)]
    # By an attribute, as before.
    graph = networkx.Graph()
    graph.add_node(1, name="Ada")
    db.load_nodes(graph, "Q", id="name")
    assert db.query("{ q(func: type(Q)) { name id } }").rows() == [("Ada", 1)]


def test_keys_that_become_the_same_text() -> None:
    db = hexgraph.connect()
    graph = networkx.Graph()
    graph.add_node("a", **{"1": 2})
    graph.nodes["a"][1] = 3
    graph.add_edge("a", "a")
    graph.edges["a", "a"].update({"1": 2, 1: 3})
    for load in (
        lambda: db.load_nodes([{"id": 1, "1": 2, 1: 3}]),
        lambda: db.load_nodes(graph),
        lambda: db.load_edges(graph, "knows"),
        lambda: db.load_edges([("a", "b", {"1": 2, 1: 3})], "knows"),
        lambda: db.load_graph(graph),
    ):
        with pytest.raises(QueryError, match="two keys of one row are called '1'"):
            load()
    graph = networkx.Graph()
    graph.add_node("a", **{"at.x": 1, "at": {"x": 2}})
    with pytest.raises(QueryError, match=r"two keys of one row are called 'at\.x'"):
        db.load_graph(graph)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"columns": {"a": "x", "b": "x"}}, 'columns "a" and "b" are both the predicate x'),
        ({"columns": {"a": "id"}}, 'columns "id" and "a" are both the predicate id'),
        (
            {"edges": {"a": ("z", "T", "name"), "b": ("z", "T", "name")}},
            'columns "a" and "b" are both the predicate z',
        ),
        ({"columns": {"g": "loc", "h": "loc"}}, 'columns "g" and "h" are both the predicate loc'),
    ],
)
def test_two_columns_of_one_predicate(options: dict[str, Any], said: str) -> None:
    row = {"id": 1, "a": "x", "b": "y", "g": 1.5, "h": 2.5}
    for table in ([row], polars.DataFrame([row]), pandas.DataFrame([row])):
        db = hexgraph.connect()
        with pytest.raises(QueryError, match=said):
            db.load_nodes(table, "P", **options)
        assert db.stats()["nodes"] == 0


def test_two_points_of_one_predicate() -> None:
    db = hexgraph.connect()
    row = {"id": 1, "lat": 1.0, "lon": 2.0, "loc": {"type": "Point", "coordinates": [3.0, 4.0]}}
    with pytest.raises(QueryError, match='columns "loc" and "lat" are both the predicate loc'):
        db.load_nodes([row], geo={"loc": ("lat", "lon")})


def test_two_columns_of_one_list() -> None:
    """A list has space for the values of both, and so have languages."""
    db = hexgraph.connect()
    db.alter("x: [string] .\nz: [uid] .\nname: string @lang .")
    row = {"id": 1, "a": "x", "b": "y", "c": "p", "d": "q", "name": "Ada", "name@de": "Adele"}
    edges = {"c": ("z", "T", "key"), "d": ("z", "T", "key")}
    db.load_nodes([row], "P", columns={"a": "x", "b": "x"}, edges=edges)
    (result,) = db.query("{ q(func: type(P)) { x z { key } name name@de } }").to_dict()["q"]
    assert sorted(result["x"]) == ["x", "y"]
    assert sorted(end["key"] for end in result["z"]) == ["p", "q"]
    assert (result["name"], result["name@de"]) == ("Ada", "Adele")


@pytest.mark.parametrize("facets", [{"a": "w", "b": "w"}, ["a", "a"]])
def test_two_facets_of_one_key(facets: Any) -> None:
    """Those of several types have a common key, as files of `export` have them."""
    db = hexgraph.connect()
    rows = [{"from": 1, "to": 2, "a": 5, "b": 6}]
    with pytest.raises(QueryError, match="are both the facet"):
        db.load_edges(rows, "knows", facets=facets)
    with pytest.raises(QueryError, match=r'"x\|w" and "x\|w" are both the facet "w"'):
        db.load_nodes(pyarrow.table([[1], [2], [3], [4]], names=["id", "x", "x|w", "x|w"]))
    rows = [{"from": 1, "to": 2, "a": 5}, {"from": 1, "to": 3, "b": "six"}]
    db.load_edges(rows, "knows", facets={"a": "w", "b": "w^^string"})
    result = db.query("{ q(func: has(knows)) { knows @facets { uid } } }").to_dict()["q"][0]
    assert [end["knows|w"] for end in result["knows"]] == [5, "six"]


@pytest.mark.parametrize("many", [[1], (1, 2), ["a"], ("a", "b")])
def test_a_list_is_no_id(many: Any, tmp_path: Path) -> None:
    """In nodes and edges, in rows, columns, frames, Arrow, Parquet and pairs."""
    items = list(many)
    column = pyarrow.array([items])
    parquet = tmp_path / "lists.parquet"
    polars.DataFrame({"id": [items], "from": [items], "to": [1]}).write_parquet(parquet)
    ids = [
        [{"id": many, "a": 1}],
        {"id": [many]},
        pandas.DataFrame({"id": [many]}),
        polars.DataFrame({"id": [items]}),
        pyarrow.table({"id": column}),
        parquet,
    ]
    endpoints = [
        [{"from": many, "to": 1}],
        [{"from": 1, "to": many}],
        {"from": [1], "to": [many]},
        pandas.DataFrame({"from": [many], "to": [1]}),
        polars.DataFrame({"from": [1], "to": [items]}),
        pyarrow.table({"from": column, "to": [1]}),
        parquet,
        [(many, 1)],
        [(1, many, {"w": 2})],
    ]
    db = hexgraph.connect()
    for table in ids:
        with pytest.raises((SchemaError, QueryError), match="make one text of each"):
            db.load_nodes(table, "P")
    for table in endpoints:
        with pytest.raises((SchemaError, QueryError), match="make one text of each"):
            db.load_edges(table, "knows", "from", "to")
    assert db.stats()["nodes"] == 0


def test_a_tuple_is_no_id_of_networkx() -> None:
    """As the nodes of a grid are; the remedy works."""
    graph = networkx.grid_2d_graph(2, 2)
    db = hexgraph.connect()
    remedy = r"\(0, 0\) is no id.*relabel_nodes\(graph, str\)"
    with pytest.raises(QueryError, match=remedy):
        db.load_nodes(graph, "P")
    with pytest.raises(QueryError, match=remedy):
        db.load_edges(graph, "next")
    with pytest.raises(QueryError, match="the end of an edge is a frozenset"):
        db.load_edges(networkx.Graph([(frozenset([1]), frozenset([2]))]), "next")
    named = networkx.relabel_nodes(graph, str)
    db.load_nodes(named, "P")
    assert db.load_edges(named, "next", on="id").triples == 4


@pytest.mark.parametrize("weight", ["source", "target", "weight", "uid", "from", "km"])
def test_weights_next_to_endpoints(weight: str) -> None:
    """A facet that is called as a column of the endpoints is in the column `weight`."""
    db = hexgraph.connect()
    db.mutate(set=f"<1> <road> <2> ({weight}=1.5) .")
    edges = db.edges("road", weight=weight)
    column = "weight" if weight in {"source", "target"} else weight
    row = {"source": "0x1", "target": "0x2", column: 1.5}
    assert edges.columns == list(row)
    assert edges.to_polars().to_dicts() == [row]
    assert edges.to_pandas().to_dict("records") == [row]
    assert edges.to_arrow().column_names == list(row)
    assert list(edges.to_networkx().edges(data=True)) == [("0x1", "0x2", {weight: 1.5})]


def test_facets_of_paths() -> None:
    """One that is called as a column has the name that answers have for it."""
    db = hexgraph.connect()
    facets = {name: 7 + position for position, name in enumerate([*NAMES, "w"])}
    text = ", ".join(f"{name}={value}" for name, value in facets.items())
    db.mutate(set=f"<1> <road> <2> ({text}) .\n<2> <road> <3> (from=1, to=2, w=3) .")
    result = db.query("{ shortest(from: 1, to: 3) { road @facets } }").paths()
    first, second = polars.DataFrame(result).to_dicts()
    read = {"path", "hop", "from", "predicate", "to", "total"}
    named = {f"road|{name}" if name in read else name: facets[name] for name in facets}
    hop = {"path": 0, "hop": 0, "from": "0x1", "predicate": "road", "to": "0x2", "total": 2}
    assert first == {**hop, **named}
    assert (second["from"], second["to"], second["hop"]) == ("0x2", "0x3", 1)
    assert (second["road|from"], second["road|to"], second["w"]) == (1, 2, 3)


@pytest.mark.parametrize(
    ("query", "names", "row"),
    [
        ("road { name } <road.name>: name", ["road.name", "road.name_2"], ("B", "A")),
        ("<road.name>: name road { name }", ["road.name", "road.name_2"], ("A", "B")),
        (
            "<road.name>: name <road.name_2>: name road { name }",
            ["road.name", "road.name_2", "road.name_3"],
            ("A", "A", "B"),
        ),
    ],
)
def test_equal_columns_of_flatten(query: str, names: list[str], row: tuple[str, ...]) -> None:
    db = hexgraph.connect()
    db.mutate(set='<1> <road> <2> .\n<1> <name> "A" .\n<2> <name> "B" .')
    result = db.query(f"{{ q(func: uid(1)) {{ {query} }} }}")
    for table in (result.flatten(), result.to_arrow().flatten(), result.explode("road")):
        assert sorted(table.column_names) == sorted(names)
        assert len(polars.DataFrame(table)) == len(pandas.DataFrame(table.to_pandas())) == 1
    assert result.flatten().column_names == names
    assert result.flatten().rows() == [row]
