"""Methods of `Database` that are written in Python, and are put on it when hexgraph is imported.

Each imports what it needs when it is called, so that `import hexgraph` stays short.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

if TYPE_CHECKING:
    from ._native import LoadReport, Result, SchemaReport, Upsert
    from .cypher import CypherResult
    from .deleting import Deleted
    from .schemas.describing import Description
    from .schemas.profiling import Profile
    from .schemas.suggesting import Suggestion
    from .schemas.text import SchemaText

T = TypeVar("T")
"""What the work of `run` returns."""


@functools.cache
def _cypher() -> Callable[..., CypherResult]:
    """Return the function behind `cypher`; to import it in each call costs as much as a query."""
    from .cypher import cypher

    return cypher


class DatabaseMethods:
    """What `attach` puts on `Database`."""

    def load_nodes(  # noqa: PLR0913 - options by keyword
        self,
        table: Any,
        type: str | Sequence[str] | None = None,  # noqa: A002 - the word of the schema
        id: str | None = "id",  # noqa: A002 - the word of tables
        *,
        geo: str | Mapping[str, tuple[str, str]] | None = None,
        columns: Mapping[str, str | None] | Sequence[str] | None = None,
        edges: Mapping[str, str | tuple[str | None, ...]] | None = None,
        missing: Literal["make", "skip", "raise"] = "make",
        prefix: bool = False,
        types: Mapping[str, str] | None = None,
        schema: Any = None,
        xid: str | None = None,
        uid: bool = False,
        separator: str | None = None,
        encoding: str | None = None,
        header: bool | None = None,
        quote: str | None = None,
        escape: str | None = None,
        comment: str | None = None,
        skip: int | None = None,
        null_values: Sequence[str] | None = None,
        quoted_null: bool = False,
        ragged: Literal["error", "skip", "fill"] = "error",
        names: Literal["clean", "keep", "error"] = "clean",
        filename: bool | str = False,
        on_error: Literal["raise", "skip"] = "raise",
        progress: bool | Callable[[dict[str, Any]], object] | None = None,
        memory: int | str | None = None,
        **other: Any,
    ) -> LoadReport:
        """Load a table whose rows are nodes and whose columns are predicates.

        `table` is one of:

        - a list of dicts, or a dict of columns
        - a polars frame (also a lazy one), a pandas frame, a pyarrow.Table, a DuckDB relation, or
          any object with `__arrow_c_stream__`
        - the path of a .parquet, .arrow, .feather, .csv, .tsv, .txt, .edges, .json or .jsonl file;
          text formats also as .gz or .zst
        - a pattern or a folder of such files, or a list of tables
        - a networkx graph, whose nodes are the ids

        All rows become visible at once, or none.

        - `type`: the type of all the nodes, or a list of types; missing ones are defined
        - `id`: the column that identifies the node of a row, by an int or a string. It is stored in
          the predicate of its name, which gets an index and is @unique. A node that has the value
          is updated, otherwise a new node is created. With None each row is a new node
        - `xid`: the predicate that stores the ids instead. A database with ids in `xid` uses that
          by default. With `uid=True` the column has uids
        - `geo`: a predicate that gets points: `{"place": ("lat", "lon")}`, or only its name if the
          columns have these names. Geometries of shapely and GeoJSON are detected without it. For
          strings in WKT or GeoJSON it names the column
        - `columns`: a dict from column to predicate; None leaves a column out. For a text file
          without a header, a list with the names of the columns in order
        - `edges`: the columns whose cells, or list items, are ids of other nodes. They become
          edges: `{"origin": "Airport.faa"}` to the node of type Airport with this `faa`, and
          `{"dest": ("to", "Airport", "faa")}` with another predicate. A missing node is created
          with that type; `missing` changes this, as for `load_edges`
        - `prefix`: True to name predicates by type and column, as in `Airport.city`, so that no
          other type has them, too
        - `types`: the types of columns in the schema language, to override those of the table or
          those detected in a text file
        - `schema`: definitions to add first, as for `alter`
        - `separator`, `encoding` ("utf-8", "utf-16le", "utf-16be" or "windows-1252"), `quote` (the
          character around fields, "" for none) and `escape` (such as a backslash): the format of a
          text file, to override what is detected
        - `header`: whether the first record of a text file has the names of the columns; without a
          header they are `column0` and so on
        - `comment`, `skip`: the first character of comment lines, and the number of lines before
          the first record
        - `null_values`: strings of a text file that are missing values in all columns. The default
          is "n/a" and similar strings, in columns of numbers and times. An empty field in quotes is
          an empty string, or with `quoted_null=True` a missing value
        - `ragged`: how to treat records with more or fewer fields than columns: "error", "skip"
          leaves them out and reports their lines, "fill" adds missing values
        - `names`: how to treat a column whose name is not a valid predicate name, or is repeated:
          "clean" changes it, as in `First_Name` and `x_2`, and reports it; "keep" and "error"
          refuse the table
        - `filename`: True or a name for a column with the path of the file. Folders such as
          `year=2024` in a path are always columns
        - `progress`: True for a bar, or a function that is called with a dict: done and total
          bytes, records, records_per_second, seconds, seconds_left
        - `memory`: the memory limit of the load, in bytes or as "512MiB", in addition to its
          largest predicate

        A predicate that the schema does not have gets the type of its column. Times without a zone
        are in UTC. Missing values, NaN and NaT are left out.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> airports = [
        ...     {"iata": "ZRH", "city": "Zürich", "lat": 47.46, "lon": 8.55},
        ...     {"iata": "JFK", "city": "New York", "lat": 40.64, "lon": -73.78},
        ... ]
        >>> db.load_nodes(airports, "Airport", id="iata", geo="place").nodes
        2
        >>> db.query('{ q(func: near(place, [8.5, 47.4], 50000)) { iata city } }').rows()
        [('ZRH', 'Zürich')]
        >>> flights = [{"number": "LX14", "origin": "ZRH", "dest": "JFK"}]
        >>> keys = {"origin": "Airport.iata", "dest": "Airport.iata"}
        >>> _ = db.load_nodes(flights, "Flight", id="number", edges=keys)
        >>> db.query('{ q(func: type(Flight)) { number origin { city } } }').to_dict()["q"]
        [{'number': 'LX14', 'origin': {'city': 'Zürich'}}]

        Raises LoadError with row, column and value of what can't be stored, unless
        `on_error="skip"` leaves it out and reports it; SchemaError; QueryError; TypeError for an
        unsupported table. Nothing is loaded then.
        """
        from .loading import arguments

        options = {
            "geo": geo,
            "columns": columns,
            "edges": edges,
            "missing": missing,
            "prefix": prefix,
            "types": types,
            "schema": schema,
            "id": id,
            "xid": xid,
            "uid": uid,
            "separator": separator,
            "encoding": encoding,
            "header": header,
            "quote": quote,
            "escape": escape,
            "comment": comment,
            "skip": skip,
            "null_values": null_values,
            "quoted_null": quoted_null,
            "ragged": ragged,
            "names": names,
            "filename": filename,
            "on_error": on_error,
            "progress": progress,
            "memory": memory,
        }
        arguments.refuse("load_nodes", other, ["type", *options])
        report: LoadReport = arguments.load_nodes(self, table, type, options)
        return report

    def load_edges(  # noqa: PLR0913 - options by keyword
        self,
        table: Any,
        predicate: str,
        source: str | None = None,
        target: str | None = None,
        *,
        on: str | tuple[str, str] | None = None,
        facets: str | Sequence[str] | Mapping[str, str] | None = None,
        missing: Literal["make", "skip", "raise"] = "make",
        columns: Sequence[str] | None = None,
        types: Mapping[str, str] | Literal[False] | None = None,
        schema: Any = None,
        xid: str | tuple[str, str] | None = None,
        uid: bool = False,
        separator: str | None = None,
        encoding: str | None = None,
        header: bool | None = None,
        quote: str | None = None,
        escape: str | None = None,
        comment: str | None = None,
        skip: int | None = None,
        null_values: Sequence[str] | None = None,
        quoted_null: bool = False,
        ragged: Literal["error", "skip", "fill"] = "error",
        names: Literal["clean", "keep", "error"] = "clean",
        filename: bool | str = False,
        on_error: Literal["raise", "skip"] = "raise",
        progress: bool | Callable[[dict[str, Any]], object] | None = None,
        memory: int | str | None = None,
        **other: Any,
    ) -> LoadReport:
        """Load a table whose rows are edges of `predicate`, from node `source` to node `target`.

        `table` and the other options are as for `load_nodes`. The table may also be pairs of
        endpoints, `[(1, 2), (2, 3)]`, an array with two columns, or a networkx graph. A third item
        of a pair is a dict of attributes or the `weight`; name it in `facets=` to store it. An edge
        without direction points from its first endpoint to its second. In pairs and graphs,
        attributes may have the names of the endpoints.

        - `source` and `target`: the columns with the ids of the endpoints. The default is "source"
          and "target", "from" and "to", "src" and "dst", or the only two columns
        - `on`: the predicate that identifies the endpoints, which must be @unique or indexed; a
          pair if sources and targets use different ones. The default is the predicate with the name
          of the column, `xid`, or the only @unique one. (`xid` is an older name of `on`.) With
          `uid=True` the columns have uids
        - `missing`: how to treat an id that no node has: "make" creates a node, "skip" leaves the
          edge out and counts it as `lost`, "raise" refuses the load. A new node gets the type of
          the other nodes on that side of the edges, if they all have the same one; otherwise the
          report counts it as `untyped`
        - `columns`: the names of the columns of a text file without a header, in order
        - `types`: as for `load_nodes`. The types of the source nodes get the predicate as a field,
          so that `expand(_all_)` and `describe` include it. `types=False` does not change types,
          and creates nodes without a type
        - `facets`: the columns that are facets of the edges, or a dict from column to key. Other
          columns are not loaded, and `notes` of the report lists them

        A row without a source or a target is left out. Two nodes have at most one edge of a
        predicate: a second one is counted as `repeated` in the report, and the last facets win.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.load_nodes([{"iata": "ZRH"}, {"iata": "JFK"}], "Airport", id="iata")
        >>> routes = [
        ...     {"from": "ZRH", "to": "JFK", "km": 6300},
        ...     {"from": "ZRH", "to": "XXX", "km": 1},
        ... ]
        >>> report = db.load_edges(routes, "route", on="iata", facets="km", missing="skip")
        >>> report.triples, report.new_nodes, report.lost_ids
        (1, 0, ['XXX'])
        >>> db.query('{ q(func: eq(iata, "ZRH")) { route @facets { iata } } }').to_dict()
        {'q': [{'route': [{'iata': 'JFK', 'route|km': 6300}]}]}

        Raises what `load_nodes` does.
        """
        from .loading import arguments

        options = {
            "on": on,
            "facets": facets,
            "missing": missing,
            "columns": columns,
            "types": types,
            "schema": schema,
            "xid": xid,
            "uid": uid,
            "separator": separator,
            "encoding": encoding,
            "header": header,
            "quote": quote,
            "escape": escape,
            "comment": comment,
            "skip": skip,
            "null_values": null_values,
            "quoted_null": quoted_null,
            "ragged": ragged,
            "names": names,
            "filename": filename,
            "on_error": on_error,
            "progress": progress,
            "memory": memory,
        }
        arguments.refuse("load_edges", other, ["predicate", "source", "target", *options])
        report: LoadReport = arguments.load_edges(self, table, predicate, source, target, options)
        return report

    def load_graph(  # noqa: PLR0913 - options by keyword
        self,
        graph: Any,
        type: str | Sequence[str] | None = None,  # noqa: A002 - the word of the schema
        predicate: str = "edge",
        *,
        xid: str = "id",
        missing: Literal["make", "raise"] = "make",
        schema: Any = None,
        on_error: Literal["raise", "skip"] = "raise",
        progress: bool | Callable[[dict[str, Any]], object] | None = None,
        memory: int | str | None = None,
        **other: Any,
    ) -> LoadReport:
        """Load a graph: its nodes with their attributes, and its edges with theirs as facets.

        `graph` is the path of a GraphML (.graphml), GML (.gml, read by networkx) or node-link JSON
        (.json) file, optionally as .gz; a dict as of `networkx.node_link_data`; or a networkx
        graph. All of it becomes visible at once, or none.

        - `type`: the type of all nodes, or a list of types
        - `predicate`: the predicate of the edges
        - `xid`: the predicate that stores the ids of the nodes. It gets an index and is @unique, so
          an existing node gets the attributes and edges
        - `missing`: how to treat an edge to an id that is not a node of the graph: "make" creates a
          node, "raise" refuses the graph
        - `schema`, `on_error`, `progress` and `memory`: as for `load_nodes`

        Attributes have the types that the file declares. One whose name is not a valid predicate
        name, or is that of `xid`, is renamed, and the report lists it. An edge without direction
        points from its first endpoint to its second. Two nodes have at most one edge: more are
        counted as `repeated` in the report.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> graph = {
        ...     "nodes": [{"id": "ZRH", "city": "Zürich"}, {"id": "JFK", "city": "New York"}],
        ...     "links": [{"source": "ZRH", "target": "JFK", "km": 6300}],
        ... }
        >>> db.load_graph(graph, "Airport", "route").nodes
        2
        >>> db.query('{ q(func: eq(id, "ZRH")) { city route @facets { city } } }').to_dict()
        {'q': [{'city': 'Zürich', 'route': [{'city': 'New York', 'route|km': 6300}]}]}

        Raises LoadError with the line of a syntax error, SchemaError, QueryError, and TypeError for
        an unsupported graph. Nothing is loaded then.
        """
        from .loading import graphs

        options = {
            "predicate": predicate,
            "xid": xid,
            "missing": missing,
            "schema": schema,
            "on_error": on_error,
            "progress": progress,
            "memory": memory,
        }
        graphs.refuse(other, ["type", *options])
        report: LoadReport = graphs.load(self, graph, type, options)
        return report

    def run(self, work: Callable[[Any], T], *, retries: int = 10) -> T:
        """Call `work` with a transaction, commit, and return what `work` returned.

        After a conflict it is called again with a new transaction, up to `retries` times, with
        increasing pauses. So `work` must have no side effects outside of the transaction.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set='<0x1> <visits> "1"^^<xs:int> .')
        >>> def visit(txn):
        ...     (node,) = txn.query("{ q(func: uid(0x1)) { visits } }")["q"]
        ...     _ = txn.mutate(set_json={"uid": "0x1", "visits": node["visits"] + 1})
        ...     return node["visits"] + 1
        >>> db.run(visit)
        2

        Raises ConflictError if the last attempt conflicts too, and the exceptions of `work`.
        """
        from . import transactions

        return transactions.run(self, work, retries)

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a backup of the current state to a directory, while others read and write.

        `connect` opens a backup. An existing one is replaced when the new one is complete.

        >>> import hexgraph, pathlib, tempfile
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set='<0x1f> <name> "Ada" .')
        >>> copy = pathlib.Path(tempfile.mkdtemp()) / "monday"
        >>> db.backup(copy)
        >>> hexgraph.connect(copy, read_only=True).query('{ q(func: has(name)) { name } }').rows()
        [('Ada',)]
        """
        cast(Any, self).save(path)

    def describe(self) -> Description:
        """Describe the database: types, predicates with their coverage, edges between types.

        Prints, and shows in notebooks, as three tables. They are also the attributes `types`,
        `predicates` and `edges`, with `to_pandas()` and `to_polars()`. Cost: a count of each
        predicate, and of each field and each edge of each type. A type that has an edge costs a
        pass over these edges.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.load_nodes([{"iata": "ZRH", "km": 5}, {"iata": "JFK"}], "Airport", id="iata")
        >>> _ = db.load_edges([{"from": "ZRH", "to": "JFK"}], "route")
        >>> about = db.describe()
        >>> about.types.rows()
        [('Airport', 2, ['iata', 'km', 'route'])]
        >>> about.edges.rows()
        [('Airport', 'route', 'Airport', 1)]
        >>> about
        2 nodes
        <BLANKLINE>
        types
          type     nodes  fields
          Airport  2      iata, km, route
        <BLANKLINE>
        predicates
          type     predicate  definition                           nodes  coverage
          Airport  iata       string @index(hash) @upsert @unique  2      100%
          Airport  km         int                                  1      50%
          Airport  route      [uid]                                1      50%
        <BLANKLINE>
        edges
          from     predicate  to       edges
          Airport  route      Airport  1
        """
        from .schemas import describing

        return describing.describe(self)

    def profile(self, *names: str) -> Profile:
        """Profile the values: coverage, distinct values, most frequent values, histograms.

        `names` are predicates, or types for all of their fields; the default is all of them.
        Prints, and shows in notebooks with charts, as tables of predicates, degrees, memory and
        files on disk. They are also the attributes `predicates`, `degrees`, `memory` and `disk`.
        `to_pandas()` and `to_polars()` convert the first one.

        Cost: one group for each distinct value of each predicate, which takes some seconds for
        millions of values. Lists, languages, locations, vectors and passwords are only counted.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.load_nodes([{"id": n, "kind": "ab"[n % 2], "km": n * n} for n in range(4)])
        >>> table = db.profile("kind", "km").predicates
        >>> columns = dict(zip(table.column_names, zip(*table.rows())))
        >>> columns["distinct"], columns["greatest"], columns["common"][0]
        ((2, 4), ('b', '9'), ['a (2)', 'b (2)'])

        Raises SchemaError for an unknown name.
        """
        from .schemas import profiling

        return profiling.profile(self, names)

    def sql(self, query: str, parameters: Any = None, **tables: Any) -> Any:
        """Run SQL over types and edges, which DuckDB sees as tables.

        Each type is a table of its nodes: `uid`, and a column for each field that is not an edge.
        Each edge predicate is a table of `source` and `target`, which are uids. `tables` adds
        others under their names: results, frames, or any object with Arrow columns. Only the tables
        that the query names are built, from the current version. `parameters` are those of the
        query, a list for `?` or a dict for `$name`.

        Returns a DuckDB relation, with `fetchall()`, `df()`, `pl()` and `arrow()`, which can also
        be a table of another query. Needs the packages duckdb and pyarrow.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> airports = [{"iata": "ZRH", "country": "CH"}, {"iata": "GVA", "country": "CH"}]
        >>> _ = db.load_nodes(airports, "Airport", id="iata")
        >>> _ = db.load_edges([{"from": "ZRH", "to": "GVA"}], "route", on="iata")
        >>> db.sql("select country, count(*) from Airport group by country").fetchall()
        [('CH', 2)]
        >>> result = db.query("{ q(func: has(route)) { uid iata } }")
        >>> query = "select iata, count(*) from mine join route on source = uid group by iata"
        >>> db.sql(query, mine=result).fetchall()
        [('ZRH', 1)]

        Raises SchemaError for an unknown table, an Error that names the package if DuckDB is not
        installed, and DuckDB's own errors otherwise.
        """
        from .schemas import sql

        return sql.sql(self, query, tables, parameters)

    def schema(self) -> SchemaText:
        """Return the schema as text in the language of `alter`, which notebooks show as a diagram.

        The diagram has a box for each type with its predicates, how many of its nodes have them,
        and arrows for edges. It is computed when it is shown; `svg()` of the text returns it.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.alter("name: string @index(term) .")
        >>> print(db.schema(), end="")
        name: string @index(term) .
        >>> db.schema().svg().startswith("<svg")
        True
        """
        from .schemas.text import SchemaText

        return SchemaText.of(self)

    def grammar(self, format: Literal["gbnf", "lark"]) -> str:  # noqa: A002
        """Return the grammar of DQL for the schema, for language models with constrained decoding.

        "gbnf" is for llama.cpp, "lark" for outlines, guidance and llguidance. What it produces is
        a query that parses, and that this database plans. It has the predicates and types that the
        caller may read; names without a form in it are listed in its first lines, as comments.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.alter("name: string @index(exact) .")
        >>> '"name"' in db.grammar("gbnf")
        True
        """
        text: str = cast(Any, self)._grammar(format)
        return text

    def cypher(
        self, text: str, params: Any = None, *, timeout: float | None = None
    ) -> CypherResult:
        r"""Run a read-only query in openCypher on the newest version, with values of parameters.

        A label is a type, a property a predicate with values, a relationship type a predicate with
        edges, and the properties of a relationship are facets. `params` is a dict with a value for
        each `$name`. The result has `rows`, `columns`, `to_dict`, `to_arrow`, `to_pandas` and
        `to_polars`.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set='<1> <name> "Ada" .\n<1> <knows> <2> .\n<2> <name> "Bob" .')
        >>> db.cypher("MATCH (a)-[:knows]->(b) WHERE a.name = $name RETURN b.name", {"name": "Ada"})
        b.name
        ------
        Bob

        The cost grows with the walks that the patterns have. Raises ParseError with line, column
        and a hint, also for a text that would write; QueryError for an expression without a value;
        LimitError at the limits of a request or after `timeout` seconds.
        """
        return _cypher()(cast(Any, self), text, params, timeout)

    def cypher_many(
        self, text: str, table: Any, *, number: str = "row", timeout: float | None = None
    ) -> CypherResult:
        r"""Run one query in Cypher for each row of a table, all on one version, as one result.

        `table` is a list of dicts, a data frame, or Arrow columns: a column for each parameter; a
        missing value is null. Rows are in the order of the table, with the number of the row, from
        0, in the column `number`. `timeout` is for all of them.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set='<1> <name> "Ada" .\n<2> <name> "Bob" .')
        >>> text = "MATCH (n) WHERE n.name = $name RETURN id(n) AS id"
        >>> db.cypher_many(text, [{"name": "Bob"}, {"name": "Cy"}, {"name": "Ada"}]).rows()
        [(0, 2), (2, 1)]

        Raises the errors of `cypher`; TypeError for an unsupported table.
        """
        from .cypher import cypher_many

        return cypher_many(cast(Any, self), text, table, number, timeout)

    async def acypher_many(self, text: str, table: Any, **options: Any) -> CypherResult:
        """Run a query in Cypher for each row of a table as a coroutine; as `cypher_many`.

        >>> import asyncio, hexgraph
        >>> db = hexgraph.connect()
        >>> rows = [{"n": 1}, {"n": 2}]
        >>> asyncio.run(db.acypher_many("RETURN $n * 2 AS twice", rows)).rows()
        [(0, 2), (1, 4)]
        """
        from .tasks import call

        result: CypherResult = await call(cast(Any, self).cypher_many, text, table, **options)
        return result

    async def acypher(self, text: str, params: Any = None, **options: Any) -> CypherResult:
        """Run a query in Cypher as a coroutine of asyncio; as `cypher`.

        >>> import asyncio, hexgraph
        >>> db = hexgraph.connect()
        >>> asyncio.run(db.acypher("RETURN 1 + 1 AS two")).rows()
        [(2,)]
        """
        from .tasks import call

        result: CypherResult = await call(cast(Any, self).cypher, text, params, **options)
        return result

    async def aquery(self, dql: str, variables: Any = None, **options: Any) -> Result:
        """Run a query as a coroutine of asyncio; as `query`.

        The event loop continues meanwhile. When the task is cancelled, the engine stops within
        about 50 ms.

        >>> import asyncio, hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set='<1> <name> "Ada" .')
        >>> asyncio.run(db.aquery("{ q(func: has(name)) { name } }")).rows()
        [('Ada',)]
        """
        from .tasks import call

        result: Result = await call(cast(Any, self).query, dql, variables, **options)
        return result

    async def amutate(self, **mutation: Any) -> dict[str, str]:
        """Change data as a coroutine of asyncio; as `mutate`.

        If a task is cancelled during its commit, the data may or may not be changed.

        >>> import asyncio, hexgraph
        >>> db = hexgraph.connect()
        >>> asyncio.run(db.amutate(set='<1> <name> "Ada" .'))
        {}
        """
        from .tasks import call

        uids: dict[str, str] = await call(cast(Any, self).mutate, **mutation)
        return uids

    def delete(self, nodes: Any, variables: Any = None, *, timeout: float | None = None) -> Deleted:
        r"""Delete nodes with all their values, outgoing edges and incoming edges.

        Runs in one commit, whatever the types of the nodes say, with or without reverse edges in
        the schema. `nodes` is a DQL query with one block, a DQL root like `type(Person)`, a uid or
        several, a column of uids of a frame, or a result whose rows have uids. Nested nodes of a
        query are not deleted.

        Returns the numbers of deleted nodes, values and edges. Raises AccessError if the caller may
        not write one of the predicates that would change; QueryError and ParseError for a query
        that selects no nodes; LimitError at the limits of a request or after `timeout` seconds.
        Nothing is deleted then.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set='<1> <name> "Ada" .\n<2> <name> "Bob" .\n<2> <knows> <1> .')
        >>> db.delete('{ q(func: has(name)) @filter(eq(name, "Ada")) }')
        Deleted(nodes=1, values=1, edges=1)
        >>> db.delete([2, "0x3"])
        Deleted(nodes=1, values=1, edges=0)
        """
        from .deleting import delete

        return delete(cast(Any, self), nodes, variables, timeout)

    async def aupsert(self, dql: str, variables: Any = None, **mutation: Any) -> Upsert:
        """Query and change in one commit as a coroutine of asyncio; as `upsert`.

        >>> import asyncio, hexgraph
        >>> db = hexgraph.connect()
        >>> find = '{ v as var(func: eq(email, "ada@x.io")) }'
        >>> db.alter("email: string @index(exact) .").added
        ['email: string @index(exact)']
        >>> asyncio.run(db.aupsert(find, set='uid(v) <email> "ada@x.io" .'))
        <hexgraph.Upsert: 1 new node, 1 value set>
        """
        from .tasks import call

        done: Upsert = await call(cast(Any, self).upsert, dql, variables, **mutation)
        return done

    async def agraphql(self, text: str, variables: Any = None, **options: Any) -> dict[str, Any]:
        """Run a GraphQL request as a coroutine of asyncio; as `graphql`.

        >>> import asyncio, hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.graphql_schema("type Film { id: ID! title: String! }")
        >>> asyncio.run(db.agraphql("{ queryFilm { title } }"))
        {'data': {'queryFilm': []}}
        """
        from .tasks import call

        answer: dict[str, Any] = await call(cast(Any, self).graphql, text, variables, **options)
        return answer

    def index(self, predicate: str, *tokenizers: str) -> SchemaReport:
        """Add indexes to a predicate, besides those that it has.

        `tokenizers` are those of the schema language ("exact", "hash", "term", "fulltext",
        "trigram", "int", "year", "geo", 'hnsw(metric: "cosine")'), or "reverse", "count", "lang",
        "upsert" and "unique". The default is the usual index of the predicate's type.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.load_nodes([{"id": 1, "name": "Ada Lovelace"}])
        >>> db.index("name", "term")
        <hexgraph.SchemaReport
          added: name: @index(term)
          rebuilt: name: @index(term)>
        >>> db.query('{ q(func: anyofterms(name, "ada")) { name } }').rows()
        [('Ada Lovelace',)]

        A predicate of the type default gets the type of the index. Raises SchemaError for an
        unknown predicate, and for an index that its type does not support.
        """
        from .schemas import definitions

        report: SchemaReport = definitions.index(self, predicate, tokenizers)
        return report

    def suggest(self, *names: str) -> Suggestion:
        """Suggest missing indexes, based on types and a sample of values.

        `names` are predicates, or types for all of their fields; the default is all. Returns a text
        in the schema language for `alter`, with a line and a reason for each index.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.load_nodes([{"id": 1, "title": "The Third Man", "year": 1949}], "Film")
        >>> db.suggest("Film")
        title: string @index(term, exact) .  # 1 of 1 looked at differ, 3.0 words each
        year: int @index(int) .  # ranges, equality and order
        >>> _ = db.alter(db.suggest("Film"))
        >>> db.suggest("Film")
        # nothing is missing

        Cost: a query of 1000 values for each string predicate. Raises SchemaError for an unknown
        name.
        """
        from .schemas import suggesting

        return suggesting.suggest(self, names)


def attach(owner: Any, methods: type) -> None:
    """Put the public methods of a class on another one."""
    for name, method in vars(methods).items():
        if not name.startswith("_"):
            method.__qualname__ = f"{owner.__name__}.{name}"
            setattr(owner, name, method)
