"""DuckDB: tables of a database in memory, and a result that is another one."""

from __future__ import annotations

from typing import Any

import duckdb
import pyarrow as pa

from argosy.bench.cases import Case

_SORT = "SELECT k, a FROM left_side ORDER BY k"
_GROUP_BY = "SELECT k, sum(a) AS a FROM left_side GROUP BY k"
_JOIN = "SELECT l.k, l.a, r.b FROM left_side l {how} JOIN right_side r ON l.k = r.k"


def open_engine(_name: str, num_threads: int) -> DuckDB:
    return DuckDB(num_threads)


class DuckDB:
    def __init__(self, num_threads: int) -> None:
        self._database = duckdb.connect(":memory:")
        self._database.execute(f"SET threads = {num_threads}")
        self._database.execute("SET preserve_insertion_order = false")  # faster where no order is asked for
        self._database.execute("SET enable_progress_bar = false")

    def load(self, left: pa.Table, right: pa.Table | None) -> None:
        for name, table in (("left_side", left), ("right_side", right)):
            if table is not None:
                self._database.register("arrow_table", table)
                self._database.execute(f"CREATE TABLE {name} AS SELECT * FROM arrow_table")
                self._database.unregister("arrow_table")

    def run(self, case: Case) -> Any:
        query = {"sort": _SORT, "group_by": _GROUP_BY, "join": _JOIN.format(how=case.how)}[case.kind]
        return self._database.execute(f"CREATE TABLE answer AS {query}")

    def to_arrow(self, _result: Any) -> pa.Table:
        return self._database.sql("FROM answer").to_arrow_table()

    def free(self, _result: Any) -> None:
        self._database.execute("DROP TABLE answer")

    def close(self) -> None:
        self._database.close()
