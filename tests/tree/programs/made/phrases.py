"""The words of made programs: expressions and statements over names that keep their kind.

`a b c` are vectors of four floats, `m n` are 4 x 4 matrices, `k` is a vector of four integers, `s t` are numbers,
`xs ys` are lists of vectors, `d` is a dict of vectors, `tab` an Arrow table over vectors. Whatever is assigned to a
name is of its kind, so any phrase can stand anywhere; most of them give a view, a second name or a store, so that
statements meet in memory. In a phrase, `V` stands for the name of a vector, `M` of a matrix, `S` of a number, `L` of a
list, `D` of a dict, `A` of a table, `I` for an index; `{V}` for any expression of that kind.
"""

from __future__ import annotations

NAMES = {"V": ("a", "b", "c"), "M": ("m", "n"), "S": ("s", "t"), "L": ("xs", "ys"), "D": ("d",), "A": ("tab",)}

ALIASES = (
    *("V", "V", "V[:]", "V[::-1]", "V.view()", "np.asarray(V)", "V.reshape(2, 2).ravel()", "same(V)", "bump(V)"),
    *(
        "M[I]",
        "M[I]",
        "M[:, I]",
        "M[I, ::-1]",
        "M.T[I]",
        "M.ravel()[4:8]",
        "M.diagonal()",
        "L[0]",
        "L[-1]",
        "pick(L, S)",
    ),
)
VECTORS = (
    *ALIASES,
    *ALIASES,
    *("V + V", "V - V", "V * S", "V / V", "-V", "M @ V", "V @ M", "M[I] * V", "M[:, I] + M[I]", "V.copy()", "k * 0.5"),
    *("np.where(V > V, V, V)", "np.sqrt(V)", "np.tanh(V)", "np.cumsum(V)", "np.sort(V)", "np.maximum(V, V)"),
    *("M.sum(axis=0)", "M.max(axis=1)", "np.roll(V, 1)", "np.zeros(4)", "V[k % 4]", "V[[3, 0, 0, 1]]", "sum(L)"),
    *("D['p']", "D.get('q', V)", "D.setdefault('r', V)", "column(A)", "np.frombuffer(V)", "(a := V)", "D.pop('r', V)"),
    *("fresh(V)", "told(V)", "noted(V)", "refusing(V)", "V if S > 1 else V", "(V + V) * V - V / 2", "np.abs(V) ** 0.5"),
)
MATRICES = (
    *("M", "M", "M.T", "M[::-1]", "M[:, ::-1]", "M.view()", "same(M)", "bump(M)", "M[[1, 0, 3, 2]]"),
    *(
        "M + M",
        "M * V",
        "M @ M * 0.1",
        "np.outer(V, V)",
        "M.copy()",
        "np.tanh(M)",
        "M - V[:, None]",
        "np.zeros((4, 4))",
    ),
    *("np.stack([V, V, V, V])", "np.array([x * I for x in (V, V, V, V)])", "np.where(M > S, M, -M)", "fresh(M)"),
)
NUMBERS = (
    *("V[I]", "V.sum()", "float(V.max())", "M[I, I]", "M.trace()", "S + 1", "S * 0.5", "V @ V", "len(L)", "I", "k[I]"),
    *("int(k.max())", "abs(S) % 7", "L[0][I]", "S if S < 3 else -1.5", "max(S, S)", "noted(S)", "V.argmax()", "0.25"),
)
LISTS = (
    *("L", "L", "list(L)", "L[:2]", "[V, V]", "[V, V + 1]", "[V] * 2", "L[::-1]", "[x for x in L]", "same(L)"),
    *("[x + 1 for x in L]", "[M[r] for r in range(4)]", "[M[r] * S for r in range(4)]", "[bump(x) for x in L[:3]]"),
    *("[x for x in L if x.sum() > S] or [V]", "sorted(L, key=np.sum)", "[told(x) for x in L[:2]]", "list(M)"),
    *("[np.sqrt(x) for x in L[:4]]", "list(D.values())", "[*L, V]", "[x for x in L if (s := x[0]) < 9] or [V]"),
)
STORES = (
    *("V[I] = {S}", "V[:] = {V}", "V[1:3] = V[:2]", "V[1:] = V[:-1]", "V[V > V] = {S}", "V[k % 4] = {V}", "V[::2] = S"),
    *("M[I] = {V}", "M[I] = {V}", "M[:, I] = {V}", "M[I, I] = {S}", "M[1:3] = M[:2]", "M[:] = M.T", "M[M > S] = 0.5"),
    *("M[:] = {V}", "M[I], M[I] = M[I], V", "L[0] = {V}", "L[-1] = L[0]", "L[0][I] = {S}", "L[I] = V", "k[I] = I"),
    *("V += {V}", "V *= {S}", "V -= V[::-1]", "V /= V", "V[I] += {S}", "V[1:] += V[:-1]", "V[V > S] -= 1", "M += M.T"),
    *("M[I] += {V}", "M[:, I] *= {S}", "M[I] -= M[I]", "M *= V", "S += {S}", "L += [V]", "L[0] += {V}", "k += 1"),
    *(
        "V[0], V[1] = V[1], V[0]",
        "L[0], L[-1] = L[-1], L[0]",
        "V, V = V, V",
        "M, M = M, M",
        "V, V = M[:2]",
        "S, S = S, S",
    ),
    *("D['p'] = {V}", "D['q'] = V", "D['p'][I] = {S}", "D['q'] += V", "D = {'p': V, 'q': {V}}", "D = dict(D)"),
    *("A = lent(V)", "A = lent(V, V)", "A = A.slice(I, 2)", "A = A.take([1, 0, I])", "V.sort(); print(A.column(0))"),
    *("first, *L = [V, V, {V}]", "*L, V = L[0], V, V", "V[:], M[I] = M[I], V", "M.flat[I] = S", "V.T[I] = S"),
    *("(V, S), V = (V, V[0]), V", "V = V = {V}", "V = M[I] = {V}", "S, *rest = V", "V[I], S = S, V[I]"),
)
MEETINGS = (
    ("a", "m", "a = m[I]"),
    ("b", "m", "b = m[:, I]"),
    ("n", "m", "n = m.T"),
    ("n", "m", "n = m[::-1]"),
    ("a", "b", "a = b"),
    ("c", "a", "c = a[::-1]"),
    ("xs[0]", "b", "xs = [b, c]"),
    ("xs[-1]", "m", "xs = list(m)"),
    ("ys[0]", "xs[0]", "ys = xs"),
    ("ys[1]", "xs[1]", "ys = list(xs)"),
    ("a", "ys[0]", "a = ys[0]"),
    ("b", "c", "b = same(c)"),
    ("a", "b", "a, b = twice()"),
    ("b", "m", "b = np.frombuffer(m)[4:8] if m.flags.c_contiguous else m[1]"),
    ("d['p']", "a", "d['p'] = a[:]"),
    ("a", "xs[0]", "a = xs[0].view()"),
    ("c", "a", "tab = lent(a); c = a[::-1]"),
)
"""Two names, and a statement after which a store through the first changes the second, and the other way round."""
TOUCHES = (
    *("X += 1", "X *= S", "X[:] = {V}", "X[0] = {S}", "X[1:] = X[:-1]", "X[::2] -= 2", "bump(X)", "fill(X, S)"),
    *(
        "S = X.sum()",
        "V = X + 1",
        "V = X[0] * V",
        "S = X[0]",
        "print(X.sum())",
        "print(column(tab))",
        "tab = tab.slice(1)",
        "xs.append(X + 0.5)",
        "k[I] = X.argmax()",
    ),
)
CALLS = (
    *(
        "L.append({V})",
        "L.append(V)",
        "L.insert(0, V)",
        "L.reverse()",
        "bump(V)",
        "bump(M)",
        "bump(M[I])",
        "fill(V, S)",
    ),
    *("warn(S)", "warn(V[0], 2)", "warnings.warn('here')", "print(seen())", "D.update(r=V)", "L.extend(D.values())"),
    *(
        "L.pop()",
        "L.sort(key=np.sum)",
        "D.clear(); D['p'] = D['q'] = V",
        "np.divide(V, V, out=V)",
        "L.clear(); L.append(V)",
    ),
    *("V.sort()", "V.fill(S)", "np.add(V, V, out=V)", "np.copyto(V, V)", "np.multiply(M, S, out=M)", "refusing(V)"),
    *("print(S)", "print('at', I, S)", "print(f'{V[0]:.3g}')", "print(V)", "told(V)", "noted(S)", "k.sort()", "put(V)"),
)
RAISING = (
    *(
        "S = 1 // 0",
        "S = int(k[0]) // 0",
        "V = V + np.ones(3)",
        "V[7] = S",
        "V = L[50]",
        "V[:] = np.ones(2)",
        "missing += 1",
    ),
    *(
        "M = np.linalg.inv(np.zeros((4, 4)))",
        "raise ValueError('asked')",
        "assert S > 1e9, S",
        "V.nothing",
        "S = int('x')",
    ),
    *("V = M @ np.ones(3)", "del s", "M[I] = V[:3]", "raise KeyError(S)", "V += 'x'"),
)
CONDITIONS = (
    *(
        "V.sum() > S",
        "S > 1",
        "V[I] < V[I]",
        "len(L) > 2",
        "np.any(M > 3)",
        "k[0] % 2 == 0",
        "V is V",
        "not np.isnan(S)",
    ),
    *("S > 0 and V.max() > 1", "V.sum() > 2 or noted(S) > 1", "I == 1", "0 < S < 3", "told(V)[0] > 1", "True", "False"),
)

