"""Objects that stand for a Future."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

import argosy
from argosy.errors import CannotPickle


@dataclass
class Spread:
    """Something whose pieces lie on ranks."""

    future: argosy.Future | None
    note: str = "plain"

    def __argosy_future__(self) -> argosy.Future | None:
        return self.future


class Narrower(Spread):
    """A subclass stands for a Future as well."""


def pieces(pilot: argosy.Pilot, ranks: int) -> argosy.Future:
    return pilot.submit(lambda comm: comm.rank * 10, ranks=ranks, keep=True)


@pytest.mark.parametrize("kind", [Spread, Narrower])
def test_it_arrives_as_each_ranks_own_value_also_where_ranks_are_left_out(pilot: argosy.Pilot, kind: Any) -> None:
    spread = kind(pieces(pilot, 3))
    assert pilot.submit(lambda value, comm: value + comm.rank, spread, ranks=3).results() == [0, 11, 22]
    assert pilot.submit(lambda value: value, spread).results() == [0, 10, 20]


def test_it_arrives_at_any_depth_and_out_of_a_closure(pilot: argosy.Pilot) -> None:
    spread = Spread(pieces(pilot, 2))
    found = pilot.submit(lambda given, *, key: [given["a"][0][1], key], {"a": [(1, spread)]}, key=spread).results()
    assert found == [[0, 0], [10, 10]]
    assert pilot.submit(lambda: spread, ranks=2).results() == [0, 10]


def test_the_future_it_stands_for_outlives_it(pilot: argosy.Pilot) -> None:
    waits = pilot.submit(lambda value: value, Spread(pieces(pilot, 2)))
    assert waits.results() == [0, 10]


def test_one_that_stands_for_nothing_travels_as_itself(pilot: argosy.Pilot) -> None:
    assert pilot.submit(lambda spread: spread.note, Spread(None)).result() == "plain"


def test_an_object_that_has_every_attribute_one_asks_for_travels_as_itself(pilot: argosy.Pilot) -> None:
    class Magic:
        def __getattr__(self, name: str) -> Any:
            if name in ("__reduce_ex__", "__getstate__", "__setstate__"):
                raise AttributeError(name)
            return lambda: name

    assert pilot.submit(lambda magic: magic.sail(), Magic()).result() == "sail"


def test_what_is_wrong_with_it_is_said_at_submit(pilot: argosy.Pilot) -> None:
    class Broken:
        def __argosy_future__(self) -> int:
            return 7

    class Refuses:
        def __argosy_future__(self) -> argosy.Future:
            raise ValueError("this frame has not been persisted")

    with pytest.raises(CannotPickle, match=r"argument 0 \(.*Broken\).*returned 7, not a Future"):
        pilot.submit(print, Broken())
    with pytest.raises(CannotPickle, match="has not been persisted"):
        pilot.submit(print, Refuses())
