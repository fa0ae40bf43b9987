"""Runs the code in the pages of the documentation, and compares its results with the pages.

A page is one program. Its blocks of code are run in their order, over one set of names:

- ```` ```python ````: statements. The value of an expression, and what is printed, is in comments
  behind it or below. White space is not compared, and `…` matches anything.
- ```` ```dql ````: a query of `db`, which is the sample of films unless the page made one. Behind
  it stands a block ```` ```json ```` with the answer, or one ```` ```text ```` with the class and
  the message of an error, or a Markdown table of the rows of its only block.
- ```` ```cypher ````: with a Markdown table of the rows behind it, a query of `db`; else only text.

`HEXGRAPH_UPDATE_DOCS=1 pytest -k page` writes the answers as they are now; read the diff.
"""

import ast
import json
import re
from contextlib import redirect_stdout
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import hexgraph
from hexgraph.cypher import CypherResult

ROOT = Path(__file__).parents[2]
WIDTH = 108
"""Columns of an answer, before it is broken into lines."""

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
TABLE = re.compile(r"\n\n((?:\|.*\n)+)")
ANSWERS = ("json", "text")
QUERIES = ("dql", "cypher")


class Block(NamedTuple):
    """A block of code, or the answer after one, and the position of its text in the page."""

    kind: str
    text: str
    start: int
    end: int


class Answer(NamedTuple):
    """What a statement or query gave, in the form in which the page has it."""

    expected: Block
    given: str
    code: str


def blocks_of(text: str) -> list[Block]:
    """Return the blocks of a page, and the tables that stand directly behind queries."""
    result = []
    for match in FENCE.finditer(text):
        kind, body = match.groups()
        result.append(Block(kind, body, match.start(2), match.end(2)))
        table = TABLE.match(text, match.end()) if kind in QUERIES else None
        if table:
            result.append(Block("table", table[1], table.start(1), table.end(1)))
    return result


def films() -> hexgraph.Database:
    """Return the sample of films, in memory."""
    sample = files("hexgraph") / "sample"
    db = hexgraph.connect()
    schema = (sample / "films.schema").read_text(encoding="utf-8")
    db.load((sample / "films.rdf").read_bytes(), schema=schema, progress=False)
    return db


def run_page(path: Path, update: bool = False) -> dict[str, Any]:
    """Run the blocks of a page, and return its names.

    With `update`, the answers are written into the page.
    """
    text = path.read_text(encoding="utf-8")
    blocks = blocks_of(text)
    assert blocks, f"{path} has no block of code"
    names: dict[str, Any] = {"db": films()} if "```dql\n" in text else {}
    answers = []
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        if block.kind == "python":
            report = run_python(block.text, names, update)
            answers.append(Answer(block, report, block.text))
        elif block.kind == "dql":
            is_answer = following is not None and following.kind in ("table", *ANSWERS)
            assert is_answer, f"{path}: there is no answer behind\n{block.text}"
            report = answer_to(names["db"], block.text, following)
            answers.append(Answer(following, report, block.text))
        elif block.kind == "cypher" and following is not None and following.kind == "table":
            answers.append(Answer(following, table(names["db"].cypher(block.text)), block.text))
    if update:
        for expected, report, _ in reversed(answers):
            text = text[: expected.start] + report + text[expected.end :]
        path.write_text(text, encoding="utf-8")
    for expected, report, code in answers:
        assert update or is_same(expected, report), f"{path}: {code}\ngives\n\n{report}"
    return names


def is_same(expected: Block, report: str) -> bool:
    """Whether an answer is the one of the page; JSON may have any line breaks."""
    if expected.kind == "json":
        return json.dumps(json.loads(expected.text)) == json.dumps(json.loads(report))
    return expected.text == report


def answer_to(db: hexgraph.Database, dql: str, expected: Block) -> str:
    """Return the answer to a query in the form of the block after it."""
    if expected.kind == "text":
        try:
            db.query(dql)
        except hexgraph.Error as error:
            return f"{type(error).__name__}: {error}\n"
        return "no error\n"
    result = db.query(dql)
    assert not result.warnings, f"{dql}\n{result.warnings}"
    return table(result) if expected.kind == "table" else pretty(result.to_dict()) + "\n"


def pretty(value: Any, indent: str = "", prefix: int = 0) -> str:
    """Return JSON with an object a line, where that fits after `prefix` characters."""
    short = json.dumps(value, ensure_ascii=False)
    if not value or not isinstance(value, dict | list):
        return short
    is_top = isinstance(value, dict) and not indent
    if len(indent) + prefix + len(short) <= WIDTH and not is_top:
        return short
    inner = indent + "  "
    if isinstance(value, list):
        items = [pretty(item, inner) for item in value]
        return "[\n" + ",\n".join(inner + item for item in items) + f"\n{indent}]"
    named = [(json.dumps(key, ensure_ascii=False) + ": ", item) for key, item in value.items()]
    items = [key + pretty(item, inner, len(key)) for key, item in named]
    return "{\n" + ",\n".join(inner + item for item in items) + f"\n{indent}}}"


