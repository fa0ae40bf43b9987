"""Delimited text files as people have them: what is recognised in each, and which rows it gives.

Each case is one trait of files. Expected are the columns with their types, and all rows in the
order of the file; `oracle` says that DuckDB reads the same rows, which a test compares.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from typing import Any

import polars
import pytest

import hexgraph
from hexgraph import LoadError


@dataclass
class Case:
    name: str
    text: str | bytes
    columns: dict[str, str]
    rows: list[tuple[Any, ...]]
    options: dict[str, Any] = field(default_factory=dict)
    end: str = ".csv"
    oracle: bool = True


INT, FLOAT, TEXT, BOOL, TIME = "int", "float", "string", "bool", "datetime"
NONE = None


def case(name, text, columns, rows, *, end=".csv", oracle=True, **options):  # noqa: PLR0913
    return Case(name, text, columns, rows, options, end, oracle)


AB = {"a": INT, "b": INT}
TWO = [(1, 2), (3, 4)]

CASES = [
    # Separators
    case("comma", "a,b\n1,2\n3,4\n", AB, TWO),
    case("semicolon", "a;b\n1;2\n3;4\n", AB, TWO),
    case("tab", "a\tb\n1\t2\n3\t4\n", AB, TWO),
    case("bar", "a|b\n1|2\n3|4\n", AB, TWO),
    case("tabs in .csv", "a\tb\n1\t2\n3\t4\n", AB, TWO),
    case("commas in .tsv", "a,b\n1,2\n3,4\n", AB, TWO, end=".tsv"),
    case(
        "decimal commas",
        "a;b\n1,5;x\n2,5;y\n",
        {"a": TEXT, "b": TEXT},
        [("1,5", "x"), ("2,5", "y")],
        oracle=False,
    ),
    case(
        "commas within bars",
        "a|b\nx,y|1\nz|2\n",
        {"a": TEXT, "b": INT},
        [("x,y", 1), ("z", 2)],
    ),
    case("given separator", "a:b\n1:2\n3:4\n", AB, TWO, separator=":", oracle=False),
    case("blanks behind separators", "a, b\n1, 2\n3, 4\n", AB, TWO, oracle=False),
    case("one column", "a\n1\n2\n", {"a": INT}, [(1,), (2,)]),
    case("one column of texts with commas", "a\nx\ny\nz\n", {"a": TEXT}, [("x",), ("y",), ("z",)]),
    case("a separator behind each record", "a,b,\n1,2,\n3,4,\n", AB, TWO, oracle=False),
    case("a separator behind the names", "a,b,\n1,2\n3,4\n", AB, TWO, oracle=False),
    case("a separator behind each row", "a,b\n1,2,\n3,4,\n", AB, TWO),
    # Header or not
    case("numbers without header", "1,2\n3,4\n", {"column0": INT, "column1": INT}, TWO),
    case(
        "mixed without header",
        "1,ann,2.5\n2,bob,3.5\n",
        {"column0": INT, "column1": TEXT, "column2": FLOAT},
        [(1, "ann", 2.5), (2, "bob", 3.5)],
    ),
    case("one row of numbers", "1,2\n", {"column0": INT, "column1": INT}, [(1, 2)]),
    case("one number", "42\n", {"column0": INT}, [(42,)]),
    case(
        "dates without header",
        "2020-01-31,1\n2020-02-28,2\n",
        {"column0": TIME, "column1": INT},
        [("2020-01-31T00:00:00Z", 1), ("2020-02-28T00:00:00Z", 2)],
    ),
    case(
        "truth values without header",
        "true,x\nfalse,y\n",
        {"column0": BOOL, "column1": TEXT},
        [(True, "x"), (False, "y")],
    ),
    case(
        "a missing value in the first row",
        "1,\n2,5\n3,6\n",
        {"column0": INT, "column1": INT},
        [(1, NONE), (2, 5), (3, 6)],
    ),
    case(
        "n/a in the first row",
        "n/a,3\n1,4\n2,5\n",
        {"column0": INT, "column1": INT},
        [(NONE, 3), (1, 4), (2, 5)],
        oracle=False,
    ),
    case(
        "years as names look like a row",
        "land,2019\nA,5\nB,6\n",
        {"column0": TEXT, "column1": INT},
        [("land", 2019), ("A", 5), ("B", 6)],
    ),
    case("years as names", "land,2019\nA,5\n", {"land": TEXT, "2019": INT}, [("A", 5)], header=True,
         oracle=False),
    case(
        "texts with a header",
        "name,city\nann,rome\nbob,oslo\n",
        {"name": TEXT, "city": TEXT},
        [("ann", "rome"), ("bob", "oslo")],
    ),
    case(
        "texts without a header",
        "ann,rome\nbob,oslo\n",
        {"column0": TEXT, "column1": TEXT},
        [("ann", "rome"), ("bob", "oslo")],
        header=False,
        oracle=False,
    ),
    case(
        "a number above texts is a row",
        "x,1\ny,b\nz,c\n",
        {"column0": TEXT, "column1": TEXT},
        [("x", "1"), ("y", "b"), ("z", "c")],
        oracle=False,
    ),
    case("dates of which none says the order are rows", "1/1/2020\n5/7/1995\n",
         {"column0": TEXT}, [("1/1/2020",), ("5/7/1995",)], oracle=False),
    case("times of a day are rows", "12:30,x\n14:00,y\n", {"column0": TEXT, "column1": TEXT},
         [("12:30", "x"), ("14:00", "y")], oracle=False),
    case("a record that comes again at once is a row", "a,b\na,b\nc,d\n",
         {"column0": TEXT, "column1": TEXT}, [("a", "b"), ("a", "b"), ("c", "d")], oracle=False),
    case("a header alone", "a,b\n", {}, []),
    case("an empty file", "", {}, [], oracle=False),
    case("line ends alone", "\n\n\n", {}, [], oracle=False),
    case("a quoted header", '"a","b"\n1,2\n3,4\n', AB, TWO),
    case("a header in two lines", '"a\nb",c\n1,2\n', {"a_b": INT, "c": INT}, [(1, 2)]),
    case("header=True", "1,2\n3,4\n", {"1": INT, "2": INT}, [(3, 4)], header=True, oracle=False),
    case("seasons as names of texts", "name,2018/19\na,b\nc,d\n",
         {"name": TEXT, "2018/19": TEXT}, [("a", "b"), ("c", "d")]),
    # Quotes and escapes
    case(
        "quoted numbers",
        '"1","2"\n"3","4"\n',
        {"column0": INT, "column1": INT},
        TWO,
    ),
    case("a separator in quotes", 'a,b\n"x,y",1\n', {"a": TEXT, "b": INT}, [("x,y", 1)]),
    case("a line end in quotes", 'a,b\n"x\ny",1\n', {"a": TEXT, "b": INT}, [("x\ny", 1)]),
    case("\\r\\n in quotes", 'a,b\r\n"x\r\ny",1\r\n', {"a": TEXT, "b": INT}, [("x\r\ny", 1)]),
    case("two quotes for one", 'a,b\n"x""y",1\n', {"a": TEXT, "b": INT}, [('x"y', 1)]),
    case("four quotes", 'a,b\n"""",1\nx,2\n', {"a": TEXT, "b": INT}, [('"', 1), ("x", 2)]),
    case("a backslash", 'a,b\n"x\\"y",1\n"z",2\n', {"a": TEXT, "b": INT}, [('x"y', 1), ("z", 2)]),
    case(
        "a backslash and a separator",
        'a,b\n"x\\",y",1\n"z",2\n',
        {"a": TEXT, "b": INT},
        [('x",y', 1), ("z", 2)],
    ),
    case(
        "a backslash outside quotes",
        "a,b\nx\\,y,1\nC:\\dir,2\nz,3\n",
        {"a": TEXT, "b": INT},
        [("x,y", 1), ("C:\\dir", 2), ("z", 3)],
        oracle=False,  # DuckDB reads one column
    ),
    case("apostrophes", "a,b\n'x,y',1\n'z',2\n", {"a": TEXT, "b": INT}, [("x,y", 1), ("z", 2)]),
    case(
        "an apostrophe is a letter",
        "a,b\nO'Neil,1\n'tis,2\n",
        {"a": TEXT, "b": INT},
        [("O'Neil", 1), ("'tis", 2)],
    ),
    case(
        "quotes within a field",
        'a,b\n5" pipe,1\n6" pipe,2\n',
        {"a": TEXT, "b": INT},
        [('5" pipe', 1), ('6" pipe', 2)],
    ),
    case(
        "no quotes",
        'a,b\n"x,1\ny,2\n',
        {"a": TEXT, "b": INT},
        [('"x', 1), ("y", 2)],
        quote="",
        oracle=False,
    ),
    case(
        "JSON in cells",
        'id,j\n1,"{""a"":1,""b"":[2,3]}"\n',
        {"id": INT, "j": TEXT},
        [(1, '{"a":1,"b":[2,3]}')],
    ),
    case("a quoted blank", 'a,b\n" ",1\nx,2\n', {"a": TEXT, "b": INT}, [(" ", 1), ("x", 2)],
         oracle=False),
    case("blanks before quotes", 'a,b\n1, "x,y"\n2, "z"\n', {"a": INT, "b": TEXT},
         [(1, "x,y"), (2, "z")]),
    case("blanks behind quotes", 'a,b\n"x,y" ,1\n"z" ,2\n', {"a": TEXT, "b": INT},
         [("x,y", 1), ("z", 2)]),
    case("a blank before a quote within a text", 'a,b\n "x" and y,1\nz,2\n', {"a": TEXT, "b": INT},
         [(' "x" and y', 1), ("z", 2)], oracle=False),
    case("a quote that nothing closes", 'a,b\n"x,1\nz,2\n', {"a": TEXT, "b": INT},
         [('"x', 1), ("z", 2)]),
    case("quotes that are letters", 'a,b\n"x"y,1\nz,2\n', {"a": TEXT, "b": INT},
         [('"x"y', 1), ("z", 2)]),
    case("letters behind a quote", 'a,b\n"x" y,1\n"z,w",2\n"u",3\n', {"a": TEXT, "b": INT},
         [('"x" y', 1), ("z,w", 2), ("u", 3)], oracle=False),
    case("quotes within quotes", 'a,b\n"x "y" z",1\n"u,v",2\n"w",3\n', {"a": TEXT, "b": INT},
         [('x "y" z', 1), ("u,v", 2), ("w", 3)], oracle=False),
    case("quotes of names are letters", 'n\tname\n1\t"A\n2\t"B"_b\n3\t"C"\n4\tD"\n',
         {"n": INT, "name": TEXT}, [(1, '"A'), (2, '"B"_b'), (3, '"C"'), (4, 'D"')], end=".tsv"),
    # Line breaks and blank lines
    case("lines of blanks", "a,b\n1,2\n   \n3,4\n  \n", AB, TWO, oracle=False),
    case("\\r\\n", "a,b\r\n1,2\r\n3,4\r\n", AB, TWO),
    case("\\r alone", "a,b\r1,2\r3,4\r", AB, TWO),
    case("line ends in a mixture", "a,b\r\n1,2\n3,4\r", AB, TWO, oracle=False),
    case("no line end at the end", "a,b\n1,2\n3,4", AB, TWO),
    case("blank lines", "\n\na,b\n\n1,2\n\n\n3,4\n\n", AB, TWO),
    case("blank lines of \\r\\n", "a,b\r\n\r\n1,2\r\n\r\n3,4\r\n", AB, TWO),
    case("an empty line in one column", "a\n1\n\n3\n", {"a": INT}, [(1,), (NONE,), (3,)]),
    # Encodings
    case("a byte order mark", "\ufeffa,b\n1,2\n3,4\n", AB, TWO),
    case("utf-8", "a,b\nZürich,木\n", {"a": TEXT, "b": TEXT}, [("Zürich", "木")]),
    case("utf-16", "a,b\nZürich,木\n".encode("utf-16"), {"a": TEXT, "b": TEXT},
         [("Zürich", "木")], oracle=False),
    case("utf-16 without a mark", "a,b\n1,2\n3,4\n".encode("utf-16-be"), AB, TWO,
         encoding="utf-16be", oracle=False),
    case("windows-1252", "a,b\nZürich,1\n".encode("cp1252"), {"a": TEXT, "b": INT},
         [("Zürich", 1)], oracle=False),
    case("names in utf-8", "größe,b\n1,2\n3,4\n", {"größe": INT, "b": INT}, TWO),
    # Comments and lines in front
    case("comments in front", "# one\n# two\na,b\n1,2\n3,4\n", AB, TWO),
    case("a comment in front", "# of May\na,b\n1,2\n3,4\n", AB, TWO),
    case("comments between", "# one\na,b\n1,2\n# two, too\n3,4\n", AB, TWO),
    case("a given comment", "% one\na,b\n1,2\n% two\n3,4\n", AB, TWO, comment="%", oracle=False),
    case("colours are no comments", "a,b\nred,1\n#0f0,2\n#00f,3\n", {"a": TEXT, "b": INT},
         [("red", 1), ("#0f0", 2), ("#00f", 3)]),
    case("# in one column", "a\nx\n#y\n", {"a": TEXT}, [("x",), ("#y",)]),
    case("# is a letter", "#a,b\n1,2\n3,4\n", {"#a": INT, "b": INT}, TWO),
    case("comments behind fields", "# one\na;b\n1;2#5;7\n3;4 # x\n", AB, TWO),
    case("a comment behind a quoted cell", '# one\na;b\n1;2#5;7\n3;"4#x"\n',
         {"a": INT, "b": TEXT}, [(1, "2"), (3, "4#x")], oracle=False),
    case("blanks before a comment", "a,b\n # one\n1,2\n  # two\n3,4\n", AB, TWO, oracle=False),
    case("a title", "Report\na,b\n1,2\n3,4\n", AB, TWO),
    case("notes", "Report of May\nby ann\n\na,b\n1,2\n3,4\n", AB, TWO),
    case("notes of two cells", "by\tann\nof\tMay\na\tb\tc\n1\t2\tx\t\n3\t4\ty\t\n",
         {**AB, "c": TEXT}, [(1, 2, "x"), (3, 4, "y")]),
    case("notes in front and behind", "Report\na,b,c\n1,2,x\n3,4,y\nSource: z\n",
         {**AB, "c": TEXT}, [(1, 2, "x"), (3, 4, "y")], ragged="skip", oracle=False),
    case("one record behind a title is a row", "Report\na,b,c\n",
         {"column0": TEXT, "column1": TEXT, "column2": TEXT}, [("a", "b", "c")], oracle=False),
    case("lines to skip", "x,y\nz\na,b\n1,2\n3,4\n", AB, TWO, skip=2, oracle=False),
    case("notes before rows", "Report\n1,2\n3,4\n", {"column0": INT, "column1": INT}, TWO),
    # Lists of edges
    case(
        "an edge list of SNAP",
        "# Directed graph\n# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n1\t2\n3\t4\n",
        {"FromNodeId": INT, "ToNodeId": INT},
        TWO,
        end=".txt",
        oracle=False,
    ),
    case("blanks", "1 2\n3 4\n", {"column0": INT, "column1": INT}, TWO, end=".edges", oracle=False),
    case("many blanks", "  1   2\n 3 4 \n", {"column0": INT, "column1": INT}, TWO, end=".txt",
         oracle=False),
    case("bars in .txt", "a|b\n1|2\n3|4\n", AB, TWO, end=".txt"),
    case("bars in .tbl", "1|x|\n2|y|\n", {"column0": INT, "column1": TEXT},
         [(1, "x"), (2, "y")], end=".tbl", oracle=False),
    case("commas in .dat", "a,b\n1,2\n3,4\n", AB, TWO, end=".dat"),
    case("names of nodes as edges", "ann bob\nbob cid\n", {"column0": TEXT, "column1": TEXT},
         [("ann", "bob"), ("bob", "cid")], end=".txt", oracle=False),
    case("lines of words are one column", "the quick fox\njumps over\n", {"column0": TEXT},
         [("the quick fox",), ("jumps over",)], end=".txt", oracle=False),
    case("commas in .txt", "a,b\n1,2\n3,4\n", AB, TWO, end=".txt"),
    # Lines without a separator
    case("prose", "one\tthe; fox, x\nit|is\n;;;\n\t\t\tq\n", {"column0": TEXT},
         [("one\tthe; fox, x",), ("it|is",), (";;;",), ("\t\t\tq",)], oracle=False),
    case("prose behind a title", "title\nthe; fox, x\nit|is,b\n;;;\n\tq\n", {"title": TEXT},
         [("the; fox, x",), ("it|is,b",), (";;;",), ("\tq",)], oracle=False),
    case("no separator", "1,2\n3,4\n", {"column0": TEXT}, [("1,2",), ("3,4",)], separator="",
         oracle=False),
    # Types
    case("ints", "a\n1\n-2\n", {"a": INT}, [(1,), (-2,)]),
    case("the greatest int", "a\n9223372036854775807\n", {"a": INT}, [(9223372036854775807,)]),
    case(
        "above all ints",
        "a\n1\n9223372036854775808\n",
        {"a": TEXT},
        [("1",), ("9223372036854775808",)],
        oracle=False,
    ),
    case("floats", "a\n1.5\n-2e3\n.5\n", {"a": FLOAT}, [(1.5,), (-2000.0,), (0.5,)]),
    case("ints and floats", "a\n1\n7.5\n", {"a": FLOAT}, [(1.0,), (7.5,)]),
    case(
        "an int that no float has",
        "a\n9007199254740993\n0.5\n",
        {"a": TEXT},
        [("9007199254740993",), ("0.5",)],
        oracle=False,
    ),
    case("inf", "a\n1.5\ninf\n", {"a": TEXT}, [("1.5",), ("inf",)], oracle=False),
    case("too large", "a\n1.5\n1e400\n", {"a": TEXT}, [("1.5",), ("1e400",)], oracle=False),
    case("leading zeros", "a\n007\n7\n", {"a": TEXT}, [("007",), ("7",)]),
    case("zip codes", "a,b\n01234,1\n98765,2\n", {"a": TEXT, "b": INT},
         [("01234", 1), ("98765", 2)]),
    case("zero", "a\n0\n-0\n0.0\n", {"a": FLOAT}, [(0.0,), (-0.0,), (0.0,)]),
    case("bools", "a\ntrue\nFALSE\n", {"a": BOOL}, [(True,), (False,)]),
    case("bools and ints", "a\ntrue\n1\n", {"a": TEXT}, [("true",), ("1",)]),
    case("dates", "a\n2020-01-31\n", {"a": TIME}, [("2020-01-31T00:00:00Z",)]),
    case("no date", "a\n1234-56-78\nx\n", {"a": TEXT}, [("1234-56-78",), ("x",)]),
    case(
        "times",
        "a\n2020-01-31 10:00:00\n2020-01-31T10:00:00.25\n",
        {"a": TIME},
        [("2020-01-31T10:00:00Z",), ("2020-01-31T10:00:00.25Z",)],
    ),
    case(
        "offsets",
        "a\n2020-01-31T10:00:00+02:00\n2020-01-31T10:00:00Z\n",
        {"a": TIME},
        [("2020-01-31T08:00:00Z",), ("2020-01-31T10:00:00Z",)],
    ),
    case(
        "nanoseconds",
        "a\n2020-01-31 10:00:00.123456789\n",
        {"a": TIME},
        [("2020-01-31T10:00:00.123456789Z",)],
    ),
    case(
        "a time that no other reads",
        "a\n2011-08-20 11:25:30Z+00:00\n",
        {"a": TEXT},
        [("2011-08-20 11:25:30Z+00:00",)],
        oracle=False,
    ),
    case("times of a day", "a\n10:00:00\n", {"a": TEXT}, [("10:00:00",)], oracle=False),
    case("given types", "a,b\n1,007\n2,7\n", {"a": TEXT, "b": INT}, [("1", 7), ("2", 7)],
         types={"a": "string", "b": "int"}, oracle=False),
    case("a float late", "a\n" + "1\n" * 40_000 + "7.5\n", {"a": FLOAT},
         [(1.0,)] * 40_000 + [(7.5,)], oracle=False),
    case("a text late", "a\n" + "1\n" * 40_000 + "x\n", {"a": TEXT},
         [("1",)] * 40_000 + [("x",)], oracle=False),
    case("a value late", "a,b\n" + "1,\n" * 40_000 + "1,5\n", {"a": INT, "b": INT},
         [(1, NONE)] * 40_000 + [(1, 5)], oracle=False),
    case("a value behind the sample", "a,b\n" + ",2\n" * 100_000 + "1,2\n", AB,
         [(NONE, 2)] * 100_000 + [(1, 2)], oracle=False),
    case("a record behind the sample", "a,b\n" + "x" * 300_000 + ",1\ny,2\n",
         {"a": TEXT, "b": INT}, [("x" * 300_000, 1), ("y", 2)]),
    case("times to the minute", "a\n2020-01-31 10:00\n2020-01-31T10:00Z\n", {"a": TIME},
         [("2020-01-31T10:00:00Z",)] * 2, oracle=False),
    case("dates with slashes, the year first", "a\n2020/01/31\n", {"a": TIME},
         [("2020-01-31T00:00:00Z",)]),
    case("dates of which none says the order", "a\n01/02/2020\n", {"a": TEXT}, [("01/02/2020",)],
         oracle=False),
    # Missing values
    case("empty cells", "a,b\n1,\n,4\n", AB, [(1, NONE), (NONE, 4)]),
    case("an empty column", "a,b\n1,\n3,\n", {"a": INT}, [(1,), (3,)], oracle=False),
    case("an empty record", "a,b\n1,2\n,\n", AB, [(1, 2), (NONE, NONE)]),
    case("gaps in numbers", "a,b\n1,NA\nn/a,4\n", AB, [(1, NONE), (NONE, 4)], oracle=False),
    case("gaps in texts", "a,b\nNA,1\nFR,2\n", {"a": TEXT, "b": INT}, [("NA", 1), ("FR", 2)]),
    case("given missing values", "a,b\nNA,1\nFR,-9\n", {"a": TEXT, "b": INT},
         [(NONE, 1), ("FR", NONE)], null_values=["NA", "-9"], oracle=False),
    case("a quoted empty text", 'a,b\n"",1\n,2\nx,3\n', {"a": TEXT, "b": INT},
         [("", 1), (NONE, 2), ("x", 3)], oracle=False),
    case("a quoted missing value", 'a,b\n"",1\n,2\nx,3\n', {"a": TEXT, "b": INT},
         [(NONE, 1), (NONE, 2), ("x", 3)], quoted_null=True),
    case("a quoted empty number", 'a,b\n"",1\n3,2\n', AB, [(NONE, 1), (3, 2)]),
    # Ragged records
    case("ragged: skip", "a,b\n1,2\n5\n6,7,8\n3,4\n", AB, TWO, ragged="skip", oracle=False),
    case("ragged: fill", "a,b\n1,2\n3\n", AB, [(1, 2), (3, NONE)], ragged="fill", oracle=False),
    # Names
    case("blanks in names", "First Name,b\nx,1\n", {"First_Name": TEXT, "b": INT}, [("x", 1)],
         oracle=False),
    case("equal names", "a,a,a\n1,2,3\n", {"a": INT, "a_2": INT, "a_3": INT}, [(1, 2, 3)],
         oracle=False),
    case("a name that is made is there", "a,a,a_2\n1,2,3\n", {"a": INT, "a_3": INT, "a_2": INT},
         [(1, 2, 3)], oracle=False),
    case("empty names", "a,,c\n1,2,3\n", {"a": INT, "column1": INT, "c": INT}, [(1, 2, 3)]),
    case("signs in names", "a b,a|c,<d>\n1,2,3\n", {"a_b": INT, "a_c": INT, "d": INT},
         [(1, 2, 3)], oracle=False),
    # Packed
    case("gzip", gzip.compress(b"a,b\n1,2\n3,4\n"), AB, TWO, end=".csv.gz"),
]  # fmt: skip

