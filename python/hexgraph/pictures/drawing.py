"""What all pictures are made of."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..homes import expanded

COLOURS = (
    "#4477aa",
    "#ee6677",
    "#228833",
    "#ccbb44",
    "#66ccee",
    "#aa3377",
    "#ee8866",
    "#44bb99",
)
"""Different also for most who do not see all colours (Paul Tol's bright scheme, and two more)."""

OTHER = "#bbbbbb"
"""The colour of what has none of its own."""

INK, MUTED, LINE = "#24292f", "#6e7781", "#d0d7de"

FONT = "Inter, Segoe UI, Helvetica, Arial, sans-serif"
MONO = "DejaVu Sans Mono, Menlo, Consolas, monospace"

MONO_WIDTH = 0.602
"""The width of a letter of `MONO`, as a part of the size of the font."""


_NO_TEXT = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that no XML may have, however they are written."""


class Picture:
    """An SVG: notebooks show it, `save` writes it to a file.

    >>> import hexgraph
    >>> db = hexgraph.connect()
    >>> _ = db.mutate(set="<1> <knows> <2> .")
    >>> picture = hexgraph.widget.degrees(db, "knows")
    >>> picture.svg.startswith("<svg")
    True
    """

    def __init__(self, svg: str) -> None:
        self.svg = svg
        """The text of the picture."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file, as SVG.

        Raises OSError where it can't be written.

        >>> import hexgraph, pathlib, tempfile
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <knows> <2> .")
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "degrees.svg"
        >>> hexgraph.widget.degrees(db, "knows").save(file)
        >>> file.read_text().startswith("<svg")
        True
        """
        Path(expanded(path)).write_text(self.svg, encoding="utf-8")

    def __repr__(self) -> str:
        return f"<hexgraph picture: {len(self.svg):,} characters of SVG>"

    def _repr_svg_(self) -> str:
        return self.svg


def element(name: str, *inside: str, **attributes: Any) -> str:
    """Return an element; `_` in the name of an attribute represents `-`, None leaves one out."""
    pairs = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(number(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{pairs}>{''.join(inside)}</{name}>" if inside else f"<{name}{pairs}/>"


def escape(words: str) -> str:
    """Return a text as it may occur in a picture: a mark for each character that XML can't have."""
    return html.escape(_NO_TEXT.sub("\ufffd", words))


def number(value: Any) -> str:
    """Return an attribute as text; floats have two digits after the point at most."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def text(words: str, x: float, y: float, **attributes: Any) -> str:
    """Return a line of text that begins at a position."""
    return element("text", escape(words), x=float(x), y=float(y), **attributes)


def canvas(width: float, height: float, parts: Iterable[str], title: str) -> str:
    """Return a complete picture on a white ground, which shrinks with the page that it is on."""
    ground = element("rect", width="100%", height="100%", fill="#ffffff")
    return element(
        "svg",
        element("title", escape(title)),
        ground,
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(float(width))} {number(float(height))}",
        width=float(width),
        height=float(height),
        font_family=FONT,
        font_size=12,
        fill=INK,
        role="img",
        style="max-width: 100%; height: auto",
    )


def shortened(words: str, most: int) -> str:
    """Return the beginning of a text, with a mark where more was left out."""
    words = " ".join(words.split())
    return words if len(words) <= most else words[: most - 1] + "…"
