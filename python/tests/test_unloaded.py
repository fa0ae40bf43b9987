"""What a load leaves out stands in its report, and options for what is not there are errors."""

import json
import subprocess
import sys

import networkx
import pytest

import hexgraph

ROWS = [{"from": 1, "to": 2, "since": 2019, "weight": 0.5}]
NOTE = "the columns since, weight are not loaded: name them in `facets=`"


def tables(tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(ROWS)
    frame.write_csv(tmp_path / "a.csv")
    frame.write_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.json").write_text(json.dumps(ROWS))
    graph = networkx.DiGraph()
    graph.add_edge(1, 2, since=2019, weight=0.5)
    return {
        "tuples": [(1, 2, {"since": 2019, "weight": 0.5})],
        "by pairs": {(1, 2): {"since": 2019, "weight": 0.5}},
        "networkx": graph,
        "dicts": ROWS,
        "columns": {name: [value] for name, value in ROWS[0].items()},
        "polars": frame,
        "pandas": frame.to_pandas(),
        "arrow": frame.to_arrow(),
        "csv": tmp_path / "a.csv",
        "parquet": tmp_path / "a.parquet",
        "json": tmp_path / "a.json",
    }


def test_columns_of_edges_that_no_facet_names(tmp_path):
    for name, table in tables(tmp_path).items():
        db = hexgraph.connect()
        report = db.load_edges(table, "knows", "from", "to")
        assert report.notes.count(NOTE) == 1, name
        assert NOTE in str(report), name
        report = db.load_edges(table, "knows", "from", "to", facets=["since", "weight"])
        assert not any("not loaded" in note for note in report.notes), name
        result = db.query("{ q(func: has(knows)) { knows @facets { uid } } }").to_dict()["q"]
        facets = {key: value for key, value in result[0]["knows"][0].items() if key != "uid"}
        assert facets == {"knows|since": 2019, "knows|weight": 0.5}, name


def test_a_third_item_is_a_weight(db):
    assert db.load_edges([(1, 2, 0.5)], "knows").notes == [
        "the column weight is not loaded: name it in `facets=`"
    ]
    assert db.load_edges([(1, 2)], "knows").notes == []


def test_the_command_line_names_its_option(tmp_path):
    (tmp_path / "a.csv").write_text("from,to,since\n1,2,2019\n")
    command = [sys.executable, "-m", "hexgraph", "load", tmp_path / "db", tmp_path / "a.csv"]
    options = ["--edges", "knows", "--source", "from", "--target", "to"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=True)
    assert "the column since is not loaded: name it in --facet" in done.stdout + done.stderr
    done = subprocess.run(
        [*command, *options, "--facet", "since"], capture_output=True, text=True, check=True
    )
    assert "not loaded" not in done.stdout + done.stderr


@pytest.mark.parametrize("option", ["types", "facets"])
def test_options_for_columns_that_are_not_there(option, db):
    value = {"sinse": "int"}
    with pytest.raises(hexgraph.QueryError, match='no column "sinse"'):
        db.load_edges(ROWS, "knows", "from", "to", **{option: value})


def test_types_convert_facets(db):
    db.load_edges(ROWS, "knows", "from", "to", facets="since", types={"since": "string"})
    result = db.query("{ q(func: has(knows)) { knows @facets { uid } } }").to_dict()["q"]
    assert result[0]["knows"][0]["knows|since"] == "2019"


def test_keys_of_multigraphs(db):
    graph = networkx.MultiDiGraph()
    graph.add_edge(1, 2, key="likes", key_2=5)
    graph.add_edge(2, 3)
    note = "the columns key, key_2 are not loaded: name them in `facets=`"
    assert db.load_edges(graph, "knows").notes == [note]
    db.drop("all")
    db.load_graph(graph)
    result = db.query("{ q(func: eq(id, 1)) { edge @facets { id } } }").to_dict()["q"]
    assert result == [{"edge": [{"id": 2, "edge|key": "likes", "edge|key_2": 5}]}]
    # The numbers that networkx gives are no keys of anybody.
    graph = networkx.MultiGraph([(1, 2), (1, 2)])
    assert db.load_edges(graph, "other").notes == []


def test_attributes_of_graphs(db, tmp_path):
    graph = networkx.DiGraph(name="g", made={"by": "me"}, empty={})
    graph.add_edge("a", "b")
    assert db.load_graph(graph).warnings == ["not stored: 'name' of the graph, 'made' of the graph"]
    data = {**networkx.node_link_data(graph, edges="links"), "edges": [], "crs": 4326}
    warnings = db.load_graph(data).warnings
    want = "not stored: 'name' of the graph, 'made' of the graph, 'edges', 'crs'"
    assert warnings == [want]
    del graph.graph["made"], graph.graph["empty"]
    networkx.write_gml(graph, tmp_path / "a.gml")
    assert db.load_graph(tmp_path / "a.gml").warnings == ["not stored: 'name' of the graph"]
    many = networkx.DiGraph(**{f"a{at}": 1 for at in range(15)})
    many.add_node("a")
    assert db.load_graph(many).warnings[0].endswith("'a9' of the graph and 5 more")


def load(*arguments):
    command = [sys.executable, "-m", "hexgraph", "load", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("a.rdf", ["--id", "x", "--cast", "y=int"], "triples does not read --id, --cast"),
        ("a.graphml", ["--column", "x=y"], "a graph does not read --column"),
        ("a.graphml", ["--type", "T", "--edges", "e", "--xid", "k"], None),
        ("a.rdf", ["--xid", "x"], None),
    ],
)
def test_options_of_tables_for_other_files(name, options, message, tmp_path):
    texts = {
        "a.rdf": '<a> <name> "Ada" .\n',
        "a.graphml": '<graphml><graph><node id="a"/></graph></graphml>',
    }
    (tmp_path / name).write_text(texts[name])
    done = load(tmp_path / "db", tmp_path / name, *options)
    if message is None:
        assert done.returncode == 0, done.stderr
    else:
        assert done.returncode != 0
        assert f"a load of {message}" in " ".join(done.stderr.split())
