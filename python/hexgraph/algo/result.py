"""The result of an algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ..errors import NotConvergedWarning, SchemaError, about, warn_of
from ..frames import missing, to_pandas, to_polars
from ..schemas.definitions import definitions_in
from .printed import Printed, to_html, to_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy
    import pandas
    import polars

    from .._native import ArrowTable, Database, LoadReport, Result

Rounds: TypeAlias = "tuple[int, float | None, bool | None]"
"""The rounds, what the last one has changed, and whether that is less than the tolerance."""

UIDS_AT_ONCE = 200_000
"""The nodes whose fields one query reads: no longer is a text that a query may have."""

BARS = 10
"""The bars of a histogram."""

BAR_WIDTH = 40
"""The characters of the longest bar."""


class AlgorithmResult:
    r"""The result of an algorithm: a table with a row for each node, pair, or node of a path.

    Its columns are `path` (the number of a path), `uid`, `to` (the second node of a pair), `xid`
    (if nodes have one), and the numbers or vectors under the name of the algorithm. Uids are
    strings, as in query results, so that you can join the frames of both; arrays have numbers.
    Every Arrow library can read it. On a `hexgraph.Graph` the column of nodes is `node`, with
    numbers. Printing shows the ten greatest numbers, as `top`, with the label of each node (`name`,
    `title`, …), or the first nodes if the numbers are groups.

    >>> import hexgraph
    >>> db = hexgraph.connect()
    >>> _ = db.mutate(set='<1> <follows> <3> .\n<2> <follows> <3> .\n<3> <name> "Eve" .')
    >>> db.algo.degree("follows", direction="in")
    uid  name  degree
    0x3   Eve       2
    0x1     -       0
    0x2     -       0
    >>> db.algo.components("follows")
    uid  name  components
    0x1     -           0
    0x2     -           0
    0x3   Eve           0
    """

    def __init__(
        self, db: Database | None, name: str, table: ArrowTable, how: Rounds = (0, None, None)
    ) -> None:
        """Wrap the table of an algorithm's result; warn if it did not converge."""
        self._db = db
        self._table = table
        self.name = name
        self.rounds, self._residual, self._converged = how
        """The number of rounds; 0 if the algorithm has none."""
        if self._converged is False:
            warn_of([NotConvergedWarning(self._unconverged(), "not_converged")])

    @property
    def converged(self) -> bool | None:
        """Whether the last round changed the numbers by less than the tolerance.

        False comes with a `hexgraph.NotConvergedWarning`: the maximum number of rounds was reached.
        None if the algorithm has no tolerance, or the tolerance is 0, so that all rounds run.

        >>> import hexgraph
        >>> graph = hexgraph.Graph([1, 2, 3, 3], [2, 3, 1, 4], directed=False)
        >>> graph.algo.eigenvector().converged
        True
        """
        return self._converged

    def _unconverged(self) -> str:
        rounds = "round" if self.rounds == 1 else "rounds"
        return (
            f"{self.name} did not converge: after {self.rounds} {rounds} the last one still changed"
            f" all numbers by {self._residual:.1e} together; iterations={10 * self.rounds} makes"
            " more, and a greater tolerance= waits for less"
        )

    @property
    def columns(self) -> list[str]:
        r"""The names of the columns.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <follows> <3> .\n<2> <follows> <3> .")
        >>> db.algo.components("follows").columns
        ['uid', 'components']
        """
        return self._table.column_names

    @property
    def value(self) -> float:
        """The number of an algorithm that has one for the entire graph.

        >>> import hexgraph
        >>> graph = hexgraph.Graph([1, 2, 3, 4], [2, 3, 1, 5], directed=False)
        >>> graph.algo.modularity(groups=graph.algo.components()).value
        0.375
        """
        if self.columns != [self.name] or len(self) != 1:
            raise ValueError(f"{self.name} gives no single number: use `rows()` or a frame")
        number: float = self._column(self.name)[0]
        return number

    def to_arrow(self, *fields: str) -> ArrowTable:
        """Return the table in Arrow's layout, for `pyarrow.table` and similar.

        `fields` are fields of the nodes in the column `uid`, as in `top`; they become further
        columns.

        >>> import hexgraph
        >>> hexgraph.Graph([1, 2], [2, 3]).algo.bfs(source=1).to_arrow()
        <hexgraph.ArrowTable: 3 rows, columns node: Int64, bfs: Int64>
        """
        table = self._table
        if fields:
            given = self._column("uid") if "uid" in self.columns else []
            nodes = sorted(set(given), key=lambda uid: (len(uid), uid))
            starts = range(0, max(len(nodes), 1), UIDS_AT_ONCE)
            answers = [self._query(nodes[start : start + UIDS_AT_ONCE], fields) for start in starts]
            table = table._with_fields([answer.to_arrow() for answer in answers])
        return table._with_text_uids()

    def to_polars(self, *fields: str) -> polars.DataFrame:
        """Return the table as a polars.DataFrame, with `fields` of the nodes as in `to_arrow`.

        >>> import hexgraph
        >>> graph = hexgraph.Graph([1, 2], [2, 3])
        >>> graph.algo.bfs(source=1).to_polars().sort("bfs", descending=True).rows()
        [(3, 2), (2, 1), (1, 0)]
        """
        return to_polars(self.to_arrow(*fields))

    def to_pandas(self, *fields: str) -> pandas.DataFrame:
        """Return the table as a pandas.DataFrame, with nullable types if values are missing.

        `fields` are as in `to_arrow`.

        >>> import hexgraph
        >>> graph = hexgraph.Graph([1, 2], [2, 3])
        >>> graph.algo.bfs(source=1).to_pandas().set_index("node")["bfs"].to_dict()
        {1: 0, 2: 1, 3: 2}
        """
        return to_pandas(self.to_arrow(*fields))

    def to_numpy(self) -> numpy.ndarray[Any, Any]:
        """Return the numbers as an array, in the order of the uids. A missing one is NaN.

        Vectors are an array with a row for each node. Paths are an array with a row for each path:
        its nodes, padded with 0 (on a `hexgraph.Graph` -1).

        >>> import hexgraph
        >>> graph = hexgraph.Graph([1, 2, 4], [2, 3, 5])
        >>> graph.algo.bfs(source=1).to_numpy()
        array([ 0.,  1.,  2., nan, nan])
        >>> graph.algo.fastrp(dimensions=8).to_numpy().shape
        (5, 8)
        """
        try:
            import numpy
        except ImportError as error:
            raise missing("numpy") from error
        vectors = self._table._vectors(self.name) if self.name in self.columns else None
        if vectors is not None:
            length, numbers = vectors
            made: numpy.ndarray[Any, Any] = numpy.frombuffer(numbers, "float32")
            return made.reshape(-1, length)
        has_paths = "path" in self.columns
        column = self._node if has_paths or self.name not in self.columns else self.name
        array = self._array(column)
        if not has_paths:
            return array
        paths = self._array("path")
        lengths = numpy.bincount(paths) if len(paths) else numpy.zeros(0, dtype="int64")
        positions = numpy.arange(len(paths)) - numpy.repeat(lengths.cumsum() - lengths, lengths)
        shape = (len(lengths), int(lengths.max(initial=0)))
        made = numpy.full(shape, 0 if column == "uid" else -1, dtype=array.dtype)
        made[paths, positions] = array
        return made

    def _array(self, name: str) -> numpy.ndarray[Any, Any]:
        """Return the numbers of a column as a zero-copy array. A missing one is NaN."""
        import numpy

        numbers = self._table._numbers(name)
        if numbers is None:
            raise KeyError(name)
        kind, buffer = numbers
        return cast("numpy.ndarray[Any, Any]", numpy.frombuffer(buffer, dtype=kind))

    def paths(self) -> list[tuple[float, list[Any]]]:
        """Return the paths, each as the distance from its first node to its last, and its nodes.

        The distance of a walk is the number of its edges.

        >>> import hexgraph
        >>> graph = hexgraph.Graph([1, 2, 1], [2, 3, 3], weights=[1, 2, 5])
        >>> graph.algo.k_shortest(source=1, target=3, k=2).paths()
        [(3.0, [1, 2, 3]), (5.0, [1, 3])]
        """
        if "path" not in self.columns:
            raise ValueError(f"{self.name} gives no paths: use `rows()` or a frame")
        paths: list[tuple[float, list[Any]]] = []
        columns = (self._column(name) for name in ("path", self._node, self.name))
        for path, node, distance in zip(*columns, strict=True):
            nodes = paths[path][1] if path < len(paths) else []
            nodes.append(node)
            paths[path:] = [(distance, nodes)]
        return paths

    def rows(self) -> list[tuple[Any, ...]]:
        r"""Return the rows as tuples. A uid is a string.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <follows> <2> .\n<2> <follows> <3> .")
        >>> db.algo.bfs("follows", source="0x1").rows()
        [('0x1', 0), ('0x2', 1), ('0x3', 2)]
        """
        columns = [self._column(name) for name in self.columns]
        return list(zip(*columns, strict=True))

    def to_dict(self) -> dict[str, Any]:
        r"""Return the number of each node by its uid; missing ones are None.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <follows> <2> .\n<4> <follows> <3> .")
        >>> db.algo.bfs("follows", source="0x1").to_dict()
        {'0x1': 0, '0x2': 1, '0x3': None, '0x4': None}
        """
        if not self._is_by_node:
            raise ValueError(f"{self.name} gives no number for each node: use `rows()`")
        return dict(zip(self._column(self._node), self._column(self.name), strict=True))

    @property
    def _node(self) -> str:
        """The column of the nodes."""
        return "node" if "node" in self.columns else "uid"

    @property
    def _is_by_node(self) -> bool:
        """Whether there is a number or a vector for each node."""
        names = set(self.columns)
        return {self.name, self._node} <= names and not names & {"to", "path"}

    @property
    def _is_ranked(self) -> bool:
        """Whether there is a number for each node, and no vector."""
        return self._is_by_node and self._table._vectors(self.name) is None

    def top(self, count: int = 10, *fields: str) -> list[dict[str, Any]]:
        r"""Return the `count` rows with the greatest numbers as dicts, the greatest first.

        `fields` are fields of the nodes: predicates, as in a selection of DQL (`name`, `name@en`,
        `friend { name }`). Of equal numbers the lesser uid comes first. Nodes without numbers, such
        as articulation points, are in the order of their uids.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set='<1> <follows> <3> .\n<2> <follows> <3> .\n<3> <name> "Eve" .')
        >>> db.algo.degree("follows", direction="in").top(1, "name")
        [{'uid': '0x3', 'name': 'Eve', 'degree': 2.0}]
        """
        count = max(count, 0)
        if self.name in self.columns:
            self._check_numbers()
            table = self._table._greatest(self.name, count)
        else:
            table = self._table._first(count)
        names = self.columns
        rows = [dict(zip(names, row, strict=True)) for row in table._with_text_uids().rows()]
        if fields:
            answer = self._query((row["uid"] for row in rows), fields)
            fetched = {node["uid"]: node for node in answer}
            rows = [{**fetched.get(row["uid"], {}), **row} for row in rows]
        return rows

    def _query(self, uids: Iterable[str], fields: Sequence[str]) -> Result:
        """Query fields of nodes."""
        if self._db is None:
            raise TypeError("a graph of arrays has no predicates to read")
        if "uid" not in self.columns:
            raise ValueError(f"{self.name} gives no nodes whose fields could be read")
        # An answer without rows has its columns, too.
        root = f"uid({', '.join(uids)})"
        root = "uid(1)) @filter(not uid(1)" if root == "uid()" else root
        with about(f"the fields {' '.join(fields)!r}"):
            return self._db.query(f"{{ q(func: {root}) {{ uid {' '.join(fields)} }} }}")

    def histogram(self, bars: int = BARS) -> str:
        """Return the distribution of the numbers as text: a bar for each of `bars` ranges.

        >>> import hexgraph
        >>> graph = hexgraph.Graph([1, 2, 3, 4], [5, 5, 5, 1])
        >>> print(graph.algo.degree(direction="in").histogram())
                   0 ████████████████████████████████████████ 3
                   1 ██████████████ 1
                   2  0
                   3 ██████████████ 1
        """
        numbers = [number for number in self._numbers() if number is not None]
        if not numbers:
            return "no numbers"
        low, high = min(numbers), max(numbers)
        width = (high - low) / bars if high > low else 1
        count = bars if high > low else 1
        if all(number == int(number) for number in numbers):
            # A bar has integers, as many as each other: ones of 0.9 would leave gaps.
            width = -(-(high - low + 1) // bars)
            count = int(-(-(high - low + 1) // width))
        counts = [0] * count
        for number in numbers:
            counts[min(int((number - low) / width), len(counts) - 1)] += 1
        most = max(counts)
        lines = []
        for position, count in enumerate(counts):
            start = low + position * width
            bar = "█" * -(-count * BAR_WIDTH // most)
            lines.append(f"{start:>12.6g} {bar} {count}".rstrip())
        return "\n".join(lines)

    def store(self, predicate: str, *, index: bool = False) -> LoadReport:
        r"""Write the numbers as the values of `predicate`, in one commit.

        The predicate is an int, a float or a vector if it is not there yet; `index=True` indexes
        it, so that DQL and GraphQL find and order nodes by it, and `similar_to` finds the nearest
        vectors, by their cosine. An existing one retains its indexes and directives. Nodes without
        a number are left as they are.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set="<1> <follows> <3> .\n<2> <follows> <3> .")
        >>> _ = db.algo.degree("follows", direction="in").store("followers", index=True)
        >>> db.query("{ q(func: gt(followers, 1)) { uid followers } }").rows()
        [('0x3', 2.0)]

        Raises SchemaError for a predicate that has another type.
        """
        if self._db is None:
            raise TypeError("a graph of arrays has no database to store to")
        if not self._is_by_node:
            raise ValueError(
                f"{self.name} gives no number for each node, so there is none to store"
            )
        columns = {name: None for name in self.columns if name not in ("uid", self.name)}
        db = self._db
        return db.load_nodes(
            self._table,
            id="uid",
            uid=True,
            columns={**columns, self.name: predicate},
            schema=self._definition(predicate, db.schema(), index=index),
        )

    def _definition(self, predicate: str, schema: str, *, index: bool) -> str:
        """Return the line of the schema of a predicate that is to have the numbers.

        An existing one has other readers, too: it retains its type and its directives.
        """
        of_type, indexed = "float32vector", 'hnsw(metric: "cosine")'
        if self._table._vectors(self.name) is None:
            kinds = {name: kind for name, kind, *_ in self._table._first(0).columns()}
            of_type = indexed = "int" if kinds[self.name] == "int64" else "float"
        definition = definitions_in(schema).get(predicate, of_type)
        has = definition.split(" ", 1)[0]
        if has != of_type:
            raise SchemaError(
                f"`{predicate}` has the type {has}, and what {self.name} gives is {of_type}",
                hint="store it under another name, or drop that predicate first",
            )
        more = f" @index({indexed})" if index and "@index(" not in definition else ""
        return f"<{predicate}>: {definition}{more} ."

    def _numbers(self) -> list[Any]:
        self._check_numbers()
        return self._column(self.name)

    def _check_numbers(self) -> None:
        """Raise ValueError where there are no numbers to be compared."""
        is_vector = self.name in self.columns and self._table._vectors(self.name) is not None
        if self.name not in self.columns or is_vector:
            given = "vectors, which have no order" if is_vector else "nodes without numbers"
            raise ValueError(f"{self.name} gives {given}: use `rows()` or a frame")

    def _column(self, name: str) -> list[Any]:
        import struct

        column = self._table._column(name)
        if column is None:
            raise KeyError(name)
        kind, values, gaps = column
        if isinstance(values, bytes):
            letter = {"int64": "q", "uint64": "Q", "float64": "d"}[kind]
            cells = list(struct.unpack(f"={len(values) // 8}{letter}", values))
        else:
            cells = values
        if kind == "uint64":
            return [hex(uid) for uid in cells]
        pairs = zip(cells, gaps, strict=True)
        return [None if is_missing else value for value, is_missing in pairs]

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Hand out the table as an Arrow stream."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._table)

    @property
    def _shown(self) -> Printed:
        return Printed(self._db, self._table, self.name, self._is_ranked)

    def __repr__(self) -> str:
        """Show the first rows, the greatest numbers before others, and how many there are."""
        return to_text(self._shown)

    def _repr_html_(self) -> str:
        return to_html(self._shown)
