"""What a careful reviewer would ask of results: the rules of `check`."""
