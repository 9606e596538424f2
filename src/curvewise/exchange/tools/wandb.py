"""wandb: not yet."""
