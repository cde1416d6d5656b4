"""The states of an expression, in the order in which it can come to be in them."""

WAITING = 0
"""For others to end."""
READY = 1
RUNNING = 2
DONE = 3
FAILED = 4
"""It raised; that counts when all before it have ended well."""
TRAPPED = 5
"""It met a floating-point error; it is run again in its turn."""
SQUASHED = 6
"""It never ran, since something before it failed."""
