"""
What would four times the data buy?
===================================

Left of the dashed line is what was seen, right of it the forecast. Its interval is as
wide as forecasts of that reach have erred on real curves; it widens with every step
away from the data.
"""

import curvewise as cw

answer = cw.learning(cw.example("counts"), "error")
cw.figures.plot_forecast(answer, to=5_120)

# %%
# In numbers, at four times the largest size:

answer.at(5_120)
