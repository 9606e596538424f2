"""How far truth lies from the prediction, by side: factors learnt on real curves.

Learnt by scripts/learn_extrapolation.py on 518 curves of 129 data sets: LCDB 1.0 (Mohr
et al., ECML-PKDD 2022; 268 curves of 25 runs) and LCDB 1.1 (Yan et al., NeurIPS 2025;
250 curves of means). Of each, 40 to 90 % of the sizes were seen, and the first, middle
and last later size predicted; with all sizes or fewer, with 25, 5 or 1 runs, with runs
known or not. Each row is a linear quantile regression at a one-sided level, factors at
least 0; a miss counts relative to the width of the interval. No level has a factor
below that of a lower level, so that quantiles do not cross.
scripts/coverage_extrapolation.py prints how often intervals hold whose factors come
from other data sets.
"""

import numpy as np

LEVELS = np.array([0.5, 0.75, 0.9, 0.95, 0.975, 0.99, 0.995])
UP = np.array(
    [
        # noise, standard error, disagreement, reach, fall, flat reach
        [0, 0, 0, 0, 0, 0],  # 0.5
        [0.353, 0.0793, 0.5358, 0.0004, 0.1068, 0],  # 0.75
        [0.8815, 0.201, 0.5681, 0.0016, 0.3494, 0.0129],  # 0.9
        [1.2872, 0.2771, 0.6396, 0.0065, 0.4355, 0.0302],  # 0.95
        [1.7708, 0.3086, 0.7648, 0.0178, 0.4355, 0.0568],  # 0.975
        [2.5955, 0.3086, 0.7648, 0.0488, 0.4355, 0.0837],  # 0.99
        [3.1525, 0.3086, 0.7648, 0.0878, 0.4355, 0.2644],  # 0.995
    ]
)
DOWN = np.array(
    [
        # noise, standard error, level per e-fold, level reach
        [0, 0, 0, 0],  # 0.5
        [0.5088, 0.0598, 0, 0.064],  # 0.75
        [0.9529, 0.1033, 0.005, 0.1485],  # 0.9
        [1.2579, 0.1033, 0.0201, 0.1872],  # 0.95
        [1.4103, 0.1033, 0.066, 0.1872],  # 0.975
        [1.5393, 0.1033, 0.1401, 0.1872],  # 0.99
        [1.5569, 0.1033, 0.2275, 0.1872],  # 0.995
    ]
)
