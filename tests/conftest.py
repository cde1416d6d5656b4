"""Laws draw the same examples in every run, so that what passes here passes elsewhere.

`ARGOSY_LAWS=10 pytest` draws others each time, for those who look for trouble; laws of operators also draw ten times as
many then.

Ctrl-C is heard, also where the tests run in the background: a shell lets its jobs there ignore it.
"""

from __future__ import annotations

import os
import signal

from hypothesis import settings

settings.register_profile("the same", derandomize=True)
if "ARGOSY_LAWS" not in os.environ:
    settings.load_profile("the same")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
