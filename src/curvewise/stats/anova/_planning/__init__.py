"""Experiments that nobody ran yet: what a pilot says about them."""
