"""`python -m argosy.pilot.worker FOLDER [RANK,RANK,... SPAWNING]`: one rank of the pilot whose run folder this is.

RANKs are given to processes that take the places of lost ranks, with the number of the spawning they come from.
"""

import sys

from argosy.comm.unfinalized import leave_unfinalized
from argosy.pilot.worker.keeper import keep

if __name__ == "__main__":
    keep()
    leave_unfinalized()
    from argosy.pilot.worker.main import main

    main(sys.argv[1:])
