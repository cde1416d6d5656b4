"""Arrays that share memory without saying so by `base`: strided views, subclasses, buffers of other objects."""

from __future__ import annotations

import array

import numpy as np
from tree.programs.runner.program import program


def _slow(n, x=1.0):
    return np.sort(np.sin(np.arange(10000.0) * x))[:n] * 3


def _windows():
    a = np.arange(8.0)
    return a, np.lib.stride_tricks.sliding_window_view(a, 3, writeable=True)


def _strided():
    a = np.arange(8.0)
    return a, np.lib.stride_tricks.as_strided(a, (4,), (16,))


def _from_buffer():
    a = np.arange(8.0)
    return a, np.frombuffer(a)


def _through_a_matrix():
    a = np.arange(8.0).reshape(2, 4)
    return a[0], np.asarray(np.asmatrix(a))[0]


def _through_a_masked_array():
    a = np.arange(8.0)
    return a, np.ma.array(a, copy=False).data


def _through_a_memoryview():
    a = np.arange(8.0)
    return a, np.asarray(memoryview(a))


def _through_a_record():
    a = np.zeros(8, dtype=[("x", "f8"), ("y", "f8")])
    return a["x"], a.view(np.recarray).x


def _through_an_interface():
    class Holder:
        def __init__(self, values):
            self.values = values
            self.__array_interface__ = values.__array_interface__

    a = np.arange(8.0)
    return a, np.asarray(Holder(a))


def _broadcast():
    a = np.arange(8.0)
    return a, np.broadcast_to(a, (2, 8))[1]


@program(_windows)
@program(_strided)
@program(_from_buffer)
@program(_through_a_matrix)
@program(_through_a_masked_array)
@program(_through_a_memoryview)
@program(_through_a_record)
@program(_through_an_interface)
@program(_broadcast)
def one_memory_under_two_names(a, b):
    a[:] = _slow(len(a))
    x = b.sum()
    y = b + 1
    a[:] = _slow(len(a), 2.0)
    z = b * 2
    a[0] = 5
    return x, y, z


@program(_windows)
@program(_from_buffer)
@program(_through_a_matrix)
def read_before_the_store(a, b):
    x = b * _slow(1)[0]
    a[:] = 7
    y = b.mean() + _slow(1)[0]
    a *= 2
    return x, y


@program(lambda: (np.arange(8.0),))
def views_made_inside(a):
    w = np.lib.stride_tricks.sliding_window_view(a, 3)
    print("made")
    a[:] = _slow(8)
    x = w.sum(axis=1)
    f = np.frombuffer(a)
    print("again")
    a[:] = _slow(8, 2.0)
    y = f + 1
    return x, y


@program(lambda: (array.array("d", range(8)), bytearray(32)))
def buffers_of_python(values, raw):
    a = np.asarray(values)
    b = np.frombuffer(raw, dtype=np.float32)
    a[:] = _slow(8)
    x = values[0]
    b[:] = _slow(8)
    y = raw[3]
    values[1] = 5.0
    return x, y, a + 1, b + 1


@program(lambda: (np.arange(8.0),))
def a_memoryview(a):
    view = memoryview(a)
    a[:] = _slow(8)
    x = view[0]
    view[1] = 50.0
    y = a[1] + a.data[2]
    return x, y


@program(lambda: (np.arange(8.0),))
def flat_iterators(a):
    m = a.reshape(2, 4)
    f = m.flat
    a[:] = _slow(8)
    x = f[3]
    f[5] = 100.0
    y = a * 2
    m.flat = 3
    return x, y, a.sum()


@program(lambda: (np.arange(8.0).reshape(2, 4),))
def a_matrix_over_an_array(a):
    m = np.asmatrix(a)
    a[0] = _slow(4)
    x = m[0].sum()
    m[1] = 4
    y = a + 1
    return x, y
