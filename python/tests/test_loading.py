"""Tables as people have them: what a load accepts, recognises, and reports."""

import datetime
import decimal
import sys
import uuid
from dataclasses import dataclass
from typing import Annotated, Literal, Optional

import pytest

import hexgraph

AIRPORTS = [
    {"iata": "ZRH", "city": "Zürich", "lat": 47.46, "lon": 8.55},
    {"iata": "JFK", "city": "New York", "lat": 40.64, "lon": -73.78},
]
ROUTES = [{"from": "ZRH", "to": "JFK"}, {"from": "JFK", "to": "ZRH"}, {"from": "ZRH", "to": "JFK"}]
NEAR = "{ q(func: near(place, [8.5, 47.4], 50000)) { iata city } }"
LINES = "iata;city;lat;lon\nZRH;Zürich;47.46;8.55\nJFK;New York;40.64;-73.78\n"


def kinds_of_tables():
    yield "rows", lambda: AIRPORTS
    yield "iterator", lambda: iter(AIRPORTS)
    yield "columns", lambda: {key: [row[key] for row in AIRPORTS] for key in AIRPORTS[0]}
    for name in ("polars", "lazy", "pandas", "pyarrow", "numpy", "duckdb"):
        yield name, lambda name=name: frame_of(name)


def frame_of(name):
    package = pytest.importorskip({"lazy": "polars"}.get(name, name))
    match name:
        case "polars":
            return package.DataFrame(AIRPORTS)
        case "lazy":
            return package.LazyFrame(AIRPORTS)
        case "pandas":
            return package.DataFrame(AIRPORTS)
        case "pyarrow":
            return package.Table.from_pylist(AIRPORTS)
        case "numpy":
            return {key: package.array([row[key] for row in AIRPORTS]) for key in AIRPORTS[0]}
        case _:
            return package.from_arrow(frame_of("pyarrow"))


@pytest.mark.parametrize(("name", "table"), list(kinds_of_tables()), ids=lambda it: str(it)[:10])
def test_the_first_try_works(db, name, table):
    report = db.load_nodes(table(), "Airport", "iata", geo={"place": ("lat", "lon")})
    assert (report.nodes, report.new_nodes) == (2, 2), name
    assert "iata: string @index(hash) @upsert @unique ." in db.schema()
    assert "xid" not in db.schema()
    assert db.query(NEAR).rows() == [("ZRH", "Zürich")]
    report = db.load_edges(ROUTES, "route", "from", "to", on="iata")
    assert (report.new_nodes, report.triples, report.repeated) == (0, 3, 1)
    assert len(db.query("{ q(func: has(route)) { iata } }")) == 2


def test_points_by_the_names_of_columns(db):
    db.load_nodes(AIRPORTS, "Airport", id="iata", geo="place")
    assert db.query(NEAR).rows() == [("ZRH", "Zürich")]
    with pytest.raises(TypeError, match="no columns are called as latitudes"):
        db.load_nodes([{"id": 1, "north": 1.0}], geo="place")
    with pytest.raises(TypeError, match="of a file say both columns"):
        db.load_nodes("airports.csv", geo="place")


def test_geometries(db):
    shapely = pytest.importorskip("shapely")
    point = {"type": "Point", "coordinates": [8.55, 47.46]}
    db.load_nodes([{"id": 1, "place": point}, {"id": 2, "place": shapely.Point(8.55, 47.46)}])
    db.load_nodes([{"id": 3, "place": "POINT (8.55 47.46)"}], geo="place")
    polars = pytest.importorskip("polars")
    db.load_nodes(polars.DataFrame({"id": [4], "place": [point]}))
    assert db.query("{ q(func: has(place)) { place } }")["q"] == [{"place": point}] * 4
    with pytest.raises(hexgraph.LoadError, match=r'row 1, column "place": "POINT .8,5 47.": no'):
        db.load_nodes([{"id": 1, "place": "POINT (8,5 47)"}])


ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "latin-1"]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_and_encodings_are_recognised(db, tmp_path, encoding, separator):
    path = tmp_path / "airports.csv"
    path.write_bytes(LINES.replace(";", separator).encode(encoding))
    db.load_nodes(path, "Airport", id="iata", geo={"place": ("lat", "lon")})
    assert db.query(NEAR).rows() == [("ZRH", "Zürich")]


