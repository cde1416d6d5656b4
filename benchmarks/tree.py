"""Futurized functions: what an expression costs, what small code loses, what independent work gains.

    python benchmarks/tree.py --only chains --rounds 9

A decorated function is the plain one with `@argosy.futurize` and nothing else, but for `overhead`. All answers are
compared with plain Python's, bit for bit; where one differs there is no benchmark.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

from sections import Section, run
from work.tree_literature import als, kmeans, literature
from work.tree_logreg import logreg
from work.tree_overhead import overhead
from work.tree_overlap import chains
from work.tree_peers import missing
from work.tree_pipeline import pipeline

SECTIONS: dict[str, Section] = {
    "overhead": overhead,
    "logreg": logreg,
    "chains": chains,
    "als": als,
    "kmeans": kmeans,
    "literature": literature,
    "pipeline": pipeline,
}

if __name__ == "__main__":
    sys.exit(run(SECTIONS, __doc__, missing() + ([] if find_spec("jax") else ["JAX"])))
