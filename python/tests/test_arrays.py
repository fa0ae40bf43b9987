"""Edges and matrices as arrays, and as graphs of other libraries."""

import random

import pytest

import hexgraph

numpy = pytest.importorskip("numpy")

ROADS = [(1, 5, 2.0), (5, 7, 1.5), (7, 7, 3.0), (7, 1, 4.0), (9, 5, 1.0)]


@pytest.fixture
def db():
    db = hexgraph.connect()
    db.alter("town: string @index(exact) .\nroad: [uid] .\nrail: [uid] .")
    quads = [f"<{a}> <road> <{b}> (km={km}) ." for a, b, km in ROADS]
    quads += ["<1> <rail> <9> .", '<1> <town> "a" .', '<5> <town> "b" .', '<3> <town> "c" .']
    db.mutate(set="\n".join(quads))
    return db


def test_the_table_has_uids_and_weights(db):
    polars = pytest.importorskip("polars")
    edges = db.edges("road", weight="km")
    assert edges.columns == ["source", "target", "km"]
    numbers = [*ROADS[:2], (7, 1, 4.0), (7, 7, 3.0), (9, 5, 1.0)]
    assert edges.to_polars(uids=int).rows() == numbers
    # As those of queries and of algorithms, so that frames join.
    assert edges.to_polars().rows() == [(hex(a), hex(b), km) for a, b, km in numbers]
    joined = edges.to_polars().join(
        db.algo.degree("road").to_polars(), left_on="source", right_on="uid"
    )
    assert len(joined) == 5
    with pytest.raises(ValueError, match="uids are of type str or int, not 'int'"):
        edges.to_arrow(uids="int")
    assert polars.DataFrame(edges).equals(edges.to_polars())
    assert edges.to_pandas(uids=int)["target"].tolist() == [5, 7, 1, 7, 5]
    assert edges.to_pandas()["target"].tolist() == ["0x5", "0x7", "0x1", "0x7", "0x5"]
    assert len(edges) == 5
    assert db.edges("road").to_arrow().rows(1) == [("0x1", "0x5")]
    assert db.edges("road").columns == ["source", "target"]


def test_nodes_of_networkx_have_a_label(db):
    pytest.importorskip("networkx")
    made = db.edges("road").to_networkx(label="town")
    assert dict(made.nodes(data="town")) == {"0x1": "a", "0x5": "b", "0x7": None, "0x9": None}
    assert "town" not in made.nodes["0x7"]
    with pytest.raises(hexgraph.ParseError, match="the label 'town"):
        db.edges("road").to_networkx(label="town {")


def test_coordinates_are_numbers_of_nodes(db):
    edges = db.edges("road", weight="km")
    sources, targets, weights = edges.to_numpy()
    result = zip(edges.uids[sources].tolist(), edges.uids[targets].tolist(), weights, strict=True)
    assert sorted(result) == sorted(ROADS)
    index = db.edges("road").edge_index()
    assert index.dtype == "int64"
    assert index.tolist() == [[0, 1, 2, 2, 3], [1, 2, 0, 2, 1]]
    assert len(db.edges("road").to_numpy()) == 2


@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_the_matrix_is_the_dense_one(db, direction):
    pytest.importorskip("scipy")
    positions = {uid: position for position, uid in enumerate([1, 5, 7, 9])}
    dense = numpy.zeros((4, 4))
    for a, b, km in ROADS:
        dense[positions[a], positions[b]] = km
    if direction == "in":
        dense = dense.T
    if direction == "both":
        dense = dense + dense.T - numpy.diag(dense.diagonal())
    matrix = db.matrix("road", weight="km", direction=direction)
    assert (matrix.toarray() == dense).all()
    ones = db.matrix("road", direction=direction)
    assert (ones.toarray() == (dense > 0)).all()
    # Products, turning round and copies read the arrays only.
    assert numpy.allclose((matrix @ matrix.T).toarray(), dense @ dense.T)
    own = matrix.copy()
    own.data[:] = 0
    assert matrix.sum() == dense.sum()


def test_large_matrices_agree_with_what_was_loaded(db):
    sparse = pytest.importorskip("scipy.sparse")
    sample = random.Random(5)
    pairs = sorted({(sample.randrange(1, 400), sample.randrange(1, 400)) for _ in range(3000)})
    rows = [{"a": a, "b": b, "w": sample.random()} for a, b in pairs]
    db.load_edges(rows, "wire", "a", "b", uid=True, facets="w")
    edges = db.edges("wire", weight="w")
    positions = {uid: position for position, uid in enumerate(edges.uids.tolist())}
    endpoints = [[positions[row[end]] for row in rows] for end in ("a", "b")]
    size = (len(positions), len(positions))
    expected = sparse.coo_array(([row["w"] for row in rows], endpoints), size)
    assert abs(edges.matrix() - expected.tocsr()).max() == 0


