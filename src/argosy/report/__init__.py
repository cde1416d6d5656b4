"""What a run looks like from outside: live, summed up, and as a trace. All of it reads events, nothing else."""
