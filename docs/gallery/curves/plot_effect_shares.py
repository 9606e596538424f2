"""
When has the difference shown itself?
=====================================

How much of all that the algorithms do to the score has shown by each step, and in grey
what chance makes of it. A curve above the grey tells that they part early, one below it
that they part late; inside it, nothing can be said.
"""

import curvewise as cw

answer = cw.difference(cw.example("curves"))
cw.figures.plot_effect_shares(answer, task="hill")
