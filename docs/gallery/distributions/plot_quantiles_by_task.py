"""
The same algorithms on several tasks
====================================

One panel per task, one colour per algorithm in all of them. Look for orders that change
from task to task: an average over tasks would hide them.
"""

import curvewise as cw

answer = cw.performance(cw.example("search"), "accuracy", failed="worst")
cw.figures.plot_quantiles_by_task(answer)

# %%
# Here the order is the same twice. Where some algorithms are tuned ones of others
# (``"svm tuned"`` of ``"svm"``), they get a row of their own below.
