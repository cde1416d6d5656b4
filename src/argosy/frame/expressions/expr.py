"""What users write: `col("a") + 1 > 0`, as an immutable tree.

Null means unknown, as in SQL: arithmetic and comparison with null give null; `&` and `|` are Kleene's (`false & null`
is false). NaN is a number here and compares as IEEE 754 says, also to itself: only keys of joins, groups and sorts
treat NaN as equal to NaN.

Integers stay integers and an overflow is an error, never a wrong number. `/` gives a float; `//` rounds down; `%` has
the sign of the divisor, as in Python. An integer divided by zero is null, a float infinite or NaN.
"""

from __future__ import annotations

import builtins
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from argosy import arguments
from argosy.calls import value
from argosy.frame.expressions import nodes  # which imports us in turn; only used once both are there
from argosy.frame.expressions.type_names import TypeLike, data_type
from argosy.frame.expressions.values import values_of

if TYPE_CHECKING:
    from argosy.frame.expressions.strings import Strings
    from argosy.frame.expressions.times import Times


@value()
class Expr:
    """A column that is yet to be computed. Make one with `col`, `lit` or `when`.

    `==` makes an expression; `same_as` tells whether two are the same.
    """

    __slots__ = ()
    __array_ufunc__ = None  # so that NumPy scalars on the left leave the operator to us

    @property
    def inputs(self) -> tuple[Expr, ...]:
        """The expressions that it is made of."""
        return ()

    def with_inputs(self, *inputs: Expr) -> Expr:
        """The same operation on other inputs."""
        if inputs:
            raise ValueError(f"{self!r} takes no inputs, but got {len(inputs)}")
        return self

    @property
    def key(self) -> Hashable:
        """Equal for equal expressions; what to use in sets and dicts."""
        raise NotImplementedError

    def same_as(self, other: object) -> bool:
        return isinstance(other, Expr) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> builtins.str:
        from argosy.frame.expressions.show import show

        return show(self)

    def __bool__(self) -> bool:
        raise TypeError(
            f"{self!r} has no truth value before it is computed; use & | ~ instead of and or not, "
            "is_in instead of in, between instead of a < x < b"
        )

    def __eq__(self, other: object) -> Expr:  # type: ignore[override]
        return nodes.call("==", self, other)

    def __ne__(self, other: object) -> Expr:  # type: ignore[override]
        return nodes.call("!=", self, other)

    def __lt__(self, other: Any) -> Expr:
        return nodes.call("<", self, other)

    def __le__(self, other: Any) -> Expr:
        return nodes.call("<=", self, other)

    def __gt__(self, other: Any) -> Expr:
        return nodes.call(">", self, other)

    def __ge__(self, other: Any) -> Expr:
        return nodes.call(">=", self, other)

    def __add__(self, other: Any) -> Expr:
        return nodes.call("+", self, other)

    def __radd__(self, other: Any) -> Expr:
        return nodes.call("+", other, self)

    def __sub__(self, other: Any) -> Expr:
        return nodes.call("-", self, other)

    def __rsub__(self, other: Any) -> Expr:
        return nodes.call("-", other, self)

    def __mul__(self, other: Any) -> Expr:
        return nodes.call("*", self, other)

    def __rmul__(self, other: Any) -> Expr:
        return nodes.call("*", other, self)

    def __truediv__(self, other: Any) -> Expr:
        return nodes.call("/", self, other)

    def __rtruediv__(self, other: Any) -> Expr:
        return nodes.call("/", other, self)

    def __floordiv__(self, other: Any) -> Expr:
        return nodes.call("//", self, other)

    def __rfloordiv__(self, other: Any) -> Expr:
        return nodes.call("//", other, self)

    def __mod__(self, other: Any) -> Expr:
        return nodes.call("%", self, other)

    def __rmod__(self, other: Any) -> Expr:
        return nodes.call("%", other, self)

    def __pow__(self, other: Any) -> Expr:
        """An integer to a constant power of at least 0 stays an integer; any other power is a float."""
        if isinstance(other, builtins.int | np.integer) and not isinstance(other, bool) and 0 <= other < 2**63:
            return nodes.call("power", self, options=(builtins.int(other),))
        return nodes.call("**", self, other)

    def __rpow__(self, other: Any) -> Expr:
        return nodes.call("**", other, self)

    def __and__(self, other: Any) -> Expr:
        return nodes.call("&", self, other)

    def __rand__(self, other: Any) -> Expr:
        return nodes.call("&", other, self)

    def __or__(self, other: Any) -> Expr:
        return nodes.call("|", self, other)

    def __ror__(self, other: Any) -> Expr:
        return nodes.call("|", other, self)

    def __xor__(self, other: Any) -> Expr:
        return nodes.call("^", self, other)

    def __rxor__(self, other: Any) -> Expr:
        return nodes.call("^", other, self)

    def __neg__(self) -> Expr:
        return nodes.call("neg", self)

    def __invert__(self) -> Expr:
        return nodes.call("~", self)

    def alias(self, name: builtins.str) -> Expr:
        """The same column under another name."""
        return nodes.Alias(input=self, name=arguments.text("alias(): name", name))

    def cast(self, to: TypeLike) -> Expr:
        """As another type: an Arrow type, a Python type, or a name such as "int64".

        Fractions are cut off. A value that the type cannot hold, or a text that does not parse, is an error.
        """
        return nodes.Cast(input=self, to=data_type(to, "cast(): to"))

    def is_null(self) -> Expr:
        return nodes.call("is_null", self)

    def is_not_null(self) -> Expr:
        return nodes.call("is_not_null", self)

    def is_nan(self) -> Expr:
        return nodes.call("is_nan", self)

    def is_in(self, values: Iterable[Any]) -> Expr:
        """Whether it equals one of these values. As in SQL, null where that depends on a null; NaN equals nothing."""
        return nodes.call("is_in", self, options=(values_of(values),))

    def between(self, low: Any, high: Any) -> Expr:
        """Whether it lies between them; both ends belong to it."""
        return nodes.call("between", self, low, high)

    def fill_null(self, value: Any) -> Expr:
        return nodes.call("fill_null", self, value)

    def clip(self, low: Any = None, high: Any = None) -> Expr:
        """Not below `low` and not above `high`. NaN and null stay."""
        raised = self if low is None else nodes.call("at_least", self, low)
        return raised if high is None else nodes.call("at_most", raised, high)

    def abs(self) -> Expr:
        return nodes.call("abs", self)

    def round(self, digits: int = 0) -> Expr:
        """To so many decimal digits; a half goes to the even neighbour, as in Python."""
        return nodes.call("round", self, options=(arguments.whole("round(): digits", digits, least=-400, most=400),))

    def floor(self) -> Expr:
        return nodes.call("floor", self)

    def ceil(self) -> Expr:
        return nodes.call("ceil", self)

    def sqrt(self) -> Expr:
        """NaN below zero."""
        return nodes.call("sqrt", self)

    def exp(self) -> Expr:
        return nodes.call("exp", self)

    def log(self, base: float | None = None) -> Expr:
        """The natural logarithm, or that to another base."""
        options = () if base is None else (arguments.number("log(): base", base, above=0),)
        return nodes.call("log", self, options=options)

    def sum(self) -> Expr:
        """Of the values that are not null; null when there are none."""
        return nodes.Aggregation(kind="sum", input=self)

    def min(self) -> Expr:
        return nodes.Aggregation(kind="min", input=self)

    def max(self) -> Expr:
        return nodes.Aggregation(kind="max", input=self)

    def count(self) -> Expr:
        """How many values are not null."""
        return nodes.Aggregation(kind="count", input=self)

    def len(self) -> Expr:
        """How many rows there are, null or not."""
        return nodes.Aggregation(kind="len", input=self)

    def mean(self) -> Expr:
        return nodes.Aggregation(kind="mean", input=self)

    def var(self, ddof: int = 1) -> Expr:
        return nodes.Aggregation(kind="var", input=self, parameter=_ddof("var", ddof))

    def std(self, ddof: int = 1) -> Expr:
        return nodes.Aggregation(kind="std", input=self, parameter=_ddof("std", ddof))

    def first(self) -> Expr:
        """The value of the first row, null or not."""
        return nodes.Aggregation(kind="first", input=self)

    def last(self) -> Expr:
        """The value of the last row, null or not."""
        return nodes.Aggregation(kind="last", input=self)

    def n_unique(self) -> Expr:
        """How many different values there are; null is not one of them."""
        return nodes.Aggregation(kind="n_unique", input=self)

    def median(self) -> Expr:
        return nodes.Aggregation(kind="median", input=self)

    def quantile(self, q: float) -> Expr:
        """The value below which a share `q` of the values lies, interpolated between neighbours."""
        share = arguments.number("quantile(): q", q, least=0, most=1, wanted="a number between 0 and 1")
        return nodes.Aggregation(kind="quantile", input=self, parameter=share)

    def any(self) -> Expr:
        return nodes.Aggregation(kind="any", input=self)

    def all(self) -> Expr:
        return nodes.Aggregation(kind="all", input=self)

    @property
    def str(self) -> Strings:
        """Functions of strings."""
        from argosy.frame.expressions.strings import Strings

        return Strings(self)

    @property
    def dt(self) -> Times:
        """Functions of dates, timestamps and durations."""
        from argosy.frame.expressions.times import Times

        return Times(self)


def _ddof(method: str, given: Any) -> int:
    return arguments.whole(f"{method}(): ddof", given, least=0, most=2**31 - 1)