INNER = (
    ("def put(x):", "    nonlocal S", "    S = S + 1", "    V[0] = x[1]", "    return x"),
    ("def put(x):", "    nonlocal V", "    V = x", "    return V"),
    ("def put(x, by=S):", "    L.append(x)", "    return x * by if S > 1 else V"),
    ("put = lambda x: x + V[0] * S",),
    (
        "class Kept:",
        "    first = S",
        "    def __call__(self, x):",
        "        self.__own = x",
        "        return self.__own + V",
        "put = Kept()",
    ),
    (
        "def put(x, deep=2):",
        "    return put(x, deep - 1) if deep else other(x)",
        "def other(x):",
        "    x[I] = S",
        "    return x",
    ),
    ("late = (x * S for x in V)", "def put(x):", "    x[0] = next(late, 0.0)", "    return x"),
    ("@same", "def put(x):", "    try:", "        V[I] += x[7]", "    finally:", "        x[0] = S"),
    ("def put(x):", "    print(sorted(locals()))", "    return V.view() if S else x"),
    ("def put(x):", "    raise ValueError(f'put {S}')"),
    ("puts = []", "for j in range(3):", "    puts.append(lambda x: x * j)", "put = puts[0]"),
    (
        "def put(x):",
        "    def deeper():",
        "        nonlocal S",
        "        S += 1",
        "        return x",
        "    return deeper()",
    ),
)
"""Inner functions, classes and generators over variables that go on changing; all of them bind `put`."""
CHANGING = (
    ("for x in L:", "    if len(L) < 5:", "        L.append(x + 1)"),
    ("for x in L[:4]:", "    L.remove(x) if len(L) > 9 else L.insert(0, V)"),
    ("for key in D:", "    D[key + key] = V"),
    ("for key in list(D):", "    D[key] = D[key] + 1", "    V = D[key]"),
    ("for key, V in D.items():", "    V += 1", "    D[key] = {V}"),
    ("for x in V:", "    V[I] = x + 1"),
    ("for row in M:", "    row += V", "    M[I] = row"),
    ("for S, V[I] in zip(V, V[::-1]):", "    V[0] = S"),
    ("for x, y in zip(L, L[::-1]):", "    x += y"),
    ("it = iter(L)", "V = next(it)", "L.append(V)", "V = next(it, V)"),
)
"""What is iterated over changes meanwhile."""

