"""Modules that were called otherwise in earlier versions.

Stores keep names of modules: in what tasks and algorithms are defined by, and in the
experiments that they remember. What stands there in an old name is meant in the new one.
"""

import re

# Old name to new name, also of what is inside. Of two that fit, the longer one holds.
MODULES = {
    "curvewise.papers": "curvewise_papers",
    "curvewise.papers.hoiem2021.learners": "curvewise_papers.hoiem2021.curves",
    "curvewise.papers.xue2025.moved": "curvewise_papers.xue2025.forecasts",
    "curvewise.zoo.faces": "curvewise_papers.tasks",
    "curvewise.zoo.pendulum": "curvewise_papers.pendulum",
    "curvewise.zoo.pendulum.actor_critic": "curvewise_papers.pendulum",
    "curvewise.zoo.pendulum.dynamics": "curvewise_papers.pendulum",
    "curvewise.zoo.pendulum.environment": "curvewise_papers.pendulum_environment",
    "curvewise.zoo.pendulum.playing": "curvewise_papers.pendulum",
    "curvewise.zoo.pendulum.ppo": "curvewise_papers.pendulum",
    "curvewise.zoo.pendulum.task": "curvewise_papers.pendulum",
    "curvewise.zoo.tabular": "curvewise_papers.tasks",
    "curvewise.zoo.tictactoe": "curvewise_papers.tictactoe",
    "curvewise.zoo.tictactoe.learner": "curvewise_papers.tictactoe",
    "curvewise.zoo.transfer": "curvewise_papers.transfer",
}

_OLD = re.compile(
    rf"(?<![\w.])(?:{'|'.join(map(re.escape, sorted(MODULES, key=len, reverse=True)))})"
    r"(?!\w)"
)


def current(text: str) -> str:
    """Return a text, or the name of a module, with today's names of our modules.

    Examples
    --------
    >>> current("curvewise.papers.study")
    'curvewise_papers.study'
    >>> current("curvewise.zoo.pendulum.task._Drawn(number=2)")
    'curvewise_papers.pendulum._Drawn(number=2)'
    """
    return _OLD.sub(lambda found: MODULES[found[0]], text)
