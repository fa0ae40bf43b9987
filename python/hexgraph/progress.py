"""How far a load is: a bar on a terminal and in notebooks, nothing elsewhere."""

import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

WIDTH = 30
THOUSAND, MILLION = 1e3, 1e6
PATIENCE_SECONDS = 0.5
"""A load that is done by then shows no bar."""


class Bar(Protocol):
    """What a load calls, about every 50 ms and at its end."""

    def update(self, done: int, total: int, records: int) -> None:
        """Show that `done` of `total` bytes are read, and in them so many records."""

    def close(self) -> None:
        """Remove the bar."""


class NoBar:
    """Shows nothing."""

    def update(self, done: int, total: int, records: int) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class TerminalBar:
    """Rewrites one line of the standard error."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.shown = ""

    def update(self, done: int, total: int, records: int) -> None:
        """Show how far it is."""
        seconds = time.monotonic() - self.started
        line = text(done, total, records, seconds)
        if seconds >= PATIENCE_SECONDS and line != self.shown:
            sys.stderr.write(f"\r{line:{len(self.shown)}}")
            sys.stderr.flush()
            self.shown = line

    def close(self) -> None:
        """Clear the line."""
        if self.shown:
            sys.stderr.write("\r" + " " * len(self.shown) + "\r")
            sys.stderr.flush()


class NotebookBar:
    """Updates one output of a notebook's cell. Needs IPython alone, which every notebook has."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.shown = ""
        self.handle: Any = None

    def update(self, done: int, total: int, records: int) -> None:
        """Show how far it is."""
        seconds = time.monotonic() - self.started
        line = text(done, total, records, seconds)
        if seconds < PATIENCE_SECONDS or line == self.shown:
            return
        self.shown = line
        self.show(f"<pre>{line}</pre>")

    def close(self) -> None:
        """Empty the output."""
        if self.handle is not None:
            self.show("")

    def show(self, html: str) -> None:
        """Put `html` in the output."""
        from IPython.display import HTML, display

        if self.handle is None:
            self.handle = display(HTML(html), display_id=True)
        else:
            self.handle.update(HTML(html))


class CallbackBar:
    """Calls a function, which may raise to stop the load."""

    def __init__(self, callback: Callable[[dict[str, Any]], object]) -> None:
        self.started = time.monotonic()
        self.callback = callback

    def update(self, done: int, total: int, records: int) -> None:
        """Report the progress."""
        seconds = time.monotonic() - self.started
        self.callback(
            {
                "done": done,
                "total": total,
                "records": records,
                "records_per_second": records / seconds if seconds else 0.0,
                "seconds": seconds,
                "seconds_left": seconds_left(done, total, seconds),
            }
        )

    def close(self) -> None:
        """Do nothing."""


def bar(progress: bool | Callable[[dict[str, Any]], object] | None) -> Bar:
    """Return what fits the position where this runs."""
    if progress is False:
        return NoBar()
    if callable(progress):
        return CallbackBar(progress)
    if is_notebook():
        return NotebookBar()
    return TerminalBar() if sys.stderr is not None and sys.stderr.isatty() else NoBar()


def is_notebook() -> bool:
    """Whether a notebook's kernel runs this. Does not import IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


def seconds_left(done: int, total: int, seconds: float) -> float | None:
    """Return the expected time for the rest of the bytes, if there is an estimate."""
    return seconds * (total - done) / done if 0 < done <= total else None


def text(done: int, total: int, records: int, seconds: float) -> str:
    """Return the bar as a line of text."""
    rate = f"{short(records / seconds if seconds else 0.0)} records/s"
    if not total:
        return f"{records} records, {rate}"
    fraction = done / total
    filled = round(WIDTH * fraction)
    if fraction >= 1.0:
        return f"building the graph of {records} records … {seconds:.0f} s"
    left = seconds_left(done, total, seconds)
    rest = "" if left is None else f" {left:.0f} s left"
    return f"reading [{'#' * filled}{'.' * (WIDTH - filled)}] {fraction:4.0%} {rate}{rest}"


def short(rate: float) -> str:
    """Return a number in a few characters."""
    if rate < THOUSAND:
        return f"{rate:.0f}"
    return f"{rate / THOUSAND:.0f}k" if rate < MILLION else f"{rate / MILLION:.1f}M"
