"""The colours of DQL, for Pygments: `dql` is its name in Markdown and in Sphinx."""

from __future__ import annotations

from pygments import token
from pygments.lexer import RegexLexer, words

FUNCTIONS = """
has eq le lt ge gt between allofterms anyofterms alloftext anyoftext ngram regexp match type
uid uid_in near within contains intersects similar_to anyof allof count val min max sum avg median
quantile stddev variance math expand checkpwd len floor ceil since exp ln sqrt pow logbase dot cond
""".split()  # noqa: SIM905 - read as words

WORDS = """
query mutation upsert fragment as distinct func first offset after orderasc orderdesc from to
depth numpaths minweight maxweight maxfrontiersize loop set delete var shortest schema and or not
""".split()  # noqa: SIM905 - read as words


class DqlLexer(RegexLexer):  # type: ignore[misc]
    r"""Reads DQL, the query language of Dgraph.

    >>> from pygments import highlight
    >>> from pygments.formatters import NullFormatter
    >>> highlight("{ q(func: has(name)) { name } }", DqlLexer(), NullFormatter())
    '{ q(func: has(name)) { name } }\\n'
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
