"""How each aggregate folds the values of a group: a state from rows, states merged, and the result."""
