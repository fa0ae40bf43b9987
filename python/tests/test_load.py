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


def test_what_is_no_source(db):
    with pytest.raises(TypeError, match="binary mode"):
        db.load(io.StringIO("text"))
    with pytest.raises(TypeError, match="int"):
        db.load(7)
    with pytest.raises(hexgraph.StorageError, match="directory"):
        db.load("/")
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
    bar.update(50, 100)
    bar.close()
    assert "[###############...............]  50%" in screen.getvalue()
    assert isinstance(progress.bar(False), progress.NoBar)


def test_no_bar_where_nobody_looks(db, capsys):
    db.load(RDF)
    assert capsys.readouterr() == ("", "")
