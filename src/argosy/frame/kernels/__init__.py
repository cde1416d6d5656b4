"""What one rank computes, over flat NumPy buffers: compiled by Numba, without the GIL. Importing it loads Numba."""
