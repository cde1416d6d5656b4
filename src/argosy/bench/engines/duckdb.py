"""DuckDB: tables of a database in memory, and a result that is another one or, often faster, an Arrow table."""

from __future__ import annotations

from typing import Any

import duckdb
import pyarrow as pa

from argosy.bench.cases import Case

_SORT = "SELECT k, a FROM left_side ORDER BY k"
_GROUP_BY = "SELECT k, sum(a) AS a FROM left_side GROUP BY k"
_JOIN = "SELECT l.k, l.a, r.b FROM left_side l {how} JOIN right_side r ON l.k = r.k"


def open_engine(name: str, num_threads: int) -> DuckDB:
    return DuckDB(num_threads, to_arrow=name == "duckdb-arrow")


class DuckDB:
    def __init__(self, num_threads: int, to_arrow: bool) -> None:
        self._to_arrow = to_arrow
        self._database = duckdb.connect(":memory:")
        self._database.execute(f"SET threads = {num_threads}")
        self._database.execute("SET enable_progress_bar = false")

    def load(self, left: pa.Table, right: pa.Table | None) -> None:
        for name, table in (("left_side", left), ("right_side", right)):
            if table is not None:
                self._database.register("arrow_table", table)
                self._database.execute(f"CREATE TABLE {name} AS SELECT * FROM arrow_table")
                self._database.unregister("arrow_table")

    def run(self, case: Case) -> Any:
        query = {"sort": _SORT, "group_by": _GROUP_BY, "join": _JOIN.format(how=case.how)}[case.kind]
        in_order = case.kind == "sort"  # it is faster without, but then also a sorted result is stored in any order
        self._database.execute(f"SET preserve_insertion_order = {in_order}")
        if self._to_arrow:
            return self._database.sql(query).to_arrow_table()
        return self._database.execute(f"CREATE TABLE answer AS {query}")

    def to_arrow(self, result: Any) -> pa.Table:
        return result if self._to_arrow else self._database.sql("FROM answer").to_arrow_table()

    def free(self, _result: Any) -> None:
        if not self._to_arrow:
            self._database.execute("DROP TABLE answer")

    def close(self) -> None:
        self._database.close()
