"""Whether local data can hurt a training run, and the smallest fraction to exchange that keeps it from doing so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from argosy import arguments
from argosy.errors import ShuffleError, TooFewSamples
from argosy.shuffle.diagnosis.glance import Glance, glance, glance_at
from argosy.shuffle.diagnosis.locality import Locality, locality, together
from argosy.shuffle.diagnosis.mixing import fraction_for, share_of, skew_left
from argosy.shuffle.diagnosis.reasons import advice, on_left, on_locality, on_sizes, on_skew
from argosy.shuffle.diagnosis.skew import Skew, feature_skew, label_skew
from argosy.shuffle.fraction import checked_fraction

Gather = Callable[[Any], list[Any]]
Seen = tuple[Glance, Locality]

EPOCHS = 10
TOLERANCE = 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnosis:
    """What was found, and what follows. Prints its reasons, a line for each."""

    num_ranks: int
    num_samples: int
    labels: Skew | None
    features: Skew | None
    skew: float | None
    """The larger of the two; None where there were neither labels nor features."""
    locality: Locality
    epochs: int
    tolerance: float
    fraction: float
    """What to exchange before each epoch."""
    reasons: tuple[str, ...]

    def left(self, fraction: float) -> float:
        """What is left of the skew after `epochs` epochs with another fraction."""
        return skew_left(self.skew or 0.0, fraction=fraction, epochs=self.epochs)

    def __str__(self) -> str:
        return "\n".join([*self.reasons, f"fraction={self.fraction:g}"])


def diagnose(
    shards: Any,
    *,
    features: Any = None,
    model: Any = None,
    loss: Any = None,
    averaging_every: int = 1,
    batch_size: int | None = None,
    fraction: float | None = None,
    epochs: int = EPOCHS,
    tolerance: float = TOLERANCE,
    group: Any = None,
) -> Diagnosis:
    """Measure how far shards differ, look at the model, and say which fraction to exchange, and why.

    `shards` has one item for each rank: an array of labels, or a dataset of pairs (x, y), of which some thousand are
    read. `features` may have, beside labels, an array for each rank with a row for each sample. Inside a
    torch.distributed program give `group`, a process group or `"world"`, and both for this rank alone: all ranks of the
    group must call it, and exchange counts and means, never samples.

    `batch_size` is of one worker; `fraction` is one to be judged. The skew should be at most `tolerance`, where 1 is as
    far as shards can differ, after `epochs` epochs.
    """
    averaging_every, batch_size, epochs, tolerance = _judged(averaging_every, batch_size, epochs, tolerance)
    fraction = None if fraction is None else checked_fraction(fraction)
    look = partial(_look, model=model, loss=loss, averaging_every=averaging_every)
    conclude = partial(_conclusion, batch_size=batch_size, fraction=fraction, epochs=epochs, tolerance=tolerance)
    if group is not None:
        return _agreed(lambda: look(shards, features), _gather_over(group), conclude)
    for name, given in (("shards", shards), ("features", features)):
        if given is not None and (
            isinstance(given, str | bytes | type | dict)
            or not hasattr(given, "__getitem__")
            or getattr(given, "ndim", 1) == 0
        ):
            raise TypeError(f"{name} must be a list with one item for each rank, not {arguments.show(given)}")
    rows_of = [None] * len(shards) if features is None else features
    if len(rows_of) != len(shards):
        raise ValueError(f"there are shards of {len(shards)} ranks, but features of {len(rows_of)}")
    return conclude([look(shard, rows) for shard, rows in zip(shards, rows_of, strict=True)])


def auto_fraction(
    labels: Any,
    features: Any,
    *,
    num_ranks: int,
    gather: Gather,
    model: Any = None,
    loss: Any = None,
    averaging_every: int = 1,
    batch_size: int | None = None,
    epochs: int = EPOCHS,
    tolerance: float = TOLERANCE,
) -> Diagnosis:
    """The same from one of the ranks, which all call it: with the labels and features of its own shard, or None.

    In place of labels, and without features, there may be a dataset of pairs (x, y).

    `gather` takes a small object from each rank and returns all of them, in order of rank, on every rank; it is called
    twice. All ranks get the same diagnosis. What fails on one of them fails on all.
    """

    averaging_every, batch_size, epochs, tolerance = _judged(averaging_every, batch_size, epochs, tolerance)

    def gathered(mine: Any) -> list[Any]:
        everyone = gather(mine)
        if len(everyone) != num_ranks:
            raise ShuffleError(f"{num_ranks} ranks were told of, but {len(everyone)} answered; gather over all of them")
        return everyone

    look = partial(_look, labels, features, model=model, loss=loss, averaging_every=averaging_every)
    conclude = partial(_conclusion, batch_size=batch_size, fraction=None, epochs=epochs, tolerance=tolerance)
    return _agreed(look, gathered, conclude)


def _judged(
    averaging_every: int, batch_size: int | None, epochs: int, tolerance: float
) -> tuple[int, int | None, int, float]:
    return (
        arguments.whole("averaging_every", averaging_every, least=1, most=2**31 - 1),
        None if batch_size is None else arguments.whole("batch_size", batch_size, least=1),
        arguments.whole("epochs", epochs, least=1, most=2**31 - 1),
        share_of(tolerance, "tolerance"),
    )


def _look(shard: Any, rows: Any, *, model: Any, loss: Any, averaging_every: int) -> Seen:
    seen = glance_at(shard) if rows is None and shard is not None else glance(shard, rows)
    return seen, locality(model, loss, averaging_every)


def _agreed(look: Callable[[], Seen], gather: Gather, conclude: Callable[[list[Seen]], Diagnosis]) -> Diagnosis:
    """What follows from what all ranks see; rank 0's word, as machines that differ may round differently."""
    first: Diagnosis = gather(conclude(_all_look(look, gather)))[0]
    return first


