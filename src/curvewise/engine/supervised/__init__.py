"""Supervised learning: data in training sets that grow, and what is done with them."""