# What files differ in, with the cases that show it.
TRAITS = {
    "separator": ["comma", "semicolon", "tab", "bar", "given separator"],
    "separator behind the last field": [
        "a separator behind each record",
        "a separator behind the names",
    ],
    "one column": ["one column", "an empty line in one column"],
    "header": ["texts with a header", "years as names"],
    "no header": ["numbers without header", "mixed without header"],
    "quote": ["a separator in quotes", "a line end in quotes", "apostrophes"],
    "escape": ["two quotes for one", "a backslash", "a backslash outside quotes"],
    "quote as a letter": ["a quote that nothing closes", "quotes of names are letters"],
    "letters behind a closing quote": ["letters behind a quote", "quotes within quotes"],
    "line ends": ["\\r\\n", "\\r alone", "line ends in a mixture"],
    "blank lines": ["blank lines", "lines of blanks"],
    "encoding": ["utf-8", "utf-16", "windows-1252"],
    "byte order mark": ["a byte order mark"],
    "comment": ["comments in front", "comments between", "a given comment"],
    "comment in a line": ["comments behind fields", "a comment behind a quoted cell"],
    "preamble": ["notes", "notes of two cells", "lines to skip"],
    "list of edges": ["an edge list of SNAP", "blanks", "many blanks"],
    "ragged records": ["ragged: skip", "ragged: fill"],
    "lines without fields": ["prose", "lines of words are one column", "no separator"],
    "types over all records": ["a float late", "a text late", "a value late"],
    "given types": ["given types"],
    "text like a date": ["no date", "a time that no other reads"],
    "leading zeros": ["leading zeros", "zip codes"],
    "fractions among ints": ["ints and floats"],
    "nanoseconds": ["nanoseconds"],
    "no number": ["inf", "too large"],
    "empty text": ["a quoted empty text", "a quoted missing value"],
    "missing values": ["empty cells", "given missing values"],
    "names": ["blanks in names", "equal names", "empty names", "signs in names"],
    "packed": ["gzip"],
}


