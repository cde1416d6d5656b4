"""Facts about a persisted frame that travel with each rank's table, in the metadata of its schema."""

from __future__ import annotations

import json

import pyarrow as pa

_KEY = b"argosy"


def mark(table: pa.Table, in_place_by: tuple[str, ...] | None, num_ranks: int) -> pa.Table:
    """Remember that rows with equal values of these columns are on the rank that their hash says."""
    if in_place_by is None:
        return table.replace_schema_metadata(None)
    facts = json.dumps({"in_place_by": list(in_place_by), "num_ranks": num_ranks})
    return table.replace_schema_metadata({_KEY: facts.encode()})


def in_place_by(table: pa.Table, num_ranks: int) -> tuple[str, ...] | None:
    facts = json.loads((table.schema.metadata or {}).get(_KEY, b"{}"))
    return tuple(facts["in_place_by"]) if facts.get("num_ranks") == num_ranks else None


def plain(table: pa.Table) -> pa.Table:
    return table.replace_schema_metadata(None)
