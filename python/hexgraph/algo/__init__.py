"""Graph algorithms: `db.algo.pagerank("follows")`; docs/algorithms.md has a chapter on each."""

from .calls import Algorithms
from .found import Found

__all__ = ["Algorithms", "Found"]
