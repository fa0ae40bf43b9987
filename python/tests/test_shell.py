"""`hexgraph shell`, at a terminal (a pty) and in pipes.

`HEXGRAPH_PROGRAM` names a program that is run instead of `python -m hexgraph`.
"""

import json
import os
import re
import stat
import subprocess
import sys

import pytest

import hexgraph

pexpect = pytest.importorskip("pexpect")

PROGRAM = os.environ.get("HEXGRAPH_PROGRAM")
COMMAND = [PROGRAM] if PROGRAM else [sys.executable, "-m", "hexgraph"]

# What the editor writes when it has read a line, or dropped one.
PASTE_OFF = "\x1b[?2004l"
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
COLUMNS = 80
LINES = 24

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")


def run(*arguments, text=None, **options):
    command = [*COMMAND, "shell", *map(str, arguments)]
    return subprocess.run(
        command, input=text, capture_output=True, text=True, check=False, timeout=120, **options
    )


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    path = tmp_path_factory.mktemp("shell") / "films"
    with hexgraph.connect(path) as db:
        db.alter(
            "name: string @index(exact, term) .\nyear: int .\npin: password ."
            "\ntype Film {\n name\n year\n}"
        )
        rows = [
            f'_:f{n} <dgraph.type> "Film" .\n'
            f'_:f{n} <name> "Film {n:03}" .\n_:f{n} <year> "{1900 + n}" .'
            for n in range(100)
        ]
        db.mutate(set="\n".join(rows))
    return path


class Terminal:
    """A shell in a terminal of 80 columns and 24 lines."""

    def __init__(self, folder, *arguments, **variables):
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("PAGER", "NO_COLOR", "HEXGRAPH_HISTORY")
        }
        environment |= {"TERM": "xterm", "XDG_STATE_HOME": str(folder), **variables}
        self.child = pexpect.spawn(
            COMMAND[0],
            [*COMMAND[1:], "shell", *map(str, arguments)],
            env=environment,
            dimensions=(LINES, COLUMNS),
            encoding="utf-8",
            timeout=60,
        )
        self.child.delaybeforesend = None

    def __enter__(self):
        self.until("Ctrl-D quits")
        return self

    def __exit__(self, *error):
        self.child.close(force=True)

    def type(self, text):
        self.child.send(text)
        return self

    def run(self, text):
        return self.type(text + "\r")

    def until(self, text):
        """Return what is printed up to a text, without colours."""
        self.child.expect_exact(text)
        return ESCAPES.sub("", self.child.before)

    def end(self):
        # A terminal drops a Ctrl-D of the moment before the shell reads keys again: it is typed
        # until it is read.
        for _ in range(30):
            self.child.sendeof()
            if self.child.expect([pexpect.EOF, pexpect.TIMEOUT], timeout=2) == 0:
                break
        self.child.wait()
        assert self.child.exitstatus == 0


def test_names_are_completed(films, tmp_path):
    with Terminal(tmp_path, films) as shell:
        shell.type("{ q(func: type(Fi\t), first: 2) { na\t ye\t } }\r")
        printed = shell.until("2 rows")
        assert re.findall(r"Film 00\d  190\d", printed) == ["Film 000  1900", "Film 001  1901"]
        shell.type("\\des\t\r")
        assert "string @index(exact, term)" in shell.until("predicates") + shell.until("rows")
        # The arguments of a function are a hint, which is no part of the text.
        shell.type("{ q(func: eq(")
        shell.until('name, "Ada")')
        shell.type("\x03").until("\r\n")
        shell.until("films> ")
        shell.run("\\timing on").until("timing is on")
        shell.run('{ q(func: eq(name, "Film 007"))').type("{ year } }\r")
        assert "1907" in shell.until("time: ")
        shell.end()


def test_long_tables_are_shortened_or_shown_in_pages(films, tmp_path):
    query = "{ q(func: type(Film)) { name year } }"
    with Terminal(tmp_path, films) as shell:
        shell.run("\\pager off").until("pager is off")
        printed = shell.run(query).until("100 rows (40 shown)")
        assert "Film 019" in printed
        assert "Film 020" not in printed
        assert "…" in printed
        assert "Film 080" in printed
        shell.run("\\pager on").until("pager is on")
        printed = shell.run("\\rows all").run(query).until("23 of 103 lines")
        assert "Film 020" in printed
        assert "Film 021" not in printed
        printed = shell.type(" ").until("46 of 103 lines")
        assert "Film 021" in printed
        assert "Film 044" not in printed
        assert "Film 044" not in shell.type("q").until("films> ")
        shell.run("\\timing on").until("timing is on")
    with Terminal(tmp_path, films, PAGER="head -n 3 && echo paged by") as shell:
        printed = shell.run("\\rows all").run(query).until("paged by\r\n")
        assert "Film 000" in printed
        assert "Film 001" not in printed


