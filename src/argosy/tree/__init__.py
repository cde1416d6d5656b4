"""Plain Python as a tree of futures. `argosy.futurize` is the way in; nothing is loaded before it is used.

source, names            a function's own syntax, and its variables
knowledge/, kinds        what is known of functions, and of values that are not there yet
effects/                 what pieces of the function read and write
piece, program           the pieces, compiled by themselves, and what was learnt of them
walk, issue              one call: statements issued in program order, control followed
flow, memory, expression, saved    expressions under way, in any order that memory allows, retired in program order
pool, grain              threads, and what is worth one
tiles/, fork             work that is split over the threads inside one expression
executor, task           work that runs on a pilot
grad/                    gradients in reverse mode
"""
