"""
How many trials until the distribution is known?
================================================

How wide a band around a distribution is with how many trials. Twice as sharp takes four
times the trials; looking at the results on the way costs a little more.
"""

import curvewise as cw

answer = cw.plan.trials(half_width=0.05)
cw.figures.plot_plan(answer)

# %%
# In numbers:

answer
