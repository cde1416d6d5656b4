"""Lists, dicts, sets and tuples: growth, order, sorting, deletion."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque, namedtuple

import numpy as np
from tree.programs.runner.program import program

Point = namedtuple("Point", "x y")


@program(lambda: ([5, 3, 8],))
def every_list_method(xs):
    xs.append(1)
    xs.extend([9, 7])
    xs.insert(0, 4)
    last = xs.pop()
    xs.remove(8)
    xs.sort()
    xs.reverse()
    place = xs.index(5)
    ys = xs.copy()
    ys.clear()
    return xs, last, place, ys, xs.count(9)


@program(lambda: ([3, 1, 2, 5, 4],))
def slices_of_lists(xs):
    ys = xs[1:4]
    xs[1:3] = [9, 9, 9]
    xs[::2] = [0] * len(xs[::2])
    del xs[0]
    del xs[-2:]
    ys[:] = ys[::-1]
    return xs, ys, xs * 2, 9 in xs


@program(lambda: ({"b": 1, "a": 2},))
def dictionary_order(d):
    d["c"] = 3
    d["b"] = 10
    first = d.pop("a")
    d["a"] = 4
    d |= {"z": 0, "c": 5}
    d.update(y=1)
    return d, first, list(d), d.get("q", 7), d.setdefault("r", []), sorted(d.items())


@program(lambda: ([3, 1, 3, 2], {2, 3}))
def sets(xs, s):
    t = set(xs)
    s.add(9)
    t &= s
    u = s | {1}
    s -= {2}
    return s, t, u, s ^ u, frozenset(u), {1} < u


@program(lambda: (["pear", "fig", "apple", "kiwi"],))
def sorted_with_keys(words):
    by_length = sorted(words, key=len)
    words.sort(key=lambda w: w[-1], reverse=True)
    return by_length, words, min(words, key=len), max(words), sorted(words, key=lambda w: (len(w), w))


@program(lambda: ("mississippi",))
def counters_and_friends(text):
    counts = Counter(text)
    places = defaultdict(list)
    for i, c in enumerate(text):
        places[c].append(i)
    queue = deque(text[:3], maxlen=4)
    queue.appendleft("x")
    queue.append("y")
    ordered = OrderedDict(sorted(counts.items()))
    ordered.move_to_end("i")
    return counts.most_common(2), dict(places), list(queue), list(ordered)


@program(lambda: (np.arange(6.0),))
def a_list_of_arrays_grows(a):
    history = [a]
    for i in range(4):
        history.append(history[-1] * 0.5 + i)
    history[1][0] = 100
    total = sum(history)
    return history, total, np.array(history)


@program(lambda: (np.arange(6.0),))
def a_dict_of_arrays(a):
    params = {"w": a.copy(), "b": np.zeros(1)}
    grads = {k: np.ones_like(v) for k, v in params.items()}
    for _ in range(3):
        for k in params:
            params[k] -= 0.1 * grads[k]
    saved = dict(params)
    params["w"] = params["w"] * 2
    params["b"][0] = 7
    return params, saved


@program(lambda: (4,))
def a_table_of_lists(n):
    table = [[] for _ in range(n)]
    for i in range(n):
        for j in range(i, n):
            table[j].append(i * j)
    table[0], table[-1] = table[-1], table[0]
    return table


@program(lambda: (Point(1, np.zeros(2)),))
def named_tuples(p):
    q = p._replace(x=5)
    q.y[0] = 9
    x, y = p
    return p, q, x + q.x, y is q.y


@program(lambda: ([1, 2],))
def a_tuple_that_holds_a_list(xs):
    t = (xs, xs)
    t[0].append(3)
    try:
        t[0] = []
    except TypeError as error:
        return t, str(error)
    return None


@program(lambda: ({"a": {"b": [1, {"c": 2}]}},))
def nested_stores(d):
    d["a"]["b"][1]["c"] += 5
    inner = d["a"]["b"]
    inner[0] = inner[1]
    inner[1]["d"] = inner[0] is inner[1]
    return d


@program(lambda: ({"x": 1, "y": 2},))
def a_dict_that_changes_under_its_loop(d):
    for k in d:
        d[k + k] = 0
    return d


@program(lambda: (np.arange(4.0), {"n": 0}))
def a_key_that_is_missing(a, d):
    a[0] = 1
    d["n"] += 1
    d["m"] += 1
    a[1] = 1


@program(lambda: (np.arange(5.0),))
def arrays_from_lists(a):
    xs = list(a)
    a[0] = 7
    ys = a.tolist()
    b = np.array([xs, ys])
    xs[1] = 100
    return b, xs, ys, np.vstack([a, xs]), np.concatenate([a, [1, 2]])


@program(lambda: ([np.zeros(2)] * 2, 3))
def stacks_of_work(xs, n):
    stack = [(0, n)]
    seen = []
    while stack:
        low, high = stack.pop()
        seen.append((low, high))
        if high - low > 1:
            middle = (low + high) // 2
            stack += [(low, middle), (middle, high)]
    xs[0][1] = len(seen)
    return seen, xs
