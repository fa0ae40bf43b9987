"""Graphs of GraphML, GML, node-link JSON and networkx, against networkx's own readers."""

import gzip
import json
import random
import subprocess
import sys

import pytest

import hexgraph

networkx = pytest.importorskip("networkx")

ATTRIBUTES = {
    "name": lambda generator: generator.choice(["Zoë", "a<b & c>d", '"quoted"', "x\ty", " z "]),
    "age": lambda generator: generator.randrange(-(2**40), 2**40),
    "score": lambda generator: generator.choice([0.5, -1e300, 3.0, 1 / 3]),
    "is_new": lambda generator: generator.random() < 0.5,
    "first name": lambda generator: generator.choice(["A", "B"]),
    "id": lambda generator: generator.choice(["one", "other"]),
}


def random_graph(seed, *, of_ints):
    generator = random.Random(seed)
    graph = generator.choice([networkx.Graph, networkx.DiGraph])()
    names = [number if of_ints else f"n {number}é" for number in range(generator.randrange(1, 30))]

    def some():
        return {
            name: make(generator) for name, make in ATTRIBUTES.items() if generator.random() < 0.6
        }

    for name in names:
        graph.add_node(name, **some())
    for _ in range(generator.randrange(60)):
        one, other = generator.choice(names), generator.choice(names)
        data = some()
        # networkx writes an attribute `id` of an edge as the id of the edge.
        data.pop("id", None)
        graph.add_edge(one, other, weight=generator.random(), **data)
    return graph


def stored(db, xid="key"):
    """Return nodes with their attributes, and edges with theirs, as they are in the database."""
    names = [name for name, kind in predicates(db) if kind != "[uid]" and name != xid]
    fields = " ".join(f"<{name}>" for name in names)
    query = f"{{ q(func: has({xid})) {{ {xid} {fields} edge @facets {{ {xid} }} }} }}"
    nodes, edges = {}, {}
    for row in db.query(query).to_dict()["q"]:
        endpoints = row.pop("edge", [])
        key = row.pop(xid)
        nodes[key] = row
        for end in endpoints:
            data = {name.removeprefix("edge|"): it for name, it in end.items() if name != xid}
            edges[key, end[xid]] = data
    return nodes, edges


def predicates(db):
    for line in db.schema().splitlines():
        if ": " in line and not line.startswith((" ", "dgraph", "<dgraph", "type")):
            name, _, rest = line.partition(": ")
            yield name.strip("<>"), rest.split(" ", 1)[0].rstrip(".")


def expected(graph):
    def named(data):
        clean = {"first name": "first_name"}
        return {clean.get(name, name): value for name, value in data.items()}

    nodes = {node: named(data) for node, data in graph.nodes(data=True)}
    edges = {(one, other): named(data) for one, other, data in graph.edges(data=True)}
    return nodes, edges


