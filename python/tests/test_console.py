"""The console and GraphiQL in a browser: what somebody does there, and what the page may not do."""

import json
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

import hexgraph
from hexgraph import datasets

pytest.importorskip("websockets")
import browser

WIDGET = Path(__file__).parents[2] / "widget"
AXE = WIDGET / "node_modules" / "axe-core" / "axe.min.js"
ALT, CTRL, SHIFT = 1, 2, 8
ENTER = 13
WIDE, NARROW = (1280, 800), (390, 844)

FILMS = """{
  films(func: type(Film), first: 60) {
    name
    runtime
    starring (first: 2) { name }
  }
}"""

pytestmark = pytest.mark.skipif(browser.CHROMIUM is None, reason="there is no Chromium")


@pytest.fixture(scope="module")
def films():
    db = datasets.films()
    db.graphql_schema("type Note { id: ID! text: String! @search(by: [exact]) }")
    db.create_namespace()
    with db.serve(port=0) as server:
        yield server


@pytest.fixture
def page(films):
    with console(films.url) as opened:
        yield opened


def console(url, size=WIDE, path="/"):
    """Open the console of a server, and note all requests of the page."""
    return Opened(url, size, path)


class Opened:
    """A page that has to stay within its server, and without faults."""

    def __init__(self, url, size, path) -> None:
        self.url = url
        self.path = path
        self.context = browser.opened("about:blank", size)

    def __enter__(self):
        self.page = self.context.__enter__()
        self.page.call("Network.enable")
        self.page.call("Page.navigate", url=f"{self.url}{self.path}")
        self.page.wait("!!document.querySelector('.cm-content')")
        return self.page

    def __exit__(self, *fault):
        try:
            if fault[0] is None:
                self.page.value("1")
                others = [
                    it
                    for it in self.page.requests
                    if not it.startswith((self.url, "data:", "about:", "blob:"))
                ]
                assert others == []
                assert self.page.requests
                assert self.page.faults == []
        finally:
            self.context.__exit__(*fault)


def run_query(page, text):
    """Write a text into the editor, and run it by the keyboard."""
    page.press(".cm-content")
    page.key("a", 65, CTRL)
    page.key("Delete", 46)
    page.write(text)
    page.key("Enter", ENTER, CTRL)
    page.wait("document.querySelector('button.main').innerText === 'Run'")


def text_of(page, selector):
    return page.wait(f"document.querySelector({json.dumps(selector)})?.innerText")


def cells(page, number=1):
    """Return the texts of a column, once there are rows."""
    page.wait("!!document.querySelector('.result tbody tr')")
    return page.value(
        f"[...document.querySelectorAll('.result tbody td:nth-child({number})')]"
        ".map((it) => it.innerText)"
    )


