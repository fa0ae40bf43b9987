"""How fast is a live view drawn, moved and expanded?

`python benches/widget.py [PICTURE.png]` makes a graph of 10,000 nodes and 30,000 edges, shows it in a headless
Chromium, moves it for 120 frames, and double-clicks 20 nodes. What is told: seconds until Python has the places,
until the front end has drawn its first picture (all of its pixels: they are read back), the time of the page's
main thread a frame (all its tasks, as the browser counts them), and that of a double click: in Python, and on the
page until the neighbours are there. `2d` behind the picture takes WebGL away.
"""

import random
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "python" / "tests"))

import browser  # noqa: E402 - beside the tests

import hexgraph  # noqa: E402

NODES, EDGES, FRAMES = 10_000, 30_000, 120

MOVE = """new Promise((done) => {
  const view = document.querySelector(".hexgraph-view");
  const times = [];
  let last = performance.now();
  const step = (left) => {
    const now = performance.now();
    times.push(now - last);
    last = now;
    const key = ["ArrowLeft", "ArrowUp", "+", "ArrowRight", "ArrowDown", "-"][left % 6];
    view.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    left ? requestAnimationFrame(() => step(left - 1)) : done(times.slice(1));
  };
  requestAnimationFrame(() => step(FRAMES));
})""".replace("FRAMES", str(FRAMES))


def graph() -> hexgraph.Database:
    """Return a graph of groups, some nodes of which have many edges."""
    dice = random.Random(7)
    db = hexgraph.connect()
    names = [{"id": at, "name": f"node {at}", "group": f"group {at % 7}"} for at in range(NODES)]
    db.load_nodes(names, "Node", id="id")
    pairs: set[tuple[int, int]] = set()
    while len(pairs) < EDGES:
        one = dice.randrange(NODES)
        near = one // 100 * 100 + int(100 * dice.random() ** 2)
        two = near if dice.random() < 0.9 else int(NODES * dice.random() ** 3)
        if one != two:
            pairs.add((one, two))
    db.load_edges([{"from": one, "to": two} for one, two in sorted(pairs)], "link", "from", "to", on="id")
    db.index("link", "reverse")
    return db


def clicked(db: hexgraph.Database) -> tuple[list[float], list[float]]:
    """Expand nodes of a small view by the mouse; return the times on the page, and those in Python."""
    found = db.query("{ q(func: has(link), first: 20) { uid name group } }")
    view = hexgraph.GraphView(found, db=db, nodes=20)
    page_times, python_times = [], []
    with browser.served(view._live) as (url, bridge), browser.opened(url) as page:
        page.wait("window.drawn")
        for at in range(20):
            count = len(view._subgraph.nodes)
            side = page.value("(() => { const v = document.querySelector('.hexgraph-view');"
                              " return [v.clientWidth, v.clientHeight] })()")
            scale = min(side) - 60
            x, y = (1 + one / 2 + (two - 0.5) * scale for one, two in zip(side, view._positions[at], strict=True))
            page.value("window.start = 0; addEventListener('dblclick', () => { window.start ="
                       " performance.now() }, {capture: true, once: true})")
            page.value("window.end = 0; (() => { const v = document.querySelector('.hexgraph-view');"
                       " const it = new MutationObserver(() => { if (v.dataset.nodes !== '" + str(count) + "')"
                       " { it.disconnect(); window.end = performance.now() } }); it.observe(v,"
                       " {attributes: true}) })()")
            page.click(x, y, times=2)
            page.wait("window.asked === 0 && window.start")
            if len(view._subgraph.nodes) > count:
                page.wait("window.end > window.start")
                page_times.append(page.value("window.end - window.start"))
                python_times.append(bridge.seconds * 1e3)
    return page_times, python_times


def main() -> None:
    """Print the figures."""
    picture, query = [*sys.argv[1:], ""][0], "?2d" if "2d" in sys.argv[2:] else ""
    db = graph()
    began = time.perf_counter()
    found = db.query("{ q(func: has(name)) { uid name group link { uid name group } } }")
    view = hexgraph.GraphView(found, db=db, nodes=NODES, color="group")
    live = view._live
    print(f"{view!r}: {time.perf_counter() - began:.2f} s in Python, of which", end=" ")
    began = time.perf_counter()
    del view.__dict__["_places"]
    _ = view._positions
    print(f"{time.perf_counter() - began:.2f} s for the places")
    with browser.served(live) as (url, _), browser.opened(url + query) as page:
        drawn = page.wait("window.drawn")
        renderer = page.value("document.querySelector('[data-renderer]').dataset.renderer")
        gpu = page.value("(() => { const gl = document.createElement('canvas').getContext('webgl2'); if (!gl) return"
                         " 'none'; const it = gl.getExtension('WEBGL_debug_renderer_info');"
                         " return gl.getParameter(it ? it.UNMASKED_RENDERER_WEBGL : gl.RENDERER) })()")
        print(f"{renderer} ({gpu})")
        print(f"set up in {page.value('window.set_up'):.0f} ms, all pixels after {drawn:.0f} ms")
        before = page.busy()
        times = sorted(page.value(MOVE))
        busy = (page.busy() - before) * 1e3 / FRAMES
        print(f"main thread {busy:.1f} ms a frame; frames apart {statistics.median(times):.1f} ms (median),"
              f" {times[int(len(times) * 0.95)]:.1f} ms (95 %)")
        if picture:
            page.value("document.querySelector('[aria-label=\"see all\"]').click()")
            page.value("new Promise(requestAnimationFrame)")
            page.picture(picture)
        assert page.faults == []
    page_times, python_times = clicked(db)
    print(f"{len(page_times)} double clicks: {statistics.median(page_times):.1f} ms on the page (median),"
          f" at most {max(page_times):.1f} ms; in Python {statistics.median(python_times):.1f} ms,"
          f" at most {max(python_times):.1f} ms")


if __name__ == "__main__":
    main()
