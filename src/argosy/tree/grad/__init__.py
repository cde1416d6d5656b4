"""Gradients in reverse mode of plain NumPy functions, with any control flow.

`reverse` has the public functions; `namespace` is how the function is run; `traced`, `record` and `rules` are what is
recorded; `nodes` is the way back.
"""

from argosy.tree.grad.reverse import grad, value_and_grad

__all__ = ["grad", "value_and_grad"]
