"""
By how much does one algorithm beat another, quantile by quantile?
==================================================================

One algorithm's quantiles minus the other's: the bad trials of both at the left, the
good ones at the right. Where the band is above 0, the first is better for sure; where
it holds 0, nothing is settled.
"""

import curvewise as cw

answer = cw.performance(cw.example("search"), "accuracy", failed="worst")
cw.figures.plot_shift(answer, "net", "svm", task="waves")

# %%
# The two ends tell of failures and of luck, and both are wide open with 60 trials.
