"""The live view of a graph: an anywidget. Its front end is made from `widget/` by `make widget`.

The front end sends and receives messages, and each is checked: what it may do is to
select nodes of the view, to request their values, and to expand one, which is a query that reads.
"""

from __future__ import annotations

from array import array
from pathlib import Path
from sys import byteorder
from typing import Any, Protocol

import anywidget
import traitlets

from ..errors import Error
from .drawing import shortened
from .graph import Node, Subgraph
from .still import colours_of, label_of, radii_of

FRONT_END = Path(__file__).parent / "static" / "graph.js"
LABEL_LETTERS = 80
LEGEND_LETTERS = 40
KINDS = ("about", "expand")


def synced(kind: Any) -> Any:
    """Return a trait that the front end has, too."""
    return kind.tag(sync=True)


class Viewed(Protocol):
    """What a live view shows and calls of a `GraphView`, which makes it."""

    _subgraph: Subgraph
    _db: Any
    _keys: tuple[str | None, str | None, str | None]
    _space: tuple[int, int]
    _selected: list[str]

    @property
    def _positions(self) -> list[tuple[float, float]]: ...

    def expand(self, uid: str) -> int:
        """Add neighbours of a node."""

    def _choose(self, keys: list[str]) -> None: ...

    def _summary(self) -> str: ...

    def _describe(self, at: int) -> list[tuple[str, str]]: ...


class Live(anywidget.AnyWidget):
    """What the front end knows of a view: see `Traits` in `widget/src/model.ts`."""

    _esm = FRONT_END.read_text(encoding="utf-8")
    graph = synced(traitlets.Dict())
    added = synced(traitlets.List())
    legend = synced(traitlets.List())
    chosen = synced(traitlets.List())
    told = synced(traitlets.Unicode())
    height = synced(traitlets.Int())
    can_expand = synced(traitlets.Bool())

    def __init__(self, view: Viewed) -> None:
        self._view = view
        nodes = list(view._subgraph.nodes.values())
        self._radii = radii_of(nodes, view._keys[2])
        self._colour_of, legend = colours_of(nodes, view._keys[1])
        super().__init__(
            graph=self._part(0, 0),
            legend=[[shortened(words, LEGEND_LETTERS), colour] for words, colour in legend],
            chosen=self._numbers(view._selected),
            told=view._summary(),
            height=view._space[1],
            can_expand=view._db is not None,
        )
        self.on_msg(self._receive)
        self.observe(self._was_chosen, "chosen")

    def show_added(self, nodes: int, edges: int) -> None:
        """Show the nodes and edges that the view has after the first `nodes` and `edges`."""
        if len(self._view._subgraph.nodes) > nodes or len(self._view._subgraph.edges) > edges:
            self.added = [*self.added, self._part(nodes, edges)]
        self.told = self._view._summary()

    def show_chosen(self, keys: list[str]) -> None:
        """Show which nodes are selected."""
        self.chosen = self._numbers(keys)

    def set_state(self, sync_data: Any) -> None:
        """Receive from the front end what it may change: which nodes are selected."""
        super().set_state({key: it for key, it in sync_data.items() if key == "chosen"})

    @traitlets.validate("chosen")
    def _check_chosen(self, proposal: Any) -> list[int]:
        count = len(self._view._subgraph.nodes)
        given = proposal["value"]
        if len(given) > count or not all(is_number_of(it, count) for it in given):
            raise traitlets.TraitError(
                f"what is chosen are numbers of nodes, from 0 to {count - 1}"
            )
        return sorted(set(given))

    def _was_chosen(self, change: Any) -> None:
        keys = list(self._view._subgraph.nodes)
        self._view._choose([keys[at] for at in change["new"]])

    def _numbers(self, keys: list[str]) -> list[int]:
        number = {key: at for at, key in enumerate(self._view._subgraph.nodes)}
        return sorted(number[key] for key in keys)

    def _receive(self, _: Any, content: Any, buffers: Any) -> None:
        """Answer a question of the front end."""
        fault = self._fault_of(content, buffers)
        if fault:
            self._notify(f"hexgraph: {fault}")
        elif content["kind"] == "about":
            rows = self._view._describe(content["node"])
            self.send({"kind": "about", "node": content["node"], "rows": rows})
        else:
            self._expand(content["node"])

    def _fault_of(self, content: Any, buffers: Any) -> str:
        """Return errors of a message; "" where nothing is."""
        if not isinstance(content, dict) or set(content) != {"kind", "node"} or buffers:
            return "a message is an object with `kind` and `node`"
        if content["kind"] not in KINDS:
            return f"the kinds of messages are {' and '.join(KINDS)}"
        count = len(self._view._subgraph.nodes)
        if not is_number_of(content["node"], count):
            return f"`node` is a number from 0 to {count - 1}"
        return ""

    def _expand(self, at: int) -> None:
        key, node = list(self._view._subgraph.nodes.items())[at]
        try:
            count = self._view.expand(key)
        except Error as fault:
            self._notify(shortened(str(fault), 300))
            return
        name = shortened(label_of(node, self._view._keys[0]) or key, 40)
        text = f"{count:,} more at {name}" if count else f"there are no others at {name}"
        self._notify(f"{text} · {self._view._summary()}")

    def _notify(self, text: str) -> None:
        self.send({"kind": "told", "text": text})

    def _part(self, nodes: int, edges: int) -> dict[str, Any]:
        """Return the nodes and edges after the first ones, as the front end reads them."""
        subgraph = self._view._subgraph
        number = {key: at for at, key in enumerate(subgraph.nodes)}
        new = list(subgraph.nodes.values())[nodes:]
        most = max(self._radii, default=4.0)
        radii = self._radii if nodes == 0 else [min(4.0, most)] * len(new)
        colours = bytes.fromhex("".join(self._colour_of(node).lstrip("#") for node in new))
        endpoints = [
            number[end]
            for source, _, target in list(subgraph.edges)[edges:]
            for end in (source, target)
        ]
        return {
            "places": packed("f", [it for spot in self._view._positions[nodes:] for it in spot]),
            "sizes": packed("f", radii),
            "colours": colours,
            "edges": packed("I", endpoints),
            "labels": [self._label(node) for node in new],
        }

    def _label(self, node: Node) -> str:
        words = label_of(node, self._view._keys[0])
        return shortened(words[:1000], LABEL_LETTERS)


def is_number_of(value: Any, count: int) -> bool:
    """Whether a value is an integer from 0 on, less than a count."""
    return type(value) is int and 0 <= value < count


def packed(kind: str, values: list[Any]) -> bytes:
    """Return numbers of 32 bits, little-endian."""
    made = array(kind, values)
    if byteorder == "big":
        made.byteswap()
    return made.tobytes()
