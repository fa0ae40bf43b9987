"""The examples in the docstrings, the documents and the notebooks run."""

import ast
import doctest
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

import hexgraph
from hexgraph import _native, connection, datasets, widget
from hexgraph.algo import Algorithms, Found

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
README = ROOT / "README.md"
DOCUMENTS = [README, *sorted((ROOT / "docs").glob("*.md"))]
PROGRAMS = [path for path in DOCUMENTS if "```python\n" in path.read_text()]
CLASSES = (_native.Database, _native.Result, _native.ArrowTable, _native.Server, _native.Txn)
CLASSES += (Algorithms, Found)


def examples():
    finder = doctest.DocTestFinder()
    for place in (hexgraph, connection.connect, datasets, widget, widget.GraphView):
        yield from finder.find(place)
    for name in datasets.__all__:
        yield from finder.find(getattr(datasets, name), f"datasets.{name}")
    for owner in CLASSES:
        for name, member in vars(owner).items():
            if getattr(member, "__doc__", None) and not name.startswith("__"):
                yield from finder.find(member, f"{owner.__name__}.{name}")


@pytest.mark.parametrize("example", [e for e in examples() if e.examples], ids=lambda e: e.name)
def test_docstring(example):
    assert doctest.DocTestRunner().run(example).failed == 0


def run_document(path):
    """Run the blocks of a document as one program, and return its names.

    What an expression gives, and what is printed, stands in a comment behind it or below.
    """
    blocks = re.findall(r"^```python\n(.*?)^```$", path.read_text(), re.DOTALL | re.MULTILINE)
    assert blocks
    names = {}
    for block in blocks:
        for statement in ast.parse(block).body:
            code = source_of(block, statement)
            if isinstance(statement, ast.Expr):
                value = eval(code, names)
                told = comment_behind(block, statement)
                # What a change of the schema tells is in no answer.
                is_report = "graphql_schema" in code or isinstance(value, hexgraph.SchemaReport)
                assert told or value is None or is_report, f"no answer: {code}"
                assert told is None or repr(value) == told, code
            else:
                with redirect_stdout(StringIO()) as out:
                    exec(code, names)
                lines = block.splitlines()[statement.lineno - 1 : statement.end_lineno]
                told = re.findall(r"print\(.*\)\s+# (.*)$", "\n".join(lines), re.MULTILINE)
                assert out.getvalue().splitlines() == told, code
    return names


def source_of(block, statement):
    """Return the text of a statement, its decorators too."""
    decorators = getattr(statement, "decorator_list", [])
    if not decorators:
        return ast.get_source_segment(block, statement)
    return "\n".join(block.splitlines()[decorators[0].lineno - 1 : statement.end_lineno])


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_document(path):
    if any(needed in path.read_text() for needed in ("import pydgraph", 'connect(f"dgraph://')):
        pytest.importorskip("pydgraph")
    run_document(path)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Graphs that examples build go to a folder of the test."""
    monkeypatch.setenv("HEXGRAPH_CACHE", str(tmp_path))


def test_the_request_of_the_readme():
    text = README.read_text()
    body, told = re.search(r"-d '(.*?)'\n# (.*?),\"extensions\"", text, re.DOTALL).groups()
    with run_document(README)["db"].serve(port=0) as server:
        request = Request(f"{server.url}/query", body.encode(), {"Content-Type": "application/dql"})
        with urlopen(request, timeout=60) as answer:
            assert answer.read().decode().startswith(f"{told},")


def test_the_documents_name_what_there_is():
    """A method that a document speaks of in a sentence is one."""
    for path in DOCUMENTS:
        prose = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
        named = re.findall(r"`db\.(\w+)\(", prose)
        assert [name for name in named if not hasattr(hexgraph.Database, name)] == []
        named = re.findall(r"`hexgraph\.(\w+)\(", prose)
        assert [name for name in named if not hasattr(hexgraph, name)] == []


def comment_behind(block, statement):
    lines = block.splitlines()
    line = lines[statement.end_lineno - 1].encode()[statement.end_col_offset :].decode().strip()
    below = lines[statement.end_lineno] if statement.end_lineno < len(lines) else ""
    return (line or below).removeprefix("# ") if (line or below).startswith("# ") else None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("default")
def test_notebook(path):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "it is stored without output"
    client = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3")
    client.execute(cwd=str(path.parent))
