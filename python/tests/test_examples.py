"""The examples in the docstrings, and the notebooks, run."""

import doctest
from pathlib import Path

import pytest

import hexgraph
from hexgraph import _native, connection

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
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


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("default")
def test_notebook(path):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "it is stored without output"
    client = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3")
    client.execute(cwd=str(path.parent))
