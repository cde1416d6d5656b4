"""What the benchmarks run: the same functions under bare `mpiexec` and on a pilot."""
