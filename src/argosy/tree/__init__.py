"""Plain Python as a tree of futures. `argosy.futurize` is the way in; nothing is loaded before it is used.

futurize, calling, grain       the decorator; one call; what is worth a thread, or the walk at all
source, files, names, refused  a function's own syntax, its variables, and why some functions run plainly as a whole
knowledge/, kinds, effects/    what is known of functions, and of values not there yet; what pieces read and write
piece, plan, program, endings  statements compiled by themselves, and what was learnt of them
walk, loops, entering, hoist   one call followed: statements in program order, loops, calls that are gone into
losses, learning               what walking a loop costs over what it gains, and when it is left to plain Python
issue, turns                   a piece under way, or run in its turn
flow, running, expression, states, memory, regions, saved, warned
                               expressions under way, in any order that memory allows, retired in program order
pool, share, contention        threads, parts of one expression, and expressions that hold one another up
fork, independent, tiling, tiles/   loops, comprehensions and elementwise expressions in parts
executor, task                 work that runs on a pilot
explaining/, watch             what ran where, and which line waited for which
grad/                          gradients in reverse mode
"""
