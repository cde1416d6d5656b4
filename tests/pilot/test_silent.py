"""Ranks that neither live nor die: stopped, hung with their machine, or left over from an earlier world."""

from __future__ import annotations

import ctypes
import importlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import argosy
from argosy.errors import LaunchFailed, RankLost
from argosy.pilot import pilot as pilots
from argosy.pilot.crew import Crew
from argosy.pilot.fleet import Fleet, Phase, Spawn
from argosy.pilot.processes import born, end_process
from argosy.pilot.wire import Kind, Server, decode, encode
from argosy.pilot.worker import attempt as attempts
from argosy.pilot.worker.keeper import INTERRUPT, parse_exit_note

LIMIT_SECONDS = 2.0


@pytest.fixture(scope="module")
def impatient() -> Iterator[argosy.Pilot]:
    """A pilot that gives a rank up after two seconds of silence."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARGOSY_SILENCE_SECONDS", str(LIMIT_SECONDS))
        with argosy.Pilot(ranks=4) as pilot:
            yield pilot


def stop_and_kill_once(marker: Path, comm: Any) -> int:
    """The first time rank 1 is stopped and rank 2 killed, in the middle of a collective."""
    if not comm.bcast(marker.exists()):
        if comm.rank == 1:
            os.kill(os.getpid(), signal.SIGSTOP)
        if comm.rank == 2:
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return sum(comm.allgather(comm.rank))


@pytest.mark.usefixtures("needs_ulfm")
def test_one_rank_stopped_while_its_peer_is_killed_costs_one_attempt(impatient: argosy.Pilot, marker: Path) -> None:
    before = impatient.submit(lambda comm: os.getpid(), ranks=4).results(timeout=40)
    assert impatient.submit(stop_and_kill_once, marker, ranks=3, retries=1).results(timeout=50) == [3, 3, 3]
    after = impatient.submit(lambda comm: os.getpid(), ranks=4).results(timeout=40)
    assert len(set(after) & set(before)) == 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in set(before) - set(after)), "a suspected rank still lives"


def test_a_task_on_a_stopped_rank_is_lost_and_says_that_it_was_silent(impatient: argosy.Pilot) -> None:
    with pytest.raises(RankLost, match="did not answer for 2 s") as caught:
        impatient.submit(lambda: os.kill(os.getpid(), signal.SIGSTOP)).result(timeout=40)
    assert caught.value.silent
    assert impatient.submit(lambda comm: comm.allreduce(1), ranks=4, retries=1).result(timeout=40) == 4


def test_a_rank_that_seems_to_be_there_when_it_is_asked_for_is_asked_for_again(
    impatient: argosy.Pilot, monkeypatch: pytest.MonkeyPatch
) -> None:
    send, asked = Server.send, list[float]()

    def still_there(server: Server, peer: bytes, *frames: bytes) -> bool:
        if frames[0] == encode(Kind.PROBE):
            asked.append(time.monotonic())
            if asked[-1] - asked[0] < 0.05:
                return True
        return send(server, peer, *frames)

    monkeypatch.setattr(Server, "send", still_there)
    with pytest.raises(RankLost, match="did not answer for 2 s"):
        impatient.submit(lambda: os.kill(os.getpid(), signal.SIGSTOP)).result(timeout=20)


def test_a_rank_that_sits_in_c_code_with_the_lock_is_not_taken_for_silent(impatient: argosy.Pilot) -> None:
    before = set(impatient.submit(lambda comm: os.getpid(), ranks=4).results(timeout=40))
    assert impatient.submit(lambda: ctypes.PyDLL(None).sleep(int(2 * LIMIT_SECONDS))).result(timeout=40) == 0
    assert set(impatient.submit(lambda comm: os.getpid(), ranks=4).results(timeout=40)) == before


@pytest.mark.parametrize("text", ["soon", "-1", "nan"])
def test_a_limit_that_is_no_time_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARGOSY_SILENCE_SECONDS", text)
    with pytest.raises(ValueError, match="ARGOSY_SILENCE_SECONDS"):
        argosy.Pilot(ranks=1)


def test_a_launcher_that_hangs_is_told_of_with_its_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = tmp_path / "mpiexec"
    bad.write_text("#!/bin/sh\nwhile :; do echo waiting for the licence server; sleep 0.1; done\n")
    bad.chmod(0o755)
    hanging = pilots.Mpiexec(path=str(bad), flavour="other", version="1", ulfm=False)
    monkeypatch.setattr(pilots, "find_mpiexec", lambda: hanging)
    monkeypatch.setenv("ARGOSY_START_SECONDS", "1")
    with pytest.raises(LaunchFailed, match=r"(?s)waiting for the licence server.*no sign of life for 1 s"):
        argosy.Pilot(ranks=1, folder=tmp_path)


def test_a_stop_that_comes_late_does_not_hit_the_next_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    handler = signal.getsignal(INTERRUPT)
    current = attempts.CurrentAttempt(ulfm=False)
    late = []
    monkeypatch.setattr(attempts.signal, "pthread_kill", lambda *signalled: late.append(signalled))
    try:
        current.begin((1, 0))
        current.hold(None)
        current.stop((1, 0))
        current.shield()
        current.end()
        current.begin((2, 0))
        current.hold(None)
        assert len(late) == 1
        os.kill(os.getpid(), INTERRUPT)  # the signal of the stop, which was under way
        time.sleep(0)
        assert not current.was_stopped()
        current.stop((2, 0))
        with pytest.raises(attempts.Interrupted):
            os.kill(os.getpid(), INTERRUPT)
    finally:
        signal.signal(INTERRUPT, handler)


def test_a_stop_lets_an_import_end_which_could_never_be_made_up_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handler = signal.getsignal(INTERRUPT)
    current = attempts.CurrentAttempt(ulfm=False)
    code = f"import os\nos.kill(os.getpid(), {int(INTERRUPT)})\nfor _ in range(10**5): pass\nwhole = True\n"
    (tmp_path / "slow_to_import.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        current.begin((1, 0))
        current.hold(None)
        monkeypatch.setitem(current._stopped, (1, 0), None)
        with pytest.raises(attempts.Interrupted):
            import_and_wait()
    finally:
        signal.signal(INTERRUPT, handler)
    assert sys.modules.pop("slow_to_import").whole


def import_and_wait() -> None:
    importlib.import_module("slow_to_import")
    time.sleep(30)


def test_a_process_that_has_the_number_of_a_dead_rank_is_left_alone() -> None:
    with subprocess.Popen(["sleep", "60"]) as innocent:
        started = born(innocent.pid)
        assert not end_process(innocent.pid, started - 1)
        assert innocent.poll() is None
        assert end_process(innocent.pid, started)
        assert innocent.wait(timeout=10) == -signal.SIGKILL
        assert not end_process(innocent.pid, started)


class Silent:
    """A launcher that starts nothing, and a server whose peers are all there."""

    output = 0
    ended = False

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.sent: list[tuple[bytes, Kind]] = []

    def watch(self, _descriptor: int) -> None: ...
    def unwatch(self, _descriptor: int) -> None: ...
    def note(self, _line: str) -> None: ...
    def say_goodbye(self, pilot_goes_on: bool) -> None: ...

    def read_lines(self) -> list[str]:
        lines, self.lines = self.lines, []
        return lines

    def send(self, peer: bytes, *frames: bytes) -> bool:
        self.sent.append((peer, decode(frames[0])[0]))
        return True


HERE = "elsewhere"  # so that nothing on this machine is ended


def crew_of(num_ranks: int, tmp_path: Path, ulfm: bool = True) -> tuple[Crew, Silent]:
    launched = Silent()
    made = Crew(Fleet(num_ranks, ulfm), launched, tmp_path, lambda _launch: launched, None, lambda *_: None)  # type: ignore[arg-type, return-value]
    made.start(0.0)
    return made, launched


def greet(crew: Crew, launch: int, rank: int, pid: int, spawning: int = 0, lanes: str = "orders tasks") -> None:
    for lane in lanes.split():
        name = f"{launch}.{rank}.{pid}.{lane}".encode()
        crew.hello(0.0, name, (lane, launch, spawning, rank, pid, 5, HERE, HERE, "MPI"))


def test_a_relaunched_world_never_hears_the_former_one(tmp_path: Path) -> None:
    crew, launched = crew_of(2, tmp_path, ulfm=False)
    greet(crew, 1, 0, 10)
    greet(crew, 1, 1, 11)
    assert crew.fleet.phase is Phase.STEADY
    launched.lines.append(f"argosy-exit 1 {HERE} 10 9")
    crew.hear(1.0)
    assert crew.fleet.phase is Phase.LAUNCHING
    greet(crew, 1, 0, 10)  # words of the former world that were under way
    greet(crew, 1, 1, 11)
    assert crew.fleet.phase is Phase.LAUNCHING
    assert not crew.fleet.live
    greet(crew, 2, 0, 10)  # the new world; a process number may come again
    greet(crew, 2, 1, 12)
    assert crew.fleet.phase is Phase.STEADY
    launched.lines += [f"argosy-exit 1 {HERE} 10 9", "argosy-exit 2 another-host 10 9"]
    crew.hear(2.0)
    assert crew.fleet.live == {0, 1}
    assert crew.sender(b"1.1.11.tasks", 1) is None
    assert crew.sender(b"2.1.12.tasks", 1) is crew.members[1]


def test_the_two_words_of_a_rank_come_in_any_order(tmp_path: Path) -> None:
    crew, _ = crew_of(2, tmp_path)
    for rank in (0, 1):
        greet(crew, 1, rank, 10 + rank, lanes="tasks")
    assert not crew.fleet.live
    for rank in (1, 0):
        greet(crew, 1, rank, 10 + rank, lanes="orders")
    assert crew.fleet.phase is Phase.STEADY
    assert crew.fleet.live == {0, 1}


def test_processes_with_one_number_are_different_processes_to_a_team(tmp_path: Path) -> None:
    crew, launched = crew_of(1, tmp_path, ulfm=False)
    greet(crew, 1, 0, 10)
    first = crew.members[0].serial
    launched.lines.append(f"argosy-exit 1 {HERE} 10 9")
    crew.hear(1.0)
    greet(crew, 2, 0, 10)
    assert crew.members[0].serial != first


def test_a_newcomer_of_an_earlier_spawning_is_not_taken_for_the_one_awaited(tmp_path: Path) -> None:
    fleet = Fleet(2, ulfm=True)
    fleet.arrived(0)
    fleet.arrived(1)
    fleet.lost(1)
    fleet.gathered()
    fleet.ready(0, fleet.epoch, "")
    (first,) = fleet.calmed()
    assert isinstance(first, Spawn)
    assert fleet.expects(1, first.number)
    fleet.overdue()
    (second,) = fleet.calmed()
    assert isinstance(second, Spawn)
    assert not fleet.expects(1, first.number)
    assert fleet.expects(1, second.number)


def test_a_rank_that_was_dying_when_it_was_suspected_is_not_called_silent(tmp_path: Path) -> None:
    crew, launched = crew_of(3, tmp_path)
    for rank in range(3):
        greet(crew, 1, rank, 10 + rank)
    for rank in (1, 2):
        crew.suspect(rank, 0.0)
    crew.check_time(1.0)  # both still lived, and were killed
    launched.lines += [f"argosy-exit 1 {HERE} 11 11", f"argosy-exit 1 {HERE} 12 9"]
    crew.hear(1.1)
    assert (crew.members[1].signal, crew.members[1].silent) == (signal.SIGSEGV, None)
    assert (crew.members[2].signal, crew.members[2].silent) == (signal.SIGKILL, crew._silence_seconds)


def test_the_second_word_of_a_newcomer_that_was_given_up_counts_for_nobody(tmp_path: Path) -> None:
    crew, launched = crew_of(2, tmp_path)
    for rank in (0, 1):
        greet(crew, 1, rank, 10 + rank)
    launched.lines.append(f"argosy-exit 1 {HERE} 11 9")
    crew.hear(1.0)
    for number in (1, 2):  # of the spawnings; the first newcomer is given up before it is in the world
        crew._do(1.0, crew.fleet.gathered() if number == 1 else [])
        crew._do(1.0, crew.fleet.ready(0, crew.fleet.epoch, ""))
        crew._do(1.0, crew.fleet.calmed())
        spawning = crew.fleet._spawning
        assert spawning is not None
        greet(crew, 1, 1, 20 + number, spawning=spawning.number, lanes="orders")
        if number == 1:
            former = spawning.number
            crew._do(1.0, crew.fleet.overdue())
    crew._do(1.0, crew.fleet.ready(0, crew.fleet._spawning.number, ""))  # type: ignore[union-attr]
    assert crew.fleet.phase is Phase.GROWING
    greet(crew, 1, 1, 21, spawning=former, lanes="tasks")
    assert crew.fleet.awaited == {0, 1}
    greet(crew, 1, 1, 22, spawning=crew.fleet._spawning.number, lanes="tasks")  # type: ignore[union-attr]
    assert crew.fleet.awaited == {0}


@pytest.mark.parametrize("pid", [0, -1, -(2**40), 2**31, 2**70])
def test_what_is_no_number_of_a_process_ends_nothing(pid: int) -> None:
    assert not end_process(pid, 0)


def test_only_a_keepers_whole_word_is_taken_for_one() -> None:
    assert parse_exit_note("argosy-exit 3 host 17 9") == (3, "host", 17, signal.SIGKILL, None, None)
    assert parse_exit_note("argosy-exit 3 host 17 1792") == (3, "host", 17, None, 7, None)
    for line in ("argosy-exit 17 9", "argosy-exit x host 17 9", "argosy-exit 3 host 17 9 more", "", "argosy-exit"):
        assert parse_exit_note(line) is None
