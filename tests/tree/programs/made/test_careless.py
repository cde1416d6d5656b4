"""Made programs are dense enough: one who forgets that names can share memory is found out again and again."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from tree.programs.made.careless import careless
from tree.programs.made.grammar import sources
from tree.programs.made.module import made_program
from tree.programs.runner.compare import trouble


def test_one_made_program_in_ten_finds_out_who_looks_at_names_only(tmp_path: Path) -> None:
    found: list[bool] = []

    @settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(source=sources())
    def attempt(source: str) -> None:
        with made_program(source, tmp_path) as program:
            found.append(trouble(program, careless) is not None)

    attempt()
    assert sum(found) >= len(found) / 10
