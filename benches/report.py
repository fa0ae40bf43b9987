"""Writes benches/README.md from the files in benches/results.

`python benches/report.py` writes it, `--check` fails where it is not up to date. A result file is one run: the
command, the data, the machine, the date, the commit that recorded it, the versions of other engines, and a table.
Figures of different builds never share a table. A file without a `question` is named below the tables.
"""

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
README = HERE / "README.md"
SHOWN = [
    "social-100k", "films-python", "columns", "frames", "billion", "loading", "algorithms-1m", "pages",
]  # fmt: skip
"""The results that have a table on the page, in its order."""

HEAD = """# Benches

Each answers one question. Every figure has the command that repeats it; the tables are written by `python benches/report.py` from
`benches/results`. Answers are compared before times, and other engines are measured in the same run.

| question | command |
|---|---|
"""

COMMANDS = {
    "What does GraphQL cost above DQL?": "cargo bench -p hexgraph-benches --bench graphql",
    "Is a build as fast as another, with the same answers?": "python benches/gate/gate.py COMMIT",
    "How long does each kind of query take?": "cargo bench -p hexgraph-benches --bench queries",
    "What does a graph cost that was changed a moment ago?": "cargo bench -p hexgraph-benches --bench changes",
    "How long do changes of thousands of nodes take?": "python benches/bulk.py",
    "What does a commit cost, and how fast is a log read?": "cargo bench -p hexgraph-benches --bench commits",
    "Do readers wait for a writer?": "cargo bench -p hexgraph-benches --bench reads_while_writing",
    "How long does a small write wait?": "cargo bench -p hexgraph-benches --bench writers",
    "Does opening cost the same whatever the size?": "cargo bench -p hexgraph-benches --bench reopen",
    "How much faster is a query with a second thread?": "cargo bench -p hexgraph-benches --bench cores",
    "Are whole columns read at the speed of memory?": "cargo bench -p hexgraph-benches --bench scans",
    "How long do the kernels of algorithms take?": "cargo bench -p hexgraph-store --bench kernels",
    "How long do algorithms take, first and later calls?": "python benches/algorithms.py 20 --threads 2",
    "How long do weighted paths take?": "cargo bench -p hexgraph-benches --bench paths",
    "What do thousands of subscribers cost?": "cargo bench -p hexgraph-benches --bench subscribers",
    "What do the warnings of a query cost?": "python benches/query_warnings.py",
    "How fast is a live view?": "python benches/widget.py",
    "How fast is a load of N-Quads?": "python benches/load.py nquads --count 20000000",
    "How fast are patterns of a social network, compared with DuckDB and Ladybug?": "python benches/patterns.py",
    "How fast are nine questions of analysts in Cypher, compared with DuckDB and Ladybug?": "python benches/analysts.py",
    "How fast are conditions, orders and groups of one label or relationship type in Cypher, compared with DuckDB?": "python benches/one_label.py",
    "How long is a look-up in Cypher, compared with DQL?": "python benches/one_label.py --look-ups",
    "How long do the questions of the phrase book take in Cypher, compared with DuckDB?": "python benches/phrase_book.py",
    "How fast are generated graphs?": "python benches/drawn.py",
    "How fast over HTTP, compared with Dgraph?": "python benches/peers/beside_dgraph.py --url URL",
    "How many requests does a server answer?": "python benches/serving.py PATH/TO/hexgraph",
    "How many of the nearest vectors are returned, and how fast?": "cargo bench -p hexgraph-benches --bench similar",
    "How fast is the backend of networkx?": "python benches/networkx_backend.py",
}
"""The benches without a table on the page."""


def result(name: str) -> dict[str, Any]:
    """Return what a file of results holds."""
    held: dict[str, Any] = json.loads(
        (HERE / "results" / f"{name}.json").read_text(encoding="utf-8")
    )
    return held


def table(run: dict[str, Any]) -> list[str]:
    """Return the lines of the table of a run."""
    marks = ["--:" if is_right else "---" for is_right in run["right"]]
    rows = [run["columns"], *run["rows"]]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return [lines[0], f"|{'|'.join(marks)}|", *lines[1:]]


def page() -> str:
    """Return the text of the page."""
    lines = [f"| {question} | `{command}` |" for question, command in COMMANDS.items()]
    for name in SHOWN:
        run = result(name)
        said = [run["data"], run["machine"], run["date"], *run["versions"]]
        lines += [
            "",
            f"## {run['question']}",
            "",
            f"`{run['command']}`: {'; '.join(said)}.",
            "",
            *table(run),
        ]
    others = sorted(
        path.stem for path in (HERE / "results").glob("*.json") if path.stem not in SHOWN
    )
    links = ", ".join(f"[{name}](results/{name}.json)" for name in others)
    return HEAD + "\n".join(lines) + f"\n\nFurther results: {links}.\n"


def main() -> None:
    """Write the page, or compare it."""
    text = page()
    if "--check" not in sys.argv:
        README.write_text(text, encoding="utf-8")
    elif README.read_text(encoding="utf-8") != text:
        sys.exit("benches/README.md is not what `python benches/report.py` writes")


if __name__ == "__main__":
    main()