def test_wide_tables_fit_the_terminal(tmp_path):
    with Terminal(tmp_path) as shell:
        wide = json.dumps({f"p{n:02}": "東京" * 9 for n in range(20)}, ensure_ascii=False)
        shell.run(wide).until('{"uids"')
        names = " ".join(f"p{n:02}" for n in range(20))
        printed = shell.run(f"{{ q(func: has(p00)) {{ {names} }} }}").until("\\format json")
        assert "1 row, 20 columns (5 shown), 5 cells cut" in printed
        table = printed.rpartition("} }\r\n")[2].splitlines()
        widths = [sum(2 if ord(letter) > 0x2E80 else 1 for letter in line) for line in table[-4:-1]]
        assert max(widths) <= COLUMNS
        assert "東京東" in table[-2]


def test_an_interrupt_stops_the_query_and_not_the_shell(tmp_path):
    numpy = pytest.importorskip("numpy")
    path = tmp_path / "graph"
    with hexgraph.connect(path) as db:
        random = numpy.random.default_rng(1)
        table = {name: random.integers(1, 50_000, 250_000) for name in ("source", "target")}
        db.load_edges(table, "edge", uid=True)
    with Terminal(tmp_path, path) as shell:
        shell.run("{ betweenness() { edge } }").until("running … 1 s")
        shell.type("\x03")
        shell.until("error: the request was interrupted")
        shell.until("graph> ")
        assert "249" in shell.run("{ q() { n: math(249) } }").until("1 row")
        # An interrupt while somebody types drops the line, and one in vain stops nothing.
        # What is read in one go with it is dropped, too: the test waits for the echo.
        shell.until("graph> ")
        shell.type("{ q(").until("{ q(")
        shell.type("\x03").until(PASTE_OFF)
        shell.until("graph> ")
        assert "7" in shell.run("{ q() { n: math(7) } }").until("1 row")
        shell.end()


def test_the_history_is_there_after_a_restart(films, tmp_path):
    queries = [
        '{ q(func: eq(name, "Film 001")) { year } }',
        '{ q(func: eq(name,\r"Film 002")) { year } }',
    ]
    with Terminal(tmp_path, films) as shell:
        shell.run(queries[0]).until("1 row")
        shell.run(queries[1]).until("1 row")
        shell.run('{ set { _:a <pin> "hunter2" . } }').until('"uids"')
        shell.run('{ q(func: has(pin)) { checkpwd(pin, "hunter2") } }').until("1 row")
        # As one that is killed does.
    file = tmp_path / "hexgraph" / "history"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    written = file.read_text()
    assert "Film 001" in written
    assert "hunter2" not in written
    with Terminal(tmp_path, films) as shell:
        assert "1902" in shell.type("\x1b[A\r").until("1 row")
        # The last statement has two lines, through which the cursor goes.
        assert "1901" in shell.type("\x1b[A" * 3 + "\r").until("1 row")
        shell.run("\\history").until(str(file)[-40:])
        shell.end()
    with Terminal(tmp_path / "other", films, HEXGRAPH_HISTORY="") as shell:
        shell.run(queries[0]).until("1 row")
    assert not (tmp_path / "other").exists()


def test_colours_are_left_out_where_the_environment_says_so(films, tmp_path):
    coloured = re.compile(r"\x1b\[[0-9;]*3[0-9]m")
    for variables, expected in (({}, True), ({"NO_COLOR": "1"}, False)):
        with Terminal(tmp_path, films, **variables) as shell:
            shell.run("{ q(func: type(Film), first: 1) { name } }")
            shell.child.expect_exact("1 row")
            assert bool(coloured.search(shell.child.before)) == expected


def test_errors_mark_the_position(tmp_path):
    with Terminal(tmp_path) as shell:
        shell.run('{ q(func: eq(name "x")) { name } }').until("error: line 1 column")
        printed = shell.until("^\r\n")
        assert printed.splitlines()[-2].strip() == '{ q(func: eq(name "x")) { name } }'
        assert printed.splitlines()[-1].strip() == ""
        shell.run("\\shema").until("did you mean `schema`?")
        shell.run(".tables").until("commands begin with `\\`")
        shell.run("exit")
        shell.child.expect(pexpect.EOF)


def test_settings_and_files(tmp_path):
    (tmp_path / "more.rdf").write_text('_:x <name> "Loaded" .\n')
    with Terminal(tmp_path) as shell:
        shell.run("\\alter name: string @index(exact) .").until("added name")
        shell.run(f"\\load '{tmp_path / 'more.rdf'}'").until("1 triples")
        shell.run("\\format markdown").run("{ q(func: has(name)) { name } }").until("| Loaded |")
        shell.run(f"\\export {tmp_path / 'a.csv'}").until("the last result")
        shell.run(f"\\export {tmp_path / 'a.rdf'}").until("all data, 1 triples")
        shell.run(f"\\export {tmp_path / 'a.xyz'}").until("the name says no format")
        shell.run("\\use 7").until("error: ")
        shell.run("\\explain").until("expected")
        shell.run("\\profile").until("parsing")
        shell.run("\\graphql").until("graphql> ")
        shell.run("{ __typename }").until("error")
        shell.run("\\dql").run("\\q")
        shell.child.expect(pexpect.EOF)
    assert (tmp_path / "a.csv").read_text() == "name\nLoaded\n"
    assert "Loaded" in (tmp_path / "a.rdf").read_text()


