"""
How does the error fall with data?
==================================

Points are what was observed, lines are power laws with their bands. Size n stands at
n^(-1/2), so that a common kind of curve is a straight line, and unlimited data is at
the left edge.
"""

import curvewise as cw

answer = cw.learning(cw.example("counts"), "error")
cw.figures.plot_learning(answer)

# %%
# Logarithmic axes, if you prefer them:

cw.figures.plot_learning(answer, scale="log")
