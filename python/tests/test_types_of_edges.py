"""Types own the edges that start at their nodes; nodes that edges make get a type."""

import hexgraph

AIRPORTS = [{"iata": "ZRH", "city": "Zürich"}, {"iata": "JFK"}, {"iata": "GVA"}]


def airports(db):
    db.load_nodes(AIRPORTS, "Airport", id="iata")


def test_types_own_their_edges(db):
    airports(db)
    report = db.load_edges([("ZRH", "JFK"), ("JFK", "GVA")], "route", on="iata")
    assert report.notes == ["`route` is a field of Airport now and leads to Airport"]
    assert db.describe().types.rows() == [("Airport", 3, ["iata", "city", "route"])]
    (output,) = db.query('{ q(func: eq(iata, "ZRH")) { expand(_all_) { iata } } }').to_dict()["q"]
    assert output == {"iata": "ZRH", "city": "Zürich", "route": [{"iata": "JFK"}]}
    # All that a node has can be deleted by its type.
    db.upsert('{ a as var(func: eq(iata, "ZRH")) }', delete="uid(a) * * .")
    assert db.query("{ q(func: has(route)) { iata } }").rows() == [("JFK",)]


def test_types_can_be_left_alone(db):
    airports(db)
    report = db.load_edges([("ZRH", "JFK"), ("ZRH", "X")], "route", on="iata", types=False)
    assert (report.notes, report.untyped) == ([], 0)
    assert db.describe().types.rows() == [("Airport", 3, ["iata", "city"])]
    # Edges of nodes without a type are counted as well.
    db.load_edges([("X", "Y")], "route", on="iata", types=False)
    rows = db.describe().edges.rows()
    assert rows == [
        ("Airport", "route", "Airport", 1),
        ("Airport", "route", None, 1),
        (None, "route", None, 1),
    ]


def test_made_nodes_get_the_type_of_the_others(db):
    airports(db)
    report = db.load_edges([("ZRH", "JFK"), ("ZRH", "BSL")], "route", on="iata")
    assert (report.new_nodes, report.untyped) == (1, 0)
    assert db.query('{ q(func: eq(iata, "BSL")) { dgraph.type } }').rows() == [(["Airport"],)]
    report = db.load_edges([("ZRH", "X"), ("ZRH", "Y")], "seen", on="iata")
    assert report.untyped == 2
    assert "2 made, 2 of them without a type, 1 found" in str(report)
    assert ", 2 new, 2 of them without a type, " in repr(report)


def test_all_edges_that_are_new_have_nodes_without_a_type():
    db = hexgraph.connect()
    report = db.load_edges([(1, 2), (2, 3)], "knows")
    assert (report.new_nodes, report.untyped, report.notes) == (3, 3, [])
