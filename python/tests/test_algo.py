"""Graph algorithms from Python: calls, results, and what is wrong with them."""

import inspect

import pytest

import hexgraph
from hexgraph import _native
from hexgraph.algo import Algorithms

PEOPLE = """
<1> <name> "ada" .
<2> <name> "bob" .
<3> <name> "cy" .
<4> <name> "dee" .
<5> <name> "eve" .
<1> <age> "30" .
<2> <age> "20" .
<3> <age> "40" .
<4> <age> "50" .
<5> <age> "60" .
<1> <follows> <2> (strength=2) .
<2> <follows> <3> (strength=1) .
<3> <follows> <1> (strength=4) .
<4> <follows> <1> .
<2> <likes> <5> .
"""


@pytest.fixture
def db():
    db = hexgraph.connect()
    db.alter(
        "name: string @index(exact) .\nage: int @index(int) .\nfollows: [uid] .\nlikes: [uid] ."
    )
    db.mutate(set=PEOPLE)
    return db


def renamed(name):
    return {"from": "from_nodes"}.get(name, name)


@pytest.mark.parametrize("row", _native.algorithms(), ids=lambda row: row["name"])
def test_each_algorithm_has_a_method_with_its_arguments_and_defaults(row):
    """The signatures are written by hand, and checked against the table."""
    method = getattr(Algorithms, row["name"])
    parameters = inspect.signature(method).parameters
    assert ("weight" in parameters) == row["weights"]
    common = ("nodes", "direction", "threads", "seed")
    own = [argument for argument in row["arguments"] if argument["name"] not in common]
    for argument in own:
        parameter = parameters[renamed(argument["name"])]
        if argument.get("required"):
            assert parameter.default is inspect.Parameter.empty
        else:
            assert parameter.default == argument.get("default")
    named = {"self", "on", "weight", "common", *(renamed(argument["name"]) for argument in own)}
    assert set(parameters) - named == set()
    assert ">>>" in inspect.getdoc(method), "an example"


def test_nodes_are_a_root_or_uids(db):
    ranks = db.algo.pagerank("follows", nodes='has(name) @filter(ge(age, 30) OR eq(name, "x)"))')
    assert [row[0] for row in ranks.rows()] == ["0x1", "0x3", "0x4", "0x5"]
    same = [["0x1", 3, "0x4", 5], "ge(age, 30)", "\ufeffge(age, 30)"]
    for nodes in same:
        assert db.algo.pagerank("follows", nodes=nodes).rows() == ranks.rows()
    assert len(db.algo.pagerank("follows", nodes=[])) == 0
    assert len(db.algo.components("follows", nodes="0x4")) == 1


def test_edges_have_filters_and_directions(db):
    def visited(*on, **arguments):
        levels = db.algo.bfs(*on, source="eq(name, ada)", **arguments).to_dict()
        return {uid: level for uid, level in levels.items() if level is not None}

    assert visited("follows") == {"0x1": 0, "0x2": 1, "0x3": 2}
    assert visited("follows", "likes") == {"0x1": 0, "0x2": 1, "0x3": 2, "0x5": 2}
    assert visited("~follows") == visited("follows", direction="in")
    assert visited("follows", direction="both") == {"0x1": 0, "0x2": 1, "0x3": 1, "0x4": 1}


def test_a_result_is_a_table(db):
    import numpy

    result = db.algo.distances("follows", source=1, weight="strength")
    assert result.columns == ["uid", "distances"]
    assert result.rows() == [("0x1", 0.0), ("0x2", 2.0), ("0x3", 3.0), ("0x4", None)]
    assert result.to_polars()["uid"].to_list() == ["0x1", "0x2", "0x3", "0x4"]
    assert result.to_polars()["distances"].to_list() == [0.0, 2.0, 3.0, None]
    assert result.to_pandas()["distances"].isna().sum() == 1
    assert numpy.array_equal(result.to_numpy(), [0.0, 2.0, 3.0, numpy.nan], equal_nan=True)
    assert result.top(2, "name", "age") == [
        {"uid": "0x3", "name": "cy", "age": 40, "distances": 3.0},
        {"uid": "0x2", "name": "bob", "age": 20, "distances": 2.0},
    ]
    assert repr(result).splitlines()[1:] == [
        "0x3    cy          3",
        "0x2   bob          2",
        "0x1   ada          0",
        "0x4   dee          -",
    ]
    assert result.histogram(2).splitlines()[0].endswith(" 1")
    assert db.algo.bfs("follows", source=99).histogram() == "no numbers"


