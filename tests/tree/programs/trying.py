"""try, except, else, finally: who catches, what is bound, and which return wins."""

from __future__ import annotations

import contextlib

import numpy as np
from tree.programs.runner.program import program


@program(lambda: (np.arange(4.0), 1))
@program(lambda: (np.arange(4.0), 9))
def all_four_parts(a, i):
    try:
        a[i] = -1
        b = a * 2
    except IndexError as error:
        print("caught", error)
        b = None
    else:
        print("no error")
        b += 1
    finally:
        a[0] = 100
    return a, b


@program(lambda: (0,))
@program(lambda: (1,))
def return_in_finally(n):
    try:
        return 1 / n
    except ZeroDivisionError:
        return "divided by zero"
    finally:
        return "finally"  # noqa: B012, SIM107


@program(lambda: (0,))
def finally_runs_before_the_return(n):
    log = []

    def f():
        try:
            log.append("try")
            return log.append("return") or n
        finally:
            log.append("finally")

    f()
    return log


@program(lambda: (np.zeros(5),))
def stores_before_the_error_stay(a):
    try:
        a[0] = 1
        a[1] = 2
        a[9] = 3
        a[2] = 4
    except IndexError:
        a[3] = 5
    return a


@program(lambda: (np.zeros(5),))
def a_loop_that_fails_in_the_middle(a):
    try:
        for i in range(5):
            a[i] = 1 / (3 - i)
    except ZeroDivisionError:
        pass
    return a, i


@program(lambda: (np.arange(5.0),))
def caught_in_each_iteration(a):
    bad = []
    for i in range(7):
        try:
            a[i] = 1.0 / int(a[i] - 2)
        except (ZeroDivisionError, IndexError) as error:
            bad.append((i, type(error).__name__))
            continue
        finally:
            bad.append(i)
    return a, bad


@program(lambda: (["1", "x", None, "4"],))
def the_first_clause_that_fits(items):
    out = []
    for item in items:
        try:
            out.append(int(item))
        except ValueError:
            out.append("value")
        except Exception:
            out.append("other")
    return out


@program(lambda: (np.arange(3.0),))
def the_name_of_the_error_is_gone(a):
    try:
        a[5]
    except IndexError as error:
        text = str(error)
    return text, error  # noqa: F821


@program(lambda: (np.arange(3.0),))
def a_name_left_unbound(a):
    with contextlib.suppress(IndexError):
        b = a[7]
    return b


@program(lambda: (np.arange(3.0),))
def nested_tries(a):
    log = []
    try:
        try:
            a += np.ones(2)
        except TypeError:
            log.append("inner type")
        finally:
            log.append("inner finally")
            a[0] = 7
    except ValueError as error:
        log.append(str(error))
        try:
            raise KeyError("again") from error
        except KeyError as other:
            log.append(type(other.__cause__).__name__)
    return a, log


@program(lambda: (3,))
def break_and_continue_in_finally_order(n):
    log = []
    for i in range(5):
        try:
            if i == 1:
                continue
            if i == n:
                break
            log.append(i)
        finally:
            log.append(-i)
    else:
        log.append("else")
    return log


@program(lambda: (np.arange(6.0),))
def independent_work_in_the_try(a):
    b = np.zeros(6)
    try:
        b[:] = np.sqrt(a)
        c = a @ a
        d = a.reshape(4, 2)
        b[:] = -1
    except ValueError as error:
        return b, c, str(error)
    return d


@program(lambda: (2,))
def raise_again(n):
    total = 0
    try:
        for i in range(3):
            total += 1 / (n - i)
    except ZeroDivisionError:
        print("so far", total)
        raise


@program(lambda: (np.arange(4.0),))
def an_error_in_the_except_clause(a):
    try:
        a[10] = 1
    except IndexError:
        a[0] = 5
        a["x"] = 2


@program(lambda: (np.arange(4.0),))
def an_error_in_finally(a):
    try:
        a[10] = 1
    finally:
        a[1] = {}["missing"]


@program(lambda: ([],))
def retries(log):
    def flaky():
        log.append(len(log))
        if len(log) < 3:
            raise ConnectionError(len(log))
        return "ok"

    for attempt in range(5):  # noqa: B007
        try:
            answer = flaky()
            break
        except ConnectionError as error:
            log.append(error.args)
    return answer, attempt, log


@program(lambda: (4,))
def groups(n):
    try:
        raise ExceptionGroup("several", [ValueError(n), TypeError("t"), ValueError(2)])
    except* ValueError as group:
        values = [str(e) for e in group.exceptions]
    except* TypeError:
        values.append("type")
    return values


@program(lambda: (7, 0))
@program(lambda: (7, 1))
def a_break_keeps_what_was_bound_before(s, n):
    for i in range(3):
        try:
            s = i // n
        except ZeroDivisionError:
            break
    return s, i


@program(lambda: (7, [4, 0, 2]))
def a_continue_keeps_what_was_bound_before(s, xs):
    seen = []
    for x in xs:
        seen.append(s)
        try:
            s = 8 // x
        except ZeroDivisionError:
            continue
    return s, seen


@program(lambda: (7, [4, 0, 2]))
def a_name_bound_only_on_one_way_out(s, xs):
    for x in xs:
        try:
            if x == 0:
                t = "zero"
                break
            s, u = x, s
        finally:
            v = x
    return s, t, u, v


@program(lambda: ([4, 0],))
def finally_binds_after_a_break(xs):
    for x in xs:
        try:
            if x == 0:
                break
        finally:
            v = x
    return v


@program(lambda: ([4, 0, 3],))
def finally_binds_after_a_continue(xs):
    v, seen = -1, []
    for x in xs:
        try:
            if x == 0:
                v = "inner"
                continue
        finally:
            seen.append(v)
            v = x
    return v, seen
