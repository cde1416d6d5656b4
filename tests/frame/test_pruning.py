from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import argosy
from argosy import col
from argosy.frame.io.parquet import ParquetSource


def test_row_groups_that_the_filter_rules_out_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(pa.table({"k": range(1000), "v": range(1000)}), tmp_path / "one.parquet", row_group_size=100)
    read: list[int] = []
    plain = ParquetSource.read

    def watched(self: ParquetSource, piece: object, *args: object) -> object:
        read.append(piece.start)  # type: ignore[attr-defined]
        return plain(self, piece, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(ParquetSource, "read", watched)
    frame = argosy.read_parquet(tmp_path).filter(col("k") >= 850)
    assert frame.collect().num_rows == 150
    assert read == [8, 9]
