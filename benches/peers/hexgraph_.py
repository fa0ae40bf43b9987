"""The social graph of the comparison with other engines: `run.py --engine hexgraph_ --engine-path benches/peers`.

Every task is DQL through Python, and a person's id is its uid. Friends of friends of a list of seeds
are one call of `query_many`; other tasks with a list ask once for each, as a user's loop would.
"""

import os

from common import Engine

import hexgraph

SCHEMA = """
name: string @index(term) .
age: int @index(int) .
city: string @index(exact) .
created: datetime @index(hour) .
knows: [uid] @reverse .
"""

POINT = "query q($a: string) { q(func: uid($a)) { name age city created } }"
HOP1 = """query q($a: string) { var(func: uid($a)) { x as knows }
  q(func: uid(x)) { uid name age city } }"""
HOP2 = """query q($a: string) { var(func: uid($a)) { knows { x as knows } }
  q(func: uid(x)) { uid name age city } }"""
EDGE_SINCE = """query q($a: string, $since: string) { q(func: uid($a)) {
  knows (first: 10) @facets(ge(date, $since)) @facets(orderdesc: date) { uid name } } }"""
HOP2_COUNT = """query q($a: string) { var(func: uid($a)) { knows { x as knows } }
  q(func: uid(x)) { count(uid) } }"""
HOP3_COUNT = """query q($a: string) { var(func: uid($a)) { knows { knows { x as knows } } }
  q(func: uid(x)) { count(uid) } }"""
COUNT = """query q($age: int, $city: string) {
  q(func: eq(city, $city)) @filter(ge(age, $age)) { count(uid) } }"""
FIRST = """query q($age: int, $city: string) {
  q(func: eq(city, $city), first: 100) @filter(ge(age, $age)) { uid } }"""
TERM = """query q($term: string) {
  q(func: anyofterms(name, $term), first: 100) { uid name }
  total(func: anyofterms(name, $term)) { count(uid) } }"""
TOP = """query q($low: int, $high: int) {
  q(func: between(age, $low, $high), orderdesc: created, first: 10) { uid } }"""
GROUP = "{ q(func: has(city)) @groupby(city) { count(uid) avg(age) } }"
AFTER = "query q($a: string) { q(func: has(name), first: 100, after: $a) { uid name age } }"
SKIP = "query q($n: int) { q(func: has(name), first: 100, offset: $n) { uid name age } }"
SHORTEST = """query q($a: string, $b: string) { a as var(func: uid($a)) b as var(func: uid($b))
  path as shortest(from: uid(a), to: uid(b)) { knows } q(func: uid(path)) { count(uid) } }"""
MUTUAL = """query q($a: string, $b: string) { var(func: uid($b)) { y as knows }
  q(func: uid($a)) { count(knows @filter(uid(y))) } }"""
TRIANGLES = """query q($a: string) { var(func: uid($a)) { x as knows }
  var(func: uid(x)) { n as count(knows @filter(uid(x))) } q() { sum(val(n)) } }"""
REACH = """query q($a: string) { var(func: uid($a)) @recurse(depth: 4) { x as knows }
  q(func: uid(x)) @filter(not uid($a)) { count(uid) } }"""


class E(Engine):
    name = "hexgraph"

    def load(self, data, db):
        os.makedirs(db, exist_ok=True)
        self.db = hexgraph.connect(db)
        self.db.alter(SCHEMA)
        self.db.load_nodes(f"{data}/person.parquet", id="id", uid=True, progress=False)
        self.db.load_edges(
            f"{data}/knows.parquet",
            "knows",
            source="src",
            target="dst",
            facets=["date"],
            uid=True,
            progress=False,
        )

    def close(self):
        self.db.close()

    def open(self, _data, db):
        self.db = hexgraph.connect(db)

    def query(self, text, **variables):
        return self.db.query(text, variables)

    def ask(self, text, **variables):
        return self.query(text, **variables).to_dict()

    def rows(self, text, **variables):
        return self.query(text, **variables).rows("q", uids=int)

    def point(self, person):
        return self.rows(POINT, a=person)[0]

    def hop1(self, person):
        rows = self.rows(HOP1, a=person)
        return len(rows), sum(row[2] for row in rows)

    def hop2(self, person):
        rows = self.rows(HOP2, a=person)
        return len(rows), sum(row[2] for row in rows)

    def edge_since(self, person, since):
        found = self.ask(EDGE_SINCE, a=person, since=since)["q"]
        edges = found[0]["knows"] if found else []
        return [(edge["knows|date"], int(edge["uid"], 16)) for edge in edges]

    def hop3_count(self, person):
        return self.rows(HOP3_COUNT, a=person)[0][0]

    def fof(self, ids):
        table = self.db.query_many(HOP2_COUNT, [{"a": person} for person in ids])
        _, (_, _, counts, _) = table.columns()
        return sum(memoryview(counts).cast("q"))

    def filt_count(self, age, city):
        return self.rows(COUNT, age=age, city=city)[0][0]

    def filt_100(self, age, city):
        return [row[0] for row in self.rows(FIRST, age=age, city=city)]

    def term(self, t):
        found = self.query(TERM, term=t)
        return found.rows("q", uids=int), found.rows("total")[0][0]

    def top10(self, low, high):
        return [row[0] for row in self.rows(TOP, low=low, high=high - 1)]

    def group(self):
        groups = self.ask(GROUP)["q"][0]["@groupby"]
        return {group["city"]: (group["count"], group["avg(age)"]) for group in groups}

    def page_after(self, after):
        return [row[0] for row in self.rows(AFTER, a=after)]

    def page_skip(self, skip):
        return [row[0] for row in self.rows(SKIP, n=skip)]

    def sp(self, a, b):
        return self.rows(SHORTEST, a=a, b=b)[0][0] - 1

    def mutual(self, a, b):
        return self.rows(MUTUAL, a=a, b=b)[0][0]

    def tri(self, ids):
        return sum(self.rows(TRIANGLES, a=person)[0][0] for person in ids)

    def reach4(self, person):
        return self.rows(REACH, a=person)[0][0]
