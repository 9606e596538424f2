"""
How many settings should be tried?
==================================

The expected score of the best of k random settings, over k. Where a curve is flat, more
search buys nothing. Shaded: 95 % bands; at the right, where only the luckiest trials
count, little is known.
"""

import curvewise as cw

answer = cw.performance(cw.example("search"), "accuracy", failed="worst")
cw.figures.plot_tuning(answer, task="waves")

# %%
# With a budget of 60 settings the bands of ``net`` and ``svm`` lie on each other: these
# trials cannot tell which of them has the better best, though the best run of all was
# one of ``svm``.
