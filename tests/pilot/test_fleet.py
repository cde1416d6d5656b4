"""Which ranks live: whatever happens, the fleet ends up whole, or says that it cannot."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.pilot.fleet import Dismiss, Fleet, Gone, Grow, Joined, Phase, Relaunch, Shrink, Spawn, Step


class Machines:
    """Plays the processes: does what the fleet asks, in any order, and lets ranks die at any moment."""

    def __init__(self, num_ranks: int, ulfm: bool) -> None:
        self.fleet = Fleet(num_ranks, ulfm)
        self.present: set[int] = set()
        """What the schedule has been told."""
        self.final: set[int] = set()
        self.mail: list[tuple[str, int, int]] = []
        """Words that are under way to the fleet."""
        self.incarnation = 0
        self.launch()

    def launch(self) -> None:
        self.incarnation += 1
        self.mail = [("arrived", rank, 0) for rank in range(self.fleet.num_ranks)]

    def do(self, steps: list[Step]) -> None:
        for step in steps:
            match step:
                case Joined(rank):
                    assert rank not in self.present
                    self.present.add(rank)
                case Gone(rank, returns):
                    self.present.discard(rank)
                    if not returns:
                        self.final.add(rank)
                case Shrink(ranks, epoch, base):
                    assert set(ranks) == self.fleet.live
                    assert epoch > base
                    self.mail += [("ready", rank, epoch) for rank in ranks]
                case Spawn(leader, number, lost):
                    assert leader in self.fleet.live
                    assert not set(lost) & self.fleet.live
                    self.mail += [("greeted", rank, 0) for rank in lost] + [("ready", leader, number)]
                case Grow(ranks, epoch, base, _, leader):
                    assert epoch > base
                    assert leader in ranks
                    old = [rank for rank in ranks if rank in self.fleet.live]
                    new = [rank for rank in ranks if rank not in self.fleet.live]
                    self.mail += [("ready", rank, epoch) for rank in old] + [("arrived", rank, 0) for rank in new]
                case Dismiss(ranks):
                    self.mail = [word for word in self.mail if word[1] not in ranks or word[0] == "ready"]
                case Relaunch():
                    self.launch()

    def deliver(self, which: int) -> None:
        kind, rank, number = self.mail.pop(which % len(self.mail))
        match kind:
            case "arrived":
                self.do(self.fleet.arrived(rank))
            case "greeted":
                self.do(self.fleet.greeted(rank))
            case "ready":
                self.do(self.fleet.ready(rank, number, ""))

    def die(self, rank: int) -> None:
        newcomer = rank not in self.fleet.live
        if newcomer and self.fleet.phase is not Phase.LAUNCHING:
            return
        self.mail = [word for word in self.mail if word[1] != rank]
        self.do(self.fleet.lost(rank))

    def pass_time(self) -> None:
        if self.fleet.phase is Phase.GATHERING:
            self.do(self.fleet.gathered())
        elif self.fleet.phase is Phase.CALMING:
            self.do(self.fleet.calmed())
        elif not self.mail and self.fleet.phase not in (Phase.STEADY, Phase.OVER):
            self.do(self.fleet.overdue())

    def come_to_rest(self) -> None:
        for _ in range(500):
            if self.mail:
                self.deliver(0)
            elif self.fleet.phase in (Phase.STEADY, Phase.OVER):
                return
            else:
                self.pass_time()
        raise AssertionError(f"the fleet never comes to rest: {self.fleet}")


@settings(max_examples=300)
@given(
    num_ranks=st.integers(1, 5),
    ulfm=st.booleans(),
    story=st.lists(st.tuples(st.sampled_from(["deliver", "deliver", "deliver", "die", "time"]), st.integers(0, 9))),
)
def test_after_any_deaths_at_any_moment_the_fleet_is_whole_again_or_over(
    num_ranks: int, ulfm: bool, story: list[tuple[str, int]]
) -> None:
    machines = Machines(num_ranks, ulfm)
    for what, which in story:
        if what == "deliver" and machines.mail:
            machines.deliver(which)
        elif what == "die":
            machines.die(which % num_ranks)
        elif what == "time":
            machines.pass_time()
        assert machines.present <= machines.fleet.live
    machines.come_to_rest()
    if machines.fleet.phase is Phase.OVER:
        assert machines.final == set(range(num_ranks))
    else:
        assert machines.present == machines.fleet.live
        assert machines.present | machines.final >= set(range(num_ranks))


def whole(num_ranks: int, ulfm: bool = True) -> Machines:
    machines = Machines(num_ranks, ulfm)
    machines.come_to_rest()
    return machines


def test_with_ulfm_a_death_shrinks_spawns_and_grows() -> None:
    fleet = whole(3).fleet
    assert fleet.lost(1) == [Gone(1)]
    assert fleet.gathered() == [Shrink((0, 2), 1, 0)]
    assert fleet.ready(0, 1, "") == []
    assert fleet.ready(2, 1, "") == []
    assert fleet.phase is Phase.CALMING
    (spawn,) = fleet.calmed()
    assert isinstance(spawn, Spawn)
    assert (spawn.leader, spawn.lost) == (0, (1,))
    fleet.greeted(1)
    (grow,) = fleet.ready(0, spawn.number, "")
    assert isinstance(grow, Grow)
    assert (grow.ranks, grow.base, grow.leader) == ((0, 1, 2), 1, 0)


def test_without_ulfm_a_death_relaunches_the_world() -> None:
    fleet = whole(3, ulfm=False).fleet
    assert fleet.lost(1) == [Gone(1), Gone(0), Gone(2), Relaunch()]


def test_a_second_death_while_shrinking_shrinks_once_more_from_the_new_world() -> None:
    fleet = whole(3).fleet
    fleet.lost(1)
    fleet.gathered()
    fleet.ready(0, 1, "")
    assert fleet.lost(2) == [Gone(2)]
    assert fleet.phase is Phase.GATHERING
    assert fleet.gathered() == [Shrink((0,), 2, 1)]


def test_three_launches_that_fail_are_the_end() -> None:
    fleet = Fleet(2, ulfm=True)
    assert fleet.ended() == [Relaunch()]
    assert fleet.ended() == [Relaunch()]
    assert fleet.ended() == [Gone(0, returns=False), Gone(1, returns=False)]
    assert fleet.phase is Phase.OVER


def test_a_world_that_cannot_shrink_is_relaunched() -> None:
    fleet = whole(2).fleet
    fleet.lost(1)
    fleet.gathered()
    assert fleet.ready(0, 1, "no") == [Gone(0), Relaunch()]
