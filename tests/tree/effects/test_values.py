"""Which memory may be which, and variables as they may be where two ways meet."""

from __future__ import annotations

import ast

from hypothesis import given, settings
from hypothesis import strategies as st

from argosy.tree.effects.values import Classes, Sketch, join_environments, join_sketches
from argosy.tree.kinds import ARRAY, ATOM, VALUE

groups = st.lists(st.frozensets(st.integers(0, 6), min_size=1, max_size=3), max_size=5)


@settings(max_examples=50, deadline=None)
@given(groups)
def test_united_origins_are_members_of_one_class_and_no_others_are(united: list[frozenset[int]]) -> None:
    classes = Classes()
    sets = [{number} for number in range(7)]
    for group in united:
        classes.unite(group)
        merged = set().union(*[part for part in sets if part & group])
        sets = [part for part in sets if not part & group] + [merged]
    for part in sets:
        for origin in part:
            assert set(classes.members(frozenset({origin}), list(range(7)))) == part


@settings(max_examples=50, deadline=None)
@given(groups)
def test_the_state_of_classes_changes_when_and_only_when_they_do(united: list[frozenset[int]]) -> None:
    classes = Classes()
    for group in united:
        apart = len({classes.find(origin) for origin in group}) > 1
        before = classes.state()
        classes.unite(group)
        assert (classes.state() != before) is apart


def test_a_value_that_is_one_or_the_other_may_have_the_memory_of_both() -> None:
    index = ast.Constant(0)
    one = Sketch(ARRAY, frozenset({0}), ("a", index))
    assert join_sketches(one, Sketch(ATOM)) == Sketch(VALUE, frozenset({0}))
    assert join_sketches(one, Sketch(ARRAY, frozenset({1}), ("a", index))).via == ("a", index)
    assert join_sketches(None, one) is one
    assert join_sketches(one, None) is one


def test_a_variable_bound_on_one_way_only_keeps_its_kind() -> None:
    joined = join_environments({"a": Sketch(ATOM)}, {"a": Sketch(ARRAY, frozenset({0})), "b": Sketch(ATOM)})
    assert joined == {"a": Sketch(VALUE, frozenset({0})), "b": Sketch(ATOM)}
