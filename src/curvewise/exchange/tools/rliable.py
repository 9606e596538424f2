"""rliable: not yet."""
