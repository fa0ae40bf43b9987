"""Nine questions to a social network in Cypher have the rows of DuckDB's SQL.

The texts lie beside the project, in the folder that HEXGRAPH_SHARED names or ../shared; without
them the test is skipped. The graph and the SQL are those of benches/analysts.py.
"""

import importlib
import os
import re
from pathlib import Path

import pytest
from pages import ROOT

SHARED = Path(os.environ.get("HEXGRAPH_SHARED") or ROOT.parent / "shared")
TEXTS = SHARED / "graphs" / "follows" / "queries.cypher"
PEOPLE = 3000


def queries():
    """Return the queries by their numbers, as they are written."""
    if not TEXTS.exists():
        pytest.skip(f"there is no {TEXTS}")
    lines = TEXTS.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("//"))
    return dict(enumerate((it.strip() for it in text.split(";") if it.strip()), 1))


def rounded(rows):
    """Return rows with floats of nine digits, since the order of a sum differs."""
    return [tuple(round(it, 9) if isinstance(it, float) else it for it in row) for row in rows]


def test_questions_have_the_rows_of_sql(monkeypatch):
    pytest.importorskip("duckdb")
    texts = queries()
    monkeypatch.syspath_prepend(str(ROOT / "benches"))
    analysts = importlib.import_module("analysts")
    nodes, edges = analysts.graph(PEOPLE)
    ours, theirs = (engine(nodes, edges, 2) for engine in (analysts.Hexgraph, analysts.Duck))
    assert texts.keys() == analysts.SQL.keys()
    for number, text in texts.items():
        rows, expected = rounded(ours.db.cypher(text).rows()), rounded(theirs.rows(number))
        # Of rows with the same key, which is the last column, a limit may leave any.
        all_rows = theirs.db.execute(re.sub(r" LIMIT \d+$", "", analysts.SQL[number])).fetchall()
        assert rows, text
        assert [row[-1] for row in rows] == [row[-1] for row in expected], text
        assert set(rows) <= set(rounded(all_rows)), text
        assert len(set(rows)) == len(rows), text
