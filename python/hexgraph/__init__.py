"""An embedded, in-memory, lock-free analytic graph engine that answers DQL.

>>> import hexgraph
>>> db = hexgraph.connect()
>>> _ = db.alter("name: string @index(term) .")
>>> _ = db.mutate(set='_:ada <name> "Ada Lovelace" .')
>>> db.query('{ q(func: anyofterms(name, "ada")) { name } }').to_dict()
{'q': [{'name': 'Ada Lovelace'}]}
"""

from typing import TYPE_CHECKING

# It is first: it raises an error if the processor can't run the native module.
from . import processor  # noqa: F401
from ._native import (
    Answers,
    ArrowTable,
    Database,
    Explanation,
    LoadReport,
    Pages,
    Result,
    SchemaReport,
    Server,
    Subscription,
    Txn,
    Upsert,
    __version__,
)
from .administration import AdministrationMethods
from .arrays.methods import ArrayMethods
from .connection import connect
from .errors import (
    AccessError,
    ClosedError,
    ConflictError,
    CorruptError,
    Error,
    InternalError,
    LimitError,
    LoadError,
    LossWarning,
    NotConvergedWarning,
    NotSupportedError,
    ParseError,
    QueryError,
    QueryWarning,
    ReadOnlyError,
    SchemaError,
    StorageError,
    UnknownNameWarning,
)
from .guesses import DATABASE, RESULT, attribute_error
from .homes import attach_homes
from .methods import DatabaseMethods, attach
from .serving import ServingMethods
from .transactions import TxnMethods

attach(Database, DatabaseMethods)
attach(Database, AdministrationMethods)
attach(Database, ArrayMethods)
attach(Database, ServingMethods)
attach(Txn, TxnMethods)
attach_homes(Database)
for _owner, _receiver, _table in ((Database, "db", DATABASE), (Result, "result", RESULT)):
    # It is called only for names that don't exist.
    setattr(_owner, "__getattr__", attribute_error(_owner.__name__, _receiver, _table))  # noqa: B010


if TYPE_CHECKING:
    from . import datasets as datasets
    from . import widget as widget
    from .algo.graph import Graph as Graph
    from .api_key import ApiKey as ApiKey
    from .loading.sniffing import Sniffed as Sniffed
    from .loading.sniffing import sniff as sniff
    from .widget import GraphView as GraphView


_LATER = {
    "datasets": "datasets",
    "widget": "widget",
    "ApiKey": "api_key",
    "Graph": "algo.graph",
    "Sniffed": "loading.sniffing",
    "sniff": "loading.sniffing",
    "GraphView": "widget",
}
"""Names that are imported lazily, each with its module."""


def __getattr__(name: str) -> object:
    """Return what is imported when it is first requested, so that `import hexgraph` stays short."""
    from importlib import import_module

    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.{_LATER[name]}")
    return module if name == _LATER[name] else getattr(module, name)


def __dir__() -> list[str]:
    """Return what there is to use, without the modules and mixins that make it up."""
    return [*__all__, *_LATER]


def load_ipython_extension(shell: object) -> None:
    """Register the magics; `%load_ext hexgraph` calls it."""
    from .jupyter import load

    load(shell)


__all__ = [
    "AccessError",
    "Answers",
    "ArrowTable",
    "ClosedError",
    "ConflictError",
    "CorruptError",
    "Database",
    "Error",
    "Explanation",
    "InternalError",
    "LimitError",
    "LoadError",
    "LoadReport",
    "LossWarning",
    "NotConvergedWarning",
    "NotSupportedError",
    "Pages",
    "ParseError",
    "QueryError",
    "QueryWarning",
    "ReadOnlyError",
    "Result",
    "SchemaError",
    "SchemaReport",
    "Server",
    "StorageError",
    "Subscription",
    "Txn",
    "UnknownNameWarning",
    "Upsert",
    "__version__",
    "connect",
]