def test_each_trait_has_a_case():
    names = [one.name for one in CASES]
    assert len(names) == len(set(names))
    assert len(names) >= 120
    for trait, shown in TRAITS.items():
        assert shown, trait
        assert set(shown) <= set(names), trait


def loaded(path, options):
    db = hexgraph.connect()
    report = db.load_nodes(path, "T", id=None, **options)
    return db, report


def type_names(db):
    lines = (line for line in db.schema().splitlines() if ": " in line and "dgraph." not in line)
    parts = (line.partition(": ") for line in lines)
    return {name.strip("<>"): kind.split()[0] for name, _, kind in parts}


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.name)
def test_a_file_is_read_as_it_is_meant(one, tmp_path):
    path = tmp_path / f"t{one.end}"
    path.write_bytes(one.text if isinstance(one.text, bytes) else one.text.encode())
    db, report = loaded(path, one.options)
    assert type_names(db) == one.columns, report.notes
    fields = " ".join(f"c{position}: <{name}>" for position, name in enumerate(one.columns))
    nodes = db.query(f"{{ q(func: type(T)) {{ uid {fields} }} }}").to_dict().get("q", [])
    result = [
        tuple(node.get(f"c{position}") for position in range(len(one.columns))) for node in nodes
    ]
    assert result == one.rows, report.notes
    if one.columns:
        assert any(note.startswith(str(path)) for note in report.notes)


