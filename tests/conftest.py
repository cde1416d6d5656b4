"""Laws draw the same examples in every run, so that what passes here passes elsewhere.

`ARGOSY_LAWS=10 pytest` draws others each time, for those who look for trouble; laws of operators also draw ten times as
many then. No example has a deadline: nothing is timed in tests, and the first call of a kernel compiles it.

Ctrl-C is heard, also where the tests run in the background: a shell lets its jobs there ignore it.
"""

from __future__ import annotations

import os
import signal

from hypothesis import settings

settings.register_profile("the same", derandomize=True, deadline=None)
settings.register_profile("others", deadline=None)
settings.load_profile("others" if "ARGOSY_LAWS" in os.environ else "the same")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
