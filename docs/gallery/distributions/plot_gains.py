"""
What does tuning gain?
======================

Tuned minus untuned, from the worst trials at the left to the best at the right. A curve
near 0 belongs to an algorithm that needs no tuning. Shaded: 95 % bands of the gain.
"""

import curvewise as cw

learners = [cw.zoo.algorithm("knn"), cw.zoo.algorithm("svm")]
experiment = cw.Experiment(
    cw.zoo.task("moons", n=400),
    [*learners, *(cw.tuned(learner, configs=4) for learner in learners)],
    trials=30,
    seed=1,
)
trials = cw.run(experiment, executor="serial", progress=False)
answer = cw.robustness(trials, "accuracy")
cw.figures.plot_gains(answer)

# %%
# ``knn`` needs no tuning, ``svm`` does. At both ends there is no band: 30 trials cannot
# say that much about the worst and the best. In numbers:

answer
