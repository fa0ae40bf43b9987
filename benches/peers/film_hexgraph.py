"""The film tasks of the comparison with other engines: `film.py --engine hexgraph --engine-path film_hexgraph.py`.

The tasks are those of the peers, over the larger film file: DQL can't cut a year out of a date, so
the count by year groups by the predicate `release_year` that this file has.
"""

import os

import hexgraph

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.environ.get("HEXGRAPH_SHARED", os.path.join(HERE, "../../../shared")) + "/data"

LOOKUP = """query q($n: string) { q(func: eq(name@en, $n)) {
  uid name@* initial_release_date directed_by { uid } } }"""
FILMS = """query q($d: string) { q(func: uid($d)) { director.film @filter(has(initial_release_date)) {
  uid name@en initial_release_date directed_by { uid } } } }"""
YEARS = "{ q(func: has(release_year)) @groupby(release_year) { count(uid) } }"
CODIR = """query q($d: string) { var(func: uid($d)) { ~directed_by { x as directed_by } }
  q(func: uid(x)) { count(uid) } }"""
CODIR4 = """query q($d: string) { var(func: uid($d)) { ~directed_by { x as directed_by } }
  var(func: uid(x)) { ~directed_by { y as directed_by } } q(func: uid(y)) { count(uid) } }"""
TERM = "query q($t: string) { q(func: anyofterms(name@., $t)) { count(uid) } }"


class E:
    def load(self):
        self.db = hexgraph.connect()
        self.db.load(DATA + "/film.rdf.gz", schema=DATA + "/film.schema", progress=False)

    def ask(self, text, **variables):
        return self.db.query(text, {"$" + name: value for name, value in variables.items()}).to_dict()["q"]

    def lookup(self, name):
        rows = 0
        for node in self.ask(LOOKUP, n=name):
            names = sum(1 for key in node if key.startswith("name@"))
            rows += names * max(1, len(node.get("directed_by", ())))
        return rows

    def films(self, director):
        rows = 0
        for node in self.ask(FILMS, d=director):
            for film in node["director.film"]:
                if "name@en" in film:
                    rows += len(film.get("directed_by", ()))
        return rows

    def years(self):
        groups = self.ask(YEARS)[0]["@groupby"]
        return [len(groups), sum(group["count"] for group in groups)]

    def codir(self, director):
        return self.ask(CODIR, d=director)[0]["count"]

    def codir4(self, director):
        return self.ask(CODIR4, d=director)[0]["count"]

    def term(self, term):
        return self.ask(TERM, t=term)[0]["count"]
