"""The usual names of columns, and what a name alone can tell."""

import re
from collections.abc import Iterable, Iterator

from curvewise.metrics import find

ALGORITHM = (
    *("algorithm", "algo", "alg", "agent", "model", "method", "learner", "classifier"),
    *("estimator", "approach", "policy", "system", "architecture", "arch", "variant"),
)
TASK = (
    *("task", "env", "environment", "dataset", "data_set", "benchmark", "problem"),
    *("game", "domain", "corpus", "data"),
)
STATUS = ("status", "state")
# What tells replicates apart, best first: equal seeds pair the runs of two algorithms.
TRIAL = (
    *("number", "seed", "random_seed", "rng_seed", "train_seed", "random_state"),
    *("outer", "outer_fold", "inner", "inner_fold", "fold", "cv_fold", "repeat"),
    *("repetition", "rep", "replicate", "replication", "replica", "run", "trial"),
    *("experiment", "id", "name"),
)
SIZE = (
    *("size", "train_size", "training_size", "n_train", "anchor", "n_samples"),
    *("samples",),
)
STEP = (
    *("step", "steps", "_step", "global_step", "env_step", "env_steps", "timestep"),
    *("timesteps", "time_step", "total_timesteps", "num_timesteps", "total_steps"),
    *("epoch", "episode", "iteration", "iter", "round", *SIZE),
)
# Columns of our own tables that are fields of a trial.
FIELDS = ("seconds", "attempts", "error_text")
_SCORE = ("score", "final", "best", "value", "result", "performance", "objective")
_METRIC_PREFIX = re.compile(r"^metrics?[./]", re.IGNORECASE)
_PARAM_PREFIX = re.compile(r"^(params?|config|hparams?|hp|hyperparameters?)[._/]", re.I)
_SUFFIX = re.compile(r"_(name|id|idx|index|number|nr|no)$")
_PARAM_WORDS = frozenset(
    (
        *("lr", "rate", "batch", "epochs", "momentum", "decay", "dropout", "drop"),
        *("warmup", "smoothing", "gamma", "lambda", "alpha", "beta", "clip", "hidden"),
        *("layers", "layer", "width", "depth", "units", "kernel", "degree", "c"),
        *("estimators", "neighbors", "penalty", "l1", "l2", "tau", "entropy"),
        *("optimizer", "activation", "init", "temperature", "noise", "eps", "epsilon"),
        *("horizon", "capacity", "heads", "embedding", "criterion", "leaf", "solver"),
        *("regularization", "min_samples_split"),
    )
)
_STATUS_WORDS = {
    "ok": "ok finished finish complete completed success succeeded done passed",
    "failed": "failed fail failure error diverged nan errored",
    "crashed": "crashed crash killed oom out_of_memory node_fail preempted terminated",
    "timeout": "timeout timed_out timedout",
    "cancelled": "cancelled canceled pruned stopped aborted running waiting pending queued "
    "scheduled",
}
STATUSES = {word: s for s, words in _STATUS_WORDS.items() for word in words.split()}


def first(usual: Iterable[str], columns: Iterable[str]) -> str | None:
    """Return the column with the first of the usual names.

    >>> first(ALGORITHM, ["Seed", "Model Name"])
    'Model Name'
    """
    return next(iter(every(usual, columns)), None)


def every(usual: Iterable[str], columns: Iterable[str]) -> list[str]:
    """Return the columns that have one of the usual names, in the order of those."""
    by_form: dict[str, str] = {}
    forms = [(column, list(_forms(column))) for column in columns]
    for place in range(3):  # a name as it stands goes before one that was cut
        for column, own in forms:
            if place < len(own):
                by_form.setdefault(own[place], column)
    return list(dict.fromkeys(by_form[name] for name in usual if name in by_form))


def _forms(column: str) -> Iterator[str]:
    folded = re.sub(r"[\s-]+", "_", column.casefold())
    yield folded
    if not is_param(column) or folded.startswith("config"):
        yield re.split(r"[./]", folded)[-1]  # time/total_timesteps, label.seed
    yield _SUFFIX.sub("", folded)  # model_name, Run ID


def is_score(column: str) -> bool:
    """Return whether a name is one that scores usually have.

    >>> is_score("val_acc"), is_score("metrics.bleu"), is_score("lr")
    (True, True, False)
    """
    if _METRIC_PREFIX.match(column) or column.casefold() in _SCORE:
        return True
    return find(column) is not None


def metric_name(column: str) -> str:
    """Return what a metric is called without the prefix that says it is one.

    >>> metric_name("metrics.acc")
    'acc'
    """
    return _METRIC_PREFIX.sub("", column) or column


def is_param(column: str) -> bool:
    """Return whether a name is one that hyperparameters usually have.

    >>> is_param("learning_rate"), is_param("params_x"), is_param("host")
    (True, True, False)
    """
    if has_param_prefix(column):
        return True
    if column.startswith("label."):
        return False
    words = re.split(r"[^a-z0-9]+", column.casefold())
    return any(word in _PARAM_WORDS for word in words)


def has_param_prefix(column: str) -> bool:
    """Return whether a name says that this is a hyperparameter."""
    return _PARAM_PREFIX.match(column) is not None


def param_name(column: str) -> str:
    """Return what a hyperparameter is called without its prefix."""
    return _PARAM_PREFIX.sub("", column) or column


def status_of(word: str) -> str | None:
    """Return our word for how a run ended, or None.

    >>> status_of("TrialState.PRUNED"), status_of("NY") is None
    ('cancelled', True)
    """
    folded = re.sub(r"[\s-]+", "_", word.strip().casefold()).rpartition(".")[2]
    return STATUSES.get(folded)
