"""
Which share of the trials passes each score, over all tasks?
============================================================

At any score, how many trials are better than it, every task counting the same. A curve
that stays high for longer is better; curves that cross belong to algorithms that are
good for different users.
"""

import curvewise as cw

answer = cw.performance(cw.example("search"), "accuracy", failed="worst")
cw.figures.plot_profiles(answer)
