"""Which task runs where, and what becomes of it."""
