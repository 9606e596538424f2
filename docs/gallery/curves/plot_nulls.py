"""
Height and shape, side by side
==============================

Curves can differ in height (their mean over all steps) and in shape (how their distance
changes along training). Each has a test of its own, by dealing whole runs anew.
"""

import curvewise as cw

runs = cw.example("curves").where(task="hill", algorithm=["fast", "early"])
cw.figures.plot_nulls(cw.difference(runs))

# %%
# No difference in height was shown, and a clear one in shape: the two curves cross. An
# average over training, or the last score alone, would have missed it.
