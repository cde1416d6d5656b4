"""What is asked of every engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A question about `left (k, a)` and, for a join, `right (k, b)`. Keys are uniform below 0.9 x rows."""

    name: str
    what: str
    kind: Literal["join", "sort", "group_by"]
    how: Literal["inner", "left"] = "inner"
    strings: bool = False
    """Keys are text like `user_00001234`; else they are int64."""
    null_share: float = 0.0
    """Of the keys, on both sides."""


CASES = {
    case.name: case
    for case in (
        Case(name="join", what="inner join on an int64 key", kind="join"),
        Case(name="sort", what="sort by an int64 key, with a payload", kind="sort"),
        Case(name="group_by", what="sum by an int64 key, 0.6 groups a row", kind="group_by"),
        Case(name="string_join", what="inner join on a string key, user_%08d", kind="join", strings=True),
        Case(name="null_join", what="left join with 10 % null keys", kind="join", how="left", null_share=0.1),
    )
}
