"""Graphs for examples: real ones that come with the package, and generated ones of any size.

Each function returns a database, or adds to a given one. Nothing is downloaded.

>>> from hexgraph import datasets
>>> datasets.names()
['airports', 'films', 'languages', 'words']
>>> db = datasets.airports()
>>> db.query('{ q(func: near(place, [8.5, 47.4], 30000)) { iata city } }').rows()
[('ZRH', 'Zurich')]
>>> datasets.social(1000, seed=1).stats()["nodes"]
1000
"""

from .generated import grid, kronecker, social, temporal
from .real import airports, films, info, languages, names, path, words

__all__ = [
    "airports",
    "films",
    "grid",
    "info",
    "kronecker",
    "languages",
    "names",
    "path",
    "social",
    "temporal",
    "words",
]
