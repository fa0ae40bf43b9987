"""A headless Chromium: a page of it, and a live view as the page.

Of the live view the front end is as it is, with Python behind it and HTTP between them. Only the
transport of a notebook is left out: what the front end says goes to the widget's handlers, and what
the widget says comes back with the answer. The browser is led by its own protocol, so that the
mouse is a mouse.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import urlopen

from websockets.sync.client import connect

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
"""The browser; None where there is none."""

PAGE = """<!doctype html><meta charset="utf-8"><title>view</title>
<style>body { margin: 0; background: #fff }</style><div id="place" style="width: 900px"></div>
<script type="module">
import front from "/graph.js";
const revive = (it) => Array.isArray(it) ? it.map(revive)
  : it && typeof it === "object" ? (it.$bytes !== undefined
    ? new DataView(Uint8Array.from(atob(it.$bytes), (c) => c.charCodeAt(0)).buffer)
    : Object.fromEntries(Object.entries(it).map(([key, value]) => [key, revive(value)])))
  : it;
const state = revive(await (await fetch("/state")).json());
const followers = new Map();
const tell = (event, content) => (followers.get(event) ?? []).forEach((call) => call(content));
let changed = {};
window.asked = 0;
async function post(message) {
  window.asked += 1;
  const body = JSON.stringify(message);
  const answer = await fetch("/message", { method: "POST", body });
  for (const said of revive(await answer.json())) {
    if (said.method === "custom") tell("msg:custom", said.content);
    else for (const [key, value] of Object.entries(said.state)) {
      state[key] = value;
      tell(`change:${key}`);
    }
  }
  window.asked -= 1;
}
const model = {
  get: (key) => state[key],
  set: (key, value) => { state[key] = value; changed[key] = value; },
  save_changes: () => {
    const now = changed;
    changed = {};
    post({ method: "update", state: now });
  },
  send: (content) => post({ method: "custom", content }),
  on: (event, call) => followers.set(event, [...(followers.get(event) ?? []), call]),
  off: (event, call) =>
    followers.set(event, (followers.get(event) ?? []).filter((it) => it !== call)),
};
if (location.search === "?2d") HTMLCanvasElement.prototype.getContext = ((before) =>
  function (kind, ...more) { return kind === "webgl2" ? null : before.call(this, kind, ...more); }
)(HTMLCanvasElement.prototype.getContext);
window.began = performance.now();
window.close_view = front.render({ model, el: document.getElementById("place") });
window.set_up = performance.now() - window.began;
const seen = () => document.querySelector("[data-nodes]") ? setTimeout(() => {
  const gl = document.querySelector("canvas").getContext("webgl2");
  if (gl) gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
  window.drawn = performance.now() - window.began;
}) : requestAnimationFrame(seen);
requestAnimationFrame(seen);
</script>"""


def plain(value):
    """Return a value as JSON has it, with bytes as text."""
    if isinstance(value, bytes | memoryview):
        return {"$bytes": base64.b64encode(value).decode()}
    if isinstance(value, dict):
        return {key: plain(it) for key, it in value.items()}
    return [plain(it) for it in value] if isinstance(value, list | tuple) else value


class Bridge:
    """What stands between a widget and its front end: messages there and back."""

    def __init__(self, live) -> None:
        self.live = live
        self.said = []
        self.seconds = 0.0
        live.send_state = self._state
        live.send = lambda content: self._say({"method": "custom", "content": content})

    def _say(self, message):
        self.said.append(plain(message))

    def _state(self, key=None):
        keys = [key] if isinstance(key, str) else list(key or self.live.keys)
        self._say({"method": "update", "state": {it: getattr(self.live, it) for it in keys}})

    def forward(self, message, buffers=()):
        """Give the widget a message of the front end, and return what it says to it."""
        self.said = []
        began = time.perf_counter()
        data = {**message, "buffer_paths": []}
        self.live._handle_msg({"content": {"data": data}, "buffers": list(buffers)})
        self.seconds = time.perf_counter() - began
        return self.said


class BrowserError(AssertionError):
    """The browser can't execute a command."""


class Browser:
    """A page of the browser."""

    def __init__(self, socket) -> None:
        self.socket = socket
        self.number = 0
        self.faults = []
        self.requests = []
        """The addresses of all requests, once the domain `Network` is enabled."""

    def call(self, method, **given):
        """Call a method of the browser's protocol."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": given}))
        while True:
            answer = json.loads(self.socket.recv(timeout=60))
            if answer.get("method") == "Runtime.exceptionThrown":
                self.faults.append(answer["params"]["exceptionDetails"])
            if answer.get("method") == "Network.requestWillBeSent":
                self.requests.append(answer["params"]["request"]["url"])
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise BrowserError(answer["error"])
                return answer["result"]

    def value(self, expression):
        """Return what an expression of JavaScript gives, also when that is a promise."""
        given = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        answer = self.call("Runtime.evaluate", **given)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait(self, expression, seconds=30):
        """Wait until an expression holds, and return its value."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            # While the page is replaced by another one, there is nothing to evaluate in.
            with suppress(BrowserError):
                value = self.value(expression)
                if value:
                    return value
            time.sleep(0.01)
        raise AssertionError(f"{expression} did not come true in {seconds} s: {self.faults}")

    def mouse(self, kind, x, y, clicks=0, modifiers=0):
        """Move, press or release the mouse."""
        held = {"button": "left", "buttons": 1} if kind != "mouseMoved" or clicks else {}
        given = {"type": kind, "x": x, "y": y, "clickCount": clicks, "modifiers": modifiers}
        self.call("Input.dispatchMouseEvent", **given, **held)

    def click(self, x, y, times=1):
        """Click once or twice."""
        self.mouse("mouseMoved", x, y)
        for number in range(1, times + 1):
            self.mouse("mousePressed", x, y, number)
            self.mouse("mouseReleased", x, y, number)

    def drag(self, start, end, modifiers=0):
        """Press, move in steps and release."""
        self.mouse("mouseMoved", *start)
        self.mouse("mousePressed", *start, 1, modifiers)
        for step in range(1, 11):
            at = [one + (two - one) * step / 10 for one, two in zip(start, end, strict=True)]
            self.mouse("mouseMoved", *at, 1, modifiers)
        self.mouse("mouseReleased", *end, 1, modifiers)

    def key(self, key, code=0, modifiers=0):
        """Press a key: 1 is Alt, 2 Ctrl and 8 Shift."""
        given = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        self.call("Input.dispatchKeyEvent", type="rawKeyDown", **given)
        self.call("Input.dispatchKeyEvent", type="keyUp", **given)

    def write(self, text):
        """Type a text where the cursor is."""
        self.call("Input.insertText", text=text)

    def press(self, selector):
        """Click an element."""
        position = f"document.querySelector({json.dumps(selector)})"
        box = self.wait(
            f"(() => {{ const it = {position}; if (!it) return null; it.scrollIntoViewIfNeeded?.();"
            " const box = it.getBoundingClientRect();"
            " return box.width ? [box.x + box.width / 2, box.y + box.height / 2] : null; })()"
        )
        self.click(*box)

    def picture(self, path):
        """Write what is seen to a file, and return its bytes."""
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        Path(path).write_bytes(data)
        return data

    def busy(self):
        """Return the seconds that the main thread of the page has worked."""
        metrics = self.call("Performance.getMetrics")["metrics"]
        return next(it["value"] for it in metrics if it["name"] == "TaskDuration")


@contextmanager
def served(live):
    """Serve the front end of a widget, and return its address and the bridge."""
    bridge = Bridge(live)
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path == "/state":
                names = ("graph", "added", "legend", "chosen", "told", "height", "can_expand")
                self.answer(json.dumps(plain({name: getattr(live, name) for name in names})))
            elif self.path == "/graph.js":
                self.answer(live._esm, "text/javascript")
            else:
                self.answer(PAGE, "text/html")

        def do_POST(self):
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                said = bridge.forward(message)
            self.answer(json.dumps(said))

        def answer(self, text, kind="application/json"):
            body = str(text).encode()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", bridge
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def opened(address, size=(900, 700)):
    """Open an address in a browser of its own."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        options = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--no-first-run"]
        options += ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
        options += ["--remote-debugging-port=0", f"--window-size={size[0]},{size[1]}"]
        command = [CHROMIUM, *options, f"--user-data-dir={folder}", "about:blank"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        try:
            with connect(address_of_page(process), max_size=None) as socket:
                browser = Browser(socket)
                for domain in ("Page", "Runtime", "Performance"):
                    browser.call(f"{domain}.enable")
                browser.call("Page.navigate", url=address)
                yield browser
        finally:
            process.terminate()
            process.communicate(timeout=30)


def address_of_page(process):
    """Return where the page of a browser is led that has just been started."""
    for line in process.stderr:
        if b"DevTools listening on ws://" in line:
            port = line.split(b"ws://")[1].split(b"/")[0].decode()
            break
    else:
        raise AssertionError("the browser did not start")
    threading.Thread(target=process.stderr.read, daemon=True).start()
    with urlopen(f"http://{port}/json", timeout=30) as answer:
        page = next(it for it in json.load(answer) if it["type"] == "page")
    return page["webSocketDebuggerUrl"]
