"""tensorboard: not yet."""
