"""
Is the new version worse than the old one?
==========================================

What was gained on each task, with its limits; dashed is the loss that nobody would mind.
A bar to the right of it is no worse, one to the left of it is a regression, and where one
crosses it more trials are needed.
"""

import curvewise as cw

trials = cw.example("search").where(algorithm=["forest", "svm"])
old = trials.where(number=range(30))
new = trials.where(number=range(30, 60))
answer = cw.compare_versions(old, new, "accuracy", margin=0.02)
cw.figures.plot_versions(answer)

# %%
# Nothing was changed here: these are two halves of one search. Three comparisons say so;
# on *waves* ``svm`` varies too much for 30 trials to tell.

answer
