"""optuna: not yet."""
