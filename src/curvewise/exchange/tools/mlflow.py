"""mlflow: not yet."""
