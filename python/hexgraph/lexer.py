"""The colours of DQL and openCypher, for Pygments.

`dql` and `opencypher` are their names in Markdown and in Sphinx. `cypher` is the lexer of Pygments,
for which `+`, `/`, `%`, `=~` and `$name` are errors.
"""

from __future__ import annotations

import re

from pygments import token
from pygments.lexer import RegexLexer, bygroups, words

from ._native import dql_keywords

_KEYWORDS = dql_keywords()

_CALLED = ("condition", "aggregate", "math", "field")

FUNCTIONS = list(dict.fromkeys(name for kind in _CALLED for name in _KEYWORDS[kind]))

WORDS = [*_KEYWORDS["word"], *_KEYWORDS["argument"]]


class DqlLexer(RegexLexer):  # type: ignore[misc]
    r"""Reads DQL, the query language of Dgraph.

    >>> from pygments import highlight
    >>> from pygments.formatters import NullFormatter
    >>> highlight("{ q(func: has(name)) { name } }", DqlLexer(), NullFormatter())
    '{ q(func: has(name)) { name } }\n'
    """

    name = "DQL"
    aliases = ("dql",)
    filenames = ("*.dql",)
    url = "https://github.com/hexgraph/hexgraph"
    tokens = {  # noqa: RUF012 - as Pygments has it
        "root": [
            (r"\s+", token.Whitespace),
            (r"#.*", token.Comment.Single),
            (r'"(?:\\.|[^"\\])*"', token.String.Double),
            (r"/(?:\\.|[^/\\\n])+/[a-z]*", token.String.Regex),
            (r"<[^>\s]+>", token.Name.Label),
            (r"0x[0-9a-fA-F]+\b", token.Number.Hex),
            (r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\b", token.Number),
            (r"\$\w+", token.Name.Variable),
            (r"@(?:[\w-]+|[*.])", token.Name.Decorator),
            (words(WORDS, prefix=r"\b", suffix=r"\b(?=\s*[:({]|\s+as\b|\s)"), token.Keyword),
            (words(FUNCTIONS, prefix=r"\b", suffix=r"(?=\s*\()"), token.Name.Function),
            (r"\b(?:true|false|null)\b", token.Keyword.Constant),
            (r"~?[^\W\d][\w.]*(?=\s*:)", token.Name.Attribute),
            (r"~?[^\W\d][\w.]*", token.Name),
            (r"[{}()\[\],:.|*=+\-/%<>!]", token.Punctuation),
        ]
    }


CLAUSES = """
match optional where with unwind return distinct order by skip offset limit union call yield as
case when then else end asc ascending desc descending explain profile shortest groups
filter let for nulls create merge set delete detach remove foreach on
""".split()  # noqa: SIM905 - read as words

CYPHER_OPERATORS = "and or xor not in is starts ends contains typed".split()  # noqa: SIM905 - as above


class CypherLexer(RegexLexer):  # type: ignore[misc]
    r"""Reads openCypher.

    >>> from pygments import lex
    >>> tokens = list(lex("RETURN $x + 1", CypherLexer()))
    >>> [text for kind, text in tokens if kind in token.Name or kind in token.Operator]
    ['$x', '+']
    """

    name = "openCypher"
    aliases = ("opencypher",)
    filenames = ("*.cypher", "*.cyp")
    url = "https://opencypher.org"
    flags = re.MULTILINE | re.IGNORECASE
    tokens = {  # noqa: RUF012 - as Pygments has it
        "root": [
            (r"\s+", token.Whitespace),
            (r"//.*", token.Comment.Single),
            (r"/\*(?:[^*]|\*(?!/))*\*/", token.Comment.Multiline),
            (r"'(?:\\.|[^'\\])*'", token.String.Single),
            (r'"(?:\\.|[^"\\])*"', token.String.Double),
            (r"\$(?:\w+|`[^`]+`)", token.Name.Variable),
            (r"`(?:[^`]|``)+`", token.Name),
            (r"0x[0-9a-f]+|0o[0-7]+", token.Number.Integer),
            (r"\.\.", token.Operator),
            (r"(?:\d+)?\.\d+(?:e[-+]?\d+)?|\d+e[-+]?\d+", token.Number.Float),
            (r"\d+", token.Number.Integer),
            (r"(\.)([^\W\d]\w*)", bygroups(token.Punctuation, token.Name.Attribute)),
            (r"([:|])([^\W\d]\w*)", bygroups(token.Punctuation, token.Name.Label)),
            (r"\b(?:exists|count|collect)(?=\s*\{)", token.Keyword),
            (r"\ball\b(?!\s*\()|\bany(?=\s+shortest)", token.Keyword),
            (r"\b(?:true|false|null)\b", token.Keyword.Constant),
            (words(CYPHER_OPERATORS, prefix=r"\b", suffix=r"\b"), token.Operator.Word),
            (words(CLAUSES, prefix=r"\b", suffix=r"\b"), token.Keyword),
            (r"[^\W\d][\w.]*(?=\s*\()", token.Name.Function),
            (r"[^\W\d]\w*", token.Name),
            (r"[-+*/%^=<>~|]", token.Operator),
            (r"[(){}\[\],:;.!&]", token.Punctuation),
        ]
    }
