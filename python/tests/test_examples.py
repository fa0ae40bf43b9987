"""The examples in the docstrings, the documents and the notebooks run."""

import ast
import doctest
import importlib.util
import inspect
import os
import re
from functools import cached_property
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from pages import run_page

import hexgraph
from hexgraph import datasets, widget
from hexgraph.algo import AlgorithmResult, Algorithms
from hexgraph.arrays.edges import Edges
from hexgraph.arrays.sampled import Sample

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
README = ROOT / "README.md"
DOCUMENTS = [README, *sorted((ROOT / "docs").rglob("*.md"))]
PROGRAMS = [path for path in DOCUMENTS if re.search("^```(python|dql)$", path.read_text(), re.M)]
NEEDED = {
    "import lark": "lark",
    "import networkx": "networkx",
    "import pydgraph": "pydgraph",
    'connect(f"dgraph://': "pydgraph",
    "import ladybug": "ladybug",
}
"""What a page has in it that needs a package, and the package."""
UPDATE = os.environ.get("HEXGRAPH_UPDATE_DOCS") == "1"
OPTIONAL = {
    "db.sql(": "duckdb",
    "import pyarrow": "pyarrow",
    ".matrix(": "scipy",
    "to_igraph(": "igraph",
    "to_networkx(": "networkx",
    "to_pandas(": "pandas",
    "to_polars(": "polars",
    "to_rustworkx(": "rustworkx",
}
"""What a docstring has in it that needs a package, and the package."""
GIVEN = (Algorithms, AlgorithmResult, hexgraph.Graph, hexgraph.GraphView, widget.Picture)
GIVEN += (Edges, Sample)
"""The classes of what methods give, besides those that the package names itself."""
FRACTION = 0.9
"""The least part of the public names that have an example."""


def public():
    """The public names, each with its object: classes, their members, functions."""
    named = [getattr(hexgraph, name) for name in hexgraph.__all__ if name != "__version__"]
    for thing in (*named, *GIVEN):
        yield thing.__name__, thing
        for name, member in vars(thing).items() if isinstance(thing, type) else ():
            is_property = inspect.isdatadescriptor(member) or isinstance(member, cached_property)
            if not name.startswith("_") and (is_property or callable(member)):
                yield f"{thing.__name__}.{name}", member
    for module in (datasets, widget):
        for name in module.__all__:
            if getattr(module, name) not in GIVEN:
                yield f"{module.__name__}.{name}", getattr(module, name)


def examples():
    """The examples of the docstrings, one for each name, and those of the modules."""
    parser = doctest.DocTestParser()
    modules = [(module.__name__, module) for module in (hexgraph, datasets, widget)]
    for name, thing in (*modules, *public()):
        yield parser.get_doctest(inspect.getdoc(thing) or "", {}, name, None, 0)


@pytest.mark.parametrize("example", [e for e in examples() if e.examples], ids=lambda e: e.name)
def test_docstring(example):
    for needed, package in OPTIONAL.items():
        if needed in example.docstring:
            pytest.importorskip(package)
    assert doctest.DocTestRunner().run(example).failed == 0


def test_most_public_names_have_an_example():
    lacking = [e.name for e in examples() if not e.examples]
    fraction = 1 - len(lacking) / len(list(public()))
    assert fraction >= FRACTION, (
        f"{fraction:.0%} have an example, and none have: {', '.join(lacking)}"
    )


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_page(path):
    for needed, package in NEEDED.items():
        if needed in path.read_text():
            pytest.importorskip(package)
    run_page(path, update=UPDATE)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Graphs that examples build go to a folder of the test."""
    monkeypatch.setenv("HEXGRAPH_CACHE", str(tmp_path))


def test_the_request_of_the_readme():
    text = README.read_text()
    body, output = re.search(r"-d '(.*?)'\n# (.*?),\"extensions\"", text, re.DOTALL).groups()
    with run_page(README)["db"].serve(port=0) as server:
        request = Request(f"{server.url}/query", body.encode(), {"Content-Type": "application/dql"})
        with urlopen(request, timeout=60) as answer:
            assert answer.read().decode().startswith(f"{output},")


def report():
    """The script that writes the page of the benches."""
    spec = importlib.util.spec_from_file_location("report", ROOT / "benches" / "report.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_the_benches_is_written_from_results():
    assert report().page() == (ROOT / "benches" / "README.md").read_text()


def test_the_comparison_has_the_figures_of_the_benches():
    script, results = report(), (ROOT / "benches" / "results").glob("*.json")
    benches = {line for path in results for line in script.table(script.result(path.stem))}
    compared = (ROOT / "docs" / "comparison.md").read_text()
    measured = compared.split("\n## A social graph")[1]
    rows = [row for row in measured.splitlines() if row.startswith("| ")]
    assert len(rows) > 30
    assert [row for row in rows if row not in benches] == []
    # The README leaves the last engine out.
    rows = [row for row in README.read_text().splitlines() if re.match(r"\| [23cf].*\*\*", row)]
    assert len(rows) == 4
    assert [row for row in rows if not any(line.startswith(row) for line in benches)] == []


def test_the_page_of_algorithms_has_their_arguments_and_defaults():
    page = (ROOT / "docs" / "algorithms.md").read_text()
    table = page.split("\n## Arguments and defaults")[1].split("\n## ")[0]
    rows = [row.split(" | ") for row in table.splitlines() if row.startswith("| `")]
    output = {name: row[1] for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    methods = {name: call for name, call in vars(Algorithms).items() if not name.startswith("_")}
    assert sorted(output) == sorted(methods)
    for name, call in methods.items():
        section = page.split(f"\n### {name}\n")[1].split("Arguments: ")[1].split(". Cost:")[0]
        expected = {
            argument.name: argument.default
            for argument in inspect.signature(call).parameters.values()
            if argument.kind is argument.KEYWORD_ONLY and argument.name != "weight"
        }
        assert defaults_in(output[name]) == expected, name
        assert defaults_in(section.replace("`from`", "`from_nodes`")) == expected, name


def defaults_in(text):
    """Return the arguments that a text has as code: bold ones are needed, others mean None."""
    result = {}
    for bold, name, default in re.findall(r"(\**)`(\w+)(?:=([^`]*))?`", text):
        result[name] = inspect.Parameter.empty if bold else ast.literal_eval(default or "None")
    return result


def test_the_citation_names_the_version():
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {hexgraph.__version__}\n" in citation


def test_the_documents_name_what_there_is():
    """A method that a document speaks of in a sentence is one."""
    for path in DOCUMENTS:
        prose = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
        named = re.findall(r"`db\.(\w+)\(", prose)
        assert [name for name in named if not hasattr(hexgraph.Database, name)] == []
        named = re.findall(r"`hexgraph\.(\w+)\(", prose)
        assert [name for name in named if not hasattr(hexgraph, name)] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("default")
def test_notebook(path):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "it is stored without output"
    client = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3")
    client.execute(cwd=str(path.parent))
