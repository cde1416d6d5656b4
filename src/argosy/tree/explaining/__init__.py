"""What happened in one call: as text, as a graph, as a trace of threads, and as a profile of source lines.

record              one run of a piece, and why it waited
recorder, running   it is kept as it happens
history             who touched which memory
turns               why a piece ran in its turn
statements          where in the source it is
lanes               on which thread it was
overlap, critical   what ran at the same time, and the longest chain of what waited for what
rows, causes        runs folded by source line, and why lines wait for others
text, graph, trace  three ways to look at it
explanation, profile, watched    what the user gets, and the call that makes it
"""
