"""The checkpoints of a run."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from argosy.comm.attempt import attempt
from argosy.comm.ranks import Ranks
from argosy.errors import BadCheckpoint
from argosy.train.checkpoint.fingerprint import Description
from argosy.train.checkpoint.load import Loaded, load
from argosy.train.checkpoint.save import save


class Checkpoints:
    """The checkpoints of one run, in one folder that all ranks see. The last `keep` are kept.

    All ranks call `save` and `load` together. After kill -9 at any moment, the last one that was whole can be loaded.
    One run writes to a folder at a time.
    """

    def __init__(self, folder: str | Path, ranks: Ranks, *, keep: int = 2) -> None:
        if keep < 1:
            raise ValueError(f"keep must be at least 1, not {keep}: a checkpoint that is not kept is of no use")
        self.folder = Path(folder).absolute()
        self._ranks = ranks
        self._keep = keep

    def prepare(self) -> None:
        """Makes the folder. BadCheckpoint on all ranks if nothing could be saved there: better now than in an hour."""
        attempt(self._ranks, self._make if self._ranks.rank == 0 else lambda: None).settled()

    def _make(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder):
                return
        except OSError as error:
            raise BadCheckpoint(
                f"checkpoints cannot be saved in {self.folder}: {error}; name another folder"
            ) from error

    def save(self, step: int, *, shared: dict[str, Any], own: dict[str, Any], facts: dict[str, Any]) -> None:
        """Writes what all ranks hold alike (`shared`, each rank an equal share) and what each holds alone (`own`; an
        empty one is none).

        `Rows` in `shared` are written by the rank that has them, and read by whoever needs them.
        The tensors of `shared` must have the same names, types and shapes on all ranks (else RanksDisagree); its plain
        values, and `facts`, are taken from rank 0, and `facts` come back as JSON has them. A parameter comes back as a
        tensor that asks for no gradient. If a rank cannot write, all ranks raise (DiskFull where that was why), and the
        checkpoints from before stay.
        """
        save(self.folder, self._ranks, step, shared=shared, own=own, facts=facts, keep=self._keep)

    def load(self, *, fingerprint: str | None = None, description: Description | None = None) -> Loaded | None:
        """The newest one that is whole, on all ranks the same; None if there is none.

        One that is not whole is passed over with a CheckpointSkipped warning (on rank 0); BadCheckpoint if none is
        whole, or if the model's `fingerprint_of` is not the one that was saved. With `describe` of the model too, the
        message names the first parameter that differs.
        """
        return load(self.folder, self._ranks, fingerprint=fingerprint, description=description)