def same(result, requested, is_directed):
    nodes, edges = result
    other_nodes, other_edges = requested
    assert nodes == other_nodes
    if not is_directed:
        edges = {tuple(sorted(endpoints, key=str)): data for endpoints, data in edges.items()}
        other_edges = {
            tuple(sorted(endpoints, key=str)): data for endpoints, data in other_edges.items()
        }
    assert edges == other_edges


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("form", ["graphml", "gml", "json", "links", "networkx"])
def test_a_random_graph_is_what_networkx_reads(tmp_path, seed, form):
    of_ints = form == "gml" or (form in ("json", "links") and seed % 2 == 0)
    graph = random_graph(seed, of_ints=of_ints)
    path = tmp_path / f"graph.{form}"
    if form == "graphml":
        networkx.write_graphml_xml(graph, path)
        requested = networkx.read_graphml(path)
        given = path
    elif form == "gml":
        for _, data in graph.nodes(data=True):
            data.pop("id", None)
        # Names of GML are letters and digits.
        for _, *_, data in [*graph.nodes(data=True), *graph.edges(data=True)]:
            for name in ("first name", "is_new"):
                data.pop(name, None)
            # Greater ones are texts there.
            data.update({"age": data["age"] % 2**31} if "age" in data else {})
        networkx.write_gml(graph, path)
        requested = networkx.read_gml(path, label="id")
        given = path
    elif form in ("json", "links"):
        for _, data in graph.nodes(data=True):
            data.pop("id", None)
        key = "edges" if form == "json" else "links"
        data = networkx.node_link_data(graph, edges=key)
        path = path.with_suffix(".json.gz")
        path.write_bytes(gzip.compress(json.dumps(data).encode()))
        requested = networkx.node_link_graph(
            json.loads(gzip.decompress(path.read_bytes())), edges=key
        )
        given = path
    else:
        requested = given = graph
    db = hexgraph.connect()
    report = db.load_graph(given, "Thing", xid="key")
    same(stored(db), expected(requested), requested.is_directed())
    assert report.new_nodes == len(requested)
    kind = "directed" if requested.is_directed() else "undirected"
    assert any(f", {kind}" in note and f"{len(requested)} nodes" in note for note in report.notes)
    types = db.query("{ q(func: type(Thing)) { count(uid) } }").to_dict()["q"]
    assert types == [{"count": len(requested)}]
    # Once more changes nothing: the ids find the nodes.
    again = db.load_graph(given, "Thing", xid="key")
    assert again.new_nodes == 0
    same(stored(db), expected(requested), requested.is_directed())


GRAPHML = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
  <desc>x</desc>
  <key id="d0" for="node" attr.name="colour" attr.type="string"><default>yellow</default></key>
  <key id="d1" for="edge" attr.name="weight" attr.type="double"/>
  <key id="d2" for="all" attr.name="rank" attr.type="int"><desc>d</desc></key>
  <key id="d3" for="node" yfiles.type="nodegraphics"/>
  <key id="d4" for="graph" attr.name="title" attr.type="string"/>
  <graph id="G" edgedefault="undirected">
    <data key="d4">a title</data>
    <node id="n0"><data key="d0">gr<!-- c -->een &amp; <![CDATA[<b>]]>&#x21;</data>
      <data key="d2"> 7 </data>
      <data key="d3"><y:ShapeNode><y:Fill color="#FF"/></y:ShapeNode></data><port name="p"/></node>
    <node id="n1"/>
    <edge id="e0" source="n0" target="n1" directed="true"><data key="d1">1.5</data></edge>
    <edge source="n1" target="n2"><data key="d2">3</data></edge>
    <node id="n3"><graph id="n3:" edgedefault="directed"><node id="n3::n0"/></graph>
      <data key="d2">9</data></node>
  </graph>