def test_xids_are_columns_besides_uids():
    polars = pytest.importorskip("polars")
    db = hexgraph.connect()
    table = polars.DataFrame({"a": ["ann", "ben"], "b": ["ben", "cid"]})
    db.load_edges(table, "knows", source="a", target="b")
    result = db.algo.bfs("knows", source='eq(xid, "ann")')
    assert [row[1:] for row in result.rows()] == [("ann", 0), ("ben", 1), ("cid", 2)]
    result.store("hops")
    assert db.query('{ q(func: eq(xid, "cid")) { hops } }').rows() == [(2,)]


def test_some_nodes_may_have_an_xid():
    polars = pytest.importorskip("polars")
    db = hexgraph.connect()
    db.load_edges(polars.DataFrame({"a": ["ann"], "b": ["ben"]}), "knows", source="a", target="b")
    ann = db.query('{ q(func: eq(xid, "ann")) { uid } }').rows()[0][0]
    db.mutate(set=f"<{ann}> <knows> <7> .\n<7> <knows> <8> .")
    result = db.algo.bfs("knows", source=ann, depth=1)
    assert result.rows() == [("0x7", None, 1), ("0x8", None, None), *result.rows()[2:]]
    assert [row[1:] for row in result.rows()[2:]] == [("ann", 0), ("ben", 1)]
    assert result.to_polars()["xid"].to_list() == [None, None, "ann", "ben"]
    assert [row["xid"] for row in result.top(9)] == [None, "ben", "ann"]
    # The order of a path is not that of the uids.
    path = db.algo.k_shortest("knows", source=ann, target=7, k=1)
    assert [row[2] for row in path.rows()] == ["ann", None]


def test_arrays_lie_where_the_numbers_are():
    numpy = pytest.importorskip("numpy")
    db = hexgraph.connect()
    db.mutate(set="<1> <e> <2> .\n<3> <e> <2> .")
    full, ranks = db.algo.degree("e"), db.algo.pagerank("e")
    assert numpy.shares_memory(ranks.to_numpy(), ranks.to_numpy())
    assert full.to_numpy().tolist() == [1, 0, 1]
    visited = db.algo.bfs("e", source=1)
    levels = visited.to_numpy()
    # Those with gaps are the caller's own.
    levels[numpy.isnan(levels)] = -1
    assert (levels.tolist(), visited.rows()[2]) == ([0, 1, -1], ("0x3", None))
    array = db.algo.fastrp("e", dimensions=8).to_numpy()
    del ranks, full
    assert array.shape == (3, 8)


def test_the_greatest_are_printed_with_the_labels_of_their_nodes():
    db = hexgraph.connect()
    triples = [f"<{100 + at}> <e> <{20 + at % 7}> ." for at in range(60)]
    triples += [f'<{20 + at}> <title> "t{at}" .' for at in range(7)]
    db.mutate(set="\n".join(triples))
    result = db.algo.degree("e", direction="in")
    lines = [line.split() for line in repr(result).splitlines()]
    assert lines[0] == ["uid", "title", "degree"]
    assert lines[1] == ["0x14", "t0", "9"]
    assert [line[1] for line in lines[1:8]] == ["t0", "t1", "t2", "t3", "t4", "t5", "t6"]
    assert lines[8:11] == [[uid, "-", "0"] for uid in ("0x64", "0x65", "0x66")]
    assert lines[11:] == [["...", "67", "rows"]]
    assert [row["uid"] for row in result.top(10)] == [line[0] for line in lines[1:11]]
    assert "<td" in result._repr_html_()
    assert result._repr_html_().index("t0") < result._repr_html_().index("0x64")
    # Nodes have one of several labels, and those of pairs are both there.
    db.mutate(set='<20> <name> "n" .')
    assert repr(result).split()[:5] == ["uid", "label", "degree", "0x14", "n"]
    pairs = repr(db.algo.bridges("e")).splitlines()[0].split()
    assert pairs == ["uid", "label", "to", "to.label", "bridges"]
    # The numbers of groups have no greatest one; few of many are reachable.
    assert repr(db.algo.components("e")).splitlines()[1].split() == ["0x14", "n", "0"]
    visited = repr(db.algo.bfs("e", source=100)).splitlines()
    assert visited[1].split() == ["0x14", "n", "1"]
    assert visited[-1] == "... 67 rows, 65 without a number"
    # What is printed needs no database that is open.
    db.close()
    assert repr(result).split()[:3] == ["uid", "degree", "0x14"]


