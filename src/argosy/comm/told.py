"""Ranks of which none waits for one that has given up.

Before every exchange, and in every gathering of values, each rank says whether it is still with the others. A rank
that fails says so at the next of these meetings, whichever it is (`told`), and the others raise `Left` there. What is
not covered is a failure between the two halves of one exchange, when bytes are already promised.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from argosy.comm.ranks import Bytes, Exchange, Offsets, Ranks


class Left(Exception):
    """Other ranks have failed; with what each of them said."""

    def __init__(self, said: dict[int, str]) -> None:
        self.said = said
        super().__init__(said)


class Told:
    """Ranks as they are, with meetings. All ranks must use them in the same order, as they must any ranks."""

    def __init__(self, below: Ranks) -> None:
        self._below = below
        self.rank = below.rank
        self.size = below.size

    def allgather(self, value: Any) -> list[Any]:
        everybody = self._below.allgather((None, value))
        said = {rank: one for rank, (one, _) in enumerate(everybody) if one is not None}
        if said:
            raise Left(said)
        return [one for _, one in everybody]

    def alltoall_rows(self, send: NDArray[np.int64]) -> NDArray[np.int64]:
        self.allgather(None)
        return self._below.alltoall_rows(send)

    def start_exchange(self, send: Bytes, send_at: Offsets, receive: Bytes, receive_at: Offsets) -> Exchange:
        return self._below.start_exchange(send, send_at, receive, receive_at)

    def tell(self, said: str) -> dict[int, str]:
        """This rank has failed. Waits for the next meeting of the others; what all that failed said there."""
        everybody = self._below.allgather((said, None))
        return {rank: one for rank, (one, _) in enumerate(everybody) if one is not None}
