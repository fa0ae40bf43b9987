import gzip
import io

import pytest

import hexgraph
from hexgraph import progress

RDF = b'<0x1> <name> "Ada" .\n<0x2> <name> "Bob" .\n<0x1> <friend> <0x2> .\n'
BAD = b'<0x1> <name> "Ada" .\nnonsense\n<0x2> <name> "Bob" .\n<0x3> <born> "never"^^<xs:int> .\n'


def count(db):
    return len(db.query("{ q(func: has(name)) { uid } }"))


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_sources(db, tmp_path, packed):
    data = gzip.compress(RDF) if packed else RDF
    path = tmp_path / "data.rdf"
    path.write_bytes(data)
    for source in (path, str(path), data, bytearray(data), io.BytesIO(data), path.open("rb")):
        db.drop("all")
        report = db.load(source, progress=False)
        assert (report.triples, report.nodes, report.skipped) == (3, 2, 0)
        assert report.seconds > 0
        assert count(db) == 2
        if hasattr(source, "close"):
            source.close()


def test_what_is_no_source(db, tmp_path):
    with pytest.raises(TypeError, match="binary mode"):
        db.load(io.StringIO("text"))
    with pytest.raises(TypeError, match="int"):
        db.load(7)
    with pytest.raises(hexgraph.QueryError, match="no file in this folder"):
        db.load(tmp_path)
    with pytest.raises(ValueError, match="on_error"):
        db.load(RDF, on_error="ignore")


def test_schema_as_text_and_as_path(db, tmp_path):
    db.load(RDF, schema="name: string @index(exact) .")
    assert db.query('{ q(func: eq(name, "Ada")) { uid } }')
    path = tmp_path / "a.schema"
    path.write_text("nick: string @index(exact) .")
    for given in (path, str(path)):
        db.load(RDF, schema=given)
    assert "nick" in db.schema()


def test_a_bad_line_stops_the_load(db):
    with pytest.raises(hexgraph.LoadError) as caught:
        db.load(BAD, schema="name: string .")
    assert (caught.value.file, caught.value.line) == ("<bytes>", 2)
    assert count(db) == 0
    assert "name: string" not in db.schema()


def test_bad_lines_can_be_skipped(db):
    report = db.load(BAD, on_error="skip")
    assert (report.triples, report.skipped) == (2, 2)
    assert [line for line, _ in report.skipped_lines] == [2, 4]
    assert all(reason for _, reason in report.skipped_lines)
    assert "2 lines skipped" in repr(report)
    assert count(db) == 2


def test_the_bar_on_a_terminal(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.0)
    bar = progress.bar(True)
    monkeypatch.setattr(bar, "started", progress.time.monotonic() - 10)
    bar.update(50, 100, 2_500_000)
    bar.close()
    assert "[###############...............]  50% 250k records/s 10 s left" in screen.getvalue()
    assert isinstance(progress.bar(False), progress.NoBar)


def test_no_bar_where_nobody_looks(db, capsys):
    db.load(RDF)
    assert capsys.readouterr() == ("", "")


def test_several_sources_at_once(db, tmp_path):
    (tmp_path / "a.rdf").write_text('_:x <name> "a" .\n')
    (tmp_path / "b.jsonl").write_text('{"uid": "_:x", "age": [7]}\n')
    assert db.load([tmp_path / "a.rdf", str(tmp_path / "b.jsonl")]).nodes == 1
    assert db.load(tmp_path).nodes == 1
    assert db.load(f"{tmp_path}/*.rdf").nodes == 1
    assert count(db) == 3
    assert "age: [int] ." in db.schema()
    with pytest.raises(hexgraph.QueryError, match="no file is called so"):
        db.load(f"{tmp_path}/*.nq")
    (tmp_path / "b.rdf").write_text("nonsense\n")
    with pytest.raises(hexgraph.LoadError, match=r"b\.rdf:1"):
        db.load(tmp_path)


def test_progress_is_reported(db, tmp_path):
    path = tmp_path / "many.rdf"
    path.write_text("".join(f'<{n:#x}> <name> "{n}" .\n' for n in range(1, 300_000)))
    output = []
    report = db.load(path, progress=output.append)
    assert report.triples == 299_999
    assert all(it["done"] <= it["total"] == path.stat().st_size for it in output if it["total"])
    assert all({"records", "records_per_second", "seconds_left"} <= it.keys() for it in output)

    def stop(_):
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        db.load([path] * 20, progress=stop)


