"""`python placed.py PLACES COMMAND...`: what mpiexec starts where each rank has its own GPUs or cores.

PLACES is JSON: for each rank the words for `CUDA_VISIBLE_DEVICES`, or null, and the processors it is to run on. The
process becomes the command. Nothing but Python's own library is loaded: it is a matter of milliseconds.
"""

import json
import os
import sys

_RANK = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MPI_LOCALRANKID")


def main(places: str, *command: str) -> None:
    rank = next((os.environ[name] for name in _RANK if os.environ.get(name, "").isdecimal()), None)
    if rank is None:
        sys.exit(f"this mpiexec does not tell a program its rank: none of {', '.join(_RANK)} is set")
    gpus, cpus = json.loads(places)[int(rank)]
    if gpus is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = gpus
    if cpus:
        os.sched_setaffinity(0, cpus)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.exit(f"{command[0]}: {error.strerror}")


if __name__ == "__main__":
    main(*sys.argv[1:])
