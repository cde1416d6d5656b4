"""Each rank's rows of a persisted frame, and facts about them that travel in the metadata of their schema."""

from __future__ import annotations

import json

import pyarrow as pa

from argosy.frame.keep.held import Held
from argosy.frame.plan import Resident

_KEY = b"argosy"


def table_of(operation: Resident) -> pa.Table:
    """On the rank that has the rows."""
    kept = operation.future
    if isinstance(kept, Held):
        return kept.table()
    assert isinstance(kept, pa.Table)
    return kept


def facts(in_place_by: tuple[str, ...] | None, num_ranks: int) -> dict[bytes, bytes] | None:
    """Remember that rows with equal values of these columns are on the rank that their hash says."""
    if in_place_by is None:
        return None
    return {_KEY: json.dumps({"in_place_by": list(in_place_by), "num_ranks": num_ranks}).encode()}


def mark(table: pa.Table, in_place_by: tuple[str, ...] | None, num_ranks: int) -> pa.Table:
    return table.replace_schema_metadata(facts(in_place_by, num_ranks))


def in_place_by(table: pa.Table, num_ranks: int) -> tuple[str, ...] | None:
    known = json.loads((table.schema.metadata or {}).get(_KEY, b"{}"))
    return tuple(known["in_place_by"]) if known.get("num_ranks") == num_ranks else None


def plain(table: pa.Table) -> pa.Table:
    return table.replace_schema_metadata(None)