def test_a_bounded_load_leaves_no_files(tmp_path):
    line = '<{0:#x}> <name> "{0:>90}" .\n<{0:#x}> <to> <{1:#x}> .\n'
    rdf = "".join(line.format(n, n + 1) for n in range(1, 90_000))
    path = tmp_path / "db"
    with hexgraph.connect(path) as db:
        schema = "name: string @index(exact) .\nto: [uid] @reverse ."
        assert db.load(rdf.encode(), schema=schema, memory="16MiB").nodes == 90_000
        assert [it.name for it in path.iterdir() if it.is_dir()] == []
        assert len(db.query("{ q(func: uid(90000)) { ~to { name } } }")["q"][0]["~to"]) == 1
        with pytest.raises(hexgraph.QueryError, match="16 MiB"):
            db.load(rdf.encode(), memory=1000)
    (path / "load-0.tmp").mkdir()
    with hexgraph.connect(path) as db:
        assert not (path / "load-0.tmp").exists()
        assert len(db.query('{ q(func: eq(name, "none")) { uid } }')["q"]) == 0


def test_unique_values_are_checked(db):
    db.alter("code: string @index(exact) @unique .")
    with pytest.raises(hexgraph.QueryError, match='_:a and _:b both have "x"'):
        db.load(b'_:a <code> "x" .\n_:b <code> "x" .')
    assert db.query("{ q(func: has(code)) { count(uid) } }")["q"] == [{"count": 0}]


JSON_LAYOUTS = {
    "lines": '{"name": "a", "n": [1, 2]}\n{"name": "b"}\n',
    "an array": '[\n  {"name": "a",\n   "n": [1,\n 2]},\n  {"name": "b"}\n]\n',
    "an array on one line": '[{"name": "a", "n": [1, 2]}, {"name": "b"}]',
    "pretty-printed": '{\n  "name": "a",\n  "n": [1, 2]\n}\n{\n  "name": "b"\n}\n',
    "concatenated": '{"name": "a", "n": [1, 2]}{"name": "b"}',
    "arrays on lines": '[{"name": "a", "n": [1, 2]}]\n[{"name": "b"}]\n',
    "an array behind a mark": '\ufeff[{"name": "a", "n": [1, 2]},\n{"name": "b"}]',
}


@pytest.mark.parametrize("layout", JSON_LAYOUTS)
@pytest.mark.parametrize("is_packed", [False, True])
def test_json_is_read_in_any_layout(layout, is_packed, tmp_path):
    text = JSON_LAYOUTS[layout].encode()
    path = tmp_path / ("a.json.gz" if is_packed else "a.json")
    path.write_bytes(gzip.compress(text) if is_packed else text)
    db = hexgraph.connect()
    assert db.load(path, "n: [int] .").new_nodes == 2
    names = "{ q(func: has(name), orderasc: name) { name n } }"
    if "name: string @index" not in db.schema():
        db.index("name", "exact")
    assert db.query(names)["q"] == [{"name": "a", "n": [1, 2]}, {"name": "b"}]


def test_a_fault_in_json_has_its_line_and_column():
    db = hexgraph.connect()
    text = b'[\n {"name":\n  "a"},\n {"name": "b"}, {"uid": "what"}\n]'
    with pytest.raises(hexgraph.LoadError, match="<bytes>:4:25: "):
        db.load(text)


def test_a_large_array_of_json_is_read_in_parts():
    """It is longer than a line may be at once, and than many chunks."""
    db = hexgraph.connect()
    text = b"[" + b",".join(b'{"n": %d}' % number for number in range(200_000)) + b"]"
    assert db.load(text, "n: int .").new_nodes == 200_000
    assert db.query("{ var(func: has(n)) { x as n } q() { sum(val(x)) } }")["q"] == [
        {"sum(val(x))": 200_000 * 199_999 // 2}
    ]


def test_errors_name_the_predicate_and_the_node():
    db = hexgraph.connect()
    db.alter("age: int .\nborn: datetime .")
    age = r"`x` is no int \(`age` of {} is of type int\)"
    for data, position, message in (
        (b'<1> <age> "x" .', "1:11", age.format("0x1")),
        (b'_:a <age> "x" .', "1:11", age.format("_:a")),
        (b'[{"uid": "0x7",\n "age": "x"}]', "2:9", age.format("0x7")),
        (b'[\n{"age": 1},\n{"age": "x"}]', "3:9", age.format("a new node")),
        (
            b'<1> <born> "253402300800"^^<xs:int> .',
            "1:12",
            r"its year is not from 0 to 9999, so .* \(`born` of 0x1 is of type datetime\)",
        ),
        # Predicates that the schema does not know have a name, too.
        (b'<1> <f> "1e400"^^<xs:float> .', "1:9", r"too large for a float \(`f` of 0x1\)"),
        (
            b'<1> <n> "5"^^<xs:int> .\n<2> <n> "x" .',
            "2:9",
            r"\(the first value of `n` in the data is of type int\)",
        ),
    ):
        with pytest.raises(hexgraph.LoadError, match=message) as fault:
            db.load(data)
        assert str(fault.value).startswith(f"<bytes>:{position}: ")
    with pytest.raises(hexgraph.LoadError, match=r'column "n": "x": .*; the predicate is `age`'):
        db.load_nodes([{"id": "a", "n": "x"}], columns={"n": "age"})
    with pytest.raises(hexgraph.LoadError, match=r'column "age": "x": .* such as 42$'):
        db.load_nodes([{"id": "a", "age": "x"}])
