"""
How much data until the error is 8 %?
=====================================

The forecast read the other way round: the chance that the error is at most the target,
at every size. Where a curve passes one half is the best guess; where it never comes
near 1, these data cannot promise that the target is ever reached.
"""

import curvewise as cw

answer = cw.learning(cw.example("counts"), "error").size_for(0.08)
cw.figures.plot_size_for(answer)

# %%
# The sizes at which each gets there, as far as that can be told:

answer
