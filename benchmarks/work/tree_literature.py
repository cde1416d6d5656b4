"""The programs of the literature: plain NumPy, decorated, and JAX where it is installed."""

from __future__ import annotations

from functools import partial

from figures import Figure, Options

from work.tree_compare import DECORATED, JAX, PLAIN, by_hand, compare, shape, timed_sizes
from work.tree_programs import PROGRAMS
from work.tree_turns import cores_used, ratio, times

WANTED = 1.5
NEVER_SLOWER = 1.2
"""At most so many times NumPy's seconds, where nothing else is promised."""
ONE_CORE = 1.1
OTHERS = ("PCA by powers", "PCA by eigh", "linear regression", "normal equations", "heat in a rod", "heat in a plate")

SMALL = {"ALS": (100, 100, 10, 2), "k-means": (250, 2, 3, 20)}
"""Those that gain when they are larger: here a step is too short for a second thread to help."""


def als(options: Options) -> list[Figure]:
    """Users x items x factors x iterations, sizes where NumPy itself uses one core."""
    return _gain("ALS", options)


def kmeans(options: Options) -> list[Figure]:
    """Points x dimensions x clusters x iterations, sizes where NumPy itself uses one core."""
    return _gain("k-means", options)


def literature(options: Options) -> list[Figure]:
    """PCA, linear regression and heat, and small ALS and k-means: never slower, though NumPy may use all cores."""
    figures = []
    work = [(name, sizes) for name in OTHERS for sizes in timed_sizes(PROGRAMS[name], options)]
    for name, sizes in [*work, *SMALL.items()]:
        seconds = compare(name, PROGRAMS[name], sizes, options.turns(9, 2))
        what = f"{name}, {shape(sizes)}"
        figures += times(what, seconds)
        slower = ratio(seconds, DECORATED, PLAIN)
        figures.append(Figure(what=f"{what}: decorated over NumPy", value=slower, unit="x", at_most=NEVER_SLOWER))
    return figures


def _gain(name: str, options: Options) -> list[Figure]:
    figures = []
    program = PROGRAMS[name]
    for sizes in timed_sizes(program, options):
        plain = partial(program.run, *program.make(*sizes))
        cores = cores_used(plain, options.count(5, 2))
        seconds = compare(name, program, sizes, options.turns(9, 2))
        what = f"{name}, {shape(sizes)}"
        figures.append(Figure(what=f"{what}: cores that NumPy uses", value=cores, at_most=ONE_CORE))
        figures += times(what, seconds)
        gain = ratio(seconds, PLAIN, DECORATED)
        figures.append(Figure(what=f"{what}: times as fast as NumPy", value=gain, unit="x", at_least=WANTED))
        figures.append(by_hand(what, [plain, plain], options.turns(9, 2)))
        if JAX in seconds:
            against = ratio(seconds, JAX, DECORATED)
            figures.append(Figure(what=f"{what}: times as fast as JAX", value=against, unit="x"))
    return figures
