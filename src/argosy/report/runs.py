"""Which run a person means. Each has a folder of its own, with its events in it."""

from __future__ import annotations

from pathlib import Path

from argosy.events import FILE_NAME
from argosy.pilot.folder import runs_folder


def newest_run(runs: Path) -> Path | None:
    """The run that was written to last, or None where there is no run."""
    files = [(file.stat().st_mtime_ns, file.parent) for file in runs.glob(f"*/{FILE_NAME}")]
    return max(files)[1] if files else None


def find_run(run: Path | None) -> Path:
    """The folder of the run that a person asked for: a folder, its events file, a name among the runs, or the newest.

    Raises `FileNotFoundError` with a message for that person.
    """
    runs = runs_folder()
    if run is None:
        if (newest := newest_run(runs)) is not None:
            return newest
        raise FileNotFoundError(
            f"there is no run in {runs} yet; start a pilot (try: argosy demo) or name a run's folder"
        )
    for folder in (run, run.parent if run.name == FILE_NAME else run, runs / run):
        if (folder / FILE_NAME).is_file():
            return folder
    raise FileNotFoundError(
        f"no {FILE_NAME} in {run}; give the folder of a run, or leave it out for the newest in {runs}"
    )