def test_nothing_is_copied_and_nothing_can_be_written(db):
    pytest.importorskip("scipy")
    edges = db.edges("road", weight="km")
    matrix = edges.matrix()
    assert numpy.shares_memory(matrix.indices, db.edges("road", weight="km").to_numpy()[1])
    with pytest.raises(ValueError, match="read-only"):
        edges.uids[0] = 3
    with pytest.raises(ValueError, match="read-only"):
        matrix.data[0] = 3


def test_arrays_outlive_commits_and_the_database(db):
    edges = db.edges("road", weight="km")
    targets = edges.to_numpy()[1]
    db.mutate(delete="<1> <road> * .")
    assert len(edges) == 5
    assert len(db.edges("road")) == 4
    db.drop("all")
    del db, edges
    assert targets.tolist() == [1, 2, 0, 2, 1]


def test_nodes_filters_and_several_predicates(db):
    assert db.edges("road", nodes="has(town)").uids.tolist() == [1, 3, 5]
    assert len(db.edges("road", nodes="has(town)")) == 1
    assert len(db.edges("road", "rail")) == 6
    assert len(db.edges('road @filter(eq(town, "b"))')) == 2
    assert db.edges("~rail").to_numpy()[0].tolist() == [1]
    assert len(db.edges("road", nodes=[])) == 0
    empty = db.edges("road", nodes=[77])
    assert (len(empty), empty.uids.tolist()) == (0, [77])
    assert repr(empty) == "source  target"


def test_graphs_of_other_libraries_have_the_same_edges(db):
    once = {("0x1", "0x5"), ("0x5", "0x7"), ("0x7", "0x7"), ("0x7", "0x1"), ("0x9", "0x5")}
    networkx = pytest.importorskip("networkx")
    made = db.edges("road", weight="km").to_networkx()
    assert set(made.edges) == once
    assert made["0x7"]["0x1"] == {"km": 4.0}
    undirected = db.edges("road", direction="both").to_networkx()
    assert type(undirected) is networkx.Graph
    assert undirected.number_of_edges() == 5
    igraph = pytest.importorskip("igraph")
    made = db.edges("road", weight="km").to_igraph()
    assert isinstance(made, igraph.Graph)
    assert {tuple(made.vs[end]["name"] for end in edge.tuple) for edge in made.es} == once
    assert sum(made.es["weight"]) == 11.5
    assert db.edges("road", direction="both").to_igraph().ecount() == 5
    rustworkx = pytest.importorskip("rustworkx")
    made = db.edges("road", weight="km").to_rustworkx()
    assert isinstance(made, rustworkx.PyDiGraph)
    assert {(made[a], made[b]) for a, b in made.edge_list()} == once
    assert isinstance(db.edges("road", direction="both").to_rustworkx(), rustworkx.PyGraph)


def test_long_tables_are_cut_when_printed(db):
    db.mutate(set="\n".join(f"<{n}> <rail> <{n + 1}> ." for n in range(20, 60)))
    assert repr(db.edges("rail")).splitlines()[-1] == "... 41 rows"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda db: db.edges("rod"), "did you mean `road`?"),
        (lambda db: db.edges("town"), "has values"),
        (lambda db: db.matrix("road", weight="kn"), "`km`"),
        (lambda db: db.edges("road", direction="up"), "one of out, in, both"),
        (lambda db: db.edges("road", timeout=0.0), "timeout"),
    ],
)
def test_what_is_wrong_is_reported(db, call, said):
    pytest.importorskip("scipy")
    with pytest.raises(hexgraph.Error, match=said):
        call(db)


def test_an_algorithm_on_the_arrays_refuses_what_does_not_fit(db):
    from hexgraph.arrays.compact import Compact

    graph = Compact.of(db, ("road",), 'edges("road")')
    assert graph.compute("bfs", nodes={"source": [0]})[0].tolist()[:3] == [0, 1, 2]
    for name, arguments, nodes, said in [
        ("bsf", {}, {}, "no algorithm `bsf`"),
        ("bfs", {}, {}, "without `source`"),
        ("bfs", {}, {"source": [4]}, "no number 4"),
        ("pagerank", {"dampin": 1}, {}, "did you mean `damping`?"),
        ("pagerank", {"damping": 2}, {}, "from 0 to 1"),
        ("hits", {"score": "best"}, {}, "one of authority, hub"),
    ]:
        with pytest.raises(hexgraph.Error, match=said):
            graph.compute(name, arguments, nodes)