def test_a_query_is_a_table_with_pages(page):
    run_query(page, FILMS)
    first = cells(page)
    assert len(first) == 50
    names = page.value("[...document.querySelectorAll('.result th')].map((it) => it.innerText)")
    # The console has the server add uids, which no query here has.
    assert sorted(names) == ["name", "runtime", "starring"]
    # The next rows of the answer, then the next page of the server: behind the last node.
    press(page, "Next page")
    page.wait("document.querySelectorAll('.result tbody tr').length === 10")
    press(page, "Next page")
    page.wait("document.querySelector('.cm-content').innerText.includes('after: 0x')")
    page.wait("document.querySelectorAll('.result tbody tr').length === 50")
    assert set(cells(page)).isdisjoint(first)
    # Sorted by numbers, and back by the other direction.
    names = page.value("[...document.querySelectorAll('.result th')].map((it) => it.innerText)")
    number = names.index("runtime") + 1
    page.press(f".result th:nth-child({number}) button")
    up = [int(it) for it in cells(page, number) if it]
    assert up == sorted(up)
    page.press(f".result th:nth-child({number}) button")
    down = [int(it) for it in cells(page, number) if it]
    assert down == sorted(down, reverse=True)
    page.value("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    press(page, "Copy CSV")
    lines = page.wait("window.copied").split("\r\n")
    assert lines[0] == ",".join(names)
    assert len(lines) == 62


def press(page, words):
    """Press the button with a text."""
    page.value(
        "[...document.querySelectorAll('button')]"
        f".find((it) => it.innerText === {json.dumps(words)}).click()"
    )


def test_integers_stay_exact():
    db = hexgraph.connect()
    db.mutate(set_json=[{"uid": "0x1", "big": 9007199254740993}])
    with db.serve(port=0) as server, console(server.url) as page:
        run_query(page, "{ q(func: has(big)) { big } }")
        assert cells(page) == ["9007199254740993"]
        page.press("#pane-JSON")
        assert "9007199254740993" in text_of(page, "pre.json")


def test_a_graph_is_rendered_and_expanded(page):
    run_query(page, FILMS)
    page.press("#pane-Graph")
    count = int(page.wait("document.querySelector('[data-nodes]')?.dataset.nodes"))
    assert count >= 50
    assert "Film 60" in text_of(page, ".hexgraph-legend")
    # A node is selected by the search, and expanded by the keyboard.
    page.press(".hexgraph-bar input")
    page.write("a")
    page.key("Enter", ENTER)
    page.value("document.querySelector('.hexgraph-view').focus()")
    page.key("Enter", ENTER)
    page.wait("/more at|no others at/.test(document.querySelector('.hexgraph-told').innerText)")
    report = text_of(page, ".hexgraph-told")
    if "more at" in report:
        page.wait(f"Number(document.querySelector('[data-nodes]').dataset.nodes) > {count}")


def test_faults_are_underlined_where_they_are(page):
    run_query(page, '{\n  q(func: eqq(name, "x")) { name }\n}')
    assert text_of(page, ".cm-lintRange-error") == "eqq"
    assert text_of(page, ".faults li").split() == [
        "2:11",
        "unknown",
        "function",
        "eqq",
        "did",
        "you",
        "mean",
        "eq?",
    ]
    page.press(".faults button")
    page.write("")
    # A name that the schema does not know is a warning, and the answer is there.
    run_query(page, "{\n  q(func: has(name), first: 1) { nmae name }\n}")
    assert text_of(page, ".cm-lintRange-warning") == "nmae"
    assert "did you mean name?" in text_of(page, ".faults .warning")
    assert len(cells(page)) == 1
    # In GraphQL, too.
    page.press("#language-GraphQL")
    run_query(page, "{\n  queryNote { txt }\n}")
    page.wait(
        "[...document.querySelectorAll('.cm-lintRange-error')].some((it) => it.innerText === 'txt')"
    )


def test_explain_is_a_tree(page):
    run_query(page, FILMS)
    page.press("#pane-Explain")
    assert "Expand starring" in " ".join(text_of(page, ".tree").split())
    assert page.value("document.querySelectorAll('.tree details details').length") >= 1


def test_names_are_completed_from_the_schema(page):
    page.wait("!!document.querySelector('.names')")
    page.press(".cm-content")
    for before, typed, want in [
        ("{ q(func: has(name)) { ", "starr", "starring"),
        ("{ q(func: ", "allof", "allofterms"),
        ("{ q(func: type(", "Fi", "Film"),
        ("{ q(func: has(name)) @fil", "t", "@filter"),
        ("{ q(func: has(name)) { ~dir", "e", "~directed_by"),
    ]:
        page.key("a", 65, CTRL)
        page.key("Delete", 46)
        page.write(before)
        for letter in typed:
            page.call("Input.dispatchKeyEvent", type="keyDown", key=letter, text=letter)
        offered = page.wait(
            "[...document.querySelectorAll('.cm-completionLabel')]"
            ".map((it) => it.textContent).join()",
            10,
        )
        assert want in offered.split(","), (before, offered)
        page.key("Escape", 27)


def run_algorithm(page):
    """Press the button of the form, and return the faults and the number of rows of the result."""
    answers = (
        "performance.getEntriesByType('resource')"
        ".filter((it) => it.name.includes('query?explain')).length"
    )
    before = page.value(answers)
    page.press(".algorithm button.main")
    page.wait(f"{answers} > {before}")
    page.wait("document.querySelector('.query-view button.main').innerText === 'Run'")
    page.wait("!!document.querySelector('.result')")
    return page.value(
        "[[...document.querySelectorAll('.faults .error')].map((it) => it.innerText),"
        " document.querySelectorAll('.result tbody tr').length]"
    )


def fill(page, name, text):
    """Write a text into a field of the form."""
    page.press(f"#argument-{name}")
    page.key("a", 65, CTRL)
    page.write(text)


def editor(page):
    lines = page.value("[...document.querySelectorAll('.cm-line')].map((it) => it.textContent)")
    return "\n".join(lines)


def test_an_algorithm_runs_from_a_form(page):
    page.press("#view-Algorithms")
    page.wait("!!document.querySelector('.algorithm')")
    # Without edges nothing runs.
    page.press(".algorithm button.main")
    assert page.value("document.activeElement.validationMessage") == (
        "Choose the edges that the graph has."
    )
    page.press(".choices label:nth-child(4) input")
    fill(page, "damping", "1.5")
    page.press(".algorithm button.main")
    assert page.value("document.activeElement.id") == "argument-damping"
    assert page.value("document.activeElement.validity.rangeOverflow")
    fill(page, "damping", "0.9")
    fill(page, "from", "type(Film) @filter(ge(runtime, 100))")
    assert run_algorithm(page) == [[], 50]
    assert (
        editor(page)
        == """{
  starts as var(func: type(Film)) @filter(ge(runtime, 100))
  result as pagerank(damping: 0.9, from: uid(starts)) { starring }
  nodes(func: uid(result), orderdesc: val(result), first: 50) {
    uid
    name@.
    pagerank: val(result)
  }
}
"""
    )
    ranks = [float(it) for it in cells(page, 3)]
    assert ranks == sorted(ranks, reverse=True)
    # The next nodes come from the server.
    press(page, "Next page")
    page.wait("document.querySelector('.cm-content').innerText.includes('offset: 50')")
    page.wait(f"document.querySelector('.result td:nth-child(3)').innerText <= {ranks[-1]}")
    # What was filled in is there when one comes back.
    page.press("#view-Algorithms")
    assert page.value("document.querySelector('#argument-damping').value") == "0.9"
    for nodes, written in [
        ('eq(name@., "a @filter(b)")', 'nodes as var(func: eq(name@., "a @filter(b)"))\n'),
        ("0x1 2,\t3", "nodes: [0x1, 2, 3]"),
        (" 7 ", "nodes: 7)"),
    ]:
        fill(page, "nodes", nodes)
        assert written in text_of(page, ".preview pre")


def test_each_algorithm_runs_from_its_form(page):
    page.press("#view-Algorithms")
    page.wait("!!document.querySelector('.algorithm')")
    page.press(".choices label:nth-child(4) input")
    table = hexgraph._native.algorithms()
    uid = page.value(
        "fetch('query', {method: 'POST', headers: {'Content-Type': 'application/dql'},"
        " body: '{ q(func: has(starring), first: 1) { uid starring (first: 1) { uid } } }'})"
        ".then((it) => it.json()).then((it) => it.data.q[0])"
    )
    endpoints = {"source": uid["uid"], "target": uid["starring"][0]["uid"]}
    faults = {}
    for algorithm in table:
        page.press("#view-Algorithms")
        page.press(f"#algorithm-{algorithm['name']}")
        for argument in algorithm["arguments"]:
            if argument["kind"] == "groups":
                page.value(
                    "(() => { const it = document.querySelector('#argument-groups');"
                    " it.value = 'runtime';"
                    " it.dispatchEvent(new Event('input', {bubbles: true})); })()"
                )
            elif argument.get("required"):
                is_of_pairs = algorithm["name"] in ("similarity", "distances_among")
                nodes = (
                    ", ".join(endpoints.values()) if is_of_pairs else endpoints[argument["name"]]
                )
                fill(page, argument["name"], nodes)
        errors, rows = run_algorithm(page)
        if errors or not rows:
            faults[algorithm["name"]] = [editor(page), errors, rows]
    assert faults == {}
    assert len(table) > 30


def test_algorithms_are_chosen_by_the_keyboard(page):
    page.press("#view-Algorithms")
    page.press(".algorithms input[type=search]")
    page.write("communit")
    page.wait("document.querySelectorAll('.algorithms aside li').length < 6")
    page.key("ArrowDown", 40)
    page.key("ArrowDown", 40)
    page.wait("document.querySelector('.algorithm h2').innerText === 'louvain'")
    page.value("document.querySelector('.choices input').focus()")
    page.call("Input.dispatchKeyEvent", type="keyDown", key=" ", code="Space", text=" ")
    page.call("Input.dispatchKeyEvent", type="keyUp", key=" ", code="Space")
    page.wait("document.querySelector('.choices input').checked")
    page.key("Enter", ENTER, CTRL)
    page.wait("document.querySelector('#view-Query').ariaSelected === 'true'")
    page.wait("document.querySelectorAll('.result tbody tr').length === 50")
    assert "result as louvain() { country }" in editor(page)


def test_the_schema_is_shown_with_counts(page):
    page.press("#view-Schema")
    page.wait("document.querySelector('.schema td.number')?.innerText === '32'")
    rows = page.value("[...document.querySelectorAll('.schema tr')].map((it) => it.innerText)")
    assert "Film\t177" in "\n".join(rows)
    page.press("#shape-Picture")
    assert page.wait("document.querySelector('[data-nodes]')?.dataset.nodes") == "5"
    # Between two types there is one label, with the names of all predicates.
    assert page.wait("document.querySelector('[data-nodes]').dataset.edgeLabels") == "3"


def test_formatting_preserves_all_words(page):
    text = '{q(func: eq(name, "a { b"), first: 2) @filter(has(x)) { # why {\n '
    text += "name  @facets(a) k: v {uid} } }"
    page.press(".cm-content")
    page.key("a", 65, CTRL)
    page.key("Delete", 46)
    page.write(text)
    press(page, "Format")
    lines = page.value("[...document.querySelectorAll('.cm-line')].map((it) => it.textContent)")
    assert lines == [
        "{",
        '  q(func: eq(name, "a { b"), first: 2) @filter(has(x)) {',
        "    # why {",
        "    name @facets(a) k: v {",
        "      uid",
        "    }",
        "  }",
        "}",
        "",
    ]


def test_a_query_is_saved_and_opened(page):
    text = "{ q(func: has(name), first: 1) { name } }"
    run_query(page, text)
    page.press(".cm-content")
    page.key("s", 83, CTRL)
    page.wait("document.activeElement.matches('dialog[open] input')")
    page.write("one name")
    page.key("Enter", ENTER)
    page.call("Input.dispatchKeyEvent", type="char", text="\r")
    page.wait("!document.querySelector('dialog')")
    run_query(page, "{ q(func: has(runtime), first: 1) { runtime } }")
    page.press("#list-Saved")
    page.press(".queries button")
    assert editor(page) == text
    page.press("button[aria-label='delete one name']")
    page.wait("!document.querySelector('.queries')")
    # A name is written where the cursor is.
    page.press("#list-Names")
    page.press(".cm-content")
    page.key("a", 65, CTRL)
    press(page, "runtime")
    assert editor(page) == "runtime"


def test_an_empty_database_has_a_first_step():
    db = hexgraph.connect()
    with db.serve(port=0) as server, console(server.url) as page:
        page.wait("document.querySelector('.work').innerText.includes('no data yet')")
        press(page, "Write an example")
        page.key("Enter", ENTER, CTRL)
        page.wait("document.querySelector('.query-view aside').innerText.includes('knows')")
        assert not page.value("document.querySelector('.work').innerText.includes('no data yet')")
    assert db.query("{ q(func: type(Person)) { name } }")["q"] == [{"name": "Ada"}, {"name": "Bob"}]


def test_texts_with_secrets_are_not_stored(page):
    run_query(page, "{ q(func: has(name), first: 1) { name } }")
    run_query(page, '{ q(func: uid(1)) { checkpwd(pin, "hunter2") } }')
    stored = page.value("JSON.stringify({...localStorage})")
    assert "has(name)" in stored
    assert "hunter2" not in stored


def test_values_are_never_markup():
    db = hexgraph.connect()
    hostile = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>"
    db.alter("name: string .\nknows: [uid] .")
    db.mutate(
        set_json=[{"uid": "0x1", "name": hostile, "knows": [{"uid": "0x2", "name": hostile}]}]
    )
    with db.serve(port=0) as server, console(server.url) as page:
        run_query(page, "{ q(func: has(name)) { name knows { name } } }")
        assert hostile in cells(page)
        for name in ("JSON", "Graph", "Chart", "Explain"):
            page.press(f"#pane-{name}")
        assert page.value("window.hacked") is None
        # A script that got into the page would not run.
        page.value(
            "document.body.append(Object.assign(document.createElement('script'),"
            " { textContent: 'window.hacked = 1' }))"
        )
        assert page.value("window.hacked") is None


def test_logging_in_and_out(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("x" * 32)
    db = datasets.films()
    with (
        db.serve(port=0, acl=f"secret-file={secret}", acl_initial_password="a good one") as server,
        console(server.url) as page,
    ):
        # The schema is refused, and the page requests a login.
        page.wait("!!document.querySelector('dialog input')")
        page.press("dialog input[name=user]")
        page.write("groot")
        page.press("dialog input[name=password]")
        page.write("wrong")
        page.key("Enter", ENTER)
        page.call("Input.dispatchKeyEvent", type="char", text="\r")
        assert text_of(page, "dialog .fault")
        page.press("dialog input[name=password]")
        page.key("a", 65, CTRL)
        page.write("a good one")
        page.press("dialog button.main")
        page.wait("!document.querySelector('dialog') && !!document.querySelector('.names')")
        run_query(page, "{ q(func: type(Film), first: 3) { name } }")
        assert len(cells(page)) == 3
        stored = page.value("JSON.stringify({...localStorage}) + document.cookie")
        assert "a good one" not in stored
        assert "eyJ" not in stored
        press(page, "groot")
        page.wait("!!document.querySelector('dialog')")
        press(page, "Log out")
        page.wait("document.querySelector('dialog h2')?.innerText === 'Log in'")


def rows_of(page, selector):
    return page.value(
        f"[...document.querySelectorAll({json.dumps(selector)})].map((it) =>"
        " [...it.cells].map((cell) => cell.innerText))"
    )


def make_key(page, name, role=None):
    """Make a key by the form, and return its secret."""
    page.wait("!!document.querySelector('.access form')")
    page.press(".access input[name=name]")
    page.write(name)
    if role:
        page.value(f"document.querySelector('.access select[name=role]').value = {role!r}")
    press(page, "Make key")
    return text_of(page, ".secret code.key")


def test_keys_are_made_and_revoked():
    db = hexgraph.connect()
    db.mutate(set_json=[{"name": "Ada"}])
    with db.serve(port=0) as server, console(server.url) as page:
        page.press("#view-Access")
        # The first key is an administrator's, unless somebody insists.
        page.wait("document.querySelector('.access select[name=role]')?.value === 'admin'")
        page.press(".access input[name=name]")
        page.write("reader")
        page.value("document.querySelector('.access select[name=role]').value = 'read-only'")
        press(page, "Make key")
        assert "Once there is a key" in text_of(page, "dialog")
        # Enter cancels, and Escape too.
        assert page.value("document.activeElement.innerText") == "Cancel"
        page.key("Escape", 27)
        page.wait("!document.querySelector('dialog')")
        keys = db.keys
        assert keys() == []
        page.value("document.querySelector('.access form').reset()")
        secret = make_key(page, "main", "admin")
        assert secret.startswith("hxg_")
        assert "refuses requests without a key" in text_of(page, ".secret")
        page.value("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
        press(page, "Copy")
        assert page.wait("window.copied") == secret
        press(page, "Use in this page")
        page.wait("document.querySelector('header').innerText.includes('key main')")
        press(page, "Done")
        page.wait("!document.querySelector('.secret')")
        # It is stored nowhere, and shown by nothing.
        positions = "JSON.stringify({...localStorage, ...sessionStorage}) + document.cookie + "
        positions += "location.href + document.documentElement.outerHTML"
        assert secret not in page.value(positions)
        other = make_key(page, "reader")
        assert other != secret
        assert [row[:1] + row[2:4] + row[6:7] for row in rows_of(page, ".access tbody tr")] == [
            ["main", "admin", "0", "valid"],
            ["reader", "read-only", "0", "valid"],
        ]
        page.press("button[aria-label='revoke the key reader']")
        assert "Revoke the key reader?" in text_of(page, "dialog")
        press(page, "Cancel")
        page.wait("!document.querySelector('dialog')")
        assert [it.revoked for it in keys()] == [None, None]
        page.press("button[aria-label='revoke the key reader']")
        page.press("dialog button.danger")
        page.wait("document.querySelectorAll('.access tbody button').length === 1")
        assert {it.name: it.revoked is None for it in keys()} == {"main": True, "reader": False}
        # The last key of an administrator is revoked with a word of what follows.
        page.press("button[aria-label='revoke the key main']")
        assert "No other key of an administrator" in text_of(page, "dialog")
        press(page, "Cancel")
        # What is wrong stands there.
        page.press(".access input[name=name]")
        page.write("x")
        page.press(".access input[name=expires]")
        page.write("soon")
        press(page, "Make key")
        assert "expiresIn soon: expected a time like 30d" in text_of(page, ".access .fault")


def test_namespaces_are_made_and_deleted():
    db = hexgraph.connect()
    with db.serve(port=0) as server, console(server.url) as page:
        page.press("#view-Access")
        page.press("#access-Namespaces")
        page.wait("document.querySelectorAll('.access tbody tr').length === 1")
        press(page, "Make namespace")
        page.wait("document.querySelectorAll('.access tbody tr').length === 2")
        assert db.namespaces() == [0, 1]
        page.press("button[aria-label='delete namespace 1']")
        assert "All of its data" in text_of(page, "dialog")
        page.key("Escape", 27)
        page.wait("!document.querySelector('dialog')")
        assert db.namespaces() == [0, 1]
        # A key for it leads into it.
        page.press("button[aria-label='make key for namespace 1']")
        page.wait("document.querySelector('.access form select:not([name])')?.value === '1'")
        page.press(".access input[name=name]")
        page.write("inner")
        press(page, "Make key")
        page.press("dialog button.danger")
        page.wait("!!document.querySelector('.secret')")
        press(page, "Use in this page")
        page.wait("document.querySelector('header').innerText.includes('in namespace 1')")
        db.mutate(set_json=[{"name": "Ada"}])
        db.open_namespace(1).mutate(set_json=[{"name": "Eve"}])
        page.press("#view-Query")
        run_query(page, "{ q(func: has(name)) { name } }")
        assert cells(page) == ["Eve"]


def add_user(url, name, password):
    """Make a user, as the first one."""

    def post(path, value, headers):
        headers = {"Content-Type": "application/json", **headers}
        request = Request(f"{url}/{path}", json.dumps(value).encode(), headers)
        with urlopen(request, timeout=30) as reply:
            return json.load(reply)["data"]

    token = post("login", {"userid": "groot", "password": "a good one"}, {})["accessJWT"]
    user = {"name": name, "password": password}
    text = "mutation add($input: [AddUserInput!]!) { addUser(input: $input) { user { name } } }"
    headers = {"X-Dgraph-AccessToken": token}
    post("admin", {"query": text, "variables": {"input": [user]}}, headers)


def enter(page, user, password):
    page.wait("!!document.querySelector('dialog input')")
    page.press("dialog input[name=user]")
    page.write(user)
    page.press("dialog input[name=password]")
    page.write(password)
    page.press("dialog button.main")
    page.wait("!document.querySelector('dialog')")


def test_who_may_not_administer_is_reported(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("x" * 32)
    db = hexgraph.connect()
    with (
        db.serve(port=0, acl=f"secret-file={secret}", acl_initial_password="a good one") as server,
        console(server.url) as page,
    ):
        assert text_of(page, "dialog p") == "This server has users: log in as one of them."
        enter(page, "groot", "a good one")
        add_user(server.url, "ada", "longenough")
        # A namespace is made with the password of its first user, who can log in from the list.
        page.press("#view-Access")
        page.press("#access-Namespaces")
        page.press(".access input[name=password]")
        page.write("another one")
        press(page, "Make namespace")
        page.press("button[aria-label='log in to namespace 1']")
        assert page.value("document.querySelector('dialog input[name=namespace]').value") == "1"
        enter(page, "groot", "another one")
        page.wait("document.querySelector('header').innerText.includes('groot in namespace 1')")
        page.wait("document.querySelector('.access').innerText.includes('You administer one')")
        # Who is no guardian reads why in the view, and no dialog is open.
        page.press("header > button:last-child")
        enter(page, "ada", "longenough")
        page.wait("document.querySelector('header > button:last-child').innerText === 'ada'")
        page.wait("document.querySelector('.access .fault')?.innerText.includes(\"User 'ada'\")")
        assert page.value("document.querySelector('dialog, .access table, .access form')") is None


def fragment(url):
    """Return the URL of a server, and the rest of a URL of it with its fragment."""
    server, rest = url.rsplit("/", 1)
    return {"url": server, "path": f"/{rest}"}


@contextmanager
def command(path, *more):
    """Run `hexgraph console`, and give its URL and the process; closing its input stops it."""
    arguments = [sys.executable, "-m", "hexgraph", "console", str(path), "--no-browser", *more]
    pipe = subprocess.PIPE
    with subprocess.Popen(arguments, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process.stdout.readline().strip(), process
        finally:
            process.stdin.close()
            assert process.wait(timeout=30) == 0, process.stderr.read()


def test_a_database_is_opened_in_one_browser(tmp_path):
    with hexgraph.connect(tmp_path / "db") as db:
        db.mutate(set_json=[{"uid": "0x1", "name": "Ada"}])
    query = "{ q(func: has(name)) { name } }"
    with (
        command(tmp_path / "db") as (url, _),
        console(**fragment(url)) as page,
    ):
        assert "/#token=" in url
        run_query(page, query)
        assert cells(page) == ["Ada"]
        # The token is gone from the address, and no script can read the cookie.
        assert page.value("location.href") == url.split("#")[0]
        assert page.value("history.length") == 2, "about:blank, and the page"
        assert page.value("document.cookie") == ""
        server, token = url.split("/#token=")
        assert token not in page.value("JSON.stringify({...localStorage})")
        run_query(page, '{ set { <0x2> <name> "Bob" . } }')
        assert "open read-only" in text_of(page, ".faults")
        # Another process commits, and the page shows it.
        with hexgraph.connect(tmp_path / "db") as db:
            db.mutate(set_json=[{"uid": "0x3", "name": "Eve"}])
        time.sleep(1.5)
        run_query(page, query)
        assert cells(page) == ["Ada", "Eve"]
        # The same URL again works in this browser, which has the cookie, and not in another.
        page.call("Page.navigate", url="about:blank")
        page.call("Page.navigate", url=url)
        page.wait("document.body?.innerText.includes('name string')")
        assert page.value("location.href + document.querySelector('dialog')") == server + "/null"
        with console(**fragment(url)) as other:
            assert "works once" in text_of(other, "dialog p")
    with (
        command(tmp_path / "db", "--write") as (url, _),
        console(**fragment(url)) as page,
    ):
        run_query(page, '{ set { <0x2> <name> "Bob" . } }')
        run_query(page, query)
        assert cells(page) == ["Ada", "Bob", "Eve"]


def test_dark_and_light(page):
    theme = "document.documentElement?.dataset.theme"
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.value(theme) == "light"
    light = page.value(ground)
    page.press("button[title='dark or light']")
    page.wait(f"{theme} === 'dark'")
    assert page.value(ground) != light
    page.call("Page.reload")
    page.wait(f"!!document.querySelector('.cm-content') && {theme} === 'dark'")


def test_graphiql_requests(films):
    with console(films.url) as page:
        page.call("Page.navigate", url=f"{films.url}/graphql")
        page.wait("!!document.querySelector('.graphiql-query-editor .CodeMirror')?.CodeMirror")
        page.value(
            "document.querySelector('.graphiql-query-editor .CodeMirror').CodeMirror"
            ".setValue('{ __type(name: \"Note\") { name } }')"
        )
        page.press(".graphiql-execute-button")
        page.wait(
            "document.querySelector('.result-window .CodeMirror')?.CodeMirror.getValue()"
            '.includes(\'"name": "Note"\')'
        )


def axe():
    """Return axe-core, which npm brings."""
    if not AXE.exists():
        if not shutil.which("npm"):
            pytest.skip("npm is not installed, which brings axe-core")
        command = ["npm", "ci", "--ignore-scripts", "--prefer-offline"]
        done = subprocess.run(command, cwd=WIDGET, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip("npm can't reach its packages")
    return AXE.read_text()


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible(films, size, theme, tmp_path):
    script = axe()
    with console(films.url, size) as page:
        media = [{"name": "prefers-color-scheme", "value": theme}]
        page.call("Emulation.setEmulatedMedia", features=media)
        page.call("Page.reload")
        page.wait(f"document.documentElement?.dataset.theme === '{theme}'")
        page.value(script + "; 1")
        faults = []

        def check(what):
            result = page.value(
                "axe.run(document, {resultTypes: ['violations']}).then((it) => it.violations"
                ".filter((one) => ['serious', 'critical'].includes(one.impact))"
                ".map((one) => [one.id, one.nodes.map((node) => node.html.slice(0, 200))]))"
            )
            faults.extend([what, *it] for it in result)
            page.picture(tmp_path / f"{what}.png")

        run_query(page, FILMS)
        for name in ("Table", "JSON", "Graph", "Chart", "Explain"):
            page.press(f"#pane-{name}")
            check(name)
        run_query(page, "{ q(func: eqq(name)) { name } }")
        check("fault")
        page.press("#view-Algorithms")
        page.wait("!!document.querySelector('.algorithm')")
        check("Algorithms")
        page.press("#view-Schema")
        page.wait("document.querySelector('.schema td.number')?.innerText === '32'")
        check("Schema")
        page.press("#view-Access")
        page.wait("!!document.querySelector('.access form')")
        check("Keys")
        page.press("#access-Namespaces")
        page.wait("!!document.querySelector('.access table')")
        check("Namespaces")
        press(page, "Delete")
        check("confirm")
        press(page, "Cancel")
        press(page, "Log in")
        check("dialog")
        width = page.value("document.documentElement.scrollWidth")
        assert width <= page.value("innerWidth"), "the page is wider than the window"
        assert faults == []