def test_separators_and_encodings_that_are_said(db, tmp_path):
    path = tmp_path / "airports.csv"
    path.write_bytes("id#name\n1#Zürich\n".encode("utf-16-be"))
    db.load_nodes(path, separator="#", encoding="UTF_16BE")
    assert db.query("{ q(func: has(name)) { id name } }").rows() == [(1, "Zürich")]
    for separator in ["##", "ä"]:
        with pytest.raises(ValueError, match="separator is one ASCII character"):
            db.load_nodes(path, separator=separator)
    # Latin-1 behind the first MiB.
    path.write_bytes(b"id,name\n" + b"1,plain\n" * 200_000 + b"2,Z\xfcrich\n")
    with pytest.raises(hexgraph.LoadError, match='encoding="windows-1252"'):
        db.load_nodes(path)
    db.load_nodes(path, encoding="windows-1252")
    assert db.query("{ q(func: eq(id, 2)) { name } }").rows() == [("Zürich",)]


def specials():
    numpy, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    times = pandas.to_datetime(["2024-01-01 10:00", None]).tz_localize("Europe/Zurich")
    return {
        "id": [1, 2],
        "zoned": times,
        "naive": pandas.to_datetime(["2024-01-01 10:00", None]),
        "category": pandas.Categorical(["a", None]),
        "nullable": pandas.array([7, None], dtype="Int64"),
        "truth": pandas.array([True, None], dtype="boolean"),
        "day": [datetime.date(2020, 1, 1), None],
        "uuid": [uuid.UUID(int=1), None],
        "decimal": [decimal.Decimal("1.5"), None],
        "list": [["b", "a"], None],
        "nan": [1.5, float("nan")],
        "array": [numpy.array([1, 2]), None],
    }


RECOGNISED = {
    "id": 1,
    "zoned": "2024-01-01T09:00:00Z",
    "naive": "2024-01-01T10:00:00Z",
    "category": "a",
    "nullable": 7,
    "truth": True,
    "day": "2020-01-01T00:00:00Z",
    "uuid": "00000000-0000-0000-0000-000000000001",
    "decimal": 1.5,
    "list": ["a", "b"],
    "nan": 1.5,
    "array": [1, 2],
}


@pytest.mark.parametrize("has_pyarrow", [True, False])
def test_frames_of_pandas_with_all_that_they_have(db, monkeypatch, has_pyarrow):
    pandas = pytest.importorskip("pandas")
    if has_pyarrow:
        pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(specials())
    if not has_pyarrow:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    db.load_nodes(frame)
    fields = " ".join(RECOGNISED)
    first, second = hexgraph_json(db, f"{{ q(func: has(id)) {{ {fields} }} }}")
    assert {**first, "list": sorted(first["list"])} == RECOGNISED
    assert second == {"id": 2}


def hexgraph_json(db, dql):
    import json

    return json.loads(db.query(dql).json())["q"]


class GivesItself:
    """A value whose conversions lead back to it."""

    def tolist(self):
        return self


class Tensor:
    """An array of a library whose `dtype` has no `kind`."""

    dtype = object()

    def tolist(self):
        return [1.5]


def test_values_whose_conversion_is_no_value(db):
    numpy = pytest.importorskip("numpy")
    wide = numpy.longdouble
    db.load_nodes([{"id": 1, "one": wide(1.5), "list": numpy.array([wide(2.5)]), "kin": Tensor()}])
    assert db.query("{ q(func: has(id)) { one list kin } }").rows() == [(1.5, [2.5], [1.5])]
    for value in [GivesItself(), numpy.clongdouble(1)]:
        kind = type(value).__name__
        with pytest.raises(TypeError, match=f'column "one", row 1: a value of type {kind} has no'):
            db.load_nodes([{"id": 1, "one": value}])


