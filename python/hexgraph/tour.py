"""A tour of the query language over the bundled sample of films."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Iterator
from importlib.resources import as_file, files
from typing import Any, NamedTuple

import hexgraph

LINES_SHOWN = 14
WIDTH = 110


class Stop(NamedTuple):
    """One stop of the tour: a question in a sentence, and the query that answers it."""

    question: str
    dql: str
    variables: dict[str, str] | None = None


STOPS = (
    Stop(
        "Which French titles speak of voyages, in the singular or the plural?",
        """
        {
          films(func: alloftext(name@fr, "voyages"), orderasc: release_date) @filter(type(Film)) {
            name@fr
            title: name@en
            release_date
          }
        }
        """,
    ),
    Stop(
        "Who is 黒澤明, what did he direct, and who leads the cast?",
        """
        query films_of($director: string) {
          director(func: eq(name@ja, $director)) {
            name
            born
            films: ~directed_by (orderasc: release_date) {
              name@ja
              title: name
              cast: starring @facets(orderasc: billing) (first: 2) {
                name
              }
            }
          }
        }
        """,
        {"$director": "黒澤明"},
    ),
    Stop(
        "Whom did Harrison Ford play? The edge from a film to an actor carries the role.",
        """
        {
          actor(func: eq(name, "Harrison Ford")) {
            name
            films: ~starring @facets(role: role) (orderasc: release_date) {
              name
            }
          }
        }
        """,
    ),
    Stop(
        "Who plays a Corleone? A filter on the edge, not on the person.",
        """
        {
          films(func: allofterms(name, "godfather"), orderasc: release_date) {
            name
            cast: starring @facets(role: role) @facets(anyofterms(role, "Corleone")) {
              name
            }
          }
        }
        """,
    ),
    Stop(
        "Which films of the fifties are from Japan, the longest first?",
        """
        {
          japan as var(func: eq(name, "Japan")) @filter(type(Country))

          films(func: between(release_date, "1950-01-01", "1959-12-31"), orderdesc: runtime)
              @filter(uid_in(country, uid(japan))) {
            name
            runtime
          }
        }
        """,
    ),
    Stop(
        "Who directed four films of the sample or more?",
        """
        {
          directors(func: ge(count(~directed_by), 4), orderasc: name) {
            name
            films: count(~directed_by)
          }
        }
        """,
    ),
    Stop(
        "Which countries made the most films?",
        """
        {
          var(func: type(Film)) @groupby(country) {
            made as count(uid)
          }

          countries(func: uid(made), orderdesc: val(made), first: 5) {
            name
            films: val(made)
          }
        }
        """,
    ),
    Stop(
        "How long is a film?",
        """
        {
          var(func: type(Film)) {
            minutes as runtime
          }

          films() {
            shortest: min(val(minutes))
            average: avg(val(minutes))
            longest: max(val(minutes))
          }
        }
        """,
    ),
    Stop(
        "And which directors of three films or more take the most of our time, in hours a film?",
        """
        {
          var(func: ge(count(~directed_by), 3)) {
            ~directed_by {
              minutes as runtime
            }
            average as avg(val(minutes))
            hours as math(average / 60.0)
          }

          directors(func: uid(hours), orderdesc: val(hours), first: 5) {
            name
            hours: val(hours)
          }
        }
        """,
    ),
    Stop(
        "What is within two steps of Sergio Leone: his films, and the people in them?",
        """
        {
          director(func: eq(name, "Sergio Leone")) @recurse(depth: 3) {
            name
            ~directed_by
            starring
          }
        }
        """,
    ),
    Stop(
        "Through which films do we get from Humphrey Bogart to Michelle Yeoh?",
        """
        {
          a as var(func: eq(name, "Humphrey Bogart"))
          b as var(func: eq(name, "Michelle Yeoh"))

          path as shortest(from: uid(a), to: uid(b)) {
            starring
            ~starring
          }

          steps(func: uid(path)) {
            name
          }
        }
        """,
    ),
    Stop(
        "Every western with its directors, as the rows of a table.",
        """
        {
          films(func: type(Film)) @cascade @normalize {
            film: name
            genre @filter(eq(name, "Western")) {
              genre: name
            }
            directed_by {
              director: name
            }
          }
        }
        """,
    ),
)

PAGE = """
query page($after: string) {
  films(func: type(Film), first: 4, after: $after) {
    uid
    name
  }
}
"""


def load_sample(db: hexgraph.Database) -> None:
    """Load the bundled films into `db` and say how much came in."""
    sample = files("hexgraph") / "sample"
    schema = (sample / "films.schema").read_text(encoding="utf-8")
    with as_file(sample / "films.rdf") as path:
        report = db.load(path, schema=schema, progress=False)
    print(f"{report.triples:,} triples about {report.nodes:,} nodes, in {report.seconds:.3f} s")


def outline(key: str, value: object, depth: int = 0) -> Iterator[str]:
    """Yield `value` as indented lines: scalars of an object on one line, its edges below it."""
    indent = "  " * depth
    if isinstance(value, dict):
        yield f"{indent}{key}: {scalars(value)}"
        for name, child in value.items():
            if is_nested(child):
                yield from outline(name, child, depth + 1)
    elif isinstance(value, list) and is_nested(value):
        for item in value:
            yield from outline(key, item, depth)
    else:
        yield f"{indent}{key}: {value}"


def scalars(node: dict[str, Any]) -> str:
    """Return the plain values of `node` in one line, dates without their midnight."""
    plain = ((key, value) for key, value in node.items() if not is_nested(value))
    return " · ".join(f"{key} {str(value).removesuffix('T00:00:00Z')}" for key, value in plain)


def is_nested(value: object) -> bool:
    """Whether `value` holds nodes, and so belongs on lines of its own."""
    return isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(item, dict) for item in value)
    )


def show(answer: dict[str, Any]) -> None:
    """Print an answer as an outline, cut to a few lines."""
    blocks = ((key, value) for key, value in answer.items() if key != "_path_")
    lines = [line for key, value in blocks for line in outline(key, value)]
    for line in lines[:LINES_SHOWN]:
        print("   ", line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…")
    if len(lines) > LINES_SHOWN:
        print(f"    … and {len(lines) - LINES_SHOWN} lines more")


def ask(db: hexgraph.Database, number: int, stop: Stop) -> dict[str, Any]:
    """Print one stop with its answer and the time it took; return the answer."""
    print(f"\n{number}. {stop.question}\n")
    print(textwrap.indent(textwrap.dedent(stop.dql).strip(), "    "), end="\n\n")
    started = time.perf_counter()
    answer = db.query(stop.dql, stop.variables).to_dict()
    milliseconds = 1000 * (time.perf_counter() - started)
    show(answer)
    print(f"    ({milliseconds:.2f} ms)")
    return answer


def turn_pages(db: hexgraph.Database, number: int) -> None:
    """Print the first two pages of all films."""
    first = Stop(
        "All films, four at a time: a page starts after the last uid of the page before.",
        PAGE,
        {"$after": "0x0"},
    )
    last = ask(db, number, first)["films"][-1]["uid"]
    ask(db, number + 1, Stop(f"And the page after {last}.", PAGE, {"$after": last}))


def main() -> None:
    """Load the sample into memory and take the tour."""
    db = hexgraph.connect(":memory:")
    load_sample(db)
    for number, stop in enumerate(STOPS, start=1):
        ask(db, number, stop)
    turn_pages(db, len(STOPS) + 1)


if __name__ == "__main__":
    main()
