"""The examples in the docstrings, the documents and the notebooks run."""

import ast
import doctest
import re
from pathlib import Path

import pytest

import hexgraph
from hexgraph import _native, connection

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CLASSES = (_native.Database, _native.Result, _native.ArrowTable, _native.Server, _native.Txn)


def examples():
    finder = doctest.DocTestFinder()
    for place in (hexgraph, connection.connect):
        yield from finder.find(place)
    for owner in CLASSES:
        for name, member in vars(owner).items():
            if getattr(member, "__doc__", None) and not name.startswith("__"):
                yield from finder.find(member, f"{owner.__name__}.{name}")


@pytest.mark.parametrize("example", [e for e in examples() if e.examples], ids=lambda e: e.name)
def test_docstring(example):
    assert doctest.DocTestRunner().run(example).failed == 0


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_document(path):
    """Blocks of one document are one program; a value with a comment behind it is what it says."""
    blocks = re.findall(r"^```python\n(.*?)^```$", path.read_text(), re.DOTALL | re.MULTILINE)
    assert blocks
    names = {}
    for block in blocks:
        for statement in ast.parse(block).body:
            code = ast.get_source_segment(block, statement)
            if isinstance(statement, ast.Expr) and (told := comment_behind(block, statement)):
                assert repr(eval(code, names)) == told, code
            else:
                exec(code, names)


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
