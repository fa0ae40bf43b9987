"""The grammar of a schema: what it produces runs, and frequent queries are in it."""

import os
import random
import subprocess
import sys

import lark
import pytest
from grammar_texts import Recogniser, Sampler, rules_of

import hexgraph

CASES = int(os.environ.get("HEXGRAPH_CASES", "600"))
"""The number of sentences of each text."""

FILMS = """
name: string @index(exact, term, fulltext, trigram) @lang .
release_date: datetime @index(year) .
rating: float @index(float) .
votes: int @index(int) .
genre: [uid] @reverse @count .
starring: [uid] @reverse @count .
vector: float32vector @index(hnsw(metric: "cosine")) .
place: geo @index(geo) .
type Film {
  name
  genre
  starring
}
"""

PEOPLE = """
name: string @index(hash) .
email: string @index(exact) .
age: int @index(int) .
joined: datetime @index(day) .
active: bool @index(bool) .
nickname: [string] @index(term) .
follows: [uid] @reverse @count .
boss: uid .
type Person {
  name
}
"""

ODD = """
<straße>: string @index(exact) .
<1st>: int @index(int) .
<it's>: string .
<a/b>: [uid] @reverse @count .
as: string @index(exact) .
and: float .
film: string .
film.name: string @index(trigram) .
secret: password .
"""

SCHEMAS = {"films": FILMS, "people": PEOPLE, "odd": ODD, "empty": ""}


@pytest.fixture(params=SCHEMAS)
def base(request):
    db = hexgraph.connect()
    db.alter(SCHEMAS[request.param])
    return db


@pytest.mark.parametrize("kind", ["gbnf", "lark"])
def test_sentences_of_the_text_run(base, kind):
    parser = lark.Lark(base.grammar("lark"), parser="lalr")
    other = Recogniser(rules_of(base.grammar("lark" if kind == "gbnf" else "gbnf")))
    sampler = Sampler(rules_of(base.grammar(kind)), random.Random(5))
    for number in range(CASES):
        text = sampler.sentence()
        base.query(text)
        parser.parse(text)
        if number % 20 == 0:
            assert other.accepts(text), text


def test_earley_parses_it_too():
    db = hexgraph.connect()
    db.alter(PEOPLE)
    parser = lark.Lark(db.grammar("lark"), parser="earley")
    parser.parse('{ q(func: eq(name, "Ada"), first: 5) { name follows { name } } }')
    with pytest.raises(lark.exceptions.LarkError):
        parser.parse('{ q(func: eq(nme, "Ada")) { name } }')


QUERIES = """
{ q(func: eq(name, "Blade Runner")) { uid name release_date } }

{ q(func: eq(name@en, "Blade Runner")) { name@en starring { name@en } } }

{ q(func: allofterms(name@en, "blade runner"), first: 10) { name@en:. } }

{ q(func: type(Film), orderdesc: release_date, first: 10) { name release_date } }

{
  q(func: has(rating), orderdesc: rating, first: 10, offset: 20) @filter(ge(votes, 100)) {
    name
    rating
    votes
  }
}

{ q(func: between(release_date, "1980", "1989-12-31")) { count(uid) } }

{
  q(func: ge(rating, 8.5)) @filter(has(genre) and not eq(name, "Alien")) {
    name
    genre { name }
  }
}

{
  q(func: anyoftext(name, "runner"))
  @filter(eq(votes, 3) OR (lt(rating, 2) AND has(place))) { name count(starring) }
}

{ q(func: regexp(name, /^Blade.*runner/i)) { name } }

{ q(func: near(place, [13.4, 52.5], 1000)) { name } }

{ q(func: similar_to(vector, 5, "0x1f")) { name } }

{
  q(func: uid(0x1, 0x2)) {
    name
    ~starring (first: 3, orderasc: name) @filter(has(rating)) { name }
  }
}

{ q(func: gt(count(starring), 5)) @cascade { name starring @facets { name } } }

{ q(func: has(genre)) @groupby(genre) { count(uid) avg(rating) } }

{ q(func: has(genre)) { name genre @groupby(name) { count(uid) } } }

{ q(func: uid(0x1)) @recurse(depth: 3) { name starring } }

{ q(func: type(Film)) @normalize { name: name starring { name: name } } }

{ q(func: uid(0x1)) { uid expand(_all_) } }

{
  var(func: has(starring)) { a as count(starring) }
  q(func: uid(a), orderdesc: val(a), first: 10) { name val(a) }
}

{
  var(func: type(Film)) @filter(has(votes)) { a as votes b as rating c as math(a * b) }
  q(func: uid(c), orderdesc: val(c), first: 3) { name val(c) }
}

{ var(func: type(Film)) { a as rating } q() { avg(val(a)) max(val(a)) } }

{
  var(func: eq(name, "Sigourney Weaver")) { a as ~starring }
  q(func: uid(a), orderasc: release_date) { name }
}

{ path as shortest(from: 0x1, to: 0x2) { starring ~starring } q(func: uid(path)) { name } }

{
  q1(func: type(Film), first: 3) {
    name
  }
  q2(func: has(votes)) {
    count(uid)
  }
}
"""


def test_common_queries_are_in_it():
    db = hexgraph.connect()
    db.alter(FILMS)
    parser = lark.Lark(db.grammar("lark"), parser="lalr")
    gbnf = Recogniser(rules_of(db.grammar("gbnf")))
    for text in QUERIES.strip().split("\n\n"):
        db.query(text)
        parser.parse(text)
        assert gbnf.accepts(text), text


REFUSED = [
    '{ q(func: eq(title, "Alien")) { name } }',  # no such predicate
    '{ q(func: eq(rating, "high")) { name } }',  # no number
    '{ q(func: has(name)) { name name } }',  # a key twice
    '{ q(func: has(name)) { starring } }',  # an edge without a selection
    '{ q(func: has(name)) { ~place { name } } }',  # no @reverse
    '{ q(func: type(Movie)) { name } }',  # no such type
    '{ q(func: has(name), orderasc: genre) { name } }',  # no order of edges
]  # fmt: skip


def test_what_does_not_fit_the_schema_is_not_in_it():
    db = hexgraph.connect()
    db.alter(FILMS)
    parser = lark.Lark(db.grammar("lark"), parser="lalr")
    gbnf = Recogniser(rules_of(db.grammar("gbnf")))
    for text in REFUSED:
        with pytest.raises(lark.exceptions.LarkError):
            parser.parse(text)
        assert not gbnf.accepts(text), text


def test_what_has_no_form_is_reported():
    db = hexgraph.connect()
    db.alter(ODD)
    assert '// left out: "secret", since a password is not read\n' in db.grammar("lark")
    assert '# left out: "secret", since a password is not read\n' in db.grammar("gbnf")
    with pytest.raises(hexgraph.QueryError, match="expected gbnf or lark"):
        db.grammar("bnf")


def test_the_command_prints_it(tmp_path):
    with hexgraph.connect(tmp_path / "films") as db:
        db.alter(FILMS)
        expected = db.grammar("gbnf")
    command = [sys.executable, "-m", "hexgraph", "grammar", str(tmp_path / "films")]
    done = subprocess.run(
        [*command, "--format", "gbnf"], capture_output=True, text=True, check=True
    )
    assert done.stdout == expected
    done = subprocess.run(
        [*command, "--format", "bnf"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "gbnf" in done.stderr