def test_a_result_is_stored_in_one_commit(db):
    before = db.stats()["commit"]
    ranks = db.algo.pagerank("follows")
    ranks.store("rank", index=True)
    assert db.stats()["commit"] > before
    best = "{ q(func: ge(rank, 0.3), orderdesc: rank) { name rank } }"
    assert [row["name"] for row in db.query(best)] == [row["name"] for row in ranks.top(3, "name")]
    assert "rank: float @index(float)" in db.schema()
    db.algo.bfs("follows", source="0x1").store("hops")
    assert db.query("{ q(func: has(hops)) { uid hops } }").rows() == [
        ("0x1", 0),
        ("0x2", 1),
        ("0x3", 2),
    ]


def test_frames_join_those_of_queries_and_have_fields(db, monkeypatch):
    import pandas
    import pyarrow

    result = db.algo.components("follows")
    people = db.query("{ q(func: has(name)) { uid name } }").to_polars()
    joined = people.join(result.to_polars(), on="uid")
    assert joined["name"].to_list() == ["ada", "bob", "cy", "dee"]
    report = result.to_polars("name", "born: age")
    assert report.columns == ["uid", "name", "born", "components"]
    assert report.rows() == [
        ("0x1", "ada", 30, 0),
        ("0x2", "bob", 20, 0),
        ("0x3", "cy", 40, 0),
        ("0x4", "dee", 50, 0),
    ]
    monkeypatch.setattr("hexgraph.algo.result.UIDS_AT_ONCE", 3)
    assert result.to_polars("name", "born: age").equals(report)
    assert pandas.merge(people.to_pandas(), result.to_pandas("age"), on="uid").shape == (4, 4)
    assert pyarrow.table(result).schema.field("uid").type == pyarrow.string()
    pairs = db.algo.similar_nodes("follows", source=[3, 4], k=1, direction="out").to_polars("name")
    assert pairs.columns == ["uid", "name", "to", "similar_nodes"]
    assert pairs.rows() == [("0x3", "cy", "0x4", 1.0), ("0x4", "dee", "0x3", 1.0)]
    nobody = db.algo.components("follows", nodes=[]).to_polars("name")
    assert nobody.columns == ["uid", "name", "components"]
    with pytest.raises(hexgraph.QueryError, match="two columns"):
        result.to_polars("components: age")
    with pytest.raises(ValueError, match="no nodes whose fields"):
        db.algo.transitivity("follows").to_polars("name")
    with pytest.raises(hexgraph.ParseError) as raised:
        result.to_polars("name(")
    assert (raised.value.line, raised.value.message[:17]) == (0, "the fields 'name(")


def test_frames_with_uids_are_accepted(db):
    result = db.algo.similar_nodes("follows", source=[3], k=1, direction="out")
    db.load_edges(result.to_polars(), "alike", "uid", "to", uid=True)
    assert db.query("{ q(func: has(alike)) { uid alike { uid } } }").rows() == [
        ("0x3", [{"uid": "0x4"}])
    ]
    ranks = db.algo.pagerank("follows").to_polars()
    db.load_nodes(ranks, id="uid", uid=True)
    assert len(db.query("{ q(func: has(pagerank)) { uid } }")) == 4
    some = db.algo.components("follows", nodes=ranks["uid"].to_list()[:2])
    assert some.to_dict() == {"0x1": 0, "0x2": 0}
    assert len(db.algo.components("follows", nodes=ranks["uid"])) == 4


