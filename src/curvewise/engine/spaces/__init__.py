"""Spaces of hyperparameters: distributions that a trial's params are drawn from.

A space is a dict from names to what each parameter may be, or a function of an rng that
returns a dict, or a `mixture` of such, or the space of another tool. In a dict stand

- a list, tuple, range or array of one dimension: one of its values, equally likely;
- `uniform`, `loguniform`, `integers`, `log_integers`, `choice`, `mixture`, or any object
  with ``rvs(random_state=rng)``, such as the distributions of `scipy.stats`;
- `when`: a parameter that is there only if others have certain values;
- a dict: a space inside, which gives a dict;
- any other plain value: a constant.

Parameters are drawn in the order of their names, whatever the order of the dict.
"""

import numpy as np

from curvewise.engine.spaces.adapters import from_configspace, from_optuna
from curvewise.engine.spaces.laws import (
    MOST,
    integers,
    log_integers,
    loguniform,
    uniform,
)
from curvewise.engine.spaces.space import (
    Space,
    choice,
    described,
    mixture,
    sampler,
    when,
)
from curvewise.trials.trial import Value

__all__ = [
    "Space",
    "choice",
    "describe",
    "draw",
    "from_configspace",
    "from_optuna",
    "integers",
    "log_integers",
    "loguniform",
    "mixture",
    "sampler",
    "uniform",
    "when",
]

check = sampler  # until engine/experiment.py calls it by its name


def draw(space: Space, rng: np.random.Generator) -> dict[str, Value]:
    """Return one draw from a space; see `sampler` for many.

    Examples
    --------
    >>> draw({"b": [1, 2, 3], "a": uniform(0, 1)}, np.random.default_rng(0))
    {'a': 0.6369616873214543, 'b': 1}
    """
    return sampler(space)(rng)


def describe(space: Space, *, whole: bool = False) -> str:
    """Return a space in words, a line for each parameter, in the order of drawing.

    Parameters
    ----------
    space : Space
    whole : bool
        Print every option of long lists, so that two different spaces never print the
        same for being cut.

    Examples
    --------
    >>> print(describe({
    ...     "kernel": ["linear", "poly", "rbf"],
    ...     "C": loguniform(0.01, 100),
    ...     "degree": when({"kernel": "poly"}, [2, 3, 4]),
    ... }))
    C:      log-uniform from 0.01 to 100
    kernel: one of 'linear', 'poly', 'rbf'
    degree: one of 2, 3, 4 when kernel is 'poly'
    """
    sampler(space)  # raises where it is none
    return "\n".join(described(space, None if whole else MOST))
