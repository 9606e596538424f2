"""
Where along training do two algorithms differ?
==============================================

The difference of each pair with its band. Bars at the bottom mark the steps at which a
pair was shown to differ; with 95 % confidence none of these claims is false, of all
steps and all pairs at once.
"""

import curvewise as cw

answer = cw.difference(cw.example("curves"))
cw.figures.plot_where(answer, task="hill")

# %%
# The same in words:

print(*answer.verdicts("hill"), sep="\n\n")
