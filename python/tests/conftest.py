import pytest

import hexgraph

SCHEMA = """
name: string @index(exact, term) @lang .
born: int @index(int) .
height: float .
alive: bool .
since: datetime @index(year) .
alias: [string] .
boss: uid @reverse .
friend: [uid] @reverse @count .
type Person {
  name
  born
  friend
}
"""

TRIPLES = """
<0x1> <name> "Ada" .
<0x1> <name> "エイダ"@ja .
<0x1> <born> "1815" .
<0x1> <height> "1.65" .
<0x1> <alive> "false" .
<0x1> <since> "1833-06-05T12:00:00Z" .
<0x1> <alias> "Countess" .
<0x1> <alias> "Augusta" .
<0x1> <friend> <0x2> .
<0x1> <friend> <0x3> .
<0x2> <name> "Bob" .
<0x2> <born> "1900" .
<0x2> <boss> <0x1> .
<0x2> <friend> <0x3> .
<0x3> <name> "Eve <b>" .
<0x3> <alive> "true" .
"""


@pytest.fixture
def db():
    with hexgraph.connect() as database:
        yield database


@pytest.fixture
def people(db):
    db.alter(SCHEMA)
    db.mutate(set=TRIPLES)
    return db
