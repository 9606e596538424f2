"""
Who is better with how much data?
=================================

The chance that the first algorithm has the lower error, at every size. Near 1 or 0 the
case is clear; around one half nobody knows. The winner at today's size need not win
with more data.
"""

import curvewise as cw

answer = cw.learning(cw.example("counts"), "error")
cw.figures.plot_crossing(answer)
