"""Where in memory a program worked, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

MOST_GROUPS = 512
MISSING = "no heat map: matplotlib is not installed; get it with `pip install 'argosy[plots]'`"


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Heat:
    """Bytes touched, for each window and group of pages. Only touched pages are in it, in the order of addresses."""

    nbytes: NDArray[np.int64]
    """[windows, groups], at most `MOST_GROUPS` groups."""
    addresses: NDArray[np.int64]
    """First address of each group."""
    objects: tuple[str, ...]
    """Whose pages most of a group are."""
    group_nbytes: int
    """Bytes of the touched pages in one group; the last group may have fewer."""

    @staticmethod
    def of_pages(
        pages: NDArray[np.int64],
        nbytes: NDArray[np.int64],
        objects: Sequence[str],
        *,
        page_nbytes: int,
        groups: int = MOST_GROUPS,
    ) -> Heat:
        """From page numbers in order, bytes touched [windows, pages], and the name of each page's object."""
        each = max(-(-len(pages) // groups), 1)
        starts = list(range(0, len(pages), each))
        names = [_most_common(objects[start : start + each]) for start in starts]
        grouped = np.add.reduceat(nbytes, starts, axis=1) if len(pages) else nbytes
        return Heat(
            nbytes=grouped, addresses=pages[starts] * page_nbytes, objects=tuple(names), group_nbytes=each * page_nbytes
        )

    def plot(self, path: str | Path) -> Path:
        """A picture, windows from left to right, addresses upwards. Raises ImportError without matplotlib."""
        try:
            from matplotlib.colors import LogNorm
            from matplotlib.figure import Figure
        except ImportError as error:
            raise ImportError(MISSING) from error
        target = Path(path)
        windows, groups = self.nbytes.shape
        canvas = Figure(figsize=(9, 6), layout="constrained")
        axes = canvas.add_subplot()
        shown = np.ma.masked_equal(self.nbytes.T, 0)
        most = max(int(self.nbytes.max(initial=1)), 2)
        picture = axes.pcolormesh(
            np.arange(windows + 1), np.arange(groups + 1), shown, norm=LogNorm(1, most), cmap="inferno", rasterized=True
        )
        axes.set_xlabel("window")
        axes.set_ylabel(f"touched pages, by address ({groups} groups)")
        axes.set_facecolor("0.92")
        bands = self.bands()
        tall = [band for band in bands if band[2] - band[1] >= groups / 40]
        axes.set_yticks([(first + last) / 2 for _, first, last in tall], [name for name, _, _ in tall], fontsize=7)
        for _, _, last in bands[:-1]:
            axes.axhline(last, color="0.5", linewidth=0.3)
        canvas.colorbar(picture, ax=axes, label="bytes touched")
        canvas.savefig(target, dpi=150)
        return target

    def bands(self) -> list[tuple[str, int, int]]:
        """(object, first group, first group after): groups of one object that lie together."""
        cuts = [i for i in range(1, len(self.objects)) if self.objects[i] != self.objects[i - 1]]
        edges = [0, *cuts, len(self.objects)] if self.objects else []
        return [(self.objects[first], first, last) for first, last in pairwise(edges)]


def _most_common(names: Sequence[str]) -> str:
    return max(dict.fromkeys(names), key=list(names).count)
