"""
Whole runs, and their mean with a band
======================================

Every thin line is one run; the thick one is their mean, and the band holds the whole
true mean curve with 95 % confidence. Bands of several algorithms that overlap do not
settle anything: ask for the difference.
"""

import curvewise as cw

answer = cw.difference(cw.example("curves"))
cw.figures.plot_lines(answer, task="hill")
