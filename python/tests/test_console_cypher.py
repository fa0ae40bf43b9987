"""openCypher in the console: the editor, the parameters, and the views of rows with nodes."""

import json

import pytest

import hexgraph

pytest.importorskip("websockets")
import browser
from test_console import (
    CTRL,
    ENTER,
    NARROW,
    WIDE,
    axe,
    cells,
    console,
    editor,
    press,
    run_query,
    text_of,
)

pytestmark = pytest.mark.skipif(browser.CHROMIUM is None, reason="there is no Chromium")

PEOPLE = [
    {"id": 1, "name": "Ada", "born": 1815},
    {"id": 2, "name": "Bob", "born": 1820},
    {"id": 3, "name": "Cy", "born": 1790},
]
KNOWS = [(1, 2, {"since": 2019}), (2, 3, {"since": 2020})]


@pytest.fixture(scope="module")
def people():
    db = hexgraph.connect()
    db.load_nodes(PEOPLE, "Person")
    db.load_edges(KNOWS, "knows", facets=["since"])
    with db.serve(port=0) as server:
        yield server


@pytest.fixture
def page(people):
    with console(people.url) as opened:
        opened.press("#language-Cypher")
        yield opened


def set_parameters(page, text):
    page.press(".parameters textarea")
    page.key("a", 65, CTRL)
    page.key("Delete", 46)
    page.write(text)


def test_rows_are_a_table_in_the_order_of_the_query(page):
    run_query(page, "MATCH (p:Person) RETURN p.name, p.born AS `1` ORDER BY p.born DESC")
    assert cells(page) == ["Bob", "Ada", "Cy"]
    heads = page.value("[...document.querySelectorAll('.result th')].map((it) => it.innerText)")
    assert heads == ["p.name", "1"]
    page.press(".result th:nth-child(2) button")
    assert cells(page, 2) == ["1790", "1815", "1820"]
    page.press("#pane-JSON")
    assert json.loads(text_of(page, "pre.json"))["columns"] == ["p.name", "1"]
    # The formatter reads braces of DQL.
    buttons = page.value("[...document.querySelectorAll('.bar button')].map((it) => it.innerText)")
    assert "Format" not in buttons


def test_explain_has_the_operators_of_a_query(page):
    text = "MATCH (p:Person) WHERE EXISTS { (p)-[:knows]->() } RETURN p.name ORDER BY p.name"
    run_query(page, text)
    page.press("#pane-Explain")
    steps = "[...document.querySelectorAll('.tree .step')].map((it) => it.innerText)"
    page.wait("document.querySelector('.tree') !== null")
    assert page.value(steps)[0].startswith("TypeScan p:Person")
    assert "3" in page.value(steps)[0]
    # What runs for each row of an operator is a branch of it.
    assert page.value("document.querySelector('.tree details .tree, .tree details ul') !== null")
    run_query(page, f"PROFILE {text}")
    page.press("#pane-Explain")
    page.wait(f"{steps}.some((it) => it.includes('3 rows'))")
    # A query that fails has no steps.
    run_query(page, "MATCH (p) RETURN q")
    assert "variable q is not defined" in text_of(page, ".faults")


def test_nodes_and_relationships_are_cells_and_a_graph(page):
    run_query(page, "MATCH q = (a {name: 'Ada'})-[r]->(b) RETURN b, r, q, [1, 'x', null] AS list")
    known = "[:knows {since: 2019}]"
    bob = '(:Person {born: 1820, id: 2, name: "Bob"})'
    assert cells(page, 1) == [bob]
    assert cells(page, 2) == [known]
    assert cells(page, 3) == [f'(:Person {{born: 1815, id: 1, name: "Ada"}})-{known}->{bob}']
    assert cells(page, 4) == ['[1, "x", null]']
    page.press("#pane-Graph")
    assert page.wait("document.querySelector('[data-nodes]')?.dataset.nodes") == "2"
    assert "Person 2" in text_of(page, ".hexgraph-legend")
    assert "2 nodes, 1 edges" in text_of(page, ".hexgraph-told")
    # Relationships have their nodes with them, also where no column has these.
    run_query(page, "MATCH ()-[r:knows]->() RETURN collect(r) AS all")
    page.wait("document.querySelector('[data-nodes]')?.dataset.nodes === '3'")
    assert "Person 3" in text_of(page, ".hexgraph-legend")


def test_a_wrong_query_is_underlined(page):
    run_query(page, "MATCH (p:Person)\nRETRUN p")
    fault = text_of(page, ".faults li").split()
    assert fault[0] == "2:1"
    assert " ".join(fault[1:]) == "unexpected RETRUN did you mean RETURN?"
    assert text_of(page, ".cm-lintRange-error") == "RETRUN"


