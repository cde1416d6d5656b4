"""The ranks as processes: started, greeted, lost, replaced. Does what the `Fleet` decides.

Owned by the controller's thread. What the schedule must know comes back as events.
"""

from __future__ import annotations

import itertools
import os
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argosy.pilot import fleet as fleets
from argosy.pilot import folder as run_folder
from argosy.pilot import protocol, wire
from argosy.pilot.fleet import Fleet, Phase
from argosy.pilot.launch.launched import Launched
from argosy.pilot.processes import end_process
from argosy.pilot.wire import Kind
from argosy.pilot.worker.allowance import Overdrawn
from argosy.pilot.worker.keeper import BEGIN_NOTE, parse_exit_note

_GATHER_SECONDS = 0.03
"""How long a first death waits for others."""
_CALM_SECONDS = 0.5
"""How long tasks with communicators are waited for before the world grows."""
_PATIENCE_SECONDS = {
    Phase.SHRINKING: 20.0,
    Phase.SPAWNING: 60.0,
    Phase.GROWING: 20.0,
}
"""How long a phase may last before it is taken for failed."""
_WAIT_FOR_NOTE_SECONDS = 0.5
"""How long a closed socket waits for the keeper's word on how its rank ended."""
_PROBE_AGAIN_SECONDS = (0.1, 1.0)
"""After word of a peer that is gone, which may come while messages for it are still taken."""
_WAIT_FOR_END_SECONDS = 2.0
"""How long a rank that was killed for its silence waits for that word."""


@dataclass(slots=True, eq=False)
class Member:
    """One process that is, or was, a rank."""

    serial: int
    """Its own in the life of the pilot; the numbers of processes come again."""
    rank: int
    pid: int
    born: int
    """When it started, in its machine's clock: with host and pid it names the process for good."""
    host: str
    node: str
    """Its host as MPI calls it."""
    library: str
    task_lane: bytes = b""
    order_lane: bytes = b""
    signal: int | None = None
    exit_code: int | None = None
    overdrawn: Overdrawn | None = None
    """What it was ended for, if that was the memory that a task took."""
    silent: float | None = None
    """It did not answer for so many seconds, and was killed for that."""
    broken: str = ""
    """What it sent that could not be understood, and was killed for."""
    busy: tuple[int, int] | None = None
    """The task and attempt it has been given and has not ended."""
    busy_in: int | None = None
    """The epoch of the world in which that attempt has its communicator, if it has one with others."""


