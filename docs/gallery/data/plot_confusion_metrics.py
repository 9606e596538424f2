"""
Precision, recall and F1 from one fit
=====================================

One panel per metric, all from the same fit of the confusion matrix, so that they agree
with each other. A rise of one and a fall of another is a trade, not progress.
"""

import curvewise as cw

answer = cw.confusion(cw.example("counts"))
cw.figures.plot_confusion_metrics(answer)

# %%
# In numbers:

answer
