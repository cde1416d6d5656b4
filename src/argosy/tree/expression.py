"""One expression of a running call: what it waits for, what it made, and how to take its stores back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from argosy.tree.kinds import AnyKind
from argosy.tree.memory import Token
from argosy.tree.states import DONE, WAITING

if TYPE_CHECKING:
    from argosy.tree.saved import Saved


class Version:
    """One value of a variable, there or still to be made."""

    stale = False
    """Its kind must be looked at again when all that writes it has ended."""

    def __init__(self, value: Any, kind: AnyKind | None = None, token: Token | None = None, age: int = -1,
                 maker: Expression | None = None) -> None:  # fmt: skip
        self.value = value
        self.kind_known = kind
        """None: to be looked at when it is needed."""
        self.token = token
        self.token_age = age
        """The age of the memory in which the token is one; -1: not looked up yet."""
        self.maker = maker
        """Who makes it; may be None again as soon as it is there."""

    @property
    def ready(self) -> bool:
        maker = self.maker
        return maker is None or maker.state == DONE

    def forget(self) -> None:
        """Something opaque ran: what the value holds may have changed."""
        self.kind_known = None
        self.token_age = -1


class Expression:
    """Thousands are made a second, so what is rarely set stands in the class."""

    outs: tuple[Version, ...] = ()
    state = WAITING
    waiting = 1
    """How many expressions it waits for, and one more until it is issued."""
    successors: Any = ()
    error: BaseException | None = None
    writes = False
    """It changes memory or hidden state."""
    saves: Sequence[tuple[Version, Any, bool]] = ()
    """What it will overwrite: an input, at which index (None: whole), and whether only containers change."""
    saved: Sequence[Saved] = ()
    waits = False
    estimate: float | None = None
    again = False
    """It met a floating-point error, and ran once more in its turn; the times are those of that."""
    started = ended = 0.0
    helped = 0.0
    """Seconds that it saved by being done in parts."""
    thread = 0
    sites: tuple[Any, ...] = ()
    """The calls by which the walk came to it."""
    warnings: Sequence[Any] = ()
    """What it warned of, to be shown when it is its turn."""

    def __init__(self, seq: int, plan: Any, function: Callable[..., Any], inputs: Sequence[Version]) -> None:
        self.seq = seq
        self.plan = plan
        self.function = function
        self.inputs = inputs