def test_the_default_ranks_have_converged():
    """Of 2,000 nodes a change by 1e-6 for each would be more than what ranks differ by."""
    db = hexgraph.connect()
    edges = [(1 + n * n % 1999, 1 + (n * 7 + n // 3) % 2000) for n in range(10_000)]
    db.load_edges(edges, "near")
    exact = db.algo.pagerank("near", iterations=1000, tolerance=0.0).to_numpy()
    ranks = db.algo.pagerank("near").to_numpy()
    assert abs(ranks - exact).sum() < 1e-5
    assert ranks.argsort()[-10:].tolist() == exact.argsort()[-10:].tolist()
    exact = db.algo.eigenvector("near", iterations=5000, tolerance=0.0).to_numpy()
    assert abs(db.algo.eigenvector("near").to_numpy() - exact).sum() < 1e-3


def test_the_first_of_nodes_without_numbers(db):
    db.mutate(set="<3> <follows> <6> .")
    points = db.algo.articulation_points("follows")
    assert points.top(1, "name") == [{"uid": "0x1", "name": "ada"}]
    assert points.top() == [{"uid": "0x1"}, {"uid": "0x3"}]
    assert db.algo.bridges("follows").top(1)[0]["uid"] == "0x1"
    with pytest.raises(ValueError, match="vectors, which have no order"):
        db.algo.fastrp("follows").top()
    with pytest.raises(ValueError, match="no number for each node"):
        points.store("is_cut")


def test_names_of_others_are_recognised(db):
    with pytest.raises(AttributeError, match=r"write `db.algo.pagerank\(predicate\)`"):
        db.algo.page_rank("follows")
    with pytest.raises(AttributeError, match="did you mean `betweenness`"):
        db.algo.betweeness("follows")


def test_errors_have_no_position_in_a_text_that_nobody_wrote(db):
    for call in (
        lambda: db.algo.pagerank("folows"),
        lambda: db.algo.pagerank("follows", damping=2),
        lambda: db.algo.pagerank("follows", nodes="has(name) @filter(eq(name, 'a'))"),
        lambda: db.algo.distances("follows", source=1, weight="strenth"),
    ):
        with pytest.raises(hexgraph.Error) as raised:
            call()
        assert raised.value.line == 0
        assert "line" not in str(raised.value)


def test_a_graph_is_read_as_it_is_now(db):
    assert len(db.algo.components("follows")) == 4
    db.mutate(set="<7> <follows> <8> .")
    assert len(db.algo.components("follows")) == 6
    db.mutate(delete="<7> <follows> * .")
    assert len(db.algo.components("follows")) == 4


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda algo: algo.pagerank("folows"), "did you mean `follows`?"),
        (lambda algo: algo.pagerank("follows", damping=2), "expected a number from 0 to 1"),
        (lambda algo: algo.pagerank("follows", direction="up"), "expected one of out, in, both"),
        (lambda algo: algo.distances("follows", source=1, weight="strenth"), "`strength`"),
        (lambda algo: algo.pagerank("name"), "has values"),
        (lambda algo: algo.bfs("follows", source="0x1", timeout=0.0), "timeout"),
    ],
)
def test_what_is_wrong_is_reported(db, call, said):
    with pytest.raises(hexgraph.Error, match=said):
        call(db.algo)


def test_names_that_there_are_not_are_warned_of_where_the_caller_is(db):
    with pytest.warns(hexgraph.UnknownNameWarning, match="^there is no type `Persn`") as warned:
        assert len(db.algo.pagerank("follows", nodes="type(Persn)")) == 0
    assert warned[0].filename == __file__


