"""Samples of the processor: text as of `perf script`; the real run samples page faults, which every machine has."""

from __future__ import annotations

import os
import shutil
import subprocess

import numpy as np
import pytest
from memory.program.programs_in_c import COLD, HOT, HOT_AND_COLD, compile_program, hide

from argosy.errors import BadTrace
from argosy.memory.program import perf, trace
from argosy.memory.program.events import Event, Frame, Objects
from argosy.memory.program.sampled import LINE_NBYTES, Samples

TEXT = """\
56434.500829653: cpu/mem-stores/P:          7fb449744110      5080184 |OP STORE|LVL L1 hit|SNP N/A|TLB N/A|LCK N/A
56434.500795041: cpu/mem-loads,ldlat=30/P:  56232d68d030      5080242 |OP LOAD|LVL L1 hit|SNP None|TLB L2 hit|LCK No
solver 4711 56434.600000000:      ibs_op//:  7ffe10 |OP STORE|LVL L3|
56434.700000001: cpu/mem-stores/P:  10
56434.700000002: page-faults:  20
56434.800000000: cpu/mem-loads,ldlat=30/P:  0
56434.800000000: cpu/mem-loads,ldlat=30/P:  ffffffff81000000
# a comment

[ perf record: Woken up 1 times ]
"""


def test_the_text_of_perf_script_is_read():
    samples = perf.parse_script(TEXT.splitlines(keepends=True))
    assert samples.addresses.tolist() == [0x56232D68D030, 0x7FB449744110, 0x7FFE10, 0x10, 0x20]
    assert samples.writes.tolist() == [False, True, True, True, False]
    assert samples.seconds.tolist() == [56434.500795041, 56434.500829653, 56434.6, 56434.700000001, 56434.700000002]


def test_no_text_is_no_sample():
    assert len(perf.parse_script([]).addresses) == 0


def test_a_sample_belongs_to_what_was_allocated_then():
    samples = Samples(np.array([1.0, 3.0, 5.0, 7.0]), np.full(4, 100), np.zeros(4, bool))
    events = [
        Event(kind="allocated", address=90, nbytes=50, seconds=6, frames=(Frame("", 2),)),
        Event(kind="allocated", address=100, nbytes=50, seconds=2, frames=(Frame("", 1),)),
        Event(kind="freed", address=100, seconds=4),
    ]
    assert perf.locate(samples, events, Objects()).tolist() == [0, 2, 0, 3]


def faults_work():
    if shutil.which("perf") is None or shutil.which("cc") is None:
        return False
    done = subprocess.run(
        ["perf", "record", "-e", "page-faults", "-o", os.devnull, "true"], capture_output=True, check=False
    )
    return done.returncode == 0


@pytest.mark.skipif(not faults_work(), reason="perf cannot sample page faults here")
def test_a_real_run_is_sampled_by_its_page_faults(tmp_path):
    faults = ("perf", "record", "-q", "-d", "-c", "1", "-e", "page-faults")
    program = compile_program(tmp_path, HOT_AND_COLD)
    sampled = perf.run([program, "3"], program, windows=4, record=faults, fields="time,event,addr")
    assert sampled.status == 3
    assert sampled.without_names is None
    pages = dict.fromkeys(sampled.trace.sizes, 0)
    for window in sampled.trace.windows:
        for touch in window.touches:
            pages[touch.object] += touch.bytes_read // LINE_NBYTES
    assert {COLD, HOT, "table"} <= set(pages)
    assert 8 <= pages["table"] <= 18  # each of its pages is new once to read and perhaps once to write
    assert sampled.trace.seconds > 0
    assert sampled.heat.nbytes.sum() == LINE_NBYTES * sampled.num_samples


def test_a_machine_without_samples_says_why(monkeypatch):
    hide(monkeypatch, "perf")
    assert perf.why_not() == "perf is not installed"
    with pytest.raises(BadTrace, match="perf is not installed; use source='valgrind'"):
        trace(["true"], source="perf")


@pytest.mark.skipif(shutil.which("perf") is None, reason="perf is needed")
def test_what_perf_itself_says_is_told():
    why_not = perf.why_not()
    assert why_not is None or why_not.startswith("perf mem does not work on this machine: ")
