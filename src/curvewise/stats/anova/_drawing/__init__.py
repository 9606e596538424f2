"""Shuffles and flips: how they are made, judged and counted, and when they suffice.

Of the public modules, what is here knows `answers` only, whose parts it makes.
"""
