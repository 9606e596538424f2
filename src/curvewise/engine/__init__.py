"""Makes trials happen: spaces, tasks, algorithms, experiments, streams, workers."""