def test_a_pipe(films):
    query = "{ q(func: type(Film), first: 2) {\n  name\n  year\n} }\n"
    done = run(films, "--format", "csv", text=f"# two\n\n{query}\\timing off\n{query}")
    rows = "name,year\nFilm 000,1900\nFilm 001,1901\n"
    assert (done.returncode, done.stdout) == (0, f"{rows}timing is off\n{rows}"), done.stderr
    text = f"{query}{{ q(func: nothing) }}\n{query}"
    done = run(films, "--format", "csv", text=text)
    assert (done.returncode, done.stdout) == (1, rows)
    assert "in the statement that begins on line 5:\nerror: line 1 column" in done.stderr
    assert "^" in done.stderr
    done = run(films, "--format", "csv", "--continue", text=text)
    assert (done.returncode, done.stdout) == (1, rows + rows)
    assert done.stderr.endswith("error: a statement failed\n")
    # N-Quads that follow each other are one statement, with one `_:a`.
    quads = '_:a <name> "A" .\n_:a <year> "1" .\n{ q(func: eq(name, "A")) { name year } }'
    done = run(text="\\alter name: string @index(exact) .\n" + quads)
    assert done.stdout.splitlines()[-2:] == ["name  year", "A     1"], done


def test_cypher(films, tmp_path):
    query = "MATCH (f:Film) WHERE f.year < 1902\nRETURN f.name, f.year // two;\nORDER BY f.year;\n"
    rows = "f.name,f.year\nFilm 000,1900\nFilm 001,1901\n"
    dql = "{ q(func: type(Film), first: 1) { name } }\n"
    done = run(films, "--format", "csv", text=f"{query}return 1 AS one\n\n{dql}")
    assert (done.returncode, done.stdout) == (0, rows + "one\n1\nname\nFilm 000\n"), done.stderr
    done = run(films, "-c", "MATCH (f:Film)\nRETURN g")
    assert done.returncode == 1
    assert "error: line 2 column 8" in done.stderr
    done = run(
        films, text="\\profile MATCH (f:Film)\nRETURN f.name;\nRETURN 1 AS one;\n\\profile\n"
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["operator", "detail", "expected", "actual", "ms"]
    assert (lines[1][0], lines[3][0], lines[3][3]) == ("TypeScan", "Project", lines[1][3])
    assert lines[4:6] == [["one"], ["1"]]
    assert (lines[6], lines[7][:3]) == (lines[0], ["Project", "1", "AS"])
    for text in ("\\explain MATCH (n) RETURN n", "\\profile EXPLAIN MATCH (n) RETURN n"):
        done = run(films, "-c", text)
        assert done.stdout.split()[:4] == ["operator", "detail", "expected", "HasScan"]
    done = run(films, "-c", "\\explain MATCH (f:Film) RETURN g")
    assert (done.returncode, "`g`" in done.stderr) == (1, True)
    file = tmp_path / "a.csv"
    done = run(films, "-c", "\\format json", "-c", query, "-c", f"\\export {file}")
    assert json.loads(done.stdout.splitlines()[0])["rows"] == [
        ["Film 000", 1900],
        ["Film 001", 1901],
    ]
    assert file.read_text().replace("\r\n", "\n") == rows
    with Terminal(tmp_path, films) as shell:
        shell.type("MATCH (f:Fi\t)\r").type("WHERE f.year = 1907 RETURN f.na\t;\r")
        assert "Film 007" in shell.until("1 row")
        shell.run("RETURN 7 AS seven\r")
        assert "seven" in shell.until("1 row")
        shell.end()


def test_statements_in_arguments(films, tmp_path):
    done = run(films, "-c", "\\format json", "-c", "{ q(func: type(Film), first: 1) { name } }")
    assert json.loads(done.stdout) == {"q": [{"name": "Film 000"}]}
    done = run(films, "--read-only", "-c", '{ set { _:a <name> "x" . } }')
    assert done.returncode == 1
    assert "read" in done.stderr
    done = run(films, "-c", "\\schema")
    assert "name: string @index(exact, term)" in done.stdout
    done = run(tmp_path / "new", "-c", "\\schema")
    assert (done.returncode, done.stdout) == (1, "")
    assert "--create makes one" in done.stderr
    assert not (tmp_path / "new").exists()
    assert run(tmp_path / "new", "--create", "-c", '{ set { _:a <name> "x" . } }').returncode == 0
    assert "x" in run(tmp_path / "new", "-c", "{ q(func: has(name)) { name } }").stdout
    for url in ("http://127.0.0.1:8080", "https://x", "dgraph://127.0.0.1:9080"):
        done = run(url, "-c", "\\schema")
        assert done.returncode == 1
        assert "is a server, and the shell opens a database by its directory" in done.stderr
