"""`python -m argosy.pilot.worker FOLDER [RANK,RANK,... EPOCH]`: one rank of the pilot whose run folder this is.

RANKs and EPOCH are given to processes that take the places of lost ranks in the world of that epoch.
"""

import sys

from argosy.pilot.worker.keeper import keep

if __name__ == "__main__":
    keep()
    from argosy.pilot.worker.main import main

    main(sys.argv[1:])
