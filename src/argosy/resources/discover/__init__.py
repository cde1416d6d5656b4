"""Where we are, and what we were given there."""
