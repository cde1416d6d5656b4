"""Programs made by Hypothesis give plain Python's answer, bit for bit.

`tests/soak/programs.py` looks for trouble for longer, and what it finds is made small by
`PYTHONPATH=tests python -m tree.programs.made.search --minutes 10`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, note, settings
from tree.programs.made.grammar import sources
from tree.programs.made.module import trouble_of_source

TIMES = int(os.environ.get("ARGOSY_LAWS", "1"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("made")


@settings(max_examples=30 * TIMES, deadline=None, suppress_health_check=list(HealthCheck))
@given(source=sources())
def test_a_made_program_is_plain_python(source: str, folder: Path) -> None:
    note(source)
    assert trouble_of_source(source, folder) is None
