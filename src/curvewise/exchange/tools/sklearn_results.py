"""sklearn_results: not yet."""