HEADER = """
import sys
import warnings

import numpy as np
import pyarrow as pa

LOG = []
PATH = __file__ + ".bin"


def twice():
    np.arange(4.0).tofile(PATH)
    return [np.asarray(np.memmap(PATH, float, "r+", shape=(4,))) for _ in range(2)]


def lent(*vectors):
    columns = [pa.array(np.ascontiguousarray(x)) for x in vectors]
    return pa.Table.from_arrays(columns, names=[str(n) for n in range(len(columns))])


def column(tab):
    return np.resize(np.array(tab.column(0)), 4)


def warn(what, level=1):
    warnings.warn(f"warned of {what}", stacklevel=level)


def seen():
    return sorted(name for name in sys._getframe(1).f_locals if not name.startswith("__argosy"))


def same(x):
    return x


def fresh(x):
    return x * 0.5 + 1


def bump(x):
    x += 1.0
    return x


def fill(x, value):
    x[:] = value


def pick(xs, number):
    for x in xs:
        if x.sum() > number:
            return x
    return xs[0]


def told(x):
    print("told", x.sum())
    return x


def noted(x):
    LOG.append(float(np.sum(x)))
    return x


def refusing(x):
    if x[0] > 4:
        raise ValueError(f"refused {x[0]}")
    return x
"""
