"""Strings: f-strings, formatting of what was just computed, building, and bytes."""

from __future__ import annotations

import numpy as np
from tree.programs.runner.program import program


@program(lambda: (np.arange(4.0), 3))
def fstrings(a, n):
    s = f"{a.sum():.3f} and {n:>5} and {n!r} {'nested ' + f'{n + 1}'} {{}}"
    a[0] = 9
    width = 8
    t = f"{a[0]:{width}.2f}|{a.shape}|{n=}"
    return s, t


@program(lambda: (np.arange(3.0),))
def text_of_an_array_before_and_after(a):
    before = f"{a}"
    a += 1
    after = str(a) + repr(a) + "%s %d" % (a, 3) + "{} {x}".format(a[0], x=a[1])  # noqa: UP031, UP032
    return before, after


@program(lambda: (6,))
def built_piece_by_piece(n):
    s = ""
    for i in range(n):
        s += chr(ord("a") + i) * i
        if len(s) > 8:
            s = s[::-1]
    return s, s.upper().replace("B", "-"), "-".join(sorted(set(s)))


@program(lambda: ("Never odd or even",))
def palindrome(text):
    letters = [c.lower() for c in text if c.isalpha()]
    i, j = 0, len(letters) - 1
    while i < j:
        if letters[i] != letters[j]:
            return False
        i += 1
        j -= 1
    return True


@program(lambda: (b"\x00\x01\xff", bytearray(b"abc")))
def bytes_and_bytearrays(b, c):
    c[0] = 122
    d = np.frombuffer(c, dtype=np.uint8)
    before = d.sum()
    c[1] = 0
    return b[2], c, before, d.sum(), bytes(c) + b


@program(lambda: ("hello world", 3))
def caesar(text, shift):
    out = []
    for c in text:
        out.append(chr((ord(c) - 97 + shift) % 26 + 97) if c.islower() else c)  # noqa: PERF401
    return "".join(out)


@program(lambda: (np.arange(3.0),))
def a_format_that_fails(a):
    x = a + 1
    s = f"{a:.2f}"
    return x, s


@program(lambda: ("one two three two one",))
def an_index_of_words(text):
    index = {}
    for place, word in enumerate(text.split()):
        index.setdefault(word, []).append(place)
    return index, list(index)