def table(result: hexgraph.Result | CypherResult) -> str:
    """Return the rows of the only block as a table of Markdown."""
    columns = result.columns()
    lines = [columns, ["---"] * len(columns), *([cell(v) for v in row] for row in result.rows())]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def cell(value: Any) -> str:
    """Return a value in a table: midnights are days, what is nested is JSON."""
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    if isinstance(value, dict | list):
        return f"`{json.dumps(value, ensure_ascii=False)}`"
    return str(value).removesuffix("T00:00:00Z").replace("|", "\\|")


def run_python(block: str, names: dict[str, Any], update: bool) -> str:
    """Run the statements of a block; return it, with `update` with the answers as they are."""
    lines = block.splitlines()
    edits = []
    for statement in ast.parse(block).body:
        code = source_of(block, statement)
        report, first, last = comments_of(lines, statement)
        with redirect_stdout(StringIO()) as out:
            if isinstance(statement, ast.Expr):
                value = eval(code, names)
                given = answer_of(code, value, out.getvalue())
            else:
                exec(code, names)
                given = out.getvalue().splitlines() or None
                report = printed_of(block, statement) or report if given else None
        # The report of a change of the schema is in no answer.
        is_report = isinstance(statement, ast.Expr) and (
            "graphql_schema" in code or isinstance(value, hexgraph.SchemaReport)
        )
        is_right = report is not None and agree(report, given or [])
        if update and given is not None and not (is_report or is_right):
            assert isinstance(statement, ast.Expr), f"{code}\nprints {given}"
            edits.append((statement, first, last, given))
            continue
        assert given is None or report is not None or is_report, f"no answer: {code}"
        if report is not None:
            assert is_right, f"{code}\ngives {given}"
    for statement, first, last, given in reversed(edits):
        lines[first:last] = with_answer(lines, statement, given)
    return "\n".join(lines) + "\n"


def answer_of(code: str, value: Any, printed: str) -> list[str] | None:
    """Return the lines that stand behind an expression: its value, or what it printed."""
    if printed:
        return printed.splitlines()
    if value is None:
        return None
    short = repr(value)
    is_long = len(code) + len(short) > WIDTH and isinstance(value, list) and len(value) > 1
    if not is_long:
        return short.splitlines()
    items = [repr(item) for item in value]
    return [
        ("[" if at == 0 else " ") + item + ("]" if at == len(items) - 1 else ",")
        for at, item in enumerate(items)
    ]


def with_answer(lines: list[str], statement: ast.stmt, given: list[str]) -> list[str]:
    """Return the last line of a statement and the comments that have its answer."""
    end = code_end(lines, statement)
    if len(given) == 1 and len(end) + len(given[0]) <= WIDTH:
        return [f"{end}   # {given[0]}"]
    return [end, *(f"# {line}".rstrip() for line in given)]


def agree(report: list[str], given: list[str]) -> bool:
    """Whether the lines of a page show the result."""
    parts = (re.escape(part) for part in squeezed(report).split("…"))
    return re.fullmatch(".*".join(parts), squeezed(given)) is not None


def squeezed(lines: list[str]) -> str:
    """Return the lines without white space."""
    return "".join("".join(lines).split())


def source_of(block: str, statement: ast.stmt) -> str:
    """Return the text of a statement, its decorators too."""
    decorators = getattr(statement, "decorator_list", [])
    if not decorators:
        return ast.get_source_segment(block, statement) or ""
    return "\n".join(block.splitlines()[decorators[0].lineno - 1 : statement.end_lineno])


def code_end(lines: list[str], statement: ast.stmt) -> str:
    """Return the last line of a statement, without what stands behind it."""
    return lines[statement.end_lineno - 1].encode()[: statement.end_col_offset].decode()


def comments_of(lines: list[str], statement: ast.stmt) -> tuple[list[str] | None, int, int]:
    """Return the comments behind or below a statement, and its first and last line."""
    first = statement.end_lineno - 1
    behind = lines[first].encode()[statement.end_col_offset :].decode().strip()
    last = first + 1
    if behind.startswith("# "):
        return [behind.removeprefix("# ")], first, last
    while last < len(lines) and (lines[last] == "#" or lines[last].startswith("# ")):
        last += 1
    below = [line.removeprefix("#").removeprefix(" ") for line in lines[first + 1 : last]]
    return below or None, first, last


def printed_of(block: str, statement: ast.stmt) -> list[str]:
    """Return the comments behind calls of `print` within a statement."""
    lines = block.splitlines()[statement.lineno - 1 : statement.end_lineno]
    return re.findall(r"print\(.*\)\s+# (.*)$", "\n".join(lines), re.MULTILINE)
