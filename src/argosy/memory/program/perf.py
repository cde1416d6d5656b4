"""Samples of a program's accesses by the processor: `perf mem record`, on Intel (PEBS) and AMD (IBS) processors.

The program runs at nearly its own speed. Virtual machines mostly do not have it; `why_not` finds out. What the tests
run for real is this path with samples of page faults; the processor's own events are known from their documents only.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from argosy.errors import BadTrace
from argosy.memory.heat import Heat
from argosy.memory.program.counting import PAGE_NBYTES
from argosy.memory.program.events import Event, Objects
from argosy.memory.program.interposer import CannotCompile, compile_into, environment, read_events
from argosy.memory.program.naming import find_places, find_statics, name_objects
from argosy.memory.program.programs import kill
from argosy.memory.program.sampled import Samples, cut_by_time, trace_samples
from argosy.memory.trace import Trace

MEM = ("perf", "mem", "record")
_FIELDS = "time,event,addr,data_src"
_SAMPLE = re.compile(r"(?:^|\s)(?P<time>\d+\.\d+):\s+(?P<event>\S+):\s+(?P<addr>[0-9a-f]+)(?P<rest>\s.*)?$")


class Sampled(NamedTuple):
    trace: Trace
    heat: Heat
    status: int
    num_samples: int
    without_names: str | None


def why_not() -> str | None:
    """Why the processor's samples cannot be had here; None where they can."""
    if shutil.which("perf") is None:
        return "perf is not installed"
    with tempfile.TemporaryDirectory(prefix="argosy-perf-") as folder:
        done = subprocess.run([*MEM, "-o", f"{folder}/data", "--", "true"], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    return f"perf mem does not work on this machine: {said[-1] if said else f'status {done.returncode}'}"


def parse_script(lines: Iterable[str]) -> Samples:
    """Samples from the text of `perf script --ns -F time,event,addr,data_src`, in the order of time.

        56434.500795041: cpu/mem-loads,ldlat=30/P:  56232d68d030  5080242 |OP LOAD|LVL L1 hit|SNP None|TLB ...
        56434.500829653: cpu/mem-stores/P:          7fb449744110  5080184 |OP STORE|LVL L1 hit|...

    Fields before the time (command, process) are skipped, and so are samples without an address and the kernel's.
    A sample is a write if its operation says so, or, where that is not told, its event.
    """
    seconds, addresses, writes = [], [], []
    for line in lines:
        match = _SAMPLE.search(line.rstrip("\n"))
        if match is None:
            continue
        address = int(match["addr"], 16)
        if not 0 < address < 1 << 63:
            continue
        operation = re.search(r"\|OP ([^|]*)\|", match["rest"] or "")
        seconds.append(float(match["time"]))
        addresses.append(address)
        writes.append("STORE" in operation[1] if operation else "store" in match["event"])
    order = np.argsort(np.array(seconds), kind="stable")
    return Samples(np.array(seconds)[order], np.array(addresses, np.int64)[order], np.array(writes, bool)[order])


def locate(samples: Samples, events: Iterable[Event], objects: Objects) -> NDArray[np.int64]:
    """The object of each sample, by what had been allocated when it was taken. Changes `objects`."""
    object_of = np.zeros(len(samples.addresses), np.int64)
    done = 0
    for event in sorted(events, key=lambda event: event.seconds):
        until = max(int(np.searchsorted(samples.seconds, event.seconds)), done)
        object_of[done:until] = objects.locate(samples.addresses[done:until])
        objects.apply(event)
        done = until
    object_of[done:] = objects.locate(samples.addresses[done:])
    return object_of


def run(
    command: Sequence[str],
    program: str,
    *,
    windows: int,
    cwd: str | Path | None = None,
    timeout_seconds: float | None = None,
    record: Sequence[str] = MEM,
    fields: str = _FIELDS,
) -> Sampled:
    """Run it once and sample it. `record` and `fields`: another event that has addresses, such as page faults."""
    with tempfile.TemporaryDirectory(prefix="argosy-perf-") as temporary:
        folder = Path(temporary)
        data, told = folder / "data", folder / "events"
        told.touch()
        without_names, env = None, None
        try:
            env = environment(compile_into(folder), told, program)
        except CannotCompile as error:
            without_names = str(error)
        recording = [*record, "-k", "CLOCK_MONOTONIC", "-o", str(data), "--", *command]
        child = subprocess.Popen(recording, cwd=cwd, env=env)
        try:
            status = child.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            raise BadTrace(
                f"{command[0]} ran longer than {timeout_seconds:g} s and was stopped; give it more time"
            ) from None
        finally:
            kill(child)
        script = ["perf", "script", "--ns", "-F", fields, "-i", str(data)]
        with subprocess.Popen(script, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as reading:
            samples = parse_script(reading.stdout or ())
            said = reading.stderr.read().strip() if reading.stderr else ""
        events = [event for event in iter(read_events(told).__next__, None) if event is not None]
    if not len(samples.addresses):
        raise BadTrace(f"perf took no sample of {command[0]} that has an address{': ' + said if said else ''}")
    cut = cut_by_time(samples.seconds, windows)
    if not events:
        without_names = without_names or "the program could not be told to report them (it may be linked statically)"
        return Sampled(*trace_samples(command[0], samples, cut), status, len(samples.addresses), without_names)
    objects = Objects()
    for static in find_statics(program, PAGE_NBYTES):
        objects.add_named(static.name, static.address + events[0].address, static.nbytes)
    object_of = locate(samples, events[1:], objects)
    names = name_objects(
        objects.found, find_places({frame for each in objects.found for frame in each.frames}, program)
    )
    sizes = [each.peak_nbytes for each in objects.found]
    trace, heat = trace_samples(command[0], samples, cut, object_of, names, sizes)
    return Sampled(trace, heat, status, len(samples.addresses), None)