def _all_look(look: Callable[[], Seen], gather: Gather) -> list[Seen]:
    """What each rank sees of its shard; where one cannot look, the others do not wait for it."""
    failure: Exception | None = None
    seen: Seen | str
    try:
        seen = look()
    except Exception as error:
        failure, seen = error, f"{type(error).__name__}: {error}"
    gathered = gather(seen)
    for rank, each in enumerate(gathered):
        if isinstance(each, str):
            raise ShuffleError(f"rank {rank} cannot look at its shard: {each}") from failure
    return gathered


def _gather_over(group: Any) -> Gather:
    from argosy.shuffle.peers import Peers

    def gather(mine: Any) -> list[Any]:
        peers = Peers(None if group == "world" else group)
        try:
            return peers.allgather(mine)
        finally:
            peers.close()

    return gather


def _conclusion(
    found: Sequence[Seen],
    *,
    batch_size: int | None,
    fraction: float | None,
    epochs: int,
    tolerance: float,
) -> Diagnosis:
    if not found:
        raise TooFewSamples("there are no shards; give one for each rank")
    if batch_size is not None and batch_size < 1:
        raise ValueError(f"batch_size is a number of samples above 0, not {batch_size!r}")
    judged = None if fraction is None else checked_fraction(fraction)
    glances, told = [each for each, _ in found], together([each for _, each in found])
    sizes = [each.num_samples for each in glances]
    labels, features = label_skew(glances), feature_skew(glances)
    measured = [each.skew for each in (labels, features) if each is not None]
    skew = max(measured) if measured else None
    needed = fraction_for(skew or 0.0, num_ranks=len(sizes), epochs=epochs, tolerance=tolerance)
    advised, why = advice(
        sizes, skew, needed, by_chance=labels.by_chance if labels else 0.0, locality=told, tolerance=tolerance
    )
    reasons = [on_sizes(sizes), on_skew("labels", labels), on_skew("features", features)]
    reasons += [*on_locality(told, batch_size, min(sizes)), why]
    reasons += [on_left(skew, each, epochs, tolerance) for each in (advised, judged) if each is not None and skew]
    return Diagnosis(
        num_ranks=len(sizes),
        num_samples=sum(sizes),
        labels=labels,
        features=features,
        skew=skew,
        locality=told,
        epochs=epochs,
        tolerance=tolerance,
        fraction=advised,
        reasons=tuple(reasons),
    )
