"""The gradients of NumPy's functions, by family. Importing this package fills the tables of `tables`."""

from argosy.tree.grad.rules import elementwise, linalg, matmul, methods, reductions, shapes

__all__ = ["elementwise", "linalg", "matmul", "methods", "reductions", "shapes"]
