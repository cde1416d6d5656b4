"""Can local data hurt this run, and how much must be exchanged so that it does not?

glance      what one rank tells the others of its shard
skew        how far shards differ, beyond chance
locality    what in a model makes that matter
mixing      what an exchange makes of it
reasons     words and advice
verdict     all of it together
"""

from __future__ import annotations

from argosy.shuffle.diagnosis.verdict import Diagnosis, auto_fraction, diagnose

__all__ = ["Diagnosis", "auto_fraction", "diagnose"]
