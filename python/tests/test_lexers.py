"""The lexers for Pygments read all queries of the documentation."""

import doctest
import tomllib

import pytest
from pages import ROOT, blocks_of

pygments = pytest.importorskip("pygments")

from pygments import token  # noqa: E402 - Pygments is optional

from hexgraph import lexer  # noqa: E402

LEXERS = {"dql": lexer.DqlLexer, "cypher": lexer.CypherLexer}
FEWEST = {"dql": 200, "cypher": 80}
WRONG = {"dql": ["{ q(func: eq(iata, 'ZRH')) { city } }\n"], "cypher": []}
"""Queries of the documentation that are examples of what is no DQL."""


def queries(language):
    pages = sorted((ROOT / "docs").rglob("*.md"))
    blocks = [block for page in pages for block in blocks_of(page.read_text(encoding="utf-8"))]
    return [block.text for block in blocks if block.kind == language]


@pytest.mark.parametrize("language", LEXERS)
def test_every_query_of_the_documentation_is_read(language):
    texts = queries(language)
    assert len(texts) >= FEWEST[language]
    for text in texts:
        tokens = list(pygments.lex(text, LEXERS[language]()))
        is_wrong = any(kind is token.Error for kind, _ in tokens)
        assert is_wrong == (text in WRONG[language]), text
        assert "".join(part for _, part in tokens).strip() == text.strip()


def test_words_of_dql_have_their_kinds():
    lexed = pygments.lex(
        "query { q(func: has(x), first: 2) { quantile(val(y), 0.5) has } }", LEXERS["dql"]()
    )
    given = {part: kind for kind, part in lexed}
    assert given["query"] is given["func"] is given["first"] is token.Keyword
    assert given["quantile"] is given["val"] is token.Name.Function
    assert given["y"] is given["x"] is token.Name


def kinds(text):
    lexed = pygments.lex(text, lexer.CypherLexer())
    return {part: kind for kind, part in lexed if kind is not token.Whitespace}


def test_words_of_cypher_have_their_kinds():
    given = kinds(
        "match (p:Film {a: $x})-[:IN*1..3]-() WHERE p.end =~ 'a\\'' AND all(x IN l WHERE x > 1.5e3)"
    )
    assert given["match"] is given["WHERE"] is token.Keyword
    assert given["Film"] is token.Name.Label
    assert given["end"] is token.Name.Attribute
    assert given["$x"] is token.Name.Variable
    assert given["all"] is token.Name.Function
    assert given["AND"] is token.Operator.Word
    assert given["'a\\''"] is token.String.Single
    assert given["1.5e3"] is token.Number.Float
    assert given["1"] is given["3"] is token.Number.Integer
    assert given[".."] is given["~"] is token.Operator
    given = kinds(
        "RETURN count(*) AS `a``b`, COUNT { (a) } UNION ALL RETURN date.truncate('day', d) // all"
    )
    assert given["count"] is given["date.truncate"] is token.Name.Function
    assert given["COUNT"] is given["ALL"] is given["UNION"] is token.Keyword
    assert given["`a``b`"] is token.Name
    assert given["// all"] is token.Comment.Single
    given = kinds("CALL algo.pagerank('knows') YIELD node, score")
    assert given["algo.pagerank"] is token.Name.Function
    assert given["CALL"] is given["YIELD"] is token.Keyword


def test_the_lexers_are_registered():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    registered = project["entry-points"]["pygments.lexers"]
    assert len(registered) == len(LEXERS)
    for name, path in registered.items():
        module, cls = path.split(":")
        assert module == lexer.__name__
        assert name in getattr(lexer, cls).aliases


def test_the_examples_of_the_lexers():
    assert doctest.testmod(lexer).failed == 0
