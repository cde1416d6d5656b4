"""What all ranks do together. Each rank passes its own table and gets its own; all call the same in the same order."""
