"""Random queries in Cypher have the same rows whether matches are counted or listed.

Before aggregates and DISTINCT hexgraph counts the matches of patterns without paths. With names of
their paths the same patterns are matched row by row. Both run on the graphs and queries of the
comparison with Ladybug, with loops in any direction and with all conditions.

`HEXGRAPH_EXECUTORS_SECONDS=300` goes on with new graphs for that time, `HEXGRAPH_EXECUTORS_SEED`
has others.
"""

import collections
import os
import random
import time

import pytest
from pattern_graphs import Graph, Query, of_hexgraph, rows_of, text_by_rows, texts

import hexgraph

SECONDS = float(os.environ.get("HEXGRAPH_EXECUTORS_SECONDS", "0"))
SEED = int(os.environ.get("HEXGRAPH_EXECUTORS_SEED", "1"))
GRAPHS, QUERIES = 8, 20


def differ(db, query):
    """Return the rows of both where they differ, None where they do not or one takes too long."""
    both = []
    for text in (texts(query.text)[0], text_by_rows(query.text)):
        try:
            both.append(rows_of(db.cypher(text, timeout=5).rows(), query.is_ordered))
        except hexgraph.LimitError:
            return None
    return both if both[0] != both[1] else None


def compare(graph, db, query, seed):
    rows = differ(db, query)
    if not rows:
        return
    small = graph.reduced(lambda it: differ(of_hexgraph(it), query))
    if small:
        rows = differ(of_hexgraph(small), query)
    hint = "" if small else "a new database of the same graph has no such difference\n"
    pytest.fail(
        f"seed {seed}: the rows differ\n{hint}{small or graph}\n\n"
        f"{texts(query.text)[0]}\n{rows[0]}\n\n{text_by_rows(query.text)}\n{rows[1]}"
    )


def run(seed):
    """Compare on one graph: as it was loaded, and after each of its changes."""
    dice = random.Random(seed)
    size = dice.choice([4, 8, 14, 14, 40, 100])
    graph = Graph(dice, size, dice.choice([1, 2, 3]), dice.random() < 0.5)
    with of_hexgraph(graph) as db:
        for changes in range(3):
            for _ in range(dice.choice([1, 2, 6]) if changes else 0):
                sets, deletes = graph.change()
                db.mutate(set=sets, delete=deletes)
            for _ in range(QUERIES):
                is_counted = size > 14 or dice.random() < 0.6
                compare(graph, db, Query(dice, graph.has_loops, is_counted, is_free=True), seed)


def test_counted_and_listed_matches_have_the_same_rows():
    started, seed, counts = time.monotonic(), SEED, collections.Counter()
    while seed < SEED + GRAPHS or time.monotonic() - started < SECONDS:
        run(seed)
        counts["queries"] += 3 * QUERIES
        seed += 1
    print(dict(counts))
