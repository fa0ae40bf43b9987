"""Cells of DQL, Cypher and GraphQL in notebooks."""

import pytest

import hexgraph
from hexgraph import display

interactive = pytest.importorskip("IPython.core.interactiveshell", reason="IPython is missing")


@pytest.fixture
def shell(people, monkeypatch, tmp_path):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = interactive.InteractiveShell()
    shell.history_manager.enabled = False
    shell.run_line_magic("load_ext", "hexgraph")
    shell.user_ns["people"] = people
    yield shell
    shell.restore_sys_module_state()


QUERY = "query q($n: string) { q(func: eq(name, $n)) { name born } }"


@pytest.mark.parametrize("cell", ["dql", "hexgraph"])
def test_a_cell_is_a_query(shell, cell):
    shell.user_ns["n"] = "Ada"
    assert shell.run_cell_magic(cell, "", QUERY).rows() == [("Ada", 1815)]
    assert shell.run_cell_magic(cell, "--var n='Bob'", QUERY).rows() == [("Bob", 1900)]
    assert shell.run_cell_magic(cell, "-d people -o found -t dict", QUERY) is None
    assert shell.user_ns["found"] == {"q": [{"name": "Ada", "born": 1815}]}
    assert shell.run_cell_magic(cell, "--silent", QUERY) is None
    plan = shell.run_cell_magic(cell, "--explain", QUERY)
    assert plan.steps[0]["operator"] == "Project"
    assert plan.steps[0]["rows"] is None
    assert shell.run_cell_magic(cell, "--profile", QUERY).steps[0]["rows"] == 1
    # Columns stand below each other, however narrow the page is.
    assert plan._repr_html_().startswith('<pre style="white-space: pre; overflow-x: auto">')


CYPHER = "MATCH (p:Person) WHERE p.name = $n RETURN p.name AS name, p.born AS born"


def test_a_cell_of_cypher(shell):
    polars = pytest.importorskip("polars")
    shell.user_ns["people"].mutate(
        set="\n".join(f'<{uid}> <dgraph.type> "Person" .' for uid in [*range(1, 10)])
    )
    shell.user_ns["n"] = "Ada"
    result = shell.run_cell_magic("cypher", "", CYPHER)
    assert result.rows() == [("Ada", 1815)]
    assert "1 row" in result._repr_html_()
    assert ">Ada</td>" in result._repr_html_()
    assert shell.run_cell_magic("cypher", "-v n='Bob'", CYPHER).rows() == [("Bob", 1900)]
    assert shell.run_cell_magic("cypher", "-d people -o found -t dict", CYPHER) is None
    assert shell.user_ns["found"] == [{"name": "Ada", "born": 1815}]
    frame = shell.run_cell_magic("cypher", "--to polars", CYPHER)
    assert isinstance(frame, polars.DataFrame)
    assert shell.run_cell_magic("cypher", "--silent", CYPHER) is None
    line = "MATCH (p {name: $n}) RETURN p.name"
    assert shell.run_line_magic("cypher", line).rows() == [("Ada",)]
    with pytest.raises(hexgraph.LimitError):
        shell.run_cell_magic("cypher", "--timeout 0", "MATCH (n) RETURN n")


def test_what_is_wrong_with_cypher_is_quoted(shell, capsys):
    result = shell.run_cell("%%cypher\nMATCH (n)\nRETURN m")
    assert isinstance(result.error_in_exec, hexgraph.Error)
    shown = capsys.readouterr().out
    assert "RETURN m" in shown
    assert "jupyter.py" not in shown
    error = pytest.importorskip("IPython.core.error").UsageError
    for option in ("--to flat", "--explain"):
        with pytest.raises(error):
            shell.run_cell_magic("cypher", option, CYPHER)


def test_html_of_cypher_is_escaped(shell):
    html = shell.run_line_magic("cypher", "RETURN '<img src=x>' AS `<b>`")._repr_html_()
    assert "<img" not in html
    assert "<b>" not in html
    assert "&lt;img" in html


def test_frames_and_times(shell, capsys):
    polars = pytest.importorskip("polars")
    shell.user_ns["n"] = "Ada"
    frame = shell.run_cell_magic("dql", "--to polars --time", QUERY)
    assert isinstance(frame, polars.DataFrame)
    assert capsys.readouterr().out.endswith(" s\n")


def test_strict_and_timeout(shell):
    with pytest.raises(hexgraph.QueryError, match="no predicate `nmae`"):
        shell.run_cell_magic("dql", "--strict", "{ q(func: has(nmae)) { name } }")
    with pytest.raises(hexgraph.LimitError):
        shell.run_cell_magic("dql", "--timeout 0", "{ q(func: has(name)) { name } }")


def test_graphql(shell, people):
    people.graphql_schema("type Film { id: ID! title: String! @search(by: [hash]) }")
    people.graphql('mutation { addFilm(input: [{title: "M"}]) { numUids } }')
    text = "query q($t: String) { queryFilm(filter: {title: {eq: $t}}) { title } }"
    result = shell.run_cell_magic("graphql", "-v t='M'", text)
    assert result == {"data": {"queryFilm": [{"title": "M"}]}}


