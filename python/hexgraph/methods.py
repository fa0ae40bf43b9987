"""Methods of `Database` that are written in Python, and are put on it when hexgraph is imported.

Each imports what it needs when it is called, so that `import hexgraph` stays short.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

if TYPE_CHECKING:
    from ._native import LoadReport, Result, SchemaReport, Upsert
    from .deleting import Deleted
    from .schemas.describing import Description
    from .schemas.profiling import Profile
    from .schemas.suggesting import Suggestion
    from .schemas.text import SchemaText

T = TypeVar("T")
"""What the work of `run` returns."""


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

        `table` is a list of dicts, a dict of columns, a frame of polars (also a lazy one) or
        pandas, a pyarrow.Table, a relation of DuckDB, or anything else with `__arrow_c_stream__`;
        the path of a .parquet, .arrow, .feather, .csv, .tsv, .txt, .edges, .json or .jsonl file
        (texts also as .gz or .zst), a pattern or a folder of such files; a graph of networkx, whose
        nodes are the ids; or a list of tables. All rows become visible at once, or none.

        - `type`, the type of all the nodes, or a list of types, which are defined if they are not
        - `id`, the column that names the node of a row by an int or a text. Its values are kept in
          the predicate of its name, which gets an index and is @unique: a node that has the value
          already gets the other ones, else there is a new node. With None each row is a new node.
          `xid` keeps the values in another predicate, and a database that has its ids in `xid` goes
          on so. With `uid=True` the column has uids
        - `geo`, a predicate that gets points: `{"place": ("lat", "lon")}`, or the name alone where
          the columns are called so. Geometries of shapely and GeoJSON are found without it; of
          texts in WKT or GeoJSON it names the column
        - `columns`, the predicates of columns that are not called so; None leaves a column out. A
          list names the columns of a text file without a header, in their order
        - `edges`, the columns whose cells, or items of lists, name other nodes. They become edges:
          `{"origin": "Airport.faa"}` to the node of type Airport with this `faa`, and
          `{"dest": ("to", "Airport", "faa")}` by another predicate. A node that is not there is
          made with that type; `missing` says otherwise, as for `load_edges`
        - `prefix`, True to call predicates by the type and the column, as `Airport.city`, so that
          no other type has them
        - `types`, the types of columns as the schema language has them, where those of the table,
          or of all cells of a CSV file, are not the ones that are wanted
        - `schema`, definitions that are added first, as `alter` takes them
        - of CSV files, where the beginning of the file does not tell: `separator`; `encoding`,
          "utf-8", "utf-16le", "utf-16be" or "windows-1252"; `header`, whether the first record has
          the names of the columns, which are `column0` and so on without; `quote`, the character
          around fields, "" for none; `escape`, such as a backslash; `comment`, the first character
          of lines that are comments; `skip`, the number of lines before the first record
        - `null_values`, texts of a CSV file that are missing values. Without it "n/a" and its like
          are in columns of numbers and times. An empty field in quotes is an empty text, or with
          `quoted_null=True` a missing value
        - `ragged`, what becomes of records with more or fewer fields than there are columns:
          "error", "skip" leaves them out and reports their lines, "fill" adds missing values
        - `names`, what becomes of a column whose name no predicate can have, since there are blanks
          in it or another column has it: "clean" makes one of it, `First_Name` and `x_2`, which
          the report has; "keep" and "error" refuse the table
        - `filename`, True or a name for a column that has the path of the file. Folders such as
          `year=2024` of a path are columns without it
        - `progress`, True for a bar, or a function that is called with a dict: done and total
          bytes, records, records_per_second, seconds, seconds_left
        - `memory`, bytes or "512MiB" that the load keeps to, beside its largest predicate

        A predicate that the schema lacks gets the type of its column. Times without a zone are in
        UTC. Missing values, NaN and NaT are left out.

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
        >>> ends = {"origin": "Airport.iata", "dest": "Airport.iata"}
        >>> _ = db.load_nodes(flights, "Flight", id="number", edges=ends)
        >>> db.query('{ q(func: type(Flight)) { number origin { city } } }').to_dict()["q"]
        [{'number': 'LX14', 'origin': {'city': 'Zürich'}}]

        Raises LoadError with row, column and value of what can't be stored, unless
        `on_error="skip"` leaves it out and reports it; SchemaError; QueryError; TypeError for what
        is no table. Nothing is loaded then.
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

        `table` and the options that are not told here are as for `load_nodes`. It may also be pairs
        of ends, `[(1, 2), (2, 3)]`, an array with two columns, or a graph of networkx. A third item
        is a dict of attributes or the `weight`, which `facets=` names to keep it. An edge without
        direction is loaded from its first end to its second. Attributes may be called as ends are:
        in pairs and graphs they are not taken for these.

        - `source` and `target`, the columns that name the ends; without them the table has "source"
          and "target", "from" and "to", "src" and "dst", or two columns
        - `on`, the predicate whose values these are, any that is @unique or indexed; a pair of them
          where sources and targets are named by different ones. Without it, it is the predicate of
          the column's name, `xid`, or the only one that is @unique. (`xid` is its older name.)
          With `uid=True` the columns have uids
        - `missing`, what becomes of an id that no node has: "make" makes a node, "skip" leaves the
          edge out and counts it as `lost`, "raise" refuses the load. A node that is made gets the
          type of the other nodes at that end of the edges, if it is the same for all of them;
          else the report counts it as `untyped`
        - `columns`, the names of the columns of a text file without a header, in their order
        - `types`, as for `load_nodes`. The types of the nodes where edges start get the predicate
          as a field, so that `expand(_all_)` and `describe` know of it; `types=False` leaves types
          and made nodes alone
        - `facets`, the columns that are facets of the edges, or a dict with the keys of these, each
          of its own

        A row that lacks one of its ends is left out. Two nodes have one edge of a predicate: a
        second one is `repeated` in the report, and of facets the last ones stay.

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

        `graph` is the path of a file of GraphML (.graphml), GML (.gml, read by networkx) or
        node-link JSON (.json), each perhaps as .gz; a dict as of `networkx.node_link_data`; or a
        graph of networkx. All becomes visible at once, or nothing does.

        - `type`, the type of all nodes, or a list of types
        - `predicate`, the predicate of the edges
        - `xid`, the predicate that has the ids of the nodes. It gets an index and is @unique, so a
          node that is there already gets the attributes and edges
        - `missing`, what becomes of an edge to an id that is no node of the graph: "make" makes a
          node, "raise" refuses the graph
        - `schema`, `on_error`, `progress` and `memory`, as for `load_nodes`

        Attributes have the types that the file declares. One whose name can be none, or is that of
        `xid`, gets another name, which the report has. An edge without direction leads from its
        first end to its second, and two nodes have one edge: more are `repeated` in the report.

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

        Raises LoadError with the line of what can't be read, SchemaError, QueryError, and TypeError
        for what is no graph. Nothing is loaded then.
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

        After a conflict it is called again with a new transaction, up to `retries` times, each time
        after a longer pause. So it must do nothing but ask the transaction and change things in it.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set='<0x1> <visits> "1"^^<xs:int> .')
        >>> def visit(txn):
        ...     (node,) = txn.query("{ q(func: uid(0x1)) { visits } }")["q"]
        ...     _ = txn.mutate(set_json={"uid": "0x1", "visits": node["visits"] + 1})
        ...     return node["visits"] + 1
        >>> db.run(visit)
        2

        Raises ConflictError when the last try is in conflict too, and what `work` raises.
        """
        from . import transactions

        return transactions.run(self, work, retries)

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a backup to a directory while others read and write, of what there is now.

        `connect` opens it; one that was there is replaced when the new one is whole.

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
        """Tell what is in the database: types, predicates with their coverage, edges between types.

        Printed, and in notebooks, it is a table of each; `types`, `predicates` and `edges` are
        these tables, which have `to_pandas()` and `to_polars()`. Costs a count of each predicate,
        of each field and each edge of each type, and, where a type has an edge, a pass over these
        edges for each type.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.load_nodes([{"iata": "ZRH", "km": 5}, {"iata": "JFK"}], "Airport", id="iata")
        >>> _ = db.load_edges([{"from": "ZRH", "to": "JFK"}], "route")
        >>> told = db.describe()
        >>> told.types.rows()
        [('Airport', 2, ['iata', 'km', 'route'])]
        >>> told.edges.rows()
        [('Airport', 'route', 'Airport', 1)]
        >>> told
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
        """Tell what the values are like: coverage, distinct values, the commonest, histograms.

        `names` are predicates, or types for all of their fields; without any it is all of them.
        Printed, and in notebooks with pictures, it is a table of predicates, of degrees, of memory
        and of the files on the disk; `predicates`, `degrees`, `memory` and `disk` are these, and
        `to_pandas()` and `to_polars()` return the first one.

        Costs a group of each different value of each predicate: some seconds where there are
        millions. Of lists, languages, places, vectors and passwords only the number is told.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.load_nodes([{"id": n, "kind": "ab"[n % 2], "km": n * n} for n in range(4)])
        >>> table = db.profile("kind", "km").predicates
        >>> columns = dict(zip(table.column_names, zip(*table.rows())))
        >>> columns["distinct"], columns["greatest"], columns["common"][0]
        ((2, 4), ('b', '9'), ['a (2)', 'b (2)'])

        Raises SchemaError for a name that there is not.
        """
        from .schemas import profiling

        return profiling.profile(self, names)

    def sql(self, query: str, parameters: Any = None, **tables: Any) -> Any:
        """Answer SQL over types and edges, which is what DuckDB says to them as tables.

        Each type is a table of its nodes: `uid`, and a column for each field that is no edge. Each
        predicate of edges is a table of `source` and `target`, which are uids. `tables` adds
        others under their names: results, frames, whatever has columns of Arrow. Only the tables
        that the query names are made, each of the database as it is now. `parameters` are those of
        the query, a list for `?` or a dict for `$name`.

        What comes back is a relation of DuckDB: `fetchall()`, `df()`, `pl()`, `arrow()`, or the
        table of another query. It needs the packages duckdb and pyarrow.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> airports = [{"iata": "ZRH", "country": "CH"}, {"iata": "GVA", "country": "CH"}]
        >>> _ = db.load_nodes(airports, "Airport", id="iata")
        >>> _ = db.load_edges([{"from": "ZRH", "to": "GVA"}], "route", on="iata")
        >>> db.sql("select country, count(*) from Airport group by country").fetchall()
        [('CH', 2)]
        >>> found = db.query("{ q(func: has(route)) { uid iata } }")
        >>> query = "select iata, count(*) from mine join route on source = uid group by iata"
        >>> db.sql(query, mine=found).fetchall()
        [('ZRH', 1)]

        Raises SchemaError for a table that there is not, an Error that names the package where
        DuckDB is not installed, and DuckDB's own errors for the rest.
        """
        from .schemas import sql

        return sql.sql(self, query, tables, parameters)

    def schema(self) -> SchemaText:
        """Return the schema in the language of `alter`: a text, which draws itself in notebooks.

        The picture has a box for each type with its predicates, how many of its nodes have them,
        and arrows for edges; it is asked for when it is shown, and `svg()` of the text returns it.

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

    async def aquery(self, dql: str, variables: Any = None, **options: Any) -> Result:
        """Answer a query beside other tasks of asyncio; as `query`.

        The event loop goes on meanwhile. When the task is cancelled, the engine stops within about
        50 ms.

        >>> import asyncio, hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.mutate(set='<1> <name> "Ada" .')
        >>> asyncio.run(db.aquery("{ q(func: has(name)) { name } }")).rows()
        [('Ada',)]
        """
        from .tasks import call

        found: Result = await call(cast(Any, self).query, dql, variables, **options)
        return found

    async def amutate(self, **mutation: Any) -> dict[str, str]:
        """Change data beside other tasks of asyncio; as `mutate`.

        A task that is cancelled while it is committed may have changed the data or not.

        >>> import asyncio, hexgraph
        >>> db = hexgraph.connect()
        >>> asyncio.run(db.amutate(set='<1> <name> "Ada" .'))
        {}
        """
        from .tasks import call

        uids: dict[str, str] = await call(cast(Any, self).mutate, **mutation)
        return uids

    def delete(self, nodes: Any, variables: Any = None, *, timeout: float | None = None) -> Deleted:
        r"""Delete nodes with all their values and edges, also the edges that lead to them.

        All goes that the nodes have, whatever their types say, in one commit; edges to them go
        whether the schema keeps reverse edges or not. `nodes` is a query in DQL of one block, a
        root of DQL like `type(Person)`, a uid, several, a column of uids of a frame, or a result
        whose rows have uids. Nodes that a query has below its root stay.

        Returns how many nodes, values and edges are gone. Raises AccessError where the caller may
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
        """Ask and change in one commit beside other tasks of asyncio; as `upsert`.

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
        """Answer a GraphQL request beside other tasks of asyncio; as `graphql`.

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
        """Build indexes of a predicate beside those that it has: one line where `alter` takes two.

        `tokenizers` are those of the schema language ("exact", "hash", "term", "fulltext",
        "trigram", "int", "year", "geo", 'hnsw(metric: "cosine")'), or "reverse", "count", "lang",
        "upsert" and "unique". Without any it is the usual one of the predicate's type.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.load_nodes([{"id": 1, "name": "Ada Lovelace"}])
        >>> db.index("name", "term")
        <hexgraph.SchemaReport
          added: name: @index(term)
          rebuilt: name: @index(term)>
        >>> db.query('{ q(func: anyofterms(name, "ada")) { name } }').rows()
        [('Ada Lovelace',)]

        A predicate that came without a type gets that of the index. Raises SchemaError for a
        predicate that there is not, and for what its type can't have.
        """
        from .schemas import definitions

        report: SchemaReport = definitions.index(self, predicate, tokenizers)
        return report

    def suggest(self, *names: str) -> Suggestion:
        """Suggest indexes that predicates lack, judged by their types and some of their values.

        `names` are predicates, or types for all of their fields; without any, all are looked at.
        What comes back is a text in the schema language, a line and a reason for each: `alter`
        takes it.

        >>> import hexgraph
        >>> db = hexgraph.connect()
        >>> _ = db.load_nodes([{"id": 1, "title": "The Third Man", "year": 1949}], "Film")
        >>> db.suggest("Film")
        title: string @index(term, exact) .  # 1 of 1 looked at differ, 3.0 words each
        year: int @index(int) .  # ranges, equality and order
        >>> _ = db.alter(db.suggest("Film"))
        >>> db.suggest("Film")
        # nothing is missing

        Costs a query of 1000 values for each predicate of texts. Raises SchemaError for a name that
        there is not.
        """
        from .schemas import suggesting

        return suggesting.suggest(self, names)


def attach(owner: Any, methods: type) -> None:
    """Put the public methods of a class on another one."""
    for name, method in vars(methods).items():
        if not name.startswith("_"):
            method.__qualname__ = f"{owner.__name__}.{name}"
            setattr(owner, name, method)
