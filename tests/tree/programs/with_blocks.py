"""with: the order of enter and exit, what is swallowed, and NumPy's error state."""

from __future__ import annotations

import contextlib
import io

import numpy as np
from tree.programs.runner.program import program


class Room:
    """Says when it is entered and left; may swallow errors."""

    def __init__(self, name, swallow=False):
        self.name, self.swallow = name, swallow

    def __enter__(self):
        print("enter", self.name)
        return self

    def __exit__(self, kind, error, trace):
        print("leave", self.name, kind and kind.__name__)
        return self.swallow


@contextlib.contextmanager
def _scaled(a, by):
    a *= by
    try:
        yield a
    finally:
        a /= by


@program(lambda: (np.arange(3.0),))
def two_rooms(a):
    with Room("hall") as hall, Room("kitchen"):
        a += 1
        b = a * 2
        print(hall.name, b.sum())
    a += 1
    return a, b


@program(lambda: (np.arange(3.0),))
def swallowed(a):
    with Room("cell", swallow=True):
        a[0] = 5
        a[9] = 5
        a[1] = 5
    return a


@program(lambda: (np.arange(3.0),))
def not_swallowed(a):
    b = a + 1
    with Room("street"):
        a[0] = 5
        a[9] = b[0]


@program(lambda: (np.arange(3.0),))
def return_from_inside(a):
    for i in range(3):
        with Room(i):
            if i == 1:
                return a
            a[i] = 9
    return None


@program(lambda: (np.array([1.0, 0.0, -1.0]),))
def error_state_raises(a):
    with np.errstate(divide="raise"):
        b = a + 1
        c = 1 / a
    return b, c


@program(lambda: (np.array([1.0, 0.0, -1.0]),))
def error_state_ignores_and_then_warns(a):
    with np.errstate(all="ignore"):
        b = 1 / a
        c = np.sqrt(a)
    d = np.log(a)
    with np.errstate(invalid="raise"):
        try:
            np.sqrt(a)
        except FloatingPointError as error:
            return b, c, d, str(error)
    return None


@program(lambda: (np.arange(4.0),))
def a_generator_as_manager(a):
    with _scaled(a, 4.0) as b:
        b += 1
        inside = b.copy()
    return a, inside


@program(lambda: (np.arange(4.0),))
def an_error_through_a_generator(a):
    with contextlib.suppress(ValueError), _scaled(a, 4.0):
        a[0] = 1
        a.reshape(3)
    return a


@program(lambda: ("a,b\n1,2\n",))
def files_in_memory(text):
    with io.StringIO(text) as file:
        header = next(file).strip().split(",")
        rows = [line.strip().split(",") for line in file]
    return header, rows, file.closed


@program(lambda: (3,))
def an_exit_stack(n):
    log = []
    with contextlib.ExitStack() as stack:
        for i in range(n):
            stack.callback(log.append, i)
            stack.enter_context(Room(i))
        log.append("in")
    return log


@program(lambda: (np.arange(3.0),))
def break_leaves_the_room(a):
    for i in range(4):
        with Room(i):
            a = a * 2
            if a.sum() > 10:
                break
    else:
        a = None
    return a, i


@program(lambda: (np.arange(4.0),))
def printing_options(a):
    with np.printoptions(precision=2, suppress=True):
        s = str(a / 3)
    return s, str(a / 3)


@program(lambda: (7, 0))
@program(lambda: (7, 2))
def a_break_before_the_name_is_bound(s, n):
    for i in range(3):
        with Room(i):
            if i == n:
                break
            s = i * 10
    return s


@program(lambda: (7, 1))
def a_continue_before_the_name_is_bound(s, n):
    seen = []
    for i in range(3):
        match i:
            case k if k == n:
                continue
            case _:
                s = i * 10
        seen.append(s)
    return s, seen
