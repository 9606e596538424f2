"""
Does the method keep its promises on data like these?
=====================================================

Each promise, and how often it was broken when names were shuffled, so that every claim
is false, and when trials were simulated, so that the truth is known. A bar that lies
wholly above the line is a broken promise; where it crosses the line, more repetitions
would tell.
"""

import curvewise as cw

trials = cw.example("search")
answer = cw.audit(trials, "accuracy", failed="worst", repetitions=100)
cw.figures.plot_audit(answer)

# %%
# Which promise has which number:

answer
