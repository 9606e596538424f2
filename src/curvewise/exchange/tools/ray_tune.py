"""ray_tune: not yet."""
