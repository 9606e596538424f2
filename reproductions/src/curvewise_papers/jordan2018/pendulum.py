"""Section 5.2 and Appendix C: actor-critic and PPO on the pendulum."""

from importlib.util import find_spec

from curvewise.papers.jordan2018.pendulum_claims import claims
from curvewise.papers.jordan2018.pendulum_figures import figures
from curvewise.papers.jordan2018.pendulum_running import run
from curvewise.papers.study import Study

__all__ = ["STUDY"]


def missing() -> str:
    """Return what is not installed."""
    if find_spec("numba") is None:
        return "the extra 'rl': pip install 'curvewise[rl]'"
    return ""


STUDY = Study(
    name="pendulum",
    title="Table 2, Figures 2 and 3: Actor-Critic and PPO on the pendulum",
    about="Two learners swing up a pendulum with a motor too weak to lift it, with "
    "hyperparameters drawn at random from the ranges of Appendix B; a trial's score is "
    "its mean return over 250 episodes. Then the hyperparameters at the 1st, 50th, 95th "
    "and 99th percentile are run again, as in Appendix C, 250 times each where the paper "
    "has 1,000 (as `full` does). Both learners are compiled: [the "
    "pendulum](../reference/pendulum.md).",
    settled=(
        "The pendulum: mass and length 1, gravity 9.8, friction .01, torque 5 times the "
        "action, which is cut at -1 and 1, speed up to 4 pi; semi-implicit steps of .02 s. "
        "The paper names the task and no number of it.",
        "The reward is the cosine of the angle; an episode has 2,000 steps and starts at "
        "rest, at an angle drawn uniformly; a trial has 250 episodes. Of 50, 150 and 250, "
        "the last gives the printed mean of Actor-Critic; the claims allow for half a step "
        "of that.",
        "Actor-Critic: actions have sd 1 around the mean, traces accumulate, weights begin "
        "at 0, and an episode out of time is no end. A trial that diverges learns no more, "
        "plays on, and counts with what it gets.",
        "PPO: the logarithm of the sd is learned, from 0 on; policy and value are linear "
        "in the same features as Actor-Critic's; Adam, advantages and the loss are those "
        "of OpenAI Baselines, with a constant step size and without entropy.",
        "A batch that is drawn larger than the steps to learn from has all of them: "
        "Baselines would never learn from such a draw.",
        "Orders of the critic's basis, steps, epochs and batch sizes are whole numbers, "
        "both ends included.",
    ),
    cost={
        "quick": "3 minutes on 2 cores",
        "kept": "more than an hour of one core: .2 s for a trial of Actor-Critic, .7 s for "
        "one of PPO",
        "full": "a week of one core, nearly all of it for Actor-Critic",
    },
    run=run,
    claims=claims,
    figures=figures,
    missing=missing,
)
