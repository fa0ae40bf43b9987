"""Pictures are well-formed, and show what is there."""

import re
import xml.etree.ElementTree as ET

import pytest

import hexgraph
from hexgraph import GraphView, datasets, widget

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def films():
    return datasets.films()


def parsed(svg):
    return ET.fromstring(svg)


def texts(svg):
    return [result.text for result in parsed(svg).iter(f"{SVG}text")]


def inside(svg):
    """Whether every circle lies on the picture."""
    root = parsed(svg)
    width, height = float(root.get("width")), float(root.get("height"))
    return all(
        0 <= float(it.get("cx")) <= width and 0 <= float(it.get("cy")) <= height
        for it in root.iter(f"{SVG}circle")
    )


def test_a_schema_renders_itself(films):
    schema = films.schema()
    assert isinstance(schema, str)
    assert schema == str(schema)
    words = texts(schema.svg())
    for title, count in (("Film", "177"), ("Person", "729"), ("Genre", "20")):
        assert title in words
        assert count in words
    assert "directed_by" in words
    # An arrow for each edge between types: country, directed_by, genre, starring.
    arrows = [it for it in parsed(schema.svg()).iter(f"{SVG}path") if it.get("marker-end")]
    assert len(arrows) == 4
    assert "<svg" in schema._repr_html_()
    assert films.alter(schema).added == []


def test_schemas_of_all_shapes():
    empty = hexgraph.connect()
    assert "there are no predicates" in texts(empty.schema().svg())
    empty.mutate(set='<1> <a> "x" .')
    assert "of no type" in texts(empty.schema().svg())
    # Types with edges to each other, to themselves, and without.
    many = hexgraph.connect()
    fields = "\n".join(f"f{n}" for n in range(40))
    many.alter(
        f"next: [uid] .\n{chr(10).join(f'f{n}: int .' for n in range(40))}\n"
        f"type A {{\nnext\n}}\ntype B {{\nnext\n}}\ntype C {{\nf1\n}}\ntype Long {{\n{fields}\n}}"
    )
    many.mutate(
        set="""<1> <dgraph.type> "A" .
        <2> <dgraph.type> "B" .
        <1> <next> <2> .
        <2> <next> <1> .
        <1> <next> <1> ."""
    )
    svg = many.schema().svg()
    assert "… 26 more" in texts(svg)
    assert len([it for it in parsed(svg).iter(f"{SVG}path") if it.get("marker-end")]) == 3
    schema = many.schema()
    many.close()
    assert "Long" in texts(schema.svg())


def test_names_can_not_break_a_picture():
    db = hexgraph.connect()
    db.alter("name: string .")
    db.mutate(set='<1> <name> "<script>alert(1)</script> & \\"quotes\\"" .')
    view = GraphView(db.query("{ q(func: uid(1)) { uid name } }"))
    assert "<script" not in view.svg
    assert any("<script>" in (it or "") for it in texts(view.svg))


def test_a_result_is_rendered(films):
    dql = '{ q(func: eq(name, "Akira Kurosawa")) { uid name'
    dql += " ~directed_by { uid name genre { uid name } } } }"
    result = films.query(dql)
    view = GraphView(result)
    nodes = {result["q"][0]["uid"]}
    edges = set()
    for film in result["q"][0]["~directed_by"]:
        nodes |= {film["uid"], *(genre["uid"] for genre in film["genre"])}
        edges.add((film["uid"], result["q"][0]["uid"]))
        edges |= {(film["uid"], genre["uid"]) for genre in film["genre"]}
    assert set(view.uids) == nodes
    assert repr(view) == f"<hexgraph.GraphView: {len(nodes)} nodes, {len(edges)} edges>"
    words = texts(view.svg)
    assert "Akira Kurosawa" in words
    assert {"q", "~directed_by", "genre"} <= set(words)
    assert inside(view.svg)
    assert GraphView(result).svg == view.svg


def test_labels_colours_and_sizes(films):
    result = films.query(
        "{ q(func: type(Film), first: 30) { uid name runtime genre { uid name } } }"
    )
    view = GraphView(
        result, label="runtime", color="runtime", size="runtime", width=400, height=300
    )
    assert any(it and it.startswith("runtime: ") for it in texts(view.svg))
    assert parsed(view.svg).get("width") == "400"
    with pytest.raises(hexgraph.QueryError, match=r"no node has 'rntime'; they have .*runtime"):
        GraphView(result, color="rntime")


def test_a_database_is_rendered(films):
    view = GraphView(films, nodes=80)
    assert len(view.uids) == 80
    assert view.total == films.stats()["nodes"]
    assert f"80 of {view.total} nodes" in texts(view.svg)
    assert {"Film", "Person"} <= set(texts(view.svg))
    only = GraphView(films, edges="genre", color="dgraph.type", label="name")
    assert "genre" in only.svg
    assert "starring" not in only.svg
    with pytest.raises(
        hexgraph.QueryError, match=r"no edges 'gnre'; the predicates of edges are .*genre"
    ):
        GraphView(films, edges=["gnre"])


