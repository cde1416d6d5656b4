"""Families of runs whose phases change: which objects each window passes over, and how often.

Those of `TAUGHT`, of `HELD_OUT` and of `UNSEEN` have no generator in common.
"""

from __future__ import annotations

from collections.abc import Mapping

from argosy.memory.learning.families import broad, held_out, scenes, unseen
from argosy.memory.learning.families.family import Family

__all__ = ["BROAD", "HELD_OUT", "SCENES", "TAUGHT", "UNSEEN", "Family"]


def _by_name(*families: Family) -> Mapping[str, Family]:
    return {family.__name__: family for family in families}


SCENES = _by_name(
    scenes.working_sets,
    scenes.drifting,
    scenes.periodic,
    scenes.bursts,
    scenes.sweeps,
    scenes.requests,
    scenes.trees,
    scenes.epochs,
    scenes.long_phases,
    scenes.turns,
)
BROAD = _by_name(broad.renewals, broad.chains, broad.stack, broad.programs)
TAUGHT: Mapping[str, Family] = {**SCENES, **BROAD}
HELD_OUT = _by_name(
    held_out.nested_loops,
    held_out.shuffled_zipf,
    held_out.v_cycle,
    held_out.ping_pong,
    held_out.bait,
)
UNSEEN = _by_name(
    unseen.elimination,
    unseen.training,
    unseen.adjoint_sweep,
    unseen.adaptive_mesh,
    unseen.query_batches,
    unseen.graph_traversal,
)
