"""How much memory an operation needs on one rank, at most, when it is done in one go.

Each factor counts the copies of a side's rows that are alive at once: the rows themselves, their partitioned copy, what
arrives, and what is gathered for the result.
"""

from __future__ import annotations

SORT = 3.5
"""Rows, sent and arrived rows, the result, and 12 bytes a row of codes and order."""
GROUP = 3.0
JOIN = 3.0
"""Of both sides; the pairs and the result come on top."""
PAIR_NBYTES = 8


def sort_peak(nbytes: float) -> float:
    return SORT * nbytes


def group_peak(nbytes: float) -> float:
    return GROUP * nbytes


def join_peak(left_nbytes: float, right_nbytes: float, num_rows: float, result_nbytes: float) -> float:
    return JOIN * (left_nbytes + right_nbytes) + PAIR_NBYTES * num_rows + result_nbytes