def test_what_has_no_nodes():
    db = hexgraph.connect()
    for source in (db, db.query("{ q(func: uid(1)) { name } }")):
        assert "there are no nodes" in texts(GraphView(source).svg)
    with pytest.raises(TypeError, match="a Result or a Database, not int"):
        GraphView(5)
    for wrong in (0, 20_001):
        with pytest.raises(hexgraph.QueryError, match=f"nodes is {wrong}, and from 1 to 20000"):
            GraphView(db, nodes=wrong)


def test_groups_and_aggregates_are_no_graph(films):
    counts = films.query("{ q(func: type(Film)) @groupby(genre) { count(uid) } }")
    assert repr(GraphView(counts)).startswith("<hexgraph.GraphView: 0 nodes")


def test_degrees(films, tmp_path):
    picture = widget.degrees(films, "~genre")
    rows = films.query("{ q(func: has(~genre)) { n: count(~genre) } }").rows()
    report = (
        f"{len(rows)} nodes, {sum(row[0] for row in rows)} edges, at most {max(rows)[0]} at one"
    )
    assert report in texts(picture.svg)
    widths = re.findall(r'<rect x="[^"]*" y="[^"]*" width="([^"]*)"', picture.svg)
    assert len(widths) > 1
    assert len(set(widths)) == 1
    picture.save(tmp_path / "degrees.svg")
    assert (tmp_path / "degrees.svg").read_text(encoding="utf-8") == picture.svg
    for wrong, why in (("name", "has values"), ("~nothing", "nothing"), ("genr", "genr")):
        with pytest.raises(hexgraph.SchemaError, match=why):
            widget.degrees(films, wrong)
    films.alter("lonely: [uid] .")
    assert "there are no edges of lonely" in texts(widget.degrees(films, "lonely").svg)
    with pytest.raises(hexgraph.SchemaError, match=r"db.index\('lonely', 'reverse'\)"):
        widget.degrees(films, "~lonely")


def test_no_name_makes_a_picture_malformed():
    names = ["bell\a", "\x00\x1b[31mred", "\ud7ff\ue000", "a<b>&\"c'", "\ufffe\uffff"]
    nodes = [{"uid": hex(at + 1), "name": name} for at, name in enumerate(names)]
    nodes[0]["knows"] = nodes[1:]
    result = hexgraph.GraphView(Answer({"q": [nodes[0]]}))
    texts = {it.text for it in parsed(result.svg).iter()}
    assert "bell\ufffd" in texts
    assert "a<b>&\"c'" in texts


class Answer:
    """What a view reads of a result."""

    def __init__(self, data):
        self.data = data

    def to_dict(self):
        return self.data


def test_loops_are_rendered_and_counted(db):
    db.mutate(set='<1> <name> "a" .\n<1> <knows> <1> .\n<1> <knows> <2> .')
    for view in (
        hexgraph.GraphView(db),
        hexgraph.GraphView(db.query("{ q(func: uid(1)) { uid knows { uid } } }")),
    ):
        assert repr(view) == "<hexgraph.GraphView: 2 nodes, 2 edges>"
        paths = [it.get("d") for it in parsed(view.svg).iter() if it.tag.endswith("path")]
        assert len(paths) == 2
        assert sum(" C" in path for path in paths) == 1


def test_labels_of_hubs_come_first(db):
    """Of a star with 40 leaves the hub has a label, whatever lies around it."""
    quads = [f'<1> <knows> <{at}> .\n<{at}> <name> "a long name of {at}" .' for at in range(2, 42)]
    db.mutate(set="\n".join(quads) + '\n<1> <name> "the hub of all of them" .')
    texts = {it.text for it in parsed(hexgraph.GraphView(db).svg).iter() if it.tag.endswith("text")}
    assert "the hub of all of them" in texts


def test_a_small_graph_fills_the_picture(db):
    db.mutate(set="<1> <knows> <2> .\n<2> <knows> <3> .\n<3> <knows> <1> .")
    circles = [it for it in parsed(hexgraph.GraphView(db).svg).iter() if it.tag.endswith("circle")]
    for path, size in (("cx", 640), ("cy", 420)):
        spots = [float(it.get(path)) for it in circles]
        assert max(spots) - min(spots) > 0.7 * size, path


def test_bins_of_ints_are_ints():
    from hexgraph.schemas.profiling import histogram

    assert histogram([(value, 1) for value in range(12)]) == [1] * 12
    assert histogram([(value, 1) for value in range(11)]) == [1] * 11
    assert histogram([(value, 1) for value in range(30)]) == [3] * 10
    graph = hexgraph.Graph([0] * 9, range(1, 10), directed=False)
    lines = graph.algo.bfs(source=1).histogram().splitlines()
    assert [line.split()[0] for line in lines] == ["0", "1", "2"]