def test_wrong_types_are_reported(db):
    with pytest.raises(TypeError, match="needs the predicate"):
        db.algo.pagerank()
    with pytest.raises(TypeError, match="no argument 'node': did you mean `nodes`"):
        db.algo.pagerank("follows", node="0x1")
    with pytest.raises(TypeError, match="'max_iter': did you mean `iterations`"):
        db.algo.pagerank("follows", max_iter=20)
    with pytest.raises(TypeError, match="'colour'; it has source, depth, nodes, direction"):
        db.algo.bfs("follows", source=1, colour="red")
    with pytest.raises(ValueError, match=r"'has\(name' have a bracket that is never closed"):
        db.algo.pagerank("follows", nodes="has(name")
    with pytest.raises(ValueError, match="a uid is a whole number"):
        db.algo.bfs("follows", source=["ada"])
    with pytest.raises(ValueError, match="no single number"):
        db.algo.pagerank("follows").value  # noqa: B018


def test_stored_numbers_have_the_existing_definition(db):
    db.alter(
        "rank: float @index(float) @upsert .\nspare: float .\ncode: string @index(exact) @lang ."
    )
    db.mutate(set='<9> <code> "nine"@en .')
    ranks = db.algo.pagerank("follows")
    ranks.store("rank")
    assert "rank: float @index(float) @upsert ." in db.schema()
    assert len(db.query("{ q(func: gt(rank, 0)) { uid } }")) == 4
    for index in (False, True, False):
        ranks.store("spare", index=index)
    assert "spare: float @index(float) ." in db.schema()
    vectors = db.algo.fastrp("follows", dimensions=8)
    for index in (True, False, True):
        vectors.store("vector", index=index)
    assert 'vector: float32vector @index(hnsw(metric:"cosine")) .' in db.schema()
    with pytest.raises(
        hexgraph.SchemaError, match=r"`code` has the type string, .* is float \(store"
    ):
        ranks.store("code")
    with pytest.raises(
        hexgraph.SchemaError, match=r"`follows` has the type .uid., .* is float32vector"
    ):
        vectors.store("follows")
    with pytest.raises(hexgraph.SchemaError, match=r"`rank` has the type float, .* is int"):
        db.algo.components("follows").store("rank", index=True)
    assert db.query("{ q(func: has(code@en)) { code@en } }").rows() == [("nine",)]


def test_nodes_are_integers_and_count_the_same(db):
    import numpy

    one = db.algo.bfs("follows", source=1).rows()
    for source in (numpy.int64(1), numpy.array([1]), db.edges("follows").uids[0], {1}, "1"):
        assert db.algo.bfs("follows", source=source).rows() == one
        assert len(db.sample("follows", source=source, fanouts=[1])) == 1
    for given in (1.0, [1.7, 2.9], numpy.array([1.0]), b"1", bytearray(b"1"), [b"1"], [None], True):
        for name, run in (("nodes", db.algo.degree), ("source", db.algo.bfs)):
            with pytest.raises(TypeError, match="a uid"):
                run("follows", **{name: given})
    weights = {1: 0.99, 2: 0.01}
    with pytest.raises(TypeError, match=r"from_nodes is a list of nodes, .* are not supported"):
        db.algo.pagerank("follows", from_nodes=weights)
    with pytest.raises(TypeError, match="nodes is a list of nodes"):
        db.edges("follows", nodes=weights)
    with pytest.raises(TypeError, match="source is a list of nodes"):
        db.sample("follows", source=weights)
    with pytest.raises(ValueError, match=r"^from_nodes='ada' is no uid .* from_nodes='eq\(xid"):
        db.algo.pagerank("follows", from_nodes="ada")
    with pytest.raises(hexgraph.ParseError, match="too large"):
        db.algo.bfs("follows", source=1 << 64)


def test_what_needs_a_predicate_says_its_own_name(db):
    from hexgraph import networkx

    for call, said in [
        (db.edges, 'edges needs the predicate of its edges: edges("follows")'),
        (db.matrix, 'matrix needs the predicate of its edges: matrix("follows")'),
        (
            lambda: networkx.graph(db),
            'graph needs the predicate of its edges: graph(db, "follows")',
        ),
    ]:
        with pytest.raises(TypeError) as caught:
            call()
        assert str(caught.value) == said


