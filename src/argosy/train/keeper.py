"""A run that can be gone on with: what is kept of it, when, and how it comes back."""

from __future__ import annotations

from typing import Any

import torch

from argosy.errors import BadCheckpoint
from argosy.train.checkpoint import Checkpoints, made_whole
from argosy.train.group import Group
from argosy.train.job import Checkpoint
from argosy.train.learners.learner import Learner
from argosy.train.ledger import Ledger
from argosy.train.noise import NoiseScale
from argosy.train.position import Position
from argosy.train.precision import Precision
from argosy.train.random_state import random_state, set_random_state


def _settings(group: dict[str, Any]) -> dict[str, Any]:
    """Of a group of parameters: what was asked for, without the parameters."""
    return {name: value for name, value in group.items() if name != "params"}


class Keeper:
    """Saves and restores a run: model, optimizer, scaler, order and position, random states, ledger, noise scale."""

    def __init__(
        self,
        asked: Checkpoint | None,
        group: Group,
        *,
        model: dict[str, str],
        workers: int,
        asked_for: dict[str, Any],
        learner: Learner,
        optimizer: torch.optim.Optimizer,
        precision: Precision,
        ledger: Ledger,
        noise: NoiseScale | None,
    ) -> None:
        """`model`: the names and shapes that a checkpoint must have. `asked_for`: what else it must have been."""
        self._asked = asked
        self._checkpoints = None if asked is None else Checkpoints(asked.folder, group.ranks, keep=asked.keep)
        self._model = model
        self._workers = workers
        self._asked_for = asked_for
        self._folder = "" if asked is None else str(asked.folder)
        self._learner = learner
        self._optimizer = optimizer
        self._precision = precision
        self._ledger = ledger
        self._noise = noise
        self._last: int | None = None

    @property
    def last(self) -> str:
        """For a message: which checkpoint a run that ends now leaves behind."""
        if self._asked is None:
            return "there is no checkpoint, as none was asked for"
        if self._last is None:
            return "there is no checkpoint yet"
        return f"the checkpoint of step {self._last} is kept in {self._folder}"

    def resume(self) -> Position:
        """Where to begin: at the newest whole checkpoint, or at the start. A collective."""
        if self._checkpoints is None:
            return Position()
        self._checkpoints.prepare()
        kept = self._checkpoints.load(description=self._model)
        if kept is None:
            return Position()
        self._check(kept.facts)
        own = kept.own if kept.facts["workers"] == self._workers else None
        shared = kept.shared if self._learner.takes_rows else made_whole(kept.shared)
        self._learner.load(shared, own and own["learner"])
        settings = [_settings(group) for group in self._optimizer.param_groups]
        self._learner.optimizer_loaded(self._optimizer, shared["optimizer"], own and own["optimizer"])
        for group, asked in zip(self._optimizer.param_groups, settings, strict=True):
            group.update(asked)  # whoever asks for another rate gets it
        self._load_scaler((own or {}).get("scaler") or kept.shared["scaler"])
        self._ledger.load_state_dict(kept.shared["ledger"])
        if self._noise is not None and kept.shared["noise"] is not None:
            self._noise.load_state_dict(kept.shared["noise"])
        if own is not None:
            set_random_state(own["random"])
        self._last = kept.step
        return Position.from_dict(kept.shared["position"])

    def _load_scaler(self, kept: dict[str, Any]) -> None:
        """A run of another precision has kept none: then this one begins anew."""
        if kept and self._precision.scaler.is_enabled():
            self._precision.scaler.load_state_dict(kept)

    def _check(self, there: dict[str, Any]) -> None:
        """What must not change on the way: it would be another run."""
        for what, asked in self._facts().items():
            was = there.get(what, asked)  # an older checkpoint does not say everything
            if what != "workers" and was != asked:
                raise BadCheckpoint(
                    f"the run in {self._folder} has {what} {was}, but {asked} is asked for; "
                    f"ask for {was}, or name another folder"
                )

    def _facts(self) -> dict[str, Any]:
        return {"workers": self._workers, "optimizer": type(self._optimizer).__name__, **self._asked_for}

    def due(self, at: Position) -> bool:
        if self._asked is None:
            return False
        every = self._asked.every_steps
        return at.at_end_of_epoch if every is None else at.step % every == 0

    def save(self, at: Position) -> None:
        """A collective."""
        if self._checkpoints is None or self._last == at.step:
            return
        self._ledger.flush()
        optimizer, own_optimizer = self._learner.optimizer_state(self._optimizer.state_dict())
        scaler = self._precision.scaler.state_dict()
        own = {
            "learner": self._learner.own_state(),
            "optimizer": own_optimizer,
            "random": random_state(),
            "scaler": scaler,  # ranks that step by themselves overflow by themselves
        }
        shared = {
            **self._learner.shared_state(),
            "optimizer": optimizer,
            "scaler": scaler,
            "ledger": self._ledger.state_dict(),
            "noise": None if self._noise is None else self._noise.state_dict(),
            "position": at.as_dict(),
        }
        self._checkpoints.save(at.step, shared=shared, own=own, facts=self._facts())
        self._last = at.step
        self._ledger.lap("checkpoint")
