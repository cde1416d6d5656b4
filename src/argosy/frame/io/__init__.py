"""Rows in files: finding them, sharing them out over ranks, reading and writing them."""
