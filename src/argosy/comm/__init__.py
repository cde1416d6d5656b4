"""Ranks that move together. The only package that imports mpi4py."""
