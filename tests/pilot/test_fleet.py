"""Which ranks live: whatever happens, the fleet ends up whole, or says that it cannot."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.pilot.fleet import Dismiss, Fleet, Gone, Grow, Joined, Phase, Relaunch, Shrink, Spawn, Step


class Machines:
    """Plays the processes: does what the fleet asks, in any order, and lets ranks die and calls fail at any moment."""

    def __init__(self, num_ranks: int, ulfm: bool) -> None:
        self.fleet = Fleet(num_ranks, ulfm)
        self.present: set[int] = set()
        """What the schedule has been told."""
        self.final: set[int] = set()
        self.mail: list[tuple[str, int, int]] = []
        """Words that are under way to the fleet."""
        self.worlds: dict[int, set[int]] = {}
        """Which worlds each rank has made since the launch; it may be told to go on from any of these."""
        self.spawned: dict[int, set[int]] = {}
        """By number: the newcomers and the leader that are still to say that they are there."""
        self.outside: set[int] = set()
        """Ranks whose processes were spawned and are in no world yet."""
        self.newest = 0
        """The last world that anybody was told to make."""
        self.troubles = 0
        """What counts against the fleet: ranks that live and die later do not."""
        self.launch()

    def launch(self) -> None:
        ranks = range(self.fleet.num_ranks)
        self.mail = [("arrived", rank, 0) for rank in ranks]
        self.worlds = {rank: {0} for rank in ranks}
        self.spawned = {}
        self.outside = set()
        self.newest = 0

    def do(self, steps: list[Step]) -> None:
        for step in steps:
            match step:
                case Joined(rank):
                    assert rank not in self.present
                    self.present.add(rank)
                    self.outside.discard(rank)
                    self.final.discard(rank)  # given up once, and brought back with the next that died
                case Gone(rank, returns):
                    self.present.discard(rank)
                    if not returns:
                        self.final.add(rank)
                case Shrink(ranks, epoch, base):
                    assert set(ranks) == self.fleet.live
                    self.tell(ranks, epoch, base)
                    self.mail += [("ready", rank, epoch) for rank in ranks]
                case Spawn(leader, number, lost):
                    assert leader in self.fleet.live
                    assert lost
                    assert not self.outside, "those would never be ended"
                    self.outside = set(lost)
                    assert not set(lost) & self.fleet.live
                    self.spawned[number] = {leader, *lost}
                    self.mail += [("greeted", rank, number) for rank in lost] + [("ready", leader, number)]
                case Grow(ranks, epoch, base, number, leader):
                    assert leader in ranks
                    assert self.spawned.pop(number) == set()
                    old = [rank for rank in ranks if rank in self.fleet.live]
                    new = [rank for rank in ranks if rank not in self.fleet.live]
                    assert len(old) == len(self.fleet.live)
                    self.tell(old, epoch, base)
                    self.mail += [("ready", rank, epoch) for rank in old] + [("arrived", rank, epoch) for rank in new]
                case Dismiss(ranks):
                    assert set(ranks) == self.outside
                    self.outside = set()
                    self.mail = [word for word in self.mail if word[1] not in ranks or word[0] == "ready"]
                    self.spawned = {}
                case Relaunch():
                    self.launch()

    def tell(self, ranks: Sequence[int], epoch: int, base: int) -> None:
        """A world is made from one that all of them have, and its number was never told before."""
        assert epoch > max(self.newest, base)
        assert all(base in self.worlds[rank] for rank in ranks)
        self.newest = epoch

    def deliver(self, which: int, problem: str = "") -> None:
        kind, rank, number = self.mail.pop(which % len(self.mail))
        match kind:
            case "arrived":
                assert number or self.fleet.expects(rank, 0) == (self.fleet.phase is Phase.LAUNCHING)
                self.worlds.setdefault(rank, set()).add(number)
                self.do(self.fleet.arrived(rank))
            case "greeted":
                assert [self.fleet.expects(rank, one) for one in (number, number + 1, 0)] == [True, False, False]
                self.spawned[number].discard(rank)
                self.do(self.fleet.greeted(rank))
            case "ready":
                self.troubles += bool(problem)
                if number in self.spawned and not problem:
                    self.spawned[number].discard(rank)
                elif not problem:
                    self.worlds[rank].add(number)
                self.do(self.fleet.ready(rank, number, problem))

    def die(self, rank: int) -> None:
        coming = any(kind != "ready" and peer == rank for kind, peer, _ in self.mail)
        if rank not in self.fleet.live and not coming:
            return  # it is dead already
        self.troubles += rank not in self.fleet.live or self.fleet.phase is Phase.LAUNCHING
        self.mail = [word for word in self.mail if word[1] != rank]
        self.worlds.pop(rank, None)
        self.do(self.fleet.lost(rank))

    def pass_time(self) -> None:
        if self.fleet.phase is Phase.GATHERING:
            self.do(self.fleet.gathered())
        elif self.fleet.phase is Phase.CALMING:
            self.do(self.fleet.calmed())
        elif not self.mail and self.fleet.phase not in (Phase.STEADY, Phase.OVER):
            raise AssertionError(f"the fleet waits for words that nobody will say: {self.fleet}")

    def come_to_rest(self) -> None:
        for _ in range(500):
            if self.mail:
                self.deliver(0)
            elif self.fleet.phase in (Phase.STEADY, Phase.OVER):
                return
            else:
                self.pass_time()
        raise AssertionError(f"the fleet never comes to rest: {self.fleet}")


_MOST_FAILURES = 3
_MAY_HAPPEN = ["deliver", "deliver", "deliver", "problem", "die", "die", "time"]


@settings(max_examples=250)
@given(
    num_ranks=st.integers(1, 5),
    ulfm=st.booleans(),
    story=st.lists(st.tuples(st.sampled_from(_MAY_HAPPEN), st.integers(0, 9)), min_size=15, max_size=50),
)
def test_after_any_deaths_at_any_moment_the_fleet_is_whole_again_or_over(
    num_ranks: int, ulfm: bool, story: list[tuple[str, int]]
) -> None:
    machines = Machines(num_ranks, ulfm)
    for what, which in story:
        if what == "deliver" and machines.mail:
            machines.deliver(which)
        elif what == "problem" and machines.mail:
            machines.deliver(which, "no room for a communicator")
        elif what == "die":
            machines.die(which % num_ranks)
        elif what == "time":
            machines.pass_time()
        assert machines.present <= machines.fleet.live
    machines.come_to_rest()
    everybody = set(range(num_ranks))
    if machines.fleet.phase is Phase.OVER:
        assert machines.final == everybody
        assert machines.present == set()
    else:
        assert machines.present == machines.fleet.live
        assert machines.present == everybody - machines.final
        assert {max(machines.worlds[rank]) for rank in machines.present} == {machines.fleet.epoch}
    if machines.troubles < _MOST_FAILURES:
        assert not machines.final


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


def shrunk() -> Fleet:
    """Rank 1 of 3 has died, and the others have a world of their own."""
    fleet = whole(3).fleet
    fleet.lost(1)
    fleet.gathered()
    fleet.ready(0, 1, "")
    fleet.ready(2, 1, "")
    return fleet


def test_processes_that_do_not_come_are_spawned_again() -> None:
    fleet = shrunk()
    (first,) = fleet.calmed()
    assert fleet.awaited == {0, 1}
    assert fleet.overdue() == [Dismiss((1,))]
    assert fleet.phase is Phase.CALMING
    (second,) = fleet.calmed()
    assert isinstance(first, Spawn)
    assert isinstance(second, Spawn)
    assert (first.lost, second.lost, second.number > first.number) == ((1,), (1,), True)


def test_a_world_that_does_not_grow_is_shrunk_first() -> None:
    fleet = shrunk()
    (spawn,) = fleet.calmed()
    assert isinstance(spawn, Spawn)
    fleet.ready(0, spawn.number, "")
    fleet.greeted(1)
    assert fleet.phase is Phase.GROWING
    assert fleet.overdue() == [Dismiss((1,))]
    assert fleet.phase is Phase.GATHERING
    (shrink,) = fleet.gathered()
    assert isinstance(shrink, Shrink)
    assert (shrink.ranks, shrink.base) == ((0, 2), 1)


def test_a_world_that_does_not_shrink_is_relaunched_and_a_first_one_that_does_not_begin_is_the_end() -> None:
    fleet = whole(2).fleet
    fleet.lost(1)
    fleet.gathered()
    assert fleet.overdue() == [Gone(0), Relaunch()]
    assert Fleet(2, ulfm=True).overdue() == [Gone(0, returns=False), Gone(1, returns=False)]


def test_a_rank_that_cannot_be_brought_back_is_given_up_after_three_tries() -> None:
    fleet = shrunk()
    for _ in range(2):
        assert fleet.calmed()
        assert fleet.overdue() == [Dismiss((1,))]
    assert fleet.calmed()
    assert fleet.overdue() == [Dismiss((1,)), Gone(1, returns=False)]
    assert fleet.phase is Phase.STEADY


def test_newcomers_are_ended_when_their_leader_dies_and_when_anybody_does_while_the_world_grows() -> None:
    fleet = shrunk()
    fleet.calmed()
    assert fleet.lost(2) == [Gone(2)]  # neither leads nor is it awaited: the spawning goes on
    assert fleet.lost(0) == [Gone(0), Relaunch()]  # nobody is left
    fleet = shrunk()
    fleet.calmed()
    assert fleet.lost(0) == [Gone(0), Dismiss((1,))]
    fleet = shrunk()
    (spawn,) = fleet.calmed()
    assert isinstance(spawn, Spawn)
    fleet.ready(0, spawn.number, "")
    fleet.greeted(1)
    assert fleet.lost(2) == [Gone(2), Dismiss((1,))]
