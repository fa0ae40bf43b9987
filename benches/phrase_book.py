"""How long do the questions of the phrase book take in Cypher, compared with DuckDB's SQL, in one process?

The tables are those of docs/phrase-book-airports.md and the three pages after it, with `--scale` times as many rows; the films stay
as they are. Rows are compared before times are printed:

    python benches/phrase_book.py --scale 20 --threads 2

prints medians of five calls after a first one, in milliseconds. A question that takes longer than `--timeout` seconds has no time.
"""

import argparse
import re
import statistics
import sys
import time
from pathlib import Path

from compare import pin

sys.path.insert(0, str(Path(__file__).parents[1] / "python" / "tests"))

CALLS = 5
SIZE = re.compile(r"^(flights|count) = (\d+)$", re.MULTILINE)
"""The line of a page that has the number of its rows."""


def open_page(blocks, scale, threads):
    """Return the graph of a page and a connection of DuckDB with its tables."""
    import duckdb

    names = {}
    for block in blocks:
        if block.kind == "python":
            exec(SIZE.sub(lambda it: f"{it[1]} = {int(it[2]) * scale}", block.text), names)
    connection = duckdb.connect(config={"threads": threads})
    for name, frame in names["tables"].items():
        connection.register("given", frame.to_arrow())
        connection.execute(f"CREATE TABLE {name} AS FROM given")
    return names["db"], connection, sum(frame.height for frame in names["tables"].values())


def measure(rows_of, text):
    """Return the rows of a query, and the median of the times of the calls after the first."""
    rows, times = rows_of(text), []
    for _ in range(CALLS):
        before = time.perf_counter()
        rows_of(text)
        times.append(time.perf_counter() - before)
    return rows, statistics.median(times) * 1e3


def compare(questions, db, connection, timeout):
    """Print a line for each question of a page."""
    import test_analysts

    import hexgraph

    def duckdb(text):
        return connection.execute(text).fetchall()

    def cypher(text):
        return db.cypher(text, timeout=timeout).rows()

    for title, blocks in questions.items():
        expected, sql_ms = measure(duckdb, blocks["sql"])
        try:
            rows, cypher_ms = measure(cypher, blocks["cypher"])
        except hexgraph.LimitError:
            print(f"{title:<46}{'-':>12}{sql_ms:>12.2f}", flush=True)
            continue
        # Rows with the same keys may have any order.
        test_analysts.assert_same(rows, expected, is_ordered=False)
        print(f"{title:<46}{cypher_ms:>12.2f}{sql_ms:>12.2f}{cypher_ms / sql_ms:>9.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=20.0)
    options = parser.parse_args()
    pin(options.threads)
    import test_analysts
    from pages import blocks_of

    for topic in test_analysts.TOPICS:
        blocks = blocks_of(test_analysts.page_of(topic).read_text(encoding="utf-8"))
        db, connection, rows = open_page(blocks, options.scale, options.threads)
        about = f"{topic}, {rows:,} rows, {options.threads} threads, ms"
        print(f"\n{about:<46}{'hexgraph':>12}{'DuckDB':>12}{'ratio':>9}")
        compare(test_analysts.questions(topic), db, connection, options.timeout)


if __name__ == "__main__":
    main()
