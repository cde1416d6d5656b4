"""The words of made programs: expressions and statements over names that keep their kind.

`a b c` are vectors of four floats, `m n` are 4 x 4 matrices, `k` is a vector of four integers, `s t` are numbers,
`xs ys` are lists of vectors. Whatever is assigned to a name is of its kind, so any phrase can stand anywhere; most of
them give a view, a second name or a store, so that statements meet in memory. In a phrase, `V` stands for the name of a
vector, `M` of a matrix, `S` of a number, `L` of a list, `I` for an index; `{V}` for any expression of that kind.
"""

from __future__ import annotations

NAMES = {"V": ("a", "b", "c"), "M": ("m", "n"), "S": ("s", "t"), "L": ("xs", "ys")}

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
    "[np.sqrt(x) for x in L[:4]]",
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

HEADER = """
import numpy as np

LOG = []


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
