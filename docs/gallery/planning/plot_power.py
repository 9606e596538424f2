"""
How many whole runs does a difference take?
===========================================

The chance to find a difference that you state, over the number of runs of each
algorithm, judged from the noise of a pilot. Below 80 % an experiment is likely to end
with "no difference was shown".
"""

import curvewise as cw

pilot = cw.example("curves").where(task="hill", algorithm=["slow", "fast"])
answer = cw.plan.lines(pilot, shift=50)
cw.figures.plot_power(answer)

# %%
# In numbers:

answer