def test_parameters_reach_the_query(page):
    set_parameters(page, '{"year": 1800, "big": 9007199254740993, "part": 1.0}')
    text = (
        "MATCH (p:Person) WHERE p.born > $year RETURN p.name, $big, 1 / ($part + 1) ORDER BY p.name"
    )
    run_query(page, text)
    assert cells(page) == ["Ada", "Bob"]
    assert cells(page, 2) == ["9007199254740993"] * 2
    # `1.0` is a float.
    assert cells(page, 3) == ["0.5"] * 2
    # The keyboard runs the query from there, too, and what is no object is an error.
    set_parameters(page, "[1800]")
    page.key("Enter", ENTER, CTRL)
    page.wait("document.querySelector('.faults')?.innerText.includes('no object in JSON')")
    set_parameters(page, "")
    page.key("Enter", ENTER, CTRL)
    page.wait("document.querySelector('.faults')?.innerText.includes('$year has no value')")


def test_the_language_is_the_same_after_a_reload(page):
    text = "MATCH (p) WHERE p.born > $year RETURN p.name"
    set_parameters(page, '{"year": 1816}')
    run_query(page, text)
    assert cells(page) == ["Bob"]
    reload(page)
    assert page.value("document.querySelector('#language-Cypher').ariaSelected") == "true"
    assert editor(page) == text
    assert page.value("document.querySelector('.parameters textarea').value") == '{"year": 1816}'
    # A text that was not run is there, too.
    page.press("#language-DQL")
    run_query(page, "{ q(func: has(name)) { name } }")
    page.press("#language-Cypher")
    page.wait("JSON.parse(localStorage['hexgraph.draft']).language === 'cypher'")
    reload(page)
    assert page.value("document.querySelector('#language-Cypher').ariaSelected") == "true"
    page.press("#list-History")
    page.press(".queries li:nth-child(2) button")
    assert editor(page) == text
    assert page.value("document.querySelector('.parameters textarea').value") == '{"year": 1816}'


def reload(page):
    page.value("window.isOld = true")
    page.call("Page.reload")
    page.wait("!window.isOld && !!document.querySelector('.cm-line')?.textContent")


def test_names_are_completed_by_what_stands_before_them(page):
    page.wait("!!document.querySelector('.names')")
    page.press(".cm-content")
    for before, typed, want in [
        ("MATCH (p:", "Pe", "Person"),
        ("MATCH (p)-[r:", "kn", "knows"),
        ("MATCH (p:Person) RETURN p.", "bo", "born"),
        ("MATCH (p:Person {", "na", "name"),
        ("MATCH (person:Person) WHERE ", "per", "person"),
        ("MATCH (p) RET", "U", "RETURN"),
        ("RETURN percentileC", "o", "percentileCont"),
        ("CALL algo.", "pa", "algo.pagerank"),
        ("CALL ", "db", "db.labels"),
        ("MATCH (p) FIL", "T", "FILTER"),
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
        ).split(",")
        assert want in offered, f"{before}{typed}: {offered}"
        page.key("Escape", 27)


def test_the_parts_of_a_query_have_colours(page):
    text = "MATCH (p:Person {name: 'a'})-[:knows*1..2]->(q) WHERE p.born > $year RETURN count(q)"
    page.press(".cm-content")
    page.key("a", 65, CTRL)
    page.write(f"{text} /* one\ntwo */ // three")
    page.wait("document.querySelectorAll('.cm-line span').length > 12")
    colours = dict(
        page.value(
            "[...document.querySelectorAll('.cm-line span')]"
            ".map((it) => [it.textContent, getComputedStyle(it).color])"
        )
    )
    kinds = {
        "keyword": ["MATCH", "WHERE", "RETURN"],
        "label": ["Person", "knows"],
        "string": ["'a'"],
        "number": ["1", "2"],
        "function": ["count"],
        "comment": ["/* one", "two */", "// three"],
    }
    for kind, parts in kinds.items():
        value = page.value(
            "(() => { const it = document.createElement('i');"
            f" it.style.color = 'var(--code-{kind})'; document.body.append(it);"
            " const colour = getComputedStyle(it).color; it.remove(); return colour; })()"
        )
        assert {part: colours.get(part) for part in parts} == dict.fromkeys(parts, value), kind


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible(people, size, theme, tmp_path):
    script = axe()
    with console(people.url, size) as page:
        media = [{"name": "prefers-color-scheme", "value": theme}]
        page.call("Emulation.setEmulatedMedia", features=media)
        page.call("Page.reload")
        page.wait(f"document.documentElement?.dataset.theme === '{theme}'")
        page.value(script + "; 1")
        # The arrows choose the language.
        page.press("#language-DQL")
        page.key("ArrowRight", 39)
        page.wait("document.activeElement?.id === 'language-Cypher'")
        faults = []
        run_query(page, "MATCH (a)-[r:knows]->(b) WHERE a.born > 0 RETURN a, r, b.name AS name")
        for name in ("Table", "Graph"):
            page.press(f"#pane-{name}")
            result = page.value(
                "axe.run(document, {resultTypes: ['violations']}).then((it) => it.violations"
                ".filter((one) => ['serious', 'critical'].includes(one.impact))"
                ".map((one) => [one.id, one.nodes.map((node) => node.html.slice(0, 200))]))"
            )
            faults.extend([name, *it] for it in result)
            page.picture(tmp_path / f"{name}.png")
        width = page.value("document.documentElement.scrollWidth")
        assert width <= page.value("innerWidth"), "the page is wider than the window"
        press(page, "Save")
        page.wait("!!document.querySelector('dialog[open]')")
        assert faults == []
