"""The live view: what it sends to its front end, receives from it, and shows in a browser."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hexgraph
from hexgraph import GraphView, datasets

pytest.importorskip("anywidget", reason="the extra `widget` is not installed")
import browser

ROOT = Path(__file__).parents[2]
HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'


def make_widget():
    """Return the program behind `make widget`."""
    spec = importlib.util.spec_from_file_location("make_widget", ROOT / "widget" / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def films():
    return datasets.films()


@pytest.fixture
def view(films):
    dql = '{ q(func: eq(name, "Akira Kurosawa")) { uid name ~directed_by { uid name } } }'
    return GraphView(films.query(dql), db=films)


@pytest.fixture
def bridge(view):
    return browser.Bridge(view._live)


def told(said):
    return [it["content"]["text"] for it in said if it.get("content", {}).get("kind") == "told"]


def test_the_bundles_are_made_of_what_is_here():
    make = make_widget()
    made = make.made()
    assert make.hashes(made) == make.HASHES.read_text(), "run 'make widget', and commit the bundles"
    view = made[0].read_text()
    assert "http://" not in view
    assert "https://" not in view


def test_the_bundles_can_be_made_again(tmp_path):
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    make = make_widget()
    command = [sys.executable, make.__file__, tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if " error code E" in done.stderr and "network" in done.stderr:
        pytest.skip("npm can't reach its packages")
    assert done.returncode == 0, done.stdout + done.stderr
    for path in make.made():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_notebooks_get_the_view_and_the_picture(view, films):
    bundle, _ = view._repr_mimebundle_()
    assert bundle["text/plain"] == repr(view)
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert "<svg" in view._repr_svg_()
    still = GraphView(films, interactive=False)
    assert still._repr_mimebundle_() is None
    assert still._repr_svg_() == still.svg


def test_without_anywidget_the_picture_stays(films, monkeypatch):
    monkeypatch.setattr("hexgraph.pictures.view.has_widgets", lambda: False)
    view = GraphView(films, nodes=20)
    assert view._repr_mimebundle_() is None
    assert "<svg" in view._repr_svg_()
    with pytest.raises(hexgraph.QueryError, match=r"pip install 'hexgraph\[widget\]'"):
        GraphView(films, interactive=True)


def test_selecting(view, bridge):
    followed = []
    view.on_select(followed.append)
    bridge.forward({"method": "update", "state": {"chosen": [2, 0, 2]}})
    assert view.selected == [view.uids[0], view.uids[2]]
    assert followed == [view.selected]
    view.selected = [view.uids[1]]
    assert view._live.chosen == [1]
    assert followed[1:] == [[view.uids[1]]]
    with pytest.raises(hexgraph.QueryError, match="the view has no node '0x5'"):
        view.selected = ["0x5"]


def test_expanding(view, bridge, films):
    film = next(uid for uid in view.uids if uid != view.uids[0])
    at = list(view._subgraph.nodes).index(film)
    counts = films.query(
        f"{{ q(func: uid({film})) {{ starring {{ uid }} genre {{ uid }} country {{ uid }} }} }}"
    )["q"][0]
    expected = {it["uid"] for key in counts for it in counts[key]}
    before = set(view.uids)
    said = bridge.forward({"method": "custom", "content": {"kind": "expand", "node": at}})
    assert set(view.uids) - before == expected
    assert any(f"{len(expected)} more at " in text for text in told(said))
    part = view._live.added[-1]
    assert len(part["labels"]) == len(expected)
    assert len(part["places"]) == 8 * len(expected)
    assert len(part["edges"]) == 8 * len(expected)
    # All of them are there now: another double click changes nothing, and says so.
    said = bridge.forward({"method": "custom", "content": {"kind": "expand", "node": at}})
    assert any("there are no others at " in text for text in told(said))
    assert view.total == len(view.uids)
    assert "<svg" in view.svg


def test_a_node_with_many_edges_gives_them_by_and_by():
    db = hexgraph.connect()
    db.alter("knows: [uid] @reverse .\nname: string .")
    lines = [f"<1> <knows> <{uid}> ." for uid in range(2, 102)]
    db.mutate(set="\n".join([*lines, '<1> <name> "Ada" .']))
    view = GraphView(db.query("{ q(func: uid(1)) { uid name } }"), db=db)
    assert [view.expand("0x1") for _ in range(4)] == [40, 40, 20, 0]
    assert len(set(view.uids)) == 101
    # And back.
    back = GraphView(db.query("{ q(func: uid(7)) { uid } }"), db=db)
    assert back.expand("0x7") == 1
    assert ("0x1", "knows", "0x7") in back._subgraph.edges


def test_what_can_not_be_expanded(films, view):
    alone = GraphView(films.query("{ q(func: type(Film), first: 2) { uid name } }"))
    with pytest.raises(hexgraph.QueryError, match=r"GraphView\(result, db=db\)"):
        alone.expand(alone.uids[0])
    assert alone._live.can_expand is False
    with pytest.raises(hexgraph.QueryError, match=r"the view has no node '0x1\) { uid'"):
        view.expand("0x1) { uid")
    db = hexgraph.connect()
    db.mutate(set="<1> <knows> <2> .")
    closed = GraphView(db)
    bridge = browser.Bridge(closed._live)
    db.close()
    said = bridge.forward({"method": "custom", "content": {"kind": "expand", "node": 0}})
    assert any("closed" in text for text in told(said))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "a message is an object"),
        ([], "a message is an object"),
        ({"kind": "expand"}, "a message is an object"),
        ({"kind": "expand", "node": 0, "dql": "{ q }"}, "a message is an object"),
        ({"kind": "mutate", "node": 0}, "the kinds of messages are about and expand"),
        ({"kind": ["expand"], "node": 0}, "the kinds of messages are about and expand"),
        ({"kind": "expand", "node": -1}, "`node` is a number from 0 to"),
        ({"kind": "expand", "node": 10**30}, "`node` is a number from 0 to"),
        ({"kind": "expand", "node": True}, "`node` is a number from 0 to"),
        ({"kind": "about", "node": "0x1"}, "`node` is a number from 0 to"),
        ({"kind": "about", "node": 0.0}, "`node` is a number from 0 to"),
    ],
)
def test_messages_are_checked(view, bridge, content, why):
    nodes = list(view.uids)
    said = bridge.forward({"method": "custom", "content": content})
    assert [why in text for text in told(said)] == [True]
    assert view.uids == nodes


def test_a_message_has_no_buffers(bridge):
    message = {"method": "custom", "content": {"kind": "about", "node": 0}}
    assert "an object" in told(bridge.forward(message, buffers=[b"x"]))[0]


@pytest.mark.parametrize("wrong", [[99], [-1], ["0"], [True], [0] * 1000, "0", {"a": 1}, None])
def test_what_is_chosen_is_checked(view, bridge, wrong, caplog):
    bridge.forward({"method": "update", "state": {"chosen": wrong}})
    assert "chosen" in caplog.text
    assert view.selected == []
    assert view._live.chosen == []


def test_a_front_end_changes_nothing_else(view, bridge):
    live = view._live
    before = live.told, live.legend, live._esm
    bridge.forward({"method": "update", "state": {"told": "x", "legend": [], "_esm": "x"}})
    assert (live.told, live.legend, live._esm) == before


def test_large_and_hostile_values_are_bounded():
    db = hexgraph.connect()
    db.alter("name: string .\nknows: [uid] .")
    db.mutate(
        set_json=[
            {"uid": "0x1", "name": "x" * 1_000_000, "knows": [{"uid": "0x2"}]},
            {"uid": "0x2", "name": HOSTILE},
        ]
    )
    view = GraphView(db)
    state = json.dumps(browser.plain(view._live.get_state(["graph", "legend", "told"])))
    assert len(state) < 2_000
    said = browser.Bridge(view._live).forward(
        {"method": "custom", "content": {"kind": "about", "node": 0}}
    )
    rows = dict(map(tuple, said[0]["content"]["rows"]))
    assert len(rows["name"]) == 200
    assert len(view.svg) < 10_000
    assert "<script" not in view.svg


def test_a_million_edges_are_bounded_in_words(monkeypatch):
    monkeypatch.setattr("hexgraph.pictures.graph.EDGES_MAX", 1_000)
    monkeypatch.setattr("hexgraph.pictures.view.EDGES_MAX", 1_000)
    rows = [
        {"uid": hex(at), "to": [{"uid": hex((at * 7 + step) % 200 + 1)} for step in range(20)]}
        for at in range(1, 201)
    ]
    view = GraphView(Answer({"q": rows}))
    assert "200 nodes, 1,000 of 4,000" in repr(view)
    assert view._live.told == repr(view).removeprefix("<hexgraph.GraphView: ").removesuffix(">")


class Answer:
    """Something that has an answer, as a Result has."""

    def __init__(self, data):
        self.data = data

    def to_dict(self):
        return self.data


def test_more_nodes_than_are_read_are_reported():
    view = GraphView(Answer({"q": [{"uid": hex(at)} for at in range(1, 20_101)]}), nodes=5)
    assert repr(view) == "<hexgraph.GraphView: 5 of more than 20,000 nodes, 0 edges>"


@pytest.fixture
def page(request):
    if browser.CHROMIUM is None:
        pytest.skip("there is no Chromium")
    pytest.importorskip("websockets")
    db = hexgraph.connect()
    db.alter("name: string .\nknows: [uid] @reverse .")
    people = [{"uid": "0x1", "name": HOSTILE, "knows": [{"uid": hex(at)} for at in range(2, 6)]}]
    people += [{"uid": hex(at), "name": f'{at} "q" & {HOSTILE}'} for at in range(2, 9)]
    people += [{"uid": "0x3", "knows": [{"uid": "0x6"}, {"uid": "0x7"}, {"uid": "0x8"}]}]
    db.mutate(set_json=people)
    result = db.query("{ q(func: uid(1)) { uid name knows { uid name } } }")
    view = GraphView(result, db=db)
    with (
        browser.served(view._live) as (url, _),
        browser.opened(url + getattr(request, "param", "")) as opened,
    ):
        opened.wait("window.drawn")
        yield opened, view


def position_of(page, view, uid):
    """Return where a node lies on the page: what the camera of the front end does at first."""
    root = "document.querySelector('.hexgraph-view')"
    width, height = page.value(f"[{root}.clientWidth, {root}.clientHeight]")
    x, y = view._positions[list(view._subgraph.nodes).index(uid)]
    scale = min(width, height) - 60
    return 1 + width / 2 + (x - 0.5) * scale, 1 + height / 2 + (y - 0.5) * scale


@pytest.mark.parametrize("page", ["", "?2d"], indirect=True, ids=["webgl", "2d"])
def test_a_view_in_a_browser(page, tmp_path):
    page, view = page
    page.picture(tmp_path / "before.png")
    renderer = page.value("document.querySelector('[data-renderer]').dataset.renderer")
    assert renderer in ("WebGL 2", "2D canvas")
    # A click selects, which Python knows.
    page.click(*position_of(page, view, "0x3"))
    page.wait("window.asked === 0")
    assert view.selected == ["0x3"]
    # A double click expands: the nodes are shown.
    page.click(*position_of(page, view, "0x3"), times=2)
    page.wait("document.querySelector('[data-nodes]').dataset.nodes === '8'")
    assert {"0x6", "0x7", "0x8"} <= set(view.uids)
    # The mouse shows the values of a node as text, and no HTML in them is obeyed.
    page.mouse("mouseMoved", *position_of(page, view, "0x1"))
    tip = page.wait(
        "document.querySelector('.hexgraph-tip').innerText.includes('uid') &&"
        " document.querySelector('.hexgraph-tip').innerText"
    )
    assert HOSTILE in tip
    # A search lists labels; its first one is selected by Enter.
    page.value("""(() => { const it = document.querySelector("input"); it.value = '5 "Q"';
        it.dispatchEvent(new Event("input")); })()""")
    listed = page.value(
        "[...document.querySelectorAll('.hexgraph-found div')].map(it => it.innerText)"
    )
    assert [it.startswith('5 "q" & <img') for it in listed] == [True]
    page.value(
        "document.querySelector('input').dispatchEvent("
        "new KeyboardEvent('keydown', {key: 'Enter'}))"
    )
    page.wait("window.asked === 0")
    assert view.selected == ["0x5"]
    # A box selects what lies in it: after "all" that is everything.
    page.value("document.querySelector('[aria-label=\"see all\"]').click()")
    page.drag((3, 3), (895, 515), modifiers=8)
    page.wait("window.asked === 0")
    assert set(view.selected) == set(view.uids)
    page.picture(tmp_path / "after.png")
    assert (tmp_path / "after.png").read_bytes() != (tmp_path / "before.png").read_bytes()
    assert page.value("window.hacked") is None
    # What is closed leaves nothing behind.
    page.value("window.close_view()")
    assert page.value("document.querySelectorAll('canvas').length") == 0
    assert page.faults == []


@pytest.mark.parametrize("renderer", ["", "?2d"], ids=["webgl", "2d"])
def test_an_edge_from_a_node_to_itself_is_a_ring(renderer, tmp_path):
    if browser.CHROMIUM is None:
        pytest.skip("there is no Chromium")
    pytest.importorskip("websockets")
    image = pytest.importorskip("matplotlib.image")
    db = hexgraph.connect()
    db.alter("knows: [uid] .")
    db.mutate(set="<1> <knows> <1> .\n<1> <knows> <2> .")
    view = GraphView(db.query("{ q(func: uid(1, 2)) { uid knows { uid } } }"), db=db)
    with browser.served(view._live) as (url, _), browser.opened(url + renderer) as page:
        page.wait("window.drawn")
        page.picture(tmp_path / "loop.png")
        pixels = image.imread(tmp_path / "loop.png")[:, :, :3]
        has_ring = []
        for uid in ("0x1", "0x2"):
            x, y = (round(at) for at in position_of(page, view, uid))
            above = pixels[y - 45 : y, x - 2 : x + 3].min(axis=(1, 2)) < 0.95
            # From the top down: white, the ring, white within it, the node.
            runs = [at for at in range(1, 45) if above[at] != above[at - 1]]
            has_ring.append(len(runs) >= 3)
        assert has_ring == [True, False]
