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

    __slots__ = ("kind_known", "maker", "stale", "token", "token_age", "value")

    def __init__(self, value: Any, kind: AnyKind | None = None, token: Token | None = None, age: int = -1,
                 maker: Expression | None = None) -> None:  # fmt: skip
        self.value = value
        self.kind_known = kind
        """None: to be looked at when it is needed."""
        self.stale = False
        """Its kind must be looked at again when all that writes it has ended."""
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
    __slots__ = (
        "again", "ended", "error", "estimate", "function", "inputs", "outs", "plan", "saved", "saves",
        "seq", "sites", "started", "state", "successors", "thread", "waiting", "waits",
        "warnings",
    )  # fmt: skip

    def __init__(self, seq: int, plan: Any, function: Callable[..., Any], inputs: list[Version]) -> None:
        self.seq = seq
        self.plan = plan
        self.function = function
        self.inputs: Sequence[Version] = inputs
        self.outs: tuple[Version, ...] = ()
        self.state = WAITING
        self.waiting = 1
        """How many expressions it waits for, and one more until it is issued."""
        self.successors: Any = ()
        self.error: BaseException | None = None
        self.saves: Sequence[tuple[Version, Any, bool]] = ()
        """What it will overwrite: an input, at which index (None: whole), and whether only containers change."""
        self.saved: Sequence[Saved] = ()
        self.waits = False
        self.estimate: float | None = None
        self.again = False
        """It met a floating-point error, and ran once more in its turn; the times are those of that."""
        self.started = self.ended = 0.0
        self.thread = 0
        self.sites: tuple[Any, ...] = ()
        """The calls by which the walk came to it."""
        self.warnings: Sequence[Any] = ()
        """What it warned of, to be shown when it is its turn."""