@pytest.mark.parametrize("one", [one for one in CASES if one.oracle], ids=lambda one: one.name)
def test_duckdb_reads_the_same_rows(one, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / f"t{one.end}"
    path.write_bytes(one.text if isinstance(one.text, bytes) else one.text.encode())
    rows = duckdb.sql(f"SELECT * FROM read_csv('{path}')").fetchall()
    assert len(rows) == len(one.rows)
    for theirs, ours in zip(rows, one.rows, strict=True):
        for one_value, other in zip(theirs, ours, strict=True):
            if isinstance(other, str) and hasattr(one_value, "year"):
                continue  # a time; its text is compared above
            assert one_value == other


def represents(value, cell):
    """Whether a value is what a cell says."""
    if value is None:
        return cell is None or cell.strip() == ""
    if isinstance(value, bool):
        return cell.strip().lower() == str(value).lower()
    if isinstance(value, int | float):
        return type(value)(cell) == value
    return value in (cell, cell.strip()) or value[:10] == cell.strip().replace("/", "-")[:10]


# Polars has no escapes, no line breaks of `\\r` alone, no blanks around quotes and no comments
# within lines. An empty line is a row there, and a separator after the last cell of a row an error.
POLARS_DIFFERS = {
    "a backslash",
    "a backslash and a separator",
    "a backslash outside quotes",
    "a separator behind each row",
    "blank lines",
    "blank lines of \\r\\n",
    "blanks before quotes",
    "blanks behind quotes",
    "comments behind fields",
    "notes of two cells",
    "quotes within a field",
    "\\r alone",
}


@pytest.mark.parametrize(
    "one",
    [one for one in CASES if one.oracle and one.rows and one.name not in POLARS_DIFFERS],
    ids=lambda one: one.name,
)
def test_polars_reads_the_same_cells(one, tmp_path):
    """The dialect of the file is determined here, since Polars does not look."""
    pl = pytest.importorskip("polars")
    path = tmp_path / f"t{one.end}"
    path.write_bytes(one.text if isinstance(one.text, bytes) else one.text.encode())
    result = hexgraph.sniff(path).arguments
    frame = pl.read_csv(
        path,
        separator=result["separator"],
        has_header=result["header"],
        quote_char=result["quote"] or None,
        comment_prefix=result["comment"] or None,
        skip_lines=result["skip"],
        infer_schema=False,
    )
    assert len(frame) == len(one.rows)
    for theirs, ours in zip(frame.rows(), one.rows, strict=True):
        cells = theirs[: len(ours)]
        assert all(cell is None for cell in theirs[len(ours) :])
        assert all(map(represents, ours, cells)), (ours, cells)


ERRORS = [
    ("a,b\n1,2\n3\n", "t.csv:3:1: this record has 1 field, and the table has 2 columns"),
    ("a,b\n1,2\n3,4,5\n", "t.csv:3:1: this record has 3 fields, and the table has 2 columns"),
    ('a,b\n"1",2\n1,"2\n3,4\n', "t.csv:3:1: a quote opens here that is never closed"),
    ("a,b\n" + "1,2\n" * 9 + "3\n", 'ragged="skip" leaves such records out, ragged="fill"'),
    (b"a,b\n" + b"1,2\n" * 400_000 + b"\xff,2\n", "t.csv:400002:1: byte 0xff is no UTF-8"),
]


@pytest.mark.parametrize(("text", "message"), ERRORS)
def test_what_is_wrong_with_a_file_is_said_with_its_line(text, message, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(LoadError) as failure:
        loaded(path, {})
    assert message in str(failure.value)


def test_lines_without_a_shared_number_of_fields_are_texts_with_a_warning(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("start; a, b\nit, is; one, x\nend\n", encoding="utf-8")
    _, report = loaded(path, {})
    fault = (
        "no separator gives these lines the same number of fields; read as one column of text;"
        ' give separator="," or ";" where they have fields'
    )
    assert (report.nodes, report.warnings) == (3, [f"{path}: {fault}"])
    sniffed = hexgraph.sniff(path)
    assert sniffed.warnings == [fault]
    assert f"warning: {fault}" in str(sniffed)
    with pytest.raises(hexgraph.QueryError, match=r"has no column .id") as hint:
        hexgraph.connect().load_nodes(path, "T", id="id")
    assert 'give separator="," or ";"' in f"{hint.value} {hint.value.hint}"
    with pytest.raises(hexgraph.QueryError) as hint:
        hexgraph.connect().load_edges(path, "knows", "a", "b")
    assert 'give separator="," or ";"' in f"{hint.value} {hint.value.hint}"
    with pytest.raises(LoadError, match=r"log\.csv:\d:1: this record has"):
        loaded(path, {"separator": ","})
    assert loaded(path, {"separator": ""})[1].warnings == []
    path.write_text("Zürich\nGenf\n", encoding="utf-8")
    assert loaded(path, {})[1].warnings == []


def test_most_records_decide_that_a_file_has_fields(tmp_path):
    """Where most records have one number of fields, the others are errors with a remedy."""
    path = tmp_path / "t.csv"
    path.write_text("a;b;c\n" + "1;2;3\n" * 8 + "1;2\n" * 2, encoding="utf-8")
    with pytest.raises(LoadError, match=r"t\.csv:10:1: this record has 2 fields.*ragged=.skip"):
        loaded(path, {})
    path.write_text("a;b;c\n" + "1;2;3\n" * 6 + "1;2\n" * 4, encoding="utf-8")
    assert loaded(path, {})[1].nodes == 11


def test_what_was_recognised_is_reported(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("First Name;n\nann;1\nbob;x\ncid\n", encoding="utf-8")
    _, report = loaded(path, {"ragged": "skip"})
    assert report.notes == [
        'column "First Name" is the predicate First_Name',
        f"{path}: semicolon, header (assumed, as all cells are texts), utf-8, 2 columns",
        'column "n" is a string: the cell "x" on line 3 is unlike those before',
    ]
    assert (report.skipped, report.skipped_lines[0][0]) == (1, 4)
    assert "semicolon" in str(report)


def test_files_of_one_table_have_the_types_of_all(tmp_path):
    for name, text in (("1.csv", "a,b\n1,x\n"), ("2.csv", "a,b\n2.5,y\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    db, _ = loaded(str(tmp_path / "*.csv"), {})
    assert type_names(db) == {"a": FLOAT, "b": TEXT}
    values = db.query("{ q(func: has(a), orderasc: a) { a } }").to_dict()["q"]
    assert values == [{"a": 1.0}, {"a": 2.5}]


@pytest.mark.parametrize("one", CASES, ids=lambda one: one.name)
def test_what_sniff_returns_reads_the_file_alike(one, tmp_path):
    path = tmp_path / f"t{one.end}"
    path.write_bytes(one.text if isinstance(one.text, bytes) else one.text.encode())
    sniffed = hexgraph.sniff(path, rows=3, **one.options)
    if sniffed.is_whole:
        types = {predicate: kind for _, predicate, kind in sniffed.columns if predicate}
        assert types == one.columns
    db, report = loaded(path, {**one.options, **sniffed.arguments})
    assert type_names(db) == one.columns
    fields = " ".join(f"c{position}: <{name}>" for position, name in enumerate(one.columns))
    nodes = db.query(f"{{ q(func: type(T)) {{ uid {fields} }} }}").to_dict().get("q", [])
    result = [
        tuple(node.get(f"c{position}") for position in range(len(one.columns))) for node in nodes
    ]
    assert result == one.rows, report.notes
    assert len(sniffed.rows) == min(3, len(one.rows))


SNIFFED = """\
{path}: semicolon, quote ', comments behind #, header, utf-8, 3 columns

separator    ;
quote        '
header       true
encoding     utf-8
comment      #
skip         0
null_values  ["-9"]

column      predicate   type
Code        Code        string
Mean Temp   Mean_Temp   float
since       since       datetime

Code   Mean Temp  since
ZRH         11.5  1881-01-01T00:00:00
G;VA

"""


def test_sniff_shows_how_a_file_is_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("# May\nCode;Mean Temp;since\nZRH;11.5;1881-01-01\n'G;VA';-9;-9\n")
    sniffed = hexgraph.sniff(path, null_values=["-9"])
    lines = [line.rstrip() for line in str(sniffed).splitlines()]
    expected = SNIFFED.format(path=path).splitlines()
    assert [line.split() for line in lines[:-1]] == [line.split() for line in expected]
    types = "types={'Code': 'string', 'Mean Temp': 'float', 'since': 'datetime'}"
    assert lines[-1] == (
        f"load_nodes('{path}', separator=';', quote=\"'\", header=True, encoding='utf-8',"
        f" comment='#', skip=0, null_values=['-9'], {types})"
    )
    assert sniffed.rows.rows()[1][0] == "G;VA"


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("end", ["csv", "json", "parquet", "arrow"])
def test_a_file_without_an_extension_is_recognised_by_its_content(end, is_packed, tmp_path):
    table = polars.DataFrame({"name": ["Ada", "Bo"], "age": [36, 41]})
    plain = tmp_path / f"people.{end}"
    write = {"csv": "csv", "json": "ndjson", "parquet": "parquet", "arrow": "ipc"}[end]
    getattr(table, f"write_{write}")(plain)
    content = plain.read_bytes()
    if is_packed and end in ("parquet", "arrow"):
        pytest.skip("such a file compresses its own columns")
    path = tmp_path / ("people.gz" if is_packed else "people")
    path.write_bytes(gzip.compress(content) if is_packed else content)
    db = hexgraph.connect()
    assert db.load_nodes(path, "Person", id="name").nodes == 2
    rows = db.query("{ q(func: type(Person), orderasc: age) { name age } }")
    assert rows.to_dict()["q"] == table.to_dicts()


@pytest.mark.parametrize("content", [b"\x7fELF\0\0", b"a,b\0\n1,2\n"])
def test_bytes_without_a_format_are_no_table(content, tmp_path):
    path = tmp_path / "program"
    path.write_bytes(content)
    with pytest.raises(hexgraph.QueryError, match="a table is read from"):
        hexgraph.connect().load_nodes(path, "T", id=None)


def test_sniff_shows_the_beginning_of_a_long_name(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"{'x' * 100_000},b\n1,2\n")
    sniffed = hexgraph.sniff(path)
    assert sniffed.columns[0][0] == "x" * 100_000
    assert "xxx… " in str(sniffed)
    assert max(map(len, sniffed.text.splitlines())) < 300


def test_sniff_of_a_long_file_says_that_types_may_widen(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,\n" * 200_000)
    sniffed = hexgraph.sniff(path, rows=1)
    assert (sniffed.is_whole, "types" in sniffed.arguments) == (False, False)
    assert sniffed.columns == [("a", "a", "int"), ("b", "", "no value so far")]
    assert "The types are those of the first cells" in str(sniffed)


def test_sniff_looks_at_one_file(tmp_path):
    for name in ("1.csv", "2.csv"):
        (tmp_path / name).write_text("a,b\n1,x\n")
    with pytest.raises(hexgraph.QueryError, match="these are 2 files"):
        hexgraph.sniff(tmp_path)
    with pytest.raises(TypeError, match=r"sniff\(\).*separator"):
        hexgraph.sniff(tmp_path / "1.csv", sep=";")


def test_columns_of_a_file_without_header_are_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("ann,rome\nbob,oslo\n")
    db, _ = loaded(path, {"columns": ["name", "city"]})
    rows = [("ann", "rome"), ("bob", "oslo")]
    assert db.query("{ q(func: type(T)) { name city } }").rows() == rows
    assert hexgraph.sniff(path, columns=("name", "city")).rows.rows() == rows
    path.write_text("x,n\nann,1\nbob,2\n")
    db, _ = loaded(path, {"columns": ["name", "born"]})
    assert db.query("{ q(func: type(T)) { name born } }").rows() == [("ann", 1), ("bob", 2)]
    path.write_text("")
    assert loaded(path, {"columns": ["name", "born"]})[1].nodes == 0
    arrays = tmp_path / "t.json"
    arrays.write_text('[["ann", "rome"], ["bob", "oslo"]]')
    db, _ = loaded(arrays, {"columns": ["name", "city"]})
    assert db.query("{ q(func: type(T)) { name city } }").rows() == rows


@pytest.mark.parametrize(
    ("columns", "kind", "message"),
    [
        (["a"], hexgraph.QueryError, "`columns` has 1 name, and the table has 2 columns"),
        (["a", "b", "c"], hexgraph.QueryError, "`columns` has 3 names, and the table has 2"),
        ("ab", TypeError, "a list that names the columns of a file without a header"),
        ([1, 2], TypeError, "a list that names the columns of a file without a header"),
    ],
)
def test_names_of_columns_that_are_no_such_are_refused(columns, kind, message, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("ann,rome\nbob,oslo\n")
    with pytest.raises(kind, match=message):
        loaded(path, {"columns": columns})


def test_columns_that_have_names_are_not_named(tmp_path):
    with pytest.raises(hexgraph.QueryError, match="has names for its columns"):
        loaded([{"a": 1}], {"columns": ["b"]})
    (tmp_path / "t.json").write_text('{"a": 1}')
    with pytest.raises(hexgraph.QueryError, match="has names for its columns"):
        loaded(tmp_path / "t.json", {"columns": ["b"]})


def test_columns_of_edges_can_be_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("1,2,7\n2,3,8\n")
    db = hexgraph.connect()
    report = db.load_edges(path, "knows", uid=True, columns=["from", "to", "w"], facets="w")
    assert report.triples == 2
    result = db.query("{ q(func: uid(1)) { knows @facets { uid } } }").to_dict()["q"]
    assert result == [{"knows": [{"uid": "0x2", "knows|w": 7}]}]
    with pytest.raises(hexgraph.QueryError, match="`columns` has 2 names, and the table has 3"):
        db.load_edges(path, "knows", uid=True, columns=["a", "b"])
    with pytest.raises(TypeError, match="a list that names the columns of a file"):
        db.load_edges(path, "knows", uid=True, columns="ab")
    with pytest.raises(TypeError, match="facets= say what columns are"):
        db.load_edges(path, "knows", uid=True, columns={"a": "b"})
    with pytest.raises(hexgraph.QueryError, match="has names for its columns"):
        db.load_edges([{"a": 1, "b": 2}], "knows", uid=True, columns=["b", "c"])


@pytest.mark.parametrize("end", ["csv", "jsonl"])
def test_a_file_without_rows_is_left_out_where_others_have_some(end, tmp_path):
    text = "id,a\n1,2\n" if end == "csv" else '{"id": 1, "a": 2}\n'
    (tmp_path / f"1.{end}").write_text(text)
    (tmp_path / f"2.{end}").write_text("")
    db = hexgraph.connect()
    report = db.load_nodes(tmp_path, "T", id="id", types={"a": "int"})
    assert report.nodes == 1
    assert f"{tmp_path}/2.{end}: there is no row in it" in report.notes
    with pytest.raises(hexgraph.QueryError, match="it has no columns"):
        db.load_nodes(tmp_path / f"2.{end}", "T", id="id")


@pytest.mark.parametrize("names", ["keep", "error"])
def test_names_that_can_be_none_are_refused_on_request(names, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("First Name,n\nann,1\n", encoding="utf-8")
    with pytest.raises(hexgraph.Error, match="First Name"):
        loaded(path, {"names": names})
