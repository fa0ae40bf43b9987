"""Nine patterns of a social network in Cypher, with the counts that come with the data.

The data lie beside the project, in the folder that HEXGRAPH_SHARED names or ../shared; without them
the tests are skipped.
"""

import os
import tarfile
from pathlib import Path

import pytest

import hexgraph

SHARED = Path(os.environ.get("HEXGRAPH_SHARED") or Path(__file__).parents[3] / "shared")
FOLDER = SHARED / "graphs" / "lsqb"

EXPECTED = {
    "example": dict(zip(range(1, 10), (8, 3, 6, 8, 3, 8, 11, 2, 4), strict=True)),
    "sf0.1-people": {3: 30_456, 6: 55_607_896, 9: 51_009_398},
    "sf0.003": dict(
        zip(range(1, 10), (20608, 281, 0, 3047, 4973, 33201, 7188, 2436, 23669), strict=True)
    ),
}
"""The counts of the patterns by their numbers."""


def statements(archive):
    """Yield the N-Quads of the tables in an archive: a file a type, or a type of edges."""
    with tarfile.open(archive) as files:
        for member in files:
            if not member.name.endswith(".csv"):
                continue
            lines = files.extractfile(member).read().decode().split()[1:]
            match Path(member.name).stem.split("_"):
                case [label]:
                    labels = [label, "Message"] if label in ("Post", "Comment") else [label]
                    for line in lines:
                        node = f"_:{label}{line.split('|')[0]}"
                        yield from (f'{node} <dgraph.type> "{it}" .' for it in labels)
                case [source, name, target]:
                    for line in lines:
                        one, other = line.split("|")[:2]
                        yield f"_:{source}{one} <{name}> _:{target}{other} ."


def patterns():
    """Return the queries by their numbers."""
    text = (FOLDER / "queries.cypher").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("//")]
    queries = [query.strip() for query in "\n".join(lines).split(";") if query.strip()]
    return dict(enumerate(queries, 1))


@pytest.fixture(scope="module", params=EXPECTED)
def network(request):
    archive = FOLDER / f"{request.param}.tar.gz"
    if not archive.exists():
        pytest.skip(f"there is no {archive}")
    with hexgraph.connect() as db:
        db.load("\n".join(statements(archive)).encode(), progress=False)
        yield db, EXPECTED[request.param]


def test_patterns_have_their_counts(network):
    db, expected = network
    queries = patterns()
    counts = {number: db.cypher(queries[number]).rows() for number in expected}
    assert counts == {number: [(count,)] for number, count in expected.items()}