class Crew:
    def __init__(
        self,
        fleet: Fleet,
        server: wire.Server,
        folder: Path,
        launch: Callable[[int], Launched],
        hosts: list[str] | None,
        record: Callable[[float, str, int, dict[str, Any]], None],
    ) -> None:
        """`launch` starts the world of that number; `hosts` names the node of each rank where there are several nodes;
        `record` writes a rank's state down.
        """
        self.fleet = fleet
        self.members: dict[int, Member] = {}
        """The newest process of each rank, alive or dead."""
        self._server = server
        self._folder = folder
        self._launch = launch
        self._hosts = hosts
        self._record = record
        self._number = 0
        """Of the world that is there: messages and notes of an earlier one are not heard."""
        self._serials = itertools.count()
        self._processes: dict[tuple[str, int], Member] = {}
        """Those of this world that are not known to have ended, by host and number."""
        self._doomed: set[tuple[int, int]] = set()
        """Attempts that have lost a rank since the world was whole."""
        self._suspects: dict[Member, float] = {}
        """Processes that cannot be reached, until they are killed or, when they were, are taken for dead."""
        self._probes: list[float] = []
        """When to ask again who is there."""
        self._silence_seconds = wire.silence_limit()
        self._patience = {phase: max(limit, self._silence_seconds + 5) for phase, limit in _PATIENCE_SECONDS.items()}
        self._patience[Phase.LAUNCHING] = start_limit()
        """A silent rank must be noticed before its silence is held against the whole world."""
        self._phase = fleet.phase
        self._phase_since = 0.0
        self._last_look = 0.0
        self._launched: Launched | None = None
        self._past: list[Launched] = []
        self._here = socket.gethostname()
        self.was_guarded = True
        """False once it is known that a guard was killed, who would have ended what its launcher has started."""

    # What the controller tells it ------------------------------------------------------------------------------------

    def start(self, now: float) -> None:
        self._number += 1
        self._launched = self._launch(self._number)
        self._server.watch(self._launched.output)
        self._phase_since = now

    def hello(self, now: float, peer: bytes, fields: tuple[Any, ...]) -> list[protocol.Event]:
        lane, launch, spawning, rank, pid, started, host, node, library = fields
        if launch != self._number or not 0 <= rank < self.fleet.num_ranks:
            return []
        member = self._processes.get((host, pid))
        if member is None or member.born != started:
            member = Member(next(self._serials), rank, pid, started, host, node, library)
            if not self.fleet.expects(rank, spawning):
                self._end(member)
                return []
            self.members[rank] = self._processes[host, pid] = member
        elif self.members.get(rank) is not member or not self.fleet.expects(rank, spawning):
            return []  # its second word comes after it was given up
        self._phase_since = now  # a sign of life
        found: list[protocol.Event] = []
        if lane == "orders":
            member.order_lane = peer
            found += self._do(now, self.fleet.greeted(rank))
        else:
            member.task_lane = peer
        if member.order_lane and member.task_lane:  # the two come in any order
            found += self._do(now, self.fleet.arrived(rank))
        return found

    def distrust(self, peer: bytes, why: str) -> None:
        """It sent what nobody of ours would send. A rank that does is ended, and lost like any other."""
        self.note(f"argosy: {peer!r} sent {why}")
        for rank in self.fleet.live:
            if self.sender(peer, rank) is not None:
                self.members[rank].broken = why
                self.kill(rank)

    def sender(self, peer: bytes, rank: int) -> Member | None:
        """The process that is this rank now, if it is the one that sent a message; None for one of the past."""
        member = self.members.get(rank)
        return member if member is not None and peer in (member.task_lane, member.order_lane) else None

    def ready(self, now: float, peer: bytes, fields: tuple[Any, ...]) -> list[protocol.Event]:
        rank, epoch, problem = fields
        if self.sender(peer, rank) is None:
            return []
        if problem:
            self.note(f"argosy: rank {rank} could not make the world of epoch {epoch}: {problem}")
        return self._do(now, self.fleet.ready(rank, epoch, problem))

    def hear(self, now: float) -> list[protocol.Event]:
        """The launcher has said something, or ended."""
        launched = self._launched
        if launched is None:
            return []
        found: list[protocol.Event] = []
        for line in launched.read_lines():
            if line.startswith(BEGIN_NOTE):
                if self.fleet.phase is Phase.LAUNCHING:
                    self._phase_since = now  # a sign of life; what a launcher says of itself is none
                continue
            note = parse_exit_note(line)
            if note is None:
                launched.note(line)
                continue
            launch, host, pid, ended_by, exit_code, overdrawn = note
            member = self._processes.get((host, pid)) if launch == self._number else None
            if member is not None:
                member.signal, member.exit_code, member.overdrawn = ended_by, exit_code, overdrawn
                if member.signal != signal.SIGKILL:
                    member.silent = None  # it was dying by itself, and took long to
                found += self._lose(now, member)
        if launched.ended and self._launched is launched:
            self.note(f"argosy: {now:.3f} the launcher has ended")
            self._retire()
            found += self._do(now, self.fleet.ended())
        return found

    def peer_gone(self, now: float) -> None:
        """Some peer has gone, or does not answer. ZeroMQ tells of it before it stops taking messages for that peer."""
        self._probes = [now + later for later in _PROBE_AGAIN_SECONDS]
        self.probe(now)

    def probe(self, now: float) -> None:
        """Find out which."""
        frame = wire.encode(Kind.PROBE)
        for rank in self.fleet.live:
            if not (self.order(rank, frame) and self.give(rank, frame)):
                self.suspect(rank, now)

    def check_time(self, now: float) -> list[protocol.Event]:
        """Losses nobody has explained in time, and phases that take too long."""
        found: list[protocol.Event] = []
        if self._probes and self._probes[0] <= now:
            self._probes = [later for later in self._probes if later > now]
            self.probe(now)
        for member in [member for member, until in self._suspects.items() if until <= now]:
            if member.silent is not None or not self._end(member):
                found += self._lose(now, member)
            else:  # it lived, and must not any more before another has its place
                member.silent = self._silence_seconds
                self._suspects[member] = now + _WAIT_FOR_END_SECONDS
        if self.fleet.phase is not self._phase:
            self._phase, self._phase_since = self.fleet.phase, now
        self._last_look = now
        lasted = now - self._phase_since
        if self.fleet.phase is Phase.GATHERING and self._is_gathered(lasted):
            self._doomed.clear()
            return found + self._do(now, self.fleet.gathered())
        if self.fleet.phase is Phase.CALMING and (lasted >= _CALM_SECONDS or self._is_calm()):
            return found + self._do(now, self.fleet.calmed())
        limit = self._patience.get(self.fleet.phase)
        if limit is not None and lasted > limit:
            if self.fleet.phase is Phase.LAUNCHING:
                there = f"{len(self.fleet.live)} of {self.fleet.num_ranks} ranks are there"
                self.note(f"argosy: there was no sign of life for {limit:g} s; {there}")
                found += self._do(now, self.fleet.overdue())
            elif any(self.members[rank].busy for rank in self.fleet.awaited & self.members.keys()):
                self._phase_since = now  # it may sit in code that lets no other thread run
            else:
                found += self._do(now, self.fleet.overdue())
        return found

    def next_deadline(self) -> float | None:
        times = [*self._suspects.values(), *self._probes[:1]]
        limit = self._patience.get(self.fleet.phase)
        if self.fleet.phase is not self._phase:
            return 0.0
        if self.fleet.phase in (Phase.GATHERING, Phase.CALMING):
            times.append(self._last_look + _GATHER_SECONDS)
        elif limit is not None:
            times.append(self._phase_since + limit + 0.01)
        return min(times, default=None)

    # What the controller asks of it ----------------------------------------------------------------------------------

    @property
    def epoch(self) -> int:
        """The world out of which communicators are to be made now."""
        return self.fleet.epoch

    def give(self, rank: int, *frames: bytes) -> bool:
        """A message to the rank's main thread; False when it is gone."""
        return self._server.send(self.members[rank].task_lane, *frames)

    def order(self, rank: int, frame: bytes) -> bool:
        """A message to the rank's side thread; False when it is gone."""
        return self._server.send(self.members[rank].order_lane, frame)

    def kill(self, rank: int) -> None:
        """End the rank's process, whatever it is doing. Its loss is noticed like any other."""
        self._end(self.members[rank])

    def suspect(self, rank: int, now: float) -> None:
        """A message to this rank could not be delivered."""
        self._suspects.setdefault(self.members[rank], now + _WAIT_FOR_NOTE_SECONDS)

    def note(self, line: str) -> None:
        """Keep a line with what the launcher has said."""
        if self._launched is not None:
            self._launched.note(line)

    def close(self, gently: bool) -> None:
        """The pilot ends. `gently`: no rank is busy and none was ever lost, so MPI can be finalized."""
        try:
            for rank in self.fleet.live:
                if gently:
                    self.give(rank, wire.encode(Kind.CLOSE))
                else:
                    self.kill(rank)
        finally:
            self._retire(pilot_goes_on=False)

    def wait(self) -> None:
        """Until no process is left."""
        for launched in self._past:
            self.was_guarded &= launched.wait() >= 0

    def log_tail(self) -> str:
        """The last the launcher said, for error messages."""
        path = run_folder.launcher_log(self._folder)
        lines = path.read_text(errors="replace").strip().splitlines() if path.exists() else []
        return "\n".join(lines[-15:])

    # Doing what the fleet decides ------------------------------------------------------------------------------------

    def _lose(self, now: float, member: Member) -> list[protocol.Event]:
        self._suspects.pop(member, None)
        self._processes.pop((member.host, member.pid), None)
        if self.members.get(member.rank) is not member:
            return []
        return self._do(now, self.fleet.lost(member.rank))

    def _do(self, now: float, steps: list[fleets.Step]) -> list[protocol.Event]:
        found: list[protocol.Event] = []
        for step in steps:
            self.note(f"argosy: {now:.3f} {step}")
            match step:
                case fleets.Joined(rank):
                    member = self.members[rank]
                    self._record(now, "joined", rank, {"node": member.node, "pid": member.pid})
                    found.append(protocol.RankJoined(now, rank))
                case fleets.Gone(rank, returns):
                    if rank in self.members:
                        self._doom(self.members[rank].busy)
                    self._record_loss(now, rank)
                    found.append(protocol.RankGone(now, rank, returns))
                case fleets.Shrink(ranks, epoch, base):
                    self._tell(now, ranks, wire.encode(Kind.SHRINK, epoch, base))
                case fleets.Spawn(leader, number, lost):
                    hosts = None if self._hosts is None else tuple(self._hosts[rank] for rank in lost)
                    self._tell(now, (leader,), wire.encode(Kind.SPAWN, number, lost, hosts))
                case fleets.Grow(ranks, epoch, base, number, leader):
                    self._tell(now, ranks, wire.encode(Kind.GROW, epoch, base, number, leader))
                case fleets.Dismiss(ranks):
                    for rank in ranks:
                        self._dismiss(rank)
                case fleets.Relaunch():
                    for member in self._processes.values():
                        self._end(member)  # the tasks of the former world must not run beside those of the next
                    self._retire()
                    self.start(now)
        return found

    def _doom(self, attempt: tuple[int, int] | None) -> None:
        if attempt is not None:
            self._doomed.add(attempt)

    def _is_gathered(self, lasted: float) -> bool:
        """Whether the peers of the dead have left their tasks, or have been waited for long enough."""
        if lasted < _GATHER_SECONDS:
            return False
        return lasted >= _CALM_SECONDS or not any(self.members[rank].busy in self._doomed for rank in self.fleet.live)

    def _is_calm(self) -> bool:
        """Whether no task has a communicator out of a world before the one to come."""
        return all(
            member.busy_in is None or member.busy_in >= self.fleet.epoch
            for member in map(self.members.__getitem__, self.fleet.live)
        )

    def _dismiss(self, rank: int) -> None:
        member = self.members.get(rank)
        if member is not None and self._processes.get((member.host, member.pid)) is member:
            self._end(member)

    def _end(self, member: Member) -> bool:
        """Have this very process killed; False when it is known to be no more."""
        if member.host == self._here:
            return end_process(member.pid, member.born)
        neighbours = [one for one in self.fleet.live if self.members[one].host == member.host]
        for one in {member.rank, *neighbours[:2]} & self.members.keys():
            self.order(one, wire.encode(Kind.DIE, member.pid, member.born))
        return True

    def _tell(self, now: float, ranks: tuple[int, ...], frame: bytes) -> None:
        for rank in ranks:
            if not self.order(rank, frame):
                self.suspect(rank, now)

    def _record_loss(self, now: float, rank: int) -> None:
        member = self.members.get(rank)
        if member is None:
            return
        how = {"signal": member.signal, "exit_code": member.exit_code, "silent": member.silent}
        self._record(now, "lost", rank, {"node": member.node} | {k: v for k, v in how.items() if v is not None})

    def _retire(self, pilot_goes_on: bool = True) -> None:
        """The launcher and all it has started are no longer ours; its guard ends them."""
        if self._launched is None:
            return
        launched, self._launched = self._launched, None
        self._past.append(launched)
        launched.say_goodbye(pilot_goes_on)
        self._server.unwatch(launched.output)
        self._suspects.clear()
        self._processes.clear()


def start_limit() -> float:
    """How long a world in the making may give no sign of life: `$ARGOSY_START_SECONDS`, 50 unless set."""
    text = os.environ.get("ARGOSY_START_SECONDS", "50")
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ValueError(f"the variable ARGOSY_START_SECONDS must be a number of seconds above 0, not {text!r}")
    return seconds
