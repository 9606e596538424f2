"""
What does tuning gain on each task?
===================================

One panel per task. The same algorithm may need tuning on one task and not on another.
"""

import curvewise as cw

learners = [cw.zoo.algorithm("knn"), cw.zoo.algorithm("svm")]
experiment = cw.Experiment(
    [cw.zoo.task("moons", n=250), cw.zoo.task("linear", n=250)],
    [*learners, *(cw.tuned(learner, configs=4) for learner in learners)],
    trials=30,
    seed=1,
)
trials = cw.run(experiment, executor="serial", progress=False)
cw.figures.plot_gains_by_task(cw.robustness(trials, "accuracy"))
