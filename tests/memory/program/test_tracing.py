"""Real programs, really traced by valgrind."""

from __future__ import annotations

import os
import signal
import tempfile

import psutil
import pytest
from memory.program.programs_in_c import (
    COLD,
    COMES_AND_GOES,
    FOREVER,
    HOT,
    HOT_AND_COLD,
    NBYTES,
    SMALL,
    compile_program,
    hide,
    needs_valgrind,
)

from argosy.errors import BadTrace
from argosy.memory.program import trace

pytestmark = needs_valgrind


@pytest.fixture(autouse=True)
def _nothing_is_left(tmp_path_factory, monkeypatch):
    """Neither a file in the folder for temporary ones nor a process."""
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    before = set(psutil.Process().children(recursive=True))
    yield
    assert list(folder.iterdir()) == []
    assert set(psutil.Process().children(recursive=True)) <= before


@pytest.fixture(scope="module")
def hot_and_cold(tmp_path_factory):
    return compile_program(tmp_path_factory.mktemp("program"), HOT_AND_COLD)


def ranked(traced):
    return {rank.object: rank for rank in traced.ranking()}


def test_the_hot_array_is_ranked_first_and_the_cold_one_behind(hot_and_cold, capfd):
    traced = trace([hot_and_cold], windows=20)
    ranks = traced.ranking()
    assert ranks[0].object == HOT
    assert [rank.object for rank in ranks[-2:]] == ["stack", "other"]  # what cannot be placed is last
    exact = {name: (rank.nbytes, rank.touched_nbytes) for name, rank in ranked(traced).items()}
    assert exact[HOT] == (NBYTES, 11 * NBYTES)  # written once, read ten times
    assert exact[COLD] == (NBYTES, NBYTES)
    nbytes, touched = exact["table"]
    assert nbytes == NBYTES
    assert touched in range(2 * NBYTES, 2 * NBYTES + 64)  # read and written, and one element printed
    assert capfd.readouterr() == (f"{float(sum(range(4096)) * 20):g}\n", "to stderr\n")
    assert traced.status == 0
    assert traced.source == "valgrind"
    assert traced.trace.seconds > 0
    assert any("modelled" in note for note in traced.notes)
    assert len(traced.trace.windows) <= 20
    assert {HOT, COLD, "table", "stack"} <= set(traced.heat.objects)
    traced.trace.check()
    hot = [touch for window in traced.trace.windows for touch in window.touches if touch.object == HOT]
    assert sum(touch.bytes_written for touch in hot) == NBYTES
    assert sum(touch.bytes_read for touch in hot) == 10 * NBYTES
    assert {touch.tier for touch in hot} == {"ram"}


def test_a_bad_end_is_kept_with_the_trace(hot_and_cold):
    folder, name = os.path.split(hot_and_cold)
    exited = trace([f"./{name}", "3"], cwd=folder, time_natively=False)
    assert exited.status == 3
    assert exited.trace.program == "./program"
    assert exited.ranking()[0].object == HOT
    assert any("ended with status 3" in note for note in exited.notes)
    died = trace([hot_and_cold, "0", "die"])
    assert died.status == -signal.SIGABRT
    assert died.ranking()[0].object == HOT
    assert any("killed by SIGABRT" in note for note in died.notes)


def test_without_symbols_objects_are_numbered(tmp_path):
    program = compile_program(tmp_path, HOT_AND_COLD, "-O1", "-s")
    assert trace([program], time_natively=False).ranking()[0].object == "heap#2 (32.0 KiB)"


@pytest.mark.parametrize("why", ["static", "no compiler"])
def test_where_allocations_are_not_told_pages_are_objects(tmp_path, monkeypatch, why):
    program = compile_program(tmp_path, HOT_AND_COLD, *(["-O1", "-static"] if why == "static" else []))
    if why == "no compiler":
        hide(monkeypatch, "cc", "gcc", "clang")
    traced = trace([program], time_natively=False)
    first = traced.ranking()[0]
    assert first.object.startswith("pages 0x")
    assert first.touched_nbytes >= 12 * NBYTES  # both arrays lie together
    said = "linked statically" if why == "static" else "no C compiler"
    assert any(said in note and "pages that lie together" in note for note in traced.notes)
    assert "stack" in traced.trace.sizes


def test_memory_that_comes_and_goes_is_followed(tmp_path):
    traced = trace([compile_program(tmp_path, COMES_AND_GOES, "-O0", "-g")], time_natively=False)
    assert traced.status == 0  # the program sees none of the variables, and its child tells of nothing
    ranks = ranked(traced)
    assert ranks["take (program.c:6) from program.c:8"].nbytes == 500_000  # grown by realloc
    assert ranks["take (program.c:6) from program.c:9"].nbytes == 20_000
    brief = ranks["main (program.c:11)"]
    assert brief.nbytes == 30_000  # three times the same
    assert brief.touched_nbytes >= 15_000
    assert ranks["main (program.c:13)"][1:3] == (65_536, 1024)
    assert ranks["main (program.c:17)"].nbytes == 12_288
    assert ranks["main (program.c:19)"].nbytes == 6400
    assert ranks["main (program.c:23)"][1:3] == (9000, 1)
    assert ranks["main (program.c:24)"][1:3] == (150_000, 0)
    assert not any(rank.nbytes == 700_000 for rank in ranks.values())  # the child's


def test_a_program_with_nothing_to_place_says_so(tmp_path):
    traced = trace([compile_program(tmp_path, SMALL)], time_natively=False)
    assert set(traced.trace.sizes) == {"stack", "other"}
    assert any("nothing to place" in note for note in traced.notes)
    assert traced.status == 0


def test_a_run_past_its_timeout_is_stopped_and_its_trace_kept(tmp_path):
    traced = trace([compile_program(tmp_path, FOREVER)], timeout_seconds=3, time_natively=False)
    assert traced.ranking()[0].object == "main (program.c:3)"
    assert traced.status == -signal.SIGKILL
    assert traced.trace.seconds == 0
    assert any("stopped at its timeout" in note for note in traced.notes)
    assert any("seconds are not known" in note for note in traced.notes)


def test_ctrl_c_ends_the_program_and_leaves_nothing(tmp_path):
    program = compile_program(tmp_path, FOREVER)
    seen = []

    def interrupt(progress):
        seen.append(progress)
        if progress.accesses:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        trace([program], time_natively=False, on_progress=interrupt)
    assert seen[-1].lines > seen[-1].accesses > 0


def test_what_cannot_be_traced_says_why(tmp_path):
    script = tmp_path / "run.sh"
    script.write_text("#!/bin/bash\necho hello\n")
    with pytest.raises(BadTrace, match="is not a program"):
        trace([str(script)])
    script.chmod(0o755)
    with pytest.raises(BadTrace, match=r"is a script.*/bin/bash .*run\.sh"):
        trace([str(script)])
    with pytest.raises(BadTrace, match="does not exist"):
        trace([str(tmp_path / "nowhere")])
    with pytest.raises(BadTrace, match=r"no program 'no-such-program' on the PATH; .* \./no-such-program"):
        trace(["no-such-program"])
    with pytest.raises(BadTrace, match="no program was named"):
        trace([])
    with pytest.raises(BadTrace, match="at least 1 window"):
        trace(["true"], windows=0)
    with pytest.raises(BadTrace, match="no source 'pin'"):
        trace(["true"], source="pin")


def test_without_valgrind_it_says_what_to_install(hot_and_cold, monkeypatch):
    hide(monkeypatch, "valgrind")
    with pytest.raises(BadTrace, match="valgrind is not installed"):
        trace([hot_and_cold], source="valgrind", time_natively=False)