def test_a_weight_that_one_of_the_predicates_lacks(db):
    said = r'say which edges weigh: "follows @facets\(strength\)", "likes", and no weight='
    for call in (db.algo.degree, db.edges, db.matrix):
        with pytest.raises(hexgraph.QueryError, match=said):
            call("follows", "likes", weight="strength")
    with pytest.raises(hexgraph.QueryError, match="leave the weight out"):
        db.algo.degree("likes", weight="strength")
    assert db.algo.degree("follows @facets(strength)", "likes").to_dict()["0x2"] == 2.0
    edges = db.edges("follows @facets(strength)", "likes")
    assert edges.columns == ["source", "target", "weight"]
    assert repr(edges).splitlines()[0].split() == edges.columns
    assert edges.to_networkx()["0x1"]["0x2"] == {"weight": 2.0}


def test_groups_of_python_accept_threads_and_seeds(db):
    groups = {1: 1, 2: 1}
    for name, value, said in [
        ("threads", -1, "from 1 to 4096"),
        ("threads", 0, "from 1 to 4096"),
        ("threads", 2.5, "from 1 to 4096"),
        ("seed", -1, "from 0 on"),
        ("seed", 1 << 64, "from 0 on"),
    ]:
        for call in (
            lambda **given: db.algo.leiden("follows", **given),
            lambda **given: db.algo.modularity("follows", groups=groups, **given),
            hexgraph.Graph([1], [2]).algo.leiden,
        ):
            with pytest.raises(
                hexgraph.Error, match=r"is out of range .expected an integer"
            ) as caught:
                call(**{name: value})
            assert said in str(caught.value)
    with pytest.raises(TypeError, match=r"a group is a number or a text, not \[1\]"):
        db.algo.modularity("follows", groups={1: [1]})


def test_rounds_that_ended_too_early_are_reported(db):
    """A result that does not stand still yet looks like one that does."""
    db.mutate(set="<1> <knows> <2> .\n<2> <knows> <3> .\n<3> <knows> <1> .\n<3> <knows> <4> .")
    graph = hexgraph.Graph([1, 2, 3, 3], [2, 3, 1, 4])
    for algo, on in ((db.algo, ("knows",)), (graph.algo, ())):
        for name in ("pagerank", "hits", "eigenvector", "katz"):
            rank = getattr(algo, name)
            with pytest.warns(hexgraph.NotConvergedWarning, match="after 2 rounds") as caught:
                result = rank(*on, direction="both", iterations=2)
            assert (result.converged, result.rounds) == (False, 2)
            assert caught[0].filename == __file__
            result = rank(*on, direction="both", iterations=1000)
            assert result.converged is True
            # All rounds were requested.
            assert rank(*on, direction="both", iterations=2, tolerance=0).converged is None
        assert algo.degree(*on).converged is None


def test_a_fraction_of_sampled_paths_is_no_more_than_all():
    star = hexgraph.Graph([0, 0, 0, 0], [1, 2, 3, 4], directed=False)
    for seed in range(10):
        fractions = star.algo.betweenness(samples=1, normalized=True, seed=seed).to_dict()
        assert fractions[0] in (None, 1.0)
        assert sum(fraction is None for fraction in fractions.values()) == 1


def test_weights_that_floats_round_are_refused():
    """They lose digits: a path of 2^53 + 1 and 2 was one of 2^53 + 2."""
    numpy = pytest.importorskip("numpy")
    wide = [1, 2**53 + 1]
    for weights in (wide, numpy.array(wide, dtype="uint64")):
        with pytest.raises(hexgraph.QueryError, match=r"edge 1 weighs 9007199254740993.*2\^53"):
            hexgraph.Graph([1, 2], [2, 3], weights)
    for weights in ([1, 2**53], [1.0, float(2**60)]):
        assert len(hexgraph.Graph([1, 2], [2, 3], weights).algo.bfs(source=1)) == 3
