"""`python -m argosy.pilot.worker FOLDER LAUNCH [RANK,RANK,... SPAWNING]`: one rank of the pilot with this run folder.

LAUNCH is the number of the world, so that an earlier one is never taken for it. RANKs are given to processes that take
the places of lost ranks, with the number of the spawning they come from.
"""

import sys

from argosy.comm.unfinalized import leave_unfinalized
from argosy.pilot.worker.keeper import keep

if __name__ == "__main__":
    allowance = keep(sys.argv[2])
    leave_unfinalized()
    from argosy.pilot.worker.main import main

    main(sys.argv[1:], allowance)
