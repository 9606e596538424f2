"""stable_baselines: not yet."""
