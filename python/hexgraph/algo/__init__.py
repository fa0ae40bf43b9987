"""Graph algorithms: `db.algo.pagerank("follows")`; docs/algorithms.md has a chapter on each."""

from .calls import Algorithms
from .result import AlgorithmResult

__all__ = ["AlgorithmResult", "Algorithms"]
