"""The reference of DQL has each word that the parser knows, with an example, and no other.

The words are read from the tables of the sources, since these are what the parser reads.
"""

import re

import pytest
from pages import ROOT

PAGES = ROOT / "docs" / "dql"
FIRST_OF_ROW = r'\(\s*"(\w+)",'
ANY = r'"(\w+)"'


def table(path, name, word=ANY, end="];"):
    """Return the words in a table of a source file."""
    text = (ROOT / path).read_text()
    part = text[text.index(name) + len(name) :]
    result = re.findall(word, part[: part.index(end)])
    assert len(result) > 1, f"{path} has no table {name}"
    return set(result)


DQL, BASE = "crates/dql/src", "crates/base/src"
FUNCTIONS = table(f"{DQL}/lower/arguments/function.rs", "const FUNCTIONS", FIRST_OF_ROW)
MATH = table(f"{DQL}/lower/arguments/math.rs", "const FUNCTIONS", FIRST_OF_ROW)
FIELDS = table(f"{DQL}/lexer/words.rs", "const FIELD_FUNCTIONS", FIRST_OF_ROW)
AGGREGATES = table(f"{BASE}/plan/aggregate.rs", "pub const AGGREGATES", r'open: "(\w+)\("')
BLOCK_DIRECTIVES = table(f"{DQL}/lexer/directives.rs", "const ROOT_DIRECTIVES")
EDGE_DIRECTIVES = table(f"{DQL}/lexer/directives.rs", "const FIELD_DIRECTIVES")
ARGUMENTS = table(f"{DQL}/lower/selection/block.rs", "const KEYS")
TOKENIZERS = table(f"{BASE}/schema/tokenizer.rs", "static ROWS", r'"(\w+)", ValueType')
TYPES = table(f"{BASE}/types/values/value.rs", "pub fn name", r'=> "(\w+)"', "\n    }\n")
SCHEMA_DIRECTIVES = table(f"{BASE}/schema/language/parser.rs", "const PREDICATE_DIRECTIVES")

SECTIONS = {
    "functions": FUNCTIONS | {"len"},
    "computing": MATH | FIELDS | AGGREGATES | {"count"},
    "directives": BLOCK_DIRECTIVES | EDGE_DIRECTIVES | {"if"},
    "arguments": ARGUMENTS,
}
"""The words of each page that have a section. `count`, `len` and `@if` are no rows of a table."""


def sections(page):
    """Yield the words of each heading of the third level, and what stands below it."""
    text = (PAGES / f"{page}.md").read_text()
    for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        heading, below = part.split("\n", 1)
        yield set(re.findall(r"`@?(\w+)`", heading)), below.split("\n## ")[0]


@pytest.mark.parametrize("page", SECTIONS)
def test_each_word_has_a_section_with_an_example(page):
    report = set()
    for words, below in sections(page):
        assert re.search("^```(dql|python)$", below, re.MULTILINE), f"{words} has no example"
        report |= words
    assert report == SECTIONS[page]


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Types of values", TYPES),
        ("Indexes", TOKENIZERS),
        ("Directives of predicates", SCHEMA_DIRECTIVES),
    ],
)
def test_each_word_of_schemas_has_a_row(title, words):
    text = (PAGES / "schema.md").read_text()
    below = text.split(f"\n## {title}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([^|]*) \|", below, re.MULTILINE)
    assert {word for row in rows for word in re.findall(r"`@?(\w+)", row)} == words


PLUGGED = {"anyof", "allof"}
"""Functions that are there to say that there are no plug-ins: no editor proposes them."""


def test_cells_are_completed_by_each_word():
    pytest.importorskip("IPython")
    from hexgraph.jupyter import DQL_WORDS

    existing = {word.strip("@(:") for word in DQL_WORDS} - {"math", "shortest"}
    words = set.union(*SECTIONS.values()) | SCHEMA_DIRECTIVES
    assert existing == words - PLUGGED


def test_the_lexer_knows_each_function():
    pytest.importorskip("pygments")
    from hexgraph import lexer

    words = SECTIONS["functions"] | SECTIONS["computing"]
    assert set(lexer.FUNCTIONS) == words - PLUGGED | {"math"}
    assert set(lexer.WORDS) >= ARGUMENTS | PLUGGED
