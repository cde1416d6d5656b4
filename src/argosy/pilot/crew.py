"""The ranks as processes: started, greeted, lost, replaced. Does what the `Fleet` decides.

Owned by the controller's thread. What the schedule must know comes back as events.
"""

from __future__ import annotations

import contextlib
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
from argosy.pilot.wire import Kind
from argosy.pilot.worker.keeper import parse_exit_note

_GATHER_SECONDS = 0.03
"""How long a first death waits for others."""
_CALM_SECONDS = 0.5
"""How long tasks with communicators are waited for before the world grows."""
_PATIENCE_SECONDS = {
    Phase.LAUNCHING: 120.0,
    Phase.SHRINKING: 20.0,
    Phase.SPAWNING: 60.0,
    Phase.GROWING: 20.0,
}
"""How long a phase may last before it is taken for failed."""
_WAIT_FOR_NOTE_SECONDS = 0.5
"""How long a closed socket waits for the keeper's word on how its rank ended."""


@dataclass(slots=True)
class Member:
    """One process that is, or was, a rank."""

    rank: int
    pid: int
    node: str
    library: str
    task_lane: bytes = b""
    order_lane: bytes = b""
    signal: int | None = None
    exit_code: int | None = None
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
        launch: Callable[[], Launched],
        hosts: list[str] | None,
        record: Callable[[float, str, int, dict[str, Any]], None],
    ) -> None:
        """`hosts` names the node of each rank where there are several nodes; `record` writes a rank's state down."""
        self.fleet = fleet
        self.members: dict[int, Member] = {}
        """The newest process of each rank, alive or dead."""
        self._server = server
        self._folder = folder
        self._launch = launch
        self._hosts = hosts
        self._record = record
        self._by_pid: dict[int, Member] = {}
        self._doomed: set[tuple[int, int]] = set()
        """Attempts that have lost a rank since the world was whole."""
        self._suspects: dict[int, float] = {}
        self._phase = fleet.phase
        self._phase_since = 0.0
        self._last_look = 0.0
        self._launched: Launched | None = None
        self._past: list[Launched] = []
        self._here = socket.gethostname()

    # What the controller tells it ------------------------------------------------------------------------------------

    def start(self, now: float) -> None:
        self._launched = self._launch()
        self._server.watch(self._launched.output)
        self._phase_since = now

    def hello(self, now: float, peer: bytes, fields: tuple[Any, ...]) -> list[protocol.Event]:
        lane, rank, pid, node, library = fields
        member = self.members.get(rank)
        if member is None or member.pid != pid:
            member = self.members[rank] = self._by_pid[pid] = Member(rank, pid, node, library)
        if lane == "orders":
            member.order_lane = peer
            return self._do(now, self.fleet.greeted(rank))
        member.task_lane = peer
        return self._do(now, self.fleet.arrived(rank))

    def ready(self, now: float, fields: tuple[Any, ...]) -> list[protocol.Event]:
        rank, epoch, problem = fields
        if problem:
            self._note(f"argosy: rank {rank} could not make the world of epoch {epoch}: {problem}")
        return self._do(now, self.fleet.ready(rank, epoch, problem))

    def hear(self, now: float) -> list[protocol.Event]:
        """The launcher has said something, or ended."""
        launched = self._launched
        if launched is None:
            return []
        found: list[protocol.Event] = []
        for line in launched.read_lines():
            note = parse_exit_note(line)
            if note is None:
                launched.note(line)
                continue
            member = self._by_pid.get(note[0])
            if member is not None:
                member.signal, member.exit_code = note[1], note[2]
                found += self._lose(now, member)
        if launched.ended and self._launched is launched:
            self._note(f"argosy: {now:.3f} the launcher has ended")
            self._retire()
            found += self._do(now, self.fleet.ended())
        return found

    def probe(self, now: float) -> None:
        """Some peer has gone: find out which."""
        for rank in self.fleet.live:
            if not self.order(rank, wire.encode(Kind.PROBE)):
                self._suspects.setdefault(rank, now + _WAIT_FOR_NOTE_SECONDS)

    def check_time(self, now: float) -> list[protocol.Event]:
        """Losses nobody has explained in time, and phases that take too long."""
        found: list[protocol.Event] = []
        for rank in [rank for rank, until in self._suspects.items() if until <= now]:
            found += self._lose(now, self.members[rank])
        if self.fleet.phase is not self._phase:
            self._phase, self._phase_since = self.fleet.phase, now
        self._last_look = now
        lasted = now - self._phase_since
        if self.fleet.phase is Phase.GATHERING and self._is_gathered(lasted):
            self._doomed.clear()
            return found + self._do(now, self.fleet.gathered())
        if self.fleet.phase is Phase.CALMING and (lasted >= _CALM_SECONDS or self._is_calm()):
            return found + self._do(now, self.fleet.calmed())
        limit = _PATIENCE_SECONDS.get(self.fleet.phase)
        if limit is not None and lasted > limit:
            if any(self.members[rank].busy for rank in self.fleet.awaited & self.members.keys()):
                self._phase_since = now  # it may sit in code that lets no other thread run
            else:
                found += self._do(now, self.fleet.overdue())
        return found

    def next_deadline(self) -> float | None:
        times = list(self._suspects.values())
        limit = _PATIENCE_SECONDS.get(self.fleet.phase)
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
        member = self.members[rank]
        if member.node == self._here:
            with contextlib.suppress(ProcessLookupError):
                os.kill(member.pid, signal.SIGKILL)
            return
        neighbours = [one for one in self.fleet.live if self.members[one].node == member.node]
        for one in {rank, *neighbours[:2]}:
            self.order(one, wire.encode(Kind.DIE, member.pid))

    def suspect(self, rank: int, now: float) -> None:
        """A message to this rank could not be delivered."""
        self._suspects.setdefault(rank, now + _WAIT_FOR_NOTE_SECONDS)

    def close(self, gently: bool) -> None:
        """The pilot ends. `gently`: no rank is busy and none was ever lost, so MPI can be finalized."""
        for rank in self.fleet.live:
            if gently:
                self.give(rank, wire.encode(Kind.CLOSE))
            else:
                self.kill(rank)
        self._retire(pilot_goes_on=False)

    def wait(self) -> None:
        """Until no process is left."""
        for launched in self._past:
            launched.wait()

    def log_tail(self) -> str:
        """The last the launcher said, for error messages."""
        path = run_folder.launcher_log(self._folder)
        lines = path.read_text(errors="replace").strip().splitlines() if path.exists() else []
        return "\n".join(lines[-15:])

    # Doing what the fleet decides ------------------------------------------------------------------------------------

    def _lose(self, now: float, member: Member) -> list[protocol.Event]:
        self._suspects.pop(member.rank, None)
        self._by_pid.pop(member.pid, None)
        if self.members.get(member.rank) is not member:
            return []
        return self._do(now, self.fleet.lost(member.rank))

    def _do(self, now: float, steps: list[fleets.Step]) -> list[protocol.Event]:
        found: list[protocol.Event] = []
        for step in steps:
            self._note(f"argosy: {now:.3f} {step}")
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

    def _note(self, line: str) -> None:
        if self._launched is not None:
            self._launched.note(line)

    def _dismiss(self, rank: int) -> None:
        member = self.members.get(rank)
        if member is not None and member.pid in self._by_pid:
            self.kill(rank)

    def _tell(self, now: float, ranks: tuple[int, ...], frame: bytes) -> None:
        for rank in ranks:
            if not self.order(rank, frame):
                self.suspect(rank, now)

    def _record_loss(self, now: float, rank: int) -> None:
        member = self.members.get(rank)
        if member is None:
            return
        how = {"signal": member.signal, "exit_code": member.exit_code}
        self._record(now, "lost", rank, {"node": member.node} | {k: v for k, v in how.items() if v is not None})

    def _retire(self, pilot_goes_on: bool = True) -> None:
        """The launcher and all it has started are no longer ours; its guard ends them."""
        if self._launched is None:
            return
        self._server.unwatch(self._launched.output)
        self._launched.say_goodbye(pilot_goes_on)
        self._past.append(self._launched)
        self._launched = None
        self._suspects.clear()
        self._by_pid.clear()
