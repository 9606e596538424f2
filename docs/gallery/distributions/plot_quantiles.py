"""
Is the algorithm with the best run the best algorithm?
======================================================

All trials of a random search, from the worst at the left to the best at the right. Read
it upwards at any share: at 0.5 is the median. A flat line is easy to tune; a line that
reaches far up only at its right end was lucky in a few trials. Shaded: 95 % bands, all
quantiles of an algorithm at once.
"""

import curvewise as cw

trials = cw.example("search").where(task="waves", algorithm=["net", "svm"])
answer = cw.performance(trials, "accuracy", failed="worst")
cw.figures.plot_quantiles(answer)

# %%
# The best run of all is one of ``svm``, and yet ``net`` is above it nearly everywhere:
# a table of best scores would have named the wrong one. The runs of ``net`` that
# diverged stand at the left, with the score 0.

answer