def test_rows_of_objects(db):
    @dataclass
    class Person:
        id: int
        name: str

    db.load_nodes([Person(1, "Ada"), Person(2, "Bob")], "Person")
    assert db.query("{ q(func: type(Person)) { name } }").rows() == [("Ada",), ("Bob",)]
    assert db.load_nodes([]).nodes == 0


def test_a_database_with_xid_goes_on(db):
    db.alter("xid: string @index(hash) .")
    db.load_nodes(AIRPORTS, id="iata")
    assert db.query('{ q(func: eq(xid, "ZRH")) { city } }').rows() == [("Zürich",)]
    assert "iata" not in db.schema()


def test_endpoints_by_usual_names(db):
    db.load_nodes([{"id": 1}, {"id": 2}])
    for columns in (("source", "target"), ("from", "to"), ("SRC", "DST"), ("a", "b")):
        report = db.load_edges([dict(zip(columns, (1, 2), strict=True))], "knows", missing="raise")
        assert report.new_nodes == 0, columns


@pytest.mark.parametrize(
    "pairs",
    [
        [(1, 2), (2, 3)],
        [[1, 2], [2, 3]],
        zip([1, 2], [2, 3], strict=True),
        [(1, 2, {"km": 5}), (2, 3, {"km": 6})],
        [(1, 2, 0.5), (2, 3, 0.25)],
    ],
    ids=["tuples", "lists", "iterator", "attributes", "weights"],
)
def test_edges_as_pairs(db, pairs):
    db.load_nodes([{"id": at} for at in (1, 2, 3)], "Person")
    assert db.load_edges(pairs, "knows").new_nodes == 0
    result = db.query("{ q(func: has(knows)) { id knows { id } } }").to_dict()["q"]
    assert result == [{"id": 1, "knows": [{"id": 2}]}, {"id": 2, "knows": [{"id": 3}]}]


def test_pairs_have_facets(db):
    db.load_nodes([{"id": "a"}, {"id": "b"}], "Person")
    db.load_edges([("a", "b", {"km": 5, "by": "rail"})], "way", facets=["km", "by"])
    db.load_edges([("b", "a", 0.5)], "way", facets="weight")
    result = db.query("{ q(func: has(way)) { way @facets { id } } }").to_dict()["q"]
    assert result == [
        {"way": [{"id": "b", "way|by": "rail", "way|km": 5}]},
        {"way": [{"id": "a", "way|weight": 0.5}]},
    ]


def test_arrays_of_pairs(db):
    numpy = pytest.importorskip("numpy")
    db.load_nodes([{"id": at} for at in (1, 2, 3)], "Person")
    assert db.load_edges(numpy.array([[1, 2], [2, 3]]), "knows").triples == 2


def test_graphs_of_networkx(db):
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph()
    graph.add_node("a", size=3)
    graph.add_edge("a", "b", weight=0.5)
    graph.add_edge("b", "c", weight=1.5)
    assert db.load_nodes(graph, "Place").new_nodes == 3
    assert db.load_edges(graph, "way", facets="weight").new_nodes == 0
    result = db.query('{ q(func: eq(id, "a")) { size way @facets { id } } }').to_dict()["q"]
    assert result == [{"size": 3, "way": [{"id": "b", "way|weight": 0.5}]}]
    assert db.load_edges(graph.edges, "other").triples == 2


def test_lists_that_are_no_edges(db):
    with pytest.raises(TypeError, match="edges may be pairs"):
        db.load_nodes([(1, 2), (2, 3)], "Person")
    with pytest.raises(TypeError, match="edges may be pairs"):
        db.load_edges([(1, 2, 3, 4)], "knows")


def test_the_report_is_a_table(db):
    db.load_nodes(AIRPORTS, id="iata")
    routes = [*ROUTES, {"from": "ZRH", "to": "XXX"}]
    report = db.load_edges(routes, "route", missing="skip")
    lines = str(report).splitlines()
    assert lines[0].split() == ["nodes", "2", "0", "made,", "2", "found"]
    assert lines[2].startswith("edges repeated")
    assert lines[3].split()[-2:] == ["1", "XXX"]
    assert "XXX</td>" in report._repr_html_()
    assert repr(report).startswith("<hexgraph.LoadReport: 3 triples, 2 nodes, 0 new, ")


