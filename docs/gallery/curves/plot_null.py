"""
Could chance have made this difference?
=======================================

Whole runs are dealt anew to the algorithms, thousands of times. The histogram is what
chance makes of the statistic; dashed are what was observed, and what would be
significant at the level of 5 %. Where the first is left of the second, nothing was
shown.
"""

import curvewise as cw

runs = cw.example("curves").where(task="hill", algorithm=["fast", "early"])
answer = cw.difference(runs)
cw.figures.plot_null(answer)

# %%
# ``fast`` scores more than ``early`` on average, and chance alone does so now and then:
# with eight runs each that difference in height was not shown.

print(answer.verdicts("hill")[-1])