def test_the_line_describes(shell):
    assert shell.run_line_magic("hexgraph", "").nodes == 3
    assert shell.run_line_magic("hexgraph", "people").nodes == 3


def test_which_database_is_meant(shell):
    error = pytest.importorskip("IPython.core.error").UsageError
    with hexgraph.connect() as other:
        shell.user_ns["other"] = other
        with pytest.raises(error, match="several databases, say which with -d: people, other"):
            shell.run_cell_magic("dql", "", "{ q(func: has(name)) { name } }")
        shell.user_ns["db"] = other
        assert shell.run_cell_magic("dql", "", "{ q(func: has(name)) { name } }").rows() == []
    with pytest.raises(error, match="nothing is no database"):
        shell.run_cell_magic("dql", "-d nothing", "{ q(func: has(name)) { name } }")
    for name in ("people", "other", "db"):
        del shell.user_ns[name]
    with pytest.raises(error, match=r"no database: db = hexgraph\.connect\(\) makes one"):
        shell.run_cell_magic("dql", "", "{ q(func: has(name)) { name } }")


def test_an_error_is_shown_without_frames_of_the_extension(shell, capsys):
    for cell in ("%%dql\n{ q(func: has(name) { name } }", "%%hexgraph --timeout 0\n" + QUERY):
        result = shell.run_cell(cell)
        assert isinstance(result.error_in_exec, hexgraph.Error)
        shown = capsys.readouterr().out
        assert type(result.error_in_exec).__name__ in shown
        assert "jupyter.py" not in shown
        assert "Traceback" not in shown
    # What the user's own code raises has its frames.
    shell.run_cell("%%dql --var n=1/0\n" + QUERY)
    assert "Traceback" in capsys.readouterr().out


def test_a_second_load_takes_its_own_names_again(shell, capsys):
    import importlib

    from hexgraph import jupyter

    for _ in range(2):
        shell.run_line_magic("reload_ext", "hexgraph")
        # As %autoreload does, and who works on the package.
        importlib.reload(jupyter)
    assert "belongs to another" not in capsys.readouterr().out
    shell.user_ns["n"] = "Ada"
    assert shell.run_cell_magic("dql", "", QUERY).rows() == [("Ada", 1815)]


def test_names_are_completed(shell):
    completer = pytest.importorskip("IPython.core.completer")

    def completed(text):
        with completer.provisionalcompleter():
            return [result.text for result in shell.Completer.completions(text, len(text))]

    assert "friend" in completed("%%dql\n{ q(func: has(fri")
    assert "allofterms(" in completed("%%dql\n{ q(func: allof")
    assert "quantile(" in completed("%%dql\n{ q(func: has(name)) { quan")
    assert "cascade" in completed("%%dql\n{ q(func: has(name)) @casc")
    assert "first:" in completed("%%dql\n{ q(func: has(name), fir")
    assert "friend" in completed("%%cypher\nMATCH (a)-[:fri")
    assert "OPTIONAL MATCH" in completed("%%cypher\nOPT")
    assert "toUpper(" in completed("%cypher RETURN toU")
    assert "algo.pagerank(" in completed("%cypher CALL algo.pag")
    assert "allofterms(" not in completed("%%cypher\nRETURN allof")
    assert "friend" not in completed("fri")


def test_a_name_in_use_stays(people, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = interactive.InteractiveShell()
    shell.history_manager.enabled = False
    shell.register_magic_function(lambda *_: "another", "cell", "dql")
    shell.run_line_magic("load_ext", "hexgraph")
    assert "%%dql belongs" in capsys.readouterr().out
    shell.user_ns["db"] = people
    assert shell.run_cell_magic("dql", "", "x") == "another"
    assert len(shell.run_cell_magic("hexgraph", "", "{ q(func: has(name)) { name } }")) == 3


def test_points_are_coordinates(db):
    db.load_nodes([{"id": 1, "lat": 47.46, "lon": 8.55}], geo="place")
    html = db.query("{ q(func: has(id)) { place } }")._repr_html_()
    assert ">47.46, 8.55</td>" in html
    assert display.cell({"type": "Polygon", "coordinates": []}).startswith("<table>")


def test_what_is_named_as_a_point_is_no_html(db):
    db.alter("type: string .\ncoordinates: [string] .")
    db.mutate(set_json={"type": "Point", "coordinates": ["<img src=x onerror=alert(1)>", "y"]})
    html = db.query("{ q(func: has(type)) { type coordinates } }")._repr_html_()
    assert "<img" not in html
    assert "&lt;img" in html


def test_long_texts_are_cut():
    db = hexgraph.connect()
    db.mutate(set_json=[{"text": "ä" * 1_000_000, "list": ["x" * 500_000] * 3}])
    result = db.query("{ q(func: has(text)) { text list } }")
    html = result._repr_html_()
    assert len(html) < 10_000
    assert "ää…</td>" in html
    assert len(result.to_arrow()._repr_html_()) < 10_000
    assert len(repr(result)) < 10_000
