"""One rank: a process that runs the tasks it is given, one after another."""
