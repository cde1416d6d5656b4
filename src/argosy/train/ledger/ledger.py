"""The ledger of one training run, for anybody's loop."""

from __future__ import annotations

import base64
import math
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from argosy import arguments
from argosy.errors import TrainError
from argosy.train.ledger.book import Book
from argosy.train.ledger.laps import Laps
from argosy.train.ledger.lines import encode
from argosy.train.ledger.phases import NO_SECONDS, PHASES, Phase, training_seconds, unknown_phase
from argosy.train.ledger.record import Record, read, run_of
from argosy.train.ledger.table import summary_of, table_of
from argosy.train.ledger.values import hold
from argosy.train.run import Evaluation, Run

if TYPE_CHECKING:
    from argosy.train.ledger.watch import Watch

Item = TypeVar("Item")
_RESERVED = {"kind", "step", "seconds", "metrics"}


class Ledger:
    """Splits the wall time of a loop into phases, and keeps what was learned by then.

        with Ledger("run.jsonl", workers=1, seed=0) as ledger:
            for x, y in ledger.data(loader):
                with ledger.forward():
                    loss = criterion(model(x), y)
                with ledger.backward():
                    loss.backward()
                with ledger.optimizer():
                    optimizer.step()
                    optimizer.zero_grad()
                ledger.step(samples=len(x), loss=loss, lr=0.1)

    Time that is in no phase is `other`. In a tight loop `ledger.lap("forward")` does the same with one look at the
    clock: the time since the last lap belongs to that phase. Without a path nothing is written. With one, JSON lines
    (see `lines.py`) are appended every `every_steps` steps or `every_seconds`, whichever comes first; a file that is
    there is written anew, unless `load_state_dict` comes before the first line.

    A loss may be a tensor on a device: it is copied there and read when lines are written, so that the device is not
    waited for. As devices work behind the loop's back, their time shows in the phase that waits for them;
    `synchronize=torch.cuda.synchronize` waits at the end of each phase and makes phases exact, at some cost.

    Facts are whatever describes the run; `run()` needs `workers` and `seed`. One ledger belongs to one rank: `samples`
    are those of all ranks, times are this rank's. As a rule rank 0 alone has a path. `together`: a collective that
    makes the losses of all ranks out of this rank's; with it, lines are written after the same steps on every rank,
    and what writes lines (`flush`, `evaluated`, `losses`, `close`, ...) is called by all of them.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        every_steps: int = 200,
        every_seconds: float = 1.0,
        synchronize: Callable[[], object] | None = None,
        together: Callable[[list[float]], list[float]] | None = None,
        **facts: Any,
    ) -> None:
        if path is not None:
            arguments.path("path", path)
        every_steps = arguments.whole("every_steps", every_steps, least=1)
        every_seconds = arguments.number("every_seconds", every_seconds, least=0, infinite=True)
        for name, called in (("synchronize", synchronize), ("together", together)):
            if called is not None:
                arguments.function(name, called)
        encode(facts)
        self.facts = facts
        self.steps = 0
        self.samples = 0
        self.evaluations: list[Evaluation] = []
        self.synchronize = synchronize
        self._every_steps = every_steps
        self._every_seconds = every_seconds if together is None else math.inf
        self._book = Book(None if path is None else Path(path), facts, together)
        self.laps = Laps(synchronize)
        self.lap = self.laps.lap
        self._phases = {name: Phase(self.laps, name) for name in PHASES}
        self._closed = False
        self._write_at = perf_counter() + self._every_seconds
        weakref.finalize(self, _left, self._book, self.laps)

    # -- time

    def start(self) -> None:
        """The clock starts now: the time since the last lap belongs to no phase. The first phase entered does it."""
        self._write_at = self.laps.start() + self._every_seconds

    def data(self, loader: Iterable[Item]) -> Iterator[Item]:
        """The batches of a loader; the time until each is there is `data`."""
        batches = iter(loader)
        while True:
            with self._phases["data"]:
                try:
                    batch = next(batches)
                except StopIteration:
                    return
            yield batch

    def phase(self, name: str) -> Phase:
        """`with ledger.phase("forward"):` is `with ledger.forward():`."""
        if arguments.text("the name of a phase", name) not in PHASES:
            raise unknown_phase(name)
        return self._phases[name]

    def forward(self) -> Phase:
        return self._phases["forward"]

    def backward(self) -> Phase:
        return self._phases["backward"]

    def comm(self) -> Phase:
        return self._phases["comm"]

    def optimizer(self) -> Phase:
        return self._phases["optimizer"]

    def evaluation(self) -> Phase:
        return self._phases["evaluation"]

    def checkpoint(self) -> Phase:
        return self._phases["checkpoint"]

    def move(self, seconds: float, from_: str = "backward", to: str = "comm") -> None:
        """So much of what this step spends on one phase belongs to another. Never more than it does spend on it."""
        if from_ not in NO_SECONDS or to not in NO_SECONDS:
            raise unknown_phase(to if from_ in NO_SECONDS else from_)
        self.laps.move(seconds, from_, to)

    def watch(self, model: Any, hook: Callable[..., Any] | None = None, state: Any = None) -> Watch:
        """Measure the exposed communication of a DistributedDataParallel model; says what it can and cannot measure.

        Registers a communication hook around `hook(state, bucket)` or, without one, around the plain mean. Gradients
        are those of the model without the ledger, bit for bit. End the phase right after `backward()`.
        """
        from argosy.train.ledger.watch import watch

        return watch(self, model, hook, state)

    @property
    def seconds(self) -> dict[str, float]:
        """By phase, until the last lap."""
        self.flush()
        return {phase: spent + self.laps.spent[phase] for phase, spent in self._book.total.items()}

    @property
    def training_seconds(self) -> float:
        """Without evaluations and checkpoints."""
        return training_seconds(self.seconds)

    # -- what was learned

    def step(self, *, samples: int, loss: Any = None, lr: Any = None, epoch: int | None = None, **more: Any) -> None:
        """A step ends. `samples` are those of this step, on all ranks; `more` goes into its line."""
        if more:
            if not _RESERVED.isdisjoint(more):
                raise TrainError(f"a step has its own {', '.join(sorted(_RESERVED & set(more)))}; choose another name")
            more = {name: hold(value) for name, value in more.items()}
        samples = samples if type(samples) is int and samples >= 0 else arguments.whole("samples", samples, least=0)
        for name, given in (("loss", loss), ("lr", lr)):
            if type(given) is not float and given is not None:
                arguments.reading(name, given)
        if epoch is not None:
            epoch = arguments.whole("epoch", epoch, least=0)
        self.steps += 1
        self.samples += samples
        loss = loss if type(loss) is float else hold(loss)
        lr = lr if type(lr) is float else hold(lr)
        now = self.laps.step((self.steps, epoch, self.samples, loss, lr, more))
        if now >= self._write_at or self.steps % self._every_steps == 0:
            self.flush()
            self._write_at = now + self._every_seconds

    def evaluated(self, **metrics: Any) -> None:
        """Held-out metrics after the steps so far. The time since the last lap belongs to the evaluation."""
        self.lap("evaluation")
        for name, value in metrics.items():
            arguments.reading(name, value)
        numbers = {name: float(value) for name, value in metrics.items()}
        now = Evaluation(samples=self.samples, seconds=self.training_seconds, metrics=numbers)
        self.evaluations.append(now)
        self.flush()
        self._book.add(_evaluation_line(now, self.steps))

    def note(self, kind: str, **record: Any) -> None:
        """One more line of the file, of a kind of its own, after the steps so far."""
        self.flush()
        self._book.add({"kind": kind, "step": self.steps, **record})

    @property
    def losses(self) -> list[float]:
        """One for each step, those before a resume included; NaN where a step gave none."""
        self.flush()
        return list(self._book.losses)

    # -- the run as a whole

    def run(self) -> Run:
        """As speed-up sees it."""
        return run_of(self.facts, self.evaluations, self.steps, self.samples, self.seconds)

    def summary(self) -> dict[str, Any]:
        """Steps, samples, seconds and shares by phase, samples per second, the last loss."""
        self.flush()
        loss = self._book.losses[-1] if self._book.losses else None
        return summary_of(self.steps, self.samples, self.seconds, loss)

    def __str__(self) -> str:
        return table_of(self.summary(), self.evaluations[-1] if self.evaluations else None)

    @staticmethod
    def read(path: str | Path) -> Record:
        """A ledger's file, as far as it was written: a last line that was cut is passed over."""
        return read(Path(arguments.path("path", path)))

    def flush(self) -> None:
        """Write the lines of all steps until now."""
        self._book.write(self.laps.ended())

    def close(self) -> None:
        """Write what is left, and the end."""
        if not self._closed:
            self._closed = True
            self.flush()
            self._book.add({"kind": "end", "step": self.steps, "samples": self.samples, "seconds": self.seconds})
            self._book.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            _left(self._book, self.laps)

    def state_dict(self) -> dict[str, Any]:
        """For a checkpoint: plain values alone. Lines until now are written first."""
        losses = self.losses
        return {
            "version": 1,
            "steps": self.steps,
            "samples": self.samples,
            "seconds": self.seconds,
            "losses": base64.b64encode(array("d", losses).tobytes()).decode("ascii"),
            "evaluations": [[at.samples, at.seconds, dict(at.metrics)] for at in self.evaluations],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there: totals, losses and evaluations are those of the checkpoint, and of the file the lines until
        then are kept. What the run did after the checkpoint, before it was stopped, is not counted."""
        state = arguments.mapping("state", state, "what state_dict() gave")
        if state.get("version") != 1:
            raise TrainError(f"the state of a ledger of version {state.get('version')!r}, but this reads version 1")
        if self.steps:
            raise TrainError(f"this ledger has {self.steps} steps already; load the state into a new one")
        self.steps, self.samples = state["steps"], state["samples"]
        self._book.total = NO_SECONDS | state["seconds"]
        self._book.losses = array("d", base64.b64decode(state["losses"]))
        self.evaluations = [Evaluation(samples=n, seconds=s, metrics=dict(m)) for n, s, m in state["evaluations"]]
        line = {"kind": "resume", "step": self.steps, "samples": self.samples, "seconds": dict(self._book.total)}
        self._book.resume = line, [_evaluation_line(at, 0) for at in self.evaluations]
        self.start()

    def __reduce__(self) -> tuple[Any, ...]:
        """It travels as what it holds, closed: the file and the ranks stay where they are."""
        path = None if self._book.path is None else str(self._book.path)
        return _arrived, (path, self.facts, self.state_dict())


def _left(book: Book, laps: Laps) -> None:
    """The loop failed, or was forgotten: what can be written without other ranks is."""
    book.leave(laps.ended())


def _evaluation_line(at: Evaluation, step: int) -> dict[str, Any]:
    return {"kind": "evaluation", "step": step, "samples": at.samples, "seconds": at.seconds, "metrics": at.metrics}


def _arrived(path: str | None, facts: dict[str, Any], state: dict[str, Any]) -> Ledger:
    ledger = Ledger(path, **facts)
    ledger.load_state_dict(state)
    ledger._closed = True
    return ledger
