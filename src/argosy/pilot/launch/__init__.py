"""How the ranks of a pilot are started."""
