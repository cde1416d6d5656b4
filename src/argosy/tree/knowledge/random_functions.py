"""What is known of random numbers: `numpy.random` with its global generator, and `numpy.random.Generator`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from argosy.tree.knowledge.behaviour import ALIAS, FRESH, Behaviour

STATE = "numpy.random"

_DISTRIBUTIONS = """
    beta binomial chisquare choice dirichlet exponential f gamma geometric gumbel hypergeometric laplace logistic
    lognormal logseries multinomial multivariate_normal negative_binomial noncentral_chisquare noncentral_f normal
    pareto poisson power random rayleigh standard_cauchy standard_exponential standard_gamma
    standard_normal standard_t triangular uniform vonmises wald weibull zipf
"""
_OF_THE_GLOBAL_ONE = "get_state rand randint randn random_sample ranf sample"
_OF_A_GENERATOR = "integers multivariate_hypergeometric spawn"


def known() -> Iterator[tuple[object, Behaviour]]:
    """Functions of `numpy.random`."""
    for name in (_DISTRIBUTIONS + _OF_THE_GLOBAL_ONE).split():
        yield getattr(np.random, name), Behaviour(result="fresh", state=STATE)
    for name in ("bytes", "seed", "set_state"):
        yield getattr(np.random, name), Behaviour(result="atom", state=STATE)
    yield np.random.shuffle, Behaviour(result="atom", state=STATE, writes=(0, "x"))
    yield np.random.permutation, Behaviour(result="alias", state=STATE)
    yield np.random.default_rng, Behaviour(result="alias", options=(0, "seed"), otherwise=FRESH)
    yield np.random.Generator, ALIAS


_GENERATOR: dict[str, Behaviour] = {
    **dict.fromkeys((_DISTRIBUTIONS + _OF_A_GENERATOR).split(), Behaviour(result="fresh", writes=("self",))),
    "bytes": Behaviour(result="atom", writes=("self",)),
    "permutation": Behaviour(result="alias", writes=("self",)),
    "permuted": Behaviour(result="fresh", writes=("self", "out")),
    "random": Behaviour(result="fresh", writes=("self", 2, "out")),
    "shuffle": Behaviour(result="atom", writes=("self", 0, "x")),
    "standard_exponential": Behaviour(result="fresh", writes=("self", 3, "out")),
    "standard_gamma": Behaviour(result="fresh", writes=("self", 3, "out")),
    "standard_normal": Behaviour(result="fresh", writes=("self", 2, "out")),
}


def of_generator_method(name: str) -> Behaviour | None:
    """A method of `numpy.random.Generator`, which changes the generator too; None when it is not known."""
    return _GENERATOR.get(name)
