"""Expressions of NumPy, with their variables, made at random."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

UNARY = (
    "-{}",
    "abs({})",
    "np.sqrt({})",
    "np.exp({})",
    "np.tanh({})",
    "np.log1p({})",
    "np.sin({})",
    "~({} > 0)",
    "{} ** 2",
)
BINARY = (
    "{} + {}",
    "{} - {}",
    "{} * {}",
    "{} / {}",
    "{} // {}",
    "{} % {}",
    "{} < {}",
    "{} == {}",
    "np.maximum({}, {})",
)
BINARY += ("np.arctan2({}, {})", "np.hypot({}, {})", "{} ** {}", "np.where({} > {}, 1, 0.5)")
OTHERS = ("np.where({} > 0, {}, {})", "np.clip({}, -1, 1)", "{}.astype(np.float32)", "np.where({}, {}, 2)")
REDUCTIONS = ("sum", "mean", "max", "min", "prod", "any", "argmin", "norm")
SCALARS = ("2", "0.5", "-1.5", "True", "k", "f")
DTYPES = ("?", "i4", "i8", "u1", "f4", "f8", "f8", "f8", "c16")
LENGTHS = (1, 2, 3, 5, 8, 9, 16, 21, 40)


@dataclass(frozen=True, kw_only=True)
class Made:
    source: str
    variables: dict[str, object]


@st.composite
def arrays(draw: st.DrawFn, shape: tuple[int, ...]) -> np.ndarray:
    """An array of any layout, with infinities, zeros and the like among its elements."""
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.sampled_from((1, 1, 1, 2, -1))) for _ in shape]
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    numbers = np.asarray(rng.standard_normal([shape[axis] * abs(steps[axis]) for axis in order]) * 3)
    if draw(st.booleans()):
        numbers[rng.random(numbers.shape) < 0.1] = rng.choice([0.0, -0.0, np.inf, np.nan, 1e300])
    with np.errstate(all="ignore"):
        array = numbers.astype(dtype).transpose(sorted(range(len(order)), key=order.__getitem__))
    return array[tuple(slice(None, None, step) for step in steps)]


@st.composite
def expressions(draw: st.DrawFn) -> Made:
    shape = tuple(draw(st.lists(st.sampled_from(LENGTHS), min_size=1, max_size=3)))
    variables: dict[str, object] = {"k": 3, "f": np.float32(0.25)}

    def variable(shape: tuple[int, ...]) -> str:
        name = f"x{len(variables)}"
        variables[name] = draw(arrays(shape))
        return name

    def leaf() -> str:
        match draw(st.sampled_from(("plain", "plain", "smaller", "padded", "column", "turned", "scalar"))):
            case "plain":
                return variable(shape)
            case "smaller":
                kept = shape[draw(st.integers(0, len(shape))) :]
                return variable(tuple(draw(st.sampled_from((1, length))) for length in kept))
            case "padded":
                bounds = [
                    draw(st.sampled_from((("1:-1", 2), ("2:", 2), (":-1", 1), ("::2", -1), (":", 0)))) for _ in shape
                ]
                lengths = [2 * n if more < 0 else n + more for n, (_, more) in zip(shape, bounds, strict=True)]
                return f"{variable(tuple(lengths))}[{', '.join(text for text, _ in bounds)}]"
            case "column":
                return f"{variable(shape[:1])}[:{', None' * (len(shape) - 1)}]" if len(shape) > 1 else variable(shape)
            case "turned":
                return f"{variable(shape[::-1])}.T"
        return draw(st.sampled_from(SCALARS))

    def expression(depth: int) -> str:
        if depth == 0:
            return leaf()
        below: Callable[[], str] = lambda: f"({expression(depth - 1)})"  # noqa: E731
        kind = draw(st.sampled_from(("leaf", "unary", "binary", "binary", "binary", "other", "reduction")))
        match kind:
            case "leaf":
                return leaf()
            case "reduction":
                axis = draw(st.integers(-len(shape), len(shape) - 1))
                return reduction(below(), f"axis={axis}, keepdims=True")
        pattern = draw(st.sampled_from({"unary": UNARY, "binary": BINARY, "other": OTHERS}[kind]))
        return pattern.format(*(below() for _ in range(pattern.count("{}"))))

    def reduction(operand: str, arguments: str) -> str:
        name = draw(st.sampled_from(REDUCTIONS))
        return f"np.linalg.norm({operand}, {arguments})" if name == "norm" else f"{operand}.{name}({arguments})"

    source = expression(draw(st.integers(1, 3)))
    if draw(st.booleans()) and len(shape) > 1:
        axes = draw(st.sampled_from(("0", "1", "-1", "(0, 1)" if len(shape) > 2 else "0")))
        source = f"np.sqrt({reduction(f'({source})', f'axis={axes}')})"
    if draw(st.integers(0, 9)) == 0:
        source = f"({source}).T"
    return Made(source=source, variables=variables)