@dataclass
class Country:
    code: Annotated[str, "@index(hash) @upsert @unique"]


@dataclass
class Airport:
    iata: Annotated[str, "@index(hash) @upsert @unique"]
    country: Country
    routes: list["Airport"]
    opened: Optional[datetime.date] = None  # noqa: UP045 - people write it so
    size: Literal["small", "large"] = "small"


def test_classes_are_types(db):
    db.alter(Airport)
    schema = db.schema()
    assert "routes: [uid] ." in schema
    assert "opened: datetime ." in schema
    assert "type Airport {\n\tiata\n\tcountry\n\troutes\n\topened\n\tsize\n}" in schema
    assert "type Country {\n\tcode\n}" in schema


def test_models_of_pydantic_are_types(db):
    pydantic = pytest.importorskip("pydantic")

    class Person(pydantic.BaseModel):
        name: str = pydantic.Field(json_schema_extra={"index": ["exact", "term"]})
        age: int | None = None

    report = db.alter([Person])
    assert report.added[:2] == ["name: string @index(exact) @index(term)", "age: int"]
    db.load_nodes([Person(name="Ada Lovelace", age=36)], "Person", id=None)
    assert db.query('{ q(func: eq(name, "Ada Lovelace")) { age } }').rows() == [(36,)]


def test_an_error_says_the_line_that_mends_it(db):
    db.load_nodes(AIRPORTS, "Airport", id="iata")
    for dql in ('eq(city, "Zürich")', 'allofterms(city, "york")', "regexp(city, /rich$/)"):
        with pytest.raises(hexgraph.QueryError) as caught:
            db.query(f"{{ q(func: {dql}) {{ iata }} }}")
        line = caught.value.hint.split("; in one line: ")[1]
        eval(line, {"db": db})
        assert len(db.query(f"{{ q(func: {dql}) {{ iata }} }}")) == 1


def test_indexes_are_added_to_those_that_are_there(db):
    db.alter(
        'v: float32vector @index(hnsw(metric: "euclidean")) .\nname: string @index(term) @lang .'
    )
    db.index("name", "exact", "upsert")
    assert "name: string @index(term, exact) @upsert @lang ." in db.schema()
    db.index("v", 'hnsw(metric: "cosine")')
    assert 'v: float32vector @index(hnsw(metric:"cosine")) .' in db.schema()
    assert repr(db.index("v")) == "<hexgraph.SchemaReport: nothing changed>"


def test_suggestions_can_be_applied(db):
    db.load_nodes(AIRPORTS, "Airport", id="iata", geo="place")
    db.load_edges(ROUTES, "route", on="iata")
    report = db.suggest()
    assert "route: [uid] @reverse ." in report
    assert "lat: float @index(float) ." in report
    assert "iata" not in report
    db.alter(report)
    assert db.suggest() == ""
    assert repr(db.suggest()) == "# nothing is missing"
    with pytest.raises(hexgraph.SchemaError, match="did you mean `iata`"):
        db.suggest("itaa")


def test_lists_that_hold_themselves(db):
    endless = []
    endless.append(endless)
    with pytest.raises(ValueError, match="holds itself"):
        db.load(endless)
    for load in (db.load_nodes, lambda given: db.load_edges(given, "knows")):
        with pytest.raises((TypeError, ValueError, RecursionError)):
            load(endless)


@pytest.mark.parametrize("seconds", [2**62, -(2**62), 253402300800])
def test_times_that_no_text_can_say_are_refused(db, seconds):
    pyarrow = pytest.importorskip("pyarrow")
    times = pyarrow.array([0, seconds, 253402300799], pyarrow.timestamp("s", "UTC"))
    table = pyarrow.table({"id": [1, 2, 3], "at": times})
    with pytest.raises(hexgraph.LoadError, match="its year is not from 0 to 9999"):
        db.load_nodes(table)
    assert db.load_nodes(table, on_error="skip").skipped == 1
    result = db.query("{ q(func: has(at), orderasc: at) { at } }").to_dict()["q"]
    assert [row["at"] for row in result] == ["1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z"]


