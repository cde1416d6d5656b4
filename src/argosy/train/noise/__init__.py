"""The gradient noise scale: how large a batch may grow before more samples in it teach little more.

scale   what is observed, and what it says
hook    norms from inside DDP's reduction
parts   norms from the parts of one batch
"""

from argosy.train.noise.scale import NoiseScale

__all__ = ["NoiseScale"]
