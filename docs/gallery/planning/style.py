"""
The same figure, for a paper
============================

``style("paper")`` draws at the width of a column with the type sizes of print; nothing
needs to be scaled, and no colour is lost in black and white.
"""

import curvewise as cw

answer = cw.performance(cw.example("search"), "accuracy", failed="worst")
with cw.figures.style("paper"):
    cw.figures.plot_quantiles(answer, task="rings")

# %%
# For slides:

with cw.figures.style("slides"):
    cw.figures.plot_quantiles(answer, task="rings")
