import pickle

import pytest

import hexgraph
from hexgraph import errors

pytestmark = pytest.mark.shared

CLASSES = [
    errors.Error("m"),
    errors.ParseError("m", 2, 3, "h", "text"),
    errors.SchemaError("m"),
    errors.QueryError("m"),
    errors.LimitError("m"),
    errors.ConflictError("m"),
    errors.ClosedError("m"),
    errors.AccessError("m"),
    errors.NotSupportedError("m"),
    errors.ReadOnlyError("m"),
    errors.LoadError("m", "f.rdf", 4, 5),
    errors.CorruptError("m", "p.hxs"),
    errors.InternalError("m", "src/db/guard.rs:1:2"),
    errors.StorageError("m", 2),
]


@pytest.mark.parametrize("error", CLASSES, ids=lambda error: type(error).__name__)
def test_errors_can_be_pickled(error):
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)


@pytest.mark.parametrize("error", CLASSES[1:], ids=lambda error: type(error).__name__)
def test_errors_have_one_base(error):
    assert isinstance(error, hexgraph.Error)


def test_a_parse_error_points_at_the_position(db):
    with pytest.raises(hexgraph.ParseError) as caught:
        db.query("{\n  q(func: nonsense(name)) { name }\n}")
    error = caught.value
    assert error.line == 2
    assert error.source == "  q(func: nonsense(name)) { name }"
    assert str(error).splitlines()[1].strip() == error.source.strip()
    assert pickle.loads(pickle.dumps(error)).line == 2


def test_a_bad_schema_is_a_parse_error(db):
    with pytest.raises(hexgraph.ParseError) as caught:
        db.alter("name: strin .")
    assert caught.value.line == 1


def test_a_schema_that_can_not_be(db):
    with pytest.raises(hexgraph.Error):
        db.alter("name: uid @index(exact) .")


def test_an_index_that_is_missing(db):
    db.alter("name: string .")
    db.mutate(set='<0x1> <name> "Ada" .')
    with pytest.raises(hexgraph.Error, match="name"):
        db.query('{ q(func: eq(name, "Ada")) { uid } }')


def test_a_bad_mutation_changes_nothing(db):
    with pytest.raises(hexgraph.Error):
        db.mutate(set='<0x1> <name> "Ada" .\nnonsense')
    assert not db.query("{ q(func: has(name)) { name } }")


def test_a_timeout_is_a_limit(people):
    with pytest.raises(hexgraph.LimitError, match="timeout"):
        people.query("{ q(func: has(name)) { name } }", timeout=0)
    with pytest.raises(ValueError, match="seconds from 0 on, not -1"):
        people.query("{ q(func: has(name)) { name } }", timeout=-1)


@pytest.mark.embedded("a cluster loads no files")
def test_a_missing_file_is_an_os_error(db, tmp_path):
    with pytest.raises(hexgraph.StorageError, match=r"missing\.rdf") as caught:
        db.load(tmp_path / "missing.rdf")
    assert isinstance(caught.value, OSError)
    assert caught.value.errno == 2


def test_an_error_of_execution_points_at_the_position(db):
    db.alter("name: string .\nage: int .")
    db.mutate(set='<0x1> <name> "Ada" .\n<0x1> <age> "30" .')
    with pytest.raises(hexgraph.QueryError) as caught:
        db.query("{\n  q(func: has(name)) @filter(eq(age, old)) { uid }\n}")
    error = caught.value
    assert (error.line, error.column) == (2, 30)
    assert error.message == "`old` is no int"
    assert error.hint == "`age` is of type int"
    assert str(error).splitlines() == [
        "line 2 column 30: `old` is no int (`age` is of type int)",
        "      q(func: has(name)) @filter(eq(age, old)) { uid }",
        " " * 33 + "^",
    ]


def test_what_was_meant_is_suggested(db):
    db.alter("name: string @index(exact) .")
    with pytest.raises(hexgraph.QueryError, match=r"did you mean `name`\?"):
        db.query("{ q(func: has(name), orderasc: nmae) { uid } }")
    with pytest.raises(hexgraph.SchemaError, match=r"did you mean `name`\?"):
        db.alter("type Person {\n  nmae\n}")
    with pytest.raises(hexgraph.ParseError, match=r"did you mean `exact`\?"):
        db.alter("nick: string @index(exat) .")


def test_a_statement_that_can_not_be_stored_is_shown(db):
    db.alter("age: int .")
    with pytest.raises(hexgraph.QueryError) as caught:
        db.mutate(set='<0x1> <age> "30" .\n<0x2> <age> "old" .')
    assert str(caught.value).splitlines()[1:] == ['    <0x2> <age> "old" .', " " * 16 + "^"]


def test_long_lines_are_cut_around_the_position(db):
    names = " ".join(f"name{number}" for number in range(100))
    with pytest.raises(hexgraph.ParseError) as caught:
        db.query(f"{{ q(func: uid(1)) {{ {names} @wrong(1) {names} }} }}")
    line, mark = str(caught.value).splitlines()[1:]
    assert len(line) < 80
    assert line[mark.index("^") :].startswith("@wrong(1)")
