"""
How good are the best half of the trials?
=========================================

At alpha = 0 is the mean of all trials; further right, the mean of ever fewer and better
ones. Who searches long lives at the right, who has one shot at the left. Shaded: 95 %
bands.
"""

import curvewise as cw

answer = cw.performance(cw.example("search"), "accuracy", failed="worst")
cw.figures.plot_best(answer, task="rings")

# %%
# The curve of ``forest`` is higher for whoever takes the hyperparameters as they come,
# that of ``net`` for whoever searches. How sure that is, the answer says:

print(answer.verdict("rings"))
