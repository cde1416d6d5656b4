"""Classes of the user: methods, properties, operators that print, and objects that NumPy asks."""

from __future__ import annotations

import dataclasses
import enum

import numpy as np
from tree.programs.runner.program import program


class Loud:
    """A number that says what is done with it."""

    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        print("add", self.x, getattr(other, "x", other))
        return Loud(self.x + getattr(other, "x", other))

    def __radd__(self, other):
        print("radd", other, self.x)
        return Loud(other + self.x)

    def __iadd__(self, other):
        print("iadd", self.x)
        self.x += getattr(other, "x", other)
        return self

    def __getitem__(self, key):
        print("get", key)
        return key

    def __setitem__(self, key, value):
        print("set", key, value)

    def __bool__(self):
        print("bool", self.x)
        return self.x > 0

    def __eq__(self, other):
        print("eq", self.x)
        return True

    __hash__ = None

    def __lt__(self, other):
        print("lt", self.x, other.x)
        return self.x < other.x


class Units:
    """An array with a unit that answers for NumPy's functions."""

    def __init__(self, values, unit):
        self.values, self.unit = values, unit

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        print(ufunc.__name__, method)
        plain = [x.values if isinstance(x, Units) else x for x in inputs]
        return Units(getattr(ufunc, method)(*plain, **kwargs), self.unit)


class Model:
    """Parameters and a method that changes them."""

    steps = 0

    def __init__(self, n):
        self.w = np.zeros(n)
        self.history = []

    def step(self, g, rate=0.1):
        self.w -= rate * g
        self.history.append(float(self.w.sum()))
        Model.steps += 1
        return self

    @property
    def norm(self):
        print("norm is asked for")
        return np.sqrt(self.w @ self.w)

    @staticmethod
    def scaled(x):
        return x * 3

    @classmethod
    def of(cls, *values):
        model = cls(len(values))
        model.w[:] = values
        return model

    def __call__(self, x):
        return self.w @ x

    def __len__(self):
        return len(self.w)


@dataclasses.dataclass
class State:
    position: np.ndarray
    velocity: np.ndarray
    time: float = 0.0


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@program(lambda: (Loud(1), Loud(2)))
def operators_that_print(a, b):
    c = a + b
    d = 5 + c
    a += d
    a[1:2, "x"] = b[3]
    if a and b:
        c = a if c == d else b
    return c, sorted([b, a, c])[0], a < b  # noqa: FURB192


@program(lambda: (Units(np.arange(3.0), "m"), np.ones(3)))
def an_object_that_answers_for_ufuncs(u, a):
    b = a * 2
    v = np.add(u, b)
    w = np.sqrt(v)
    x = b + u
    a += 1
    return v, w, x, a


@program(lambda: (Model(3), np.arange(3.0)))
def methods_that_change_their_object(model, g):
    model.step(g).step(g * 2, rate=0.5)
    a = model.norm
    w = model.w
    model.step(g)
    b = model.norm
    model.w = model.w + 1
    return a, b, w, model, model(g), len(model), Model.scaled(2)


@program(lambda: (4,))
def objects_made_inside(n):
    models = [Model(2) for _ in range(n)]
    for i, model in enumerate(models):
        model.step(np.full(2, i))
    best = min(models, key=lambda m: m.history[-1])
    best.name = "best"
    same = Model.of(1, 2, 3)
    return models, best, same.w


@program(lambda: (State(np.zeros(2), np.ones(2)), 5))
def a_dataclass(state, n):
    for _ in range(n):
        state.position += 0.1 * state.velocity
        state.velocity = state.velocity * 0.9
        state.time += 0.1
    return state, dataclasses.replace(state, time=0.0)


@program(lambda: (Colour.RED,))
def enums(colour):
    names = {Colour.RED: "stop", Colour.BLUE: "go"}
    return names[colour], Colour(2).name, [c.value for c in Colour], colour is Colour.RED


@program(lambda: (np.arange(3.0),))
def a_class_inside(a):
    class Shift:
        offset = a.sum()

        def __init__(self, by):
            self.by = by

        def __matmul__(self, other):
            return other + self.by + self.offset

    shift = Shift(2)
    b = shift @ a
    Shift.offset = 0
    return b, shift @ a


@program(lambda: (np.arange(4.0),))
def chained_methods(a):
    b = a.reshape(2, 2).T.copy().clip(0.5, 2.5).sum(axis=0).astype(np.float32)
    c = (a + 1).cumsum()[::-1].tolist()
    return b, c, a.max().item(), " x ".strip().upper()


@program(lambda: ([Loud(3), Loud(1), Loud(2)],))
def sorting_asks_the_objects(xs):
    a = np.zeros(3)
    a[0] = 1
    xs.sort()
    a[1] = xs[0].x
    return a, [x.x for x in xs]


class _Noted:
    def __init__(self):
        object.__setattr__(self, "log", [])

    def __getattr__(self, name):
        self.log.append(("get", name))
        return len(self.log)

    def __setattr__(self, name, value):
        self.log.append(("set", name, value))

    def __delattr__(self, name):
        self.log.append(("del", name))


@program(lambda: (_Noted(),))
def attributes_with_effects(o):
    o.a = 1
    b = o.b
    o.c = o.d + b
    del o.e
    return o.log, b


@program(lambda: (np.arange(3.0),))
def an_inherited_method(a):
    class Base:
        def run(self, x):
            return self.part(x) + 1

        def part(self, x):
            return x

    class Child(Base):
        def part(self, x):
            return super().part(x) * 2

    return Child().run(a), Base().run(a)
