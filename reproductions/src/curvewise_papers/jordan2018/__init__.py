"""Jordan, Cohen and Thomas (2018): algorithms judged by the distribution of scores."""

from curvewise_papers.jordan2018.classification import STUDY as CLASSIFICATION
from curvewise_papers.jordan2018.pendulum import STUDY as PENDULUM
from curvewise_papers.study import Paper

__all__ = ["PAPER"]

PAPER = Paper(
    name="jordan2018",
    about="An algorithm is not its best score. Draw its hyperparameters, its data and its "
    "seed at random, many times, and look at the whole distribution: how good it is where "
    "it does well, and how much of that is owed to tuning.",
    studies=(CLASSIFICATION, PENDULUM),
)