def test_polars_columns_without_a_value(db):
    """Those of type Null are handed out in a layout that Arrow no longer has."""
    polars = pytest.importorskip("polars")
    rows = {"id": ["x", "y"], "a": [None, None], "b": [[], None], "n": [1, None]}
    # The type of each node, and one number; the second time the ids are there already.
    for frame, ids in ((polars.DataFrame(rows), 2), (polars.LazyFrame(rows), 0)):
        assert db.load_nodes(frame, "T").triples == ids + 2 + 1
    assert "a:" not in db.schema()
    assert db.load_nodes(polars.DataFrame({"id": [], "a": []}), "T").nodes == 0
    edges = polars.DataFrame({"from": ["x"], "to": ["y"], "w": [None]})
    assert db.load_edges(edges, "e", on="id", facets="w").triples == 1
    missing = polars.DataFrame({"from": [None], "to": ["y"]})
    with pytest.raises(hexgraph.LoadError, match="row 1, column"):
        db.load_edges(missing, "e", on="id", missing="raise")
    assert "1 row has no source or no target" in db.load_edges(missing, "e", on="id").warnings[0]


def test_decimals_have_all_their_digits(db):
    db.alter("b: bigfloat .\ns: string .\nid: string @index(hash) .")
    long = decimal.Decimal("12345678901234567890")
    rows = [
        {"id": long, "b": decimal.Decimal("0.10"), "s": decimal.Decimal("100.00")},
        {"id": decimal.Decimal(2), "b": None, "s": decimal.Decimal("1e30")},
    ]
    db.load_nodes(rows)
    result = db.query("{ q(func: has(id)) { id b s } }").json()
    assert '{"id":"12345678901234567890","b":0.1,"s":"100.00"}' in result
    assert '{"id":"2","s":"1000000000000000000000000000000.00"}' in result
    # More digits than Arrow has, mixed with other numbers: as floats.
    db.load_nodes(
        [{"f": decimal.Decimal("1e100")}, {"f": 1.5}, {"f": decimal.Decimal("nan")}], id=None
    )
    assert sorted(db.query("{ q(func: has(f)) { f } }").rows()) == [(1.5,), (1e100,)]


def test_a_column_that_arrow_does_not_know_is_named(db):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": ["x"], "wave": [1 + 2j]})
    with pytest.raises(TypeError, match='column "wave", row 1: a value of type complex'):
        db.load_nodes(frame)


def test_periods_are_refused(db):
    pandas = pytest.importorskip("pandas")
    periods = pandas.period_range("2020-01", periods=1, freq="M")
    with pytest.raises(hexgraph.Error, match=r'column "a": .*to_timestamp'):
        db.load_nodes(pandas.DataFrame({"id": ["x"], "a": periods}))


def test_times_of_a_table_have_their_microseconds(db):
    """A double has not the digits of all of them."""
    first = datetime.datetime(1, 1, 1, tzinfo=datetime.UTC)
    micros = [position * 1_577_836_799_999_999 + position for position in range(200)]
    times = [first + datetime.timedelta(microseconds=number) for number in micros]
    db.load_nodes([{"id": position, "at": time} for position, time in enumerate(times)])
    table = db.query("{ q(func: has(at), orderasc: id) { at } }").to_arrow()
    assert [time for (time,) in table.rows()] == times


def test_columns_that_arrow_has_no_type_for_are_read_cell_by_cell(db):
    """The texts of other libraries came through: "Unsupported numpy type 15", "_pli128"."""
    numpy, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    frame = pandas.DataFrame(
        {
            "thin": pandas.arrays.SparseArray([1, 0]),
            "long": numpy.array([1.5, 2.5], dtype=numpy.longdouble),
        }
    )
    db.load_nodes(frame, "T", id=None)
    wide = polars.Series([1, 2], dtype=polars.Int128)
    db.load_nodes(polars.DataFrame({"wide": wide}), "U", id=None)
    rows = db.query("{ q(func: type(T), orderasc: long) { thin long } }").rows()
    assert rows == [(1, 1.5), (0, 2.5)]
    assert db.query("{ q(func: type(U), orderasc: wide) { wide } }").rows() == [(1,), (2,)]
