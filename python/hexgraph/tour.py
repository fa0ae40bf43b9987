"""A short tour with the bundled films: load, query, compute, and what to read next."""

from __future__ import annotations

import textwrap
import time

import hexgraph

VOYAGES = """
{ films(func: alloftext(name@fr, "voyages"), orderasc: release_date) {
    title: name@fr  director: directed_by { name } } }"""

CAST = """
{ film(func: eq(name, "Casablanca")) { name
    starring @facets(role: role) (orderasc: name, first: 4) { name born } } }"""

COUNTRIES = """
{ var(func: type(Film)) @groupby(country) { made as count(uid) }
  countries(func: uid(made), orderdesc: val(made), first: 3) { name films: val(made) } }"""

PATH = """
{ bogart as var(func: eq(name, "Humphrey Bogart"))
  yeoh as var(func: eq(name, "Michelle Yeoh"))
  path as shortest(from: uid(bogart), to: uid(yeoh)) { starring ~starring }
  steps(func: uid(path)) { name } }"""

NEXT = """
What next
  in Python     db = hexgraph.connect("my.db"); db.load_nodes("people.csv", "Person")
  in a shell    hexgraph load my.db people.csv --type Person; hexgraph query my.db '{ … }'
  these films   db = hexgraph.datasets.films(); print(db.describe())
  read          docs/quick-start.md, docs/learn/README.md, notebooks/01_films.ipynb
"""


def show(db: hexgraph.Database, question: str, dql: str) -> hexgraph.Result:
    """Print a question, the query and its time; return the result."""
    began = time.perf_counter()
    result = db.query(dql)
    milliseconds = 1000 * (time.perf_counter() - began)
    print(f"\n{question} ({milliseconds:.2f} ms)")
    print(textwrap.indent(dql.strip("\n"), "    "), end="\n\n")
    return result


def main() -> None:
    """Run the tour."""
    began = time.perf_counter()
    db = hexgraph.datasets.films()
    seconds = time.perf_counter() - began
    nodes = len(db.query("{ q(func: has(name)) { uid } }"))
    print(f"{nodes} films, people, genres and countries, loaded with indexes in {seconds:.2f} s")
    print(show(db, "Which French titles speak of voyages?", VOYAGES).flatten())
    print(show(db, "Who plays whom in Casablanca? Edges have facets.", CAST).flatten())
    print(show(db, "Which countries made the most films?", COUNTRIES).flatten())
    steps = show(db, "How is Humphrey Bogart connected with Michelle Yeoh?", PATH)["steps"]
    print(textwrap.fill(" → ".join(step["name"] for step in steps), 78))
    call = 'db.algo.betweenness("starring", direction="both").top(3, "name")'
    print(f"\nWho is on the most shortest paths?\n    {call}\n")
    for node in db.algo.betweenness("starring", direction="both").top(3, "name"):
        print(f"{node['name']:18}{node['betweenness']:8,.0f}")
    print(NEXT, end="")


if __name__ == "__main__":
    main()
