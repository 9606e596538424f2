"""
How does F1 move with data?
===========================

All entries of the confusion matrix are fitted at once, and F1 follows with a band that
stays between 0 and 1. Points are what was observed.
"""

import curvewise as cw

answer = cw.confusion(cw.example("counts"))
cw.figures.plot_confusion(answer, metric="f1")
