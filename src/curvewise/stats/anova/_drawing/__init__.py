"""Shuffles and flips: how they are made, judged and counted, and when they suffice."""
