"""Arrays in, numbers out: numpy and scipy, nothing else."""
