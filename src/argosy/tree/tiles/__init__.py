"""Big elementwise NumPy expressions in tiles: on all threads, temporaries stay in the cache, and the bits are the same.

`parse` turns the source into `parts`; `shapes` and `corners` find out what NumPy would make of them; `marks` follows
the cut axis through them; `bits` asks whether tiles have the bits of the whole (`steady`, `short_sums`); `plan` chooses
the tiles; `cut` computes them.
"""

from argosy.tree.tiles.cut import Cut
from argosy.tree.tiles.plan import Limits
from argosy.tree.tiles.site import Site

__all__ = ["Cut", "Limits", "Site"]