</graphml>
"""


def test_what_graphml_has(db, tmp_path):
    path = tmp_path / "a.GraphML.gz"
    path.write_bytes(gzip.compress(GRAPHML.encode()))
    report = db.load_graph(path)
    assert "edge: [uid] ." in db.schema()
    assert "rank: int ." in db.schema()
    nodes, edges = stored(db, "id")
    assert nodes == {
        "n0": {"colour": "green & <b>!", "rank": 7},
        "n1": {"colour": "yellow"},
        "n2": {},
        "n3": {"colour": "yellow", "rank": 9},
        "n3::n0": {"colour": "yellow"},
    }
    assert edges == {("n0", "n1"): {"weight": 1.5, "id": "e0"}, ("n1", "n2"): {"rank": 3}}
    assert any(note.endswith("4 nodes, 2 edges") and "undirected" in note for note in report.notes)
    assert "<port>" in report.warnings[0]
    assert "`title` of the graph" in report.warnings[0]
    assert "`d3`" in report.warnings[0]
    assert "graphs within them" in report.warnings[0]
    assert "ends of edges that are no nodes of the file: 1, such as `n2`" in report.warnings[1]
    with pytest.raises(hexgraph.LoadError, match="the file has no node `n2`") as fault:
        hexgraph.connect().load_graph(path, missing="raise")
    assert fault.value.line == 16


def document(body, keys=""):
    return f"<graphml>{keys}<graph>{body}</graph></graphml>"


LAUGHS = "".join(f'<!ENTITY l{level + 1} "{f"&l{level};" * 10}">' for level in range(9))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f'<!DOCTYPE g [<!ENTITY l0 "ha">{LAUGHS}]>' + document('<node id="&l9;"/>'), "l9"),
        (
            f'<!DOCTYPE g [<!ENTITY l0 "ha">{LAUGHS}]>'
            + document('<node id="a"><data key="k">&l9;</data></node>', '<key id="k" for="node"/>'),
            "the entity `&l9;` is not expanded",
        ),
        (
            '<!DOCTYPE g [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
            + document('<node id="a"><data key="k">&x;</data></node>', '<key id="k" for="node"/>'),
            "not expanded",
        ),
        (document("<node id='a'>" + "<graph><node id='b'>" * 2000), "more than 1000 deep"),
        (document("<node id='a'><x>" + "<y>" * 2000), "more than 1000 deep"),
        (document("<node/>"), "this <node> has no `id`"),
        (document("<node id='a'/><edge source='a'/>"), "this <edge> has no `target`"),
        (document("<hyperedge><endpoint node='a'/></hyperedge>"), "two ends"),
        (document("<node id='a'><data key='k'>1</data></node>"), "no <key> has this id"),
        (document("<node id='a'><data>1</data></node>"), "this <data> has no `key`"),
        (
            document(
                "<node id='a'><data key='k'>x</data></node>",
                '<key id="k" attr.name="age" attr.type="int"/>',
            ),
            "`x` is no int, the type of `age`",
        ),
        (
            document("<node id='a'/>", '<key id="k" attr.type="int"><default>x</default></key>'),
            "is no int",
        ),
        ("<graphml><graph><node id='a'>", "ends within"),
        ("<graphml><graph><node id='a'></graph></graphml>", "expected `</node>`"),
        ("<graphml></graphml>", "no <graph>"),
        ("<html><body/></html>", "begins no GraphML"),
        ("", "no <graph>"),
        ("{}", "no <graph>"),
        (document("<node id='a' " + "x='' " * 100_000 + "/><edge"), "expected `</edge"),
    ],
)
def test_hostile_graphml_is_refused(db, tmp_path, text, why):
    path = tmp_path / "a.graphml"
    path.write_text(text)
    with pytest.raises(hexgraph.Error) as fault:
        db.load_graph(path)
    assert why in str(fault.value)
    assert str(path) in str(fault.value)
    assert db.query("{ q(func: has(id)) { uid } }").to_dict()["q"] == []


def test_a_text_without_end_is_refused(db, tmp_path):
    path = tmp_path / "a.graphml.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"<graphml><graph><node id='")
        for _ in range(70):
            file.write(b"x" * (1 << 20))
    with pytest.raises(hexgraph.LoadError, match="longer than 64 MiB"):
        db.load_graph(path)


def test_ids_that_come_twice_and_values_that_are_wrong_are_reported(db, tmp_path):
    path = tmp_path / "a.graphml"
    key = '<key id="k" for="node" attr.name="age" attr.type="int"/>'
    node = "<node id='a'><data key='k'>{}</data></node>"
    path.write_text(document(node.format(1) + node.format(2) + node.format("x"), key))
    report = db.load_graph(path, on_error="skip")
    assert stored(db, "id")[0] == {"a": {"age": 2}}
    assert "2 rows have the id of an earlier one: the first is row 2" in report.warnings[0]
    assert report.duplicate_ids == 2
    assert "values left out: 1, such as" in report.warnings[1]


def test_a_graph_joins_what_was_changed_a_moment_ago(db, tmp_path):
    db.alter("id: string @index(exact) .\nname: string .")
    db.mutate(set='_:a <id> "n1" .\n_:a <name> "kept" .')
    path = tmp_path / "a.graphml"
    path.write_text(GRAPHML)
    assert db.load_graph(path).new_nodes == 4
    result = db.query('{ q(func: eq(id, "n1")) { name colour } }').to_dict()["q"]
    assert result == [{"name": "kept", "colour": "yellow"}]


@pytest.mark.parametrize("memory", [None, "16MiB"])
def test_ten_times_the_size_in_batches(tmp_path, memory):
    path = tmp_path / "a.graphml"
    nodes = 30_000
    with path.open("w") as file:
        file.write('<graphml><key id="k" attr.name="w" attr.type="int"/><graph>')
        for at in range(nodes):
            file.write(f'<edge source="n{at}" target="n{(at * 7 + 1) % nodes}"/>\n')
            file.write(f'<node id="n{at}"><data key="k">{at}</data></node>\n')
        file.write("</graph></graphml>")
    db = hexgraph.connect()
    report = db.load_graph(path, memory=memory)
    assert (report.new_nodes, report.triples, report.warnings) == (nodes, 3 * nodes, [])
    assert db.query("{ q(func: eq(id, n29999)) { w edge { w } } }").to_dict()["q"] == [
        {"w": 29_999, "edge": [{"w": (29_999 * 7 + 1) % nodes}]}
    ]


def test_attributes_that_are_called_as_ids_and_endpoints_retain_their_values(db):
    graph = networkx.DiGraph()
    graph.add_node("a", id="first", source="s")
    graph.add_edge("a", "b", source="x", target="y", id="z", weight=1)
    report = db.load_graph(graph)
    result = db.query("{ q(func: eq(id, a)) { id id_2 source edge @facets { id } } }").to_dict()[
        "q"
    ]
    facets = {"edge|source_2": "x", "edge|target_2": "y", "edge|id": "z", "edge|weight": 1}
    assert result == [{"id": "a", "id_2": "first", "source": "s", "edge": [{"id": "b", **facets}]}]
    assert 'attribute "id" of nodes is the predicate id_2' in report.notes
    assert 'attribute "source" of edges is the facet source_2' in report.notes


def test_ints_of_numpy_are_ids(db):
    numpy = pytest.importorskip("numpy")
    graph = networkx.Graph()
    graph.add_edge(numpy.int64(1), numpy.int32(2), weight=numpy.float64(0.5))
    graph.add_node(numpy.int64(1), size=numpy.int64(3))
    db.load_graph(graph)
    assert stored(db, "id") == ({1: {"size": 3}, 2: {}}, {(1, 2): {"weight": 0.5}})


def test_node_link_json_in_all_forms(db):
    # As d3 had it: endpoints are positions.
    old = {
        "nodes": [{"name": "a"}, {"name": "b"}],
        "links": [{"source": 0, "target": 1, "value": 2}],
    }
    db.load_graph(old)
    assert stored(db, "id") == ({0: {"name": "a"}, 1: {"name": "b"}}, {(0, 1): {"value": 2}})
    db.drop("all")
    mixed = {
        "directed": True,
        "nodes": [{"id": 7, "at": {"x": 1, "y": {"z": 2}}, "tags": ["p", "q"]}, {"id": "b"}],
        "edges": [{"source": "7", "target": "c", "source of": "x"}],
    }
    report = db.load_graph(mixed)
    nodes, edges = stored(db, "id")
    assert nodes["7"]["at.x"] == 1
    assert sorted(nodes["7"]["tags"]) == ["p", "q"]
    assert edges == {("7", "c"): {"source_of": "x"}}
    assert "such as 'c'" in report.warnings[0]
    assert 'attribute "source of" of edges is the facet source_of' in report.notes
    with pytest.raises(hexgraph.QueryError, match="'c' is an end of an edge and no node"):
        db.load_graph(mixed, missing="raise")


@pytest.mark.parametrize(
    ("graph", "why"),
    [
        ({"nodes": []}, "`links` or `edges`"),
        ({"nodes": 7, "links": []}, "`nodes` is a list of objects"),
        ({"nodes": [1], "links": []}, "this is none: 1"),
        ({"nodes": [{"id": [1, 2]}], "links": []}, "an id is a whole number or a text"),
        ({"nodes": [{"id": None}], "links": []}, "an id is a whole number or a text"),
        ({"nodes": [{"id": 1}], "links": [{"source": 1}]}, r"links\[0\] lacks"),
    ],
)
def test_wrong_node_link_json_is_refused(db, tmp_path, graph, why):
    with pytest.raises(hexgraph.QueryError, match=why):
        db.load_graph(graph)
    (tmp_path / "a.json").write_text(json.dumps(graph))
    with pytest.raises(hexgraph.QueryError, match=why):
        db.load_graph(tmp_path / "a.json")


def test_other_files_are_refused_with_a_hint(db, tmp_path):
    for name, text, why in [
        ("a.json", "[" * 100_000, "too deep"),
        ("a.json", "{", "no JSON"),
        ("a.json", "[]", "an object with nodes and links"),
        ("a.gml", "graph [ node [ id 1 ] edge [ source 1 target 2 ] ]", "undefined target"),
        ("a.gml", "graph [ node [ id 1 ] node [ id 1 ] ]", "duplicated"),
        ("a.gml", "graph " + "[ x " * 100_000, "too deep"),
        ("a.xlsx", "PK", "pandas.read_excel"),
        ("a.csv", "a,b", "load_nodes and load_edges"),
    ]:
        path = tmp_path / name
        path.write_text(text)
        with pytest.raises(hexgraph.QueryError, match=why):
            db.load_graph(path)
    for name, why in [
        ("a.graphml", "load_graph"),
        ("a.gml", "load_graph"),
        ("a.xlsx", "read_excel"),
    ]:
        (tmp_path / name).write_text(GRAPHML)
        with pytest.raises(hexgraph.QueryError, match=why):
            db.load(tmp_path / name)
        if name.startswith("a.g"):
            with pytest.raises(hexgraph.QueryError, match="load_graph"):
                db.load_nodes(tmp_path / name)
    with pytest.raises(TypeError, match="a graph is the path"):
        db.load_graph([1, 2])
    with pytest.raises(TypeError, match="`predicate`"):
        db.load_graph(networkx.Graph(), edges="knows")
    with pytest.raises(hexgraph.QueryError, match="a whole number or a text"):
        db.load_graph(networkx.grid_2d_graph(2, 2))
    with pytest.raises(hexgraph.Error):
        db.load_graph(tmp_path / "no.graphml")


def test_the_command_line_loads_graphml(tmp_path):
    path = tmp_path / "a.graphml"
    path.write_text(GRAPHML)

    def load(*arguments):
        command = [sys.executable, "-m", "hexgraph", "load", tmp_path / "db", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    done = load(path, "--type", "Thing", "--edges", "knows", "--xid", "key")
    assert done.returncode == 0, done.stderr
    assert "GraphML, undirected" in done.stderr
    db = hexgraph.connect(tmp_path / "db")
    assert db.query('{ q(func: eq(key, "n0")) { dgraph.type knows { key } } }').to_dict()["q"] == [
        {"dgraph.type": ["Thing"], "knows": [{"key": "n1"}]}
    ]
    db.close()
    assert "no node `n2`" in load(path, "--missing", "raise").stderr
    assert "one graph" in load(path, path).stderr
    (tmp_path / "a.gml").write_text("graph [ ]")
    assert "load_graph" in load(tmp_path / "a.gml").stderr
    (tmp_path / "a.xlsx").write_text("PK")
    assert "read_excel" in load(tmp_path / "a.xlsx").stderr
