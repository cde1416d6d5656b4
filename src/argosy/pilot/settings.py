"""What every rank is told when it starts: one file in the run's folder."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from argosy.pilot import private

_FILE_NAME = "settings.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    ulfm: bool
    """Whether this MPI survives the death of a rank."""
    python_path: list[str]
    """The user's `sys.path`, so that functions travel by name."""
    mpiexec: list[str]
    """How a program of a task is started on several ranks; the number of ranks follows."""
    mpiexec_environment: dict[str, str] = field(default_factory=dict)
    """What that call needs in its environment."""
    environment: dict[str, str] = field(default_factory=dict)
    """The MPI variables the user had set, before the launcher added its own."""
    shelf: list[str] = field(default_factory=list)
    """Folders for large cargo, where all ranks are on the user's machine."""
    memory_per_rank: list[int] | None = None
    """How many bytes each rank may have, if the user has said how much a node may have."""

    def save(self, folder: Path) -> None:
        with open(folder / _FILE_NAME, "w", encoding="utf-8", opener=private.opener) as file:
            json.dump(asdict(self), file)

    @classmethod
    def load(cls, folder: Path) -> Settings:
        return cls(**json.loads((folder / _FILE_NAME).read_text(encoding="utf-8")))
