"""What pieces of a function read and write: abstract interpretation of their syntax with the kinds of their inputs.

record        the plain records: accesses, results, guards, and Opaque
values        values as the analysis sees them
expressions   operators, subscripts, names
elements      containers written out, comprehensions, iteration
calls         known functions and methods
statements    stores, branches, loops
analyse       the entry: a piece and the kinds of its inputs, and calls into other sources
"""

from argosy.tree.effects.analyse import analyse
from argosy.tree.effects.record import Access, Effects, Opaque, Outer

__all__ = ["Access", "Effects", "Opaque", "Outer", "analyse"]
