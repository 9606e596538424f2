"""The usual names of columns, and what a name alone can tell."""

import re
from collections.abc import Iterable, Iterator

from curvewise.metrics import find

ALGORITHM = tuple(
    "algorithm algo alg agent model method learner classifier estimator approach policy "
    "system architecture arch variant strategy framework flow_name llm".split()
)
TASK = tuple(
    "task env environment dataset data_set benchmark problem game domain corpus data "
    "test_set testset data_name lang_pair scenario corruption".split()
)
STATUS = ("status", "state")
# What tells replicates apart, best first: equal seeds pair the runs of two algorithms.
TRIAL = tuple(
    "number seed random_seed rng_seed train_seed random_state outer outer_fold inner "
    "inner_fold fold cv_fold repeat repetition rep replicate replication replica run "
    "trial experiment id name".split()
)
SIZE = tuple(
    "size train_size training_size n_train anchor n_samples samples n_examples "
    "num_examples num_train num_samples train_n n_training training_examples "
    "train_examples n_train_samples n_obs data_size dataset_size sample_size "
    "subset_size n_data n_labeled num_labels n_labels pct_data data_fraction "
    "train_fraction".split()
)
# A size where it takes several values; otherwise it may count anything.
PERHAPS_SIZE = ("n", "examples", "labeled", "fraction")
STEP = (
    *(
        "step steps _step global_step env_step env_steps timestep timesteps time_step "
        "total_timesteps num_timesteps total_steps epoch epochs episode iteration "
        "iterations iter round update updates frame frames generation "
        "training_iteration timesteps_total boosting_round global_steps num_steps "
        "n_iter num_iterations episode_num episode_number itr it".split()
    ),
    *SIZE,
    *PERHAPS_SIZE,
)
# One row per run, step and metric: the column with the name, and the one with the value.
METRIC = tuple(
    "metric metric_name metrics measure measurement variable tag score_name metric_type "
    "key scorer statistic".split()
)
# The same, where the words are metrics that we know.
PERHAPS_METRIC = tuple(
    "eval_metric evaluation_metric score_type criterion indicator quantity what name "
    "type".split()
)
VALUE = ("value", "values", "score", "result", "metric_value", "val", "y", "_value")
# One row per pair of classes, with a count; or one per example, without.
TRUE = tuple(
    "true y_true true_class true_label actual actual_class target gold ground_truth "
    "label truth reference expected".split()
)
PREDICTED = tuple(
    "predicted y_pred pred prediction predicted_class pred_class predicted_label "
    "pred_label called output guess".split()
)
COUNT = ("count", "counts", "n", "freq", "frequency", "number_of_examples", "num")
# One row per example: whether the answer was right, and which example it was.
CORRECT = ("correct", "is_correct", "right", "hit", "resolved", "passed", "solved")
EXAMPLE = tuple(
    "example example_id item item_id question question_id instance instance_id "
    "problem_id prompt_id query_id qid uid doc_id image image_id sample_id sample".split()
)
# One score per example is no score of a run.
SCORED_EXAMPLE = tuple(
    "example example_id question question_id query query_id qid prompt_id doc_id "
    "document_id image image_id image_name uid sample_id sentence_id utterance_id "
    "video_id filename file_name user user_id patient patient_id case case_id "
    "series_id".split()
)
# Whether a run ended badly, or well, in a column of its own.
ENDED_BADLY = tuple(
    "failed is_failed diverged is_diverged crashed timed_out oom has_failed "
    "has_diverged has_crashed nan is_nan failure timeout timedout is_timeout "
    "has_timed_out error errored killed is_killed was_killed has_nan has_nans preempted "
    "aborted".split()
)
ENDED_WELL = tuple(
    "complete completed finished is_complete is_finished succeeded".split()
)
# The same, perhaps: such a run may have scored all the same.
PERHAPS_ENDED_BADLY = (
    "pruned",
    "is_pruned",
    "early_stopped",
    "stopped_early",
    "skipped",
)
PERHAPS_ENDED_WELL = tuple(
    "converged has_converged is_converged valid is_valid done ok".split()
)
# In words, where all of them are known; by number; by what was said of a failure.
PERHAPS_STATUS = tuple(
    "run_status job_status trial_status final_status exit_status run_state job_state "
    "outcome result termination ended exit termination_reason exit_reason end_reason "
    "stop_reason".split()
)
EXIT_CODE = ("exit_code", "exitcode", "returncode", "return_code", "exit_status")
ERROR_TEXT = tuple(
    "error_message error_msg exception traceback error error_type exception_type "
    "failure_reason err_msg".split()
)
# Where, when and by whom something ran says nothing of what ran. "version" alone may be
# that of the algorithm; that of python, of torch or of the code is not.
CIRCUMSTANCES = frozenset(
    "host hostname node nodename machine server worker gpu cpu device accelerator cuda "
    "cudnn driver os platform slurm job jobid queue pid user username owner author date "
    "time datetime timestamp day created updated modified started ended finished git "
    "commit sha revision branch repo python torch pytorch tensorflow jax numpy software "
    "path file filename dir directory folder url uri link note comment remark "
    "description tag error message exception traceback log".split()
)
# The number of a row, as frames write their index.
ROW = ("", "index", "unnamed:_0", "unnamed:0", "level_0", "row", "__index__")
# Columns of our own tables that are fields of a trial.
FIELDS = ("seconds", "attempts", "error_text")
_SCORE = ("score", "final", "best", "value", "result", "performance", "objective")
_SCORE_ON = re.compile(r"(test|train|val|valid|validation|dev|eval|cv)_score")
_METRIC_PREFIX = re.compile(r"^metrics?[./]", re.IGNORECASE)
_PARAM_PREFIX = re.compile(r"^(params?|config|hparams?|hp|hyperparameters?)[._/]", re.I)
_SUFFIX = re.compile(r"_(name|id|idx|index|number|nr|no)$")
_PARAM_WORDS = frozenset(
    "lr rate batch epochs momentum decay dropout drop warmup smoothing gamma lambda "
    "alpha beta clip hidden layers layer width depth units kernel degree c estimators "
    "neighbors penalty l1 l2 tau entropy optimizer activation init temperature noise "
    "eps epsilon horizon capacity heads embedding criterion leaf solver regularization "
    "min_samples_split wd lam reg subsample colsample mixup cutmix feature_fraction "
    "bagging_fraction".split()
)
_OF_BATCHES = frozenset(("mini", "minibatch", "batch", "idx", "index", "id", "no", "i"))
# Hyperparameters by name, and as often conditions under which all were evaluated.
PERHAPS_CONDITION = frozenset(
    ("noise", "horizon", "eps", "epsilon", "layer", "depth", "temperature", "degree")
)
_STATUS_WORDS = {
    "ok": "ok finished finish complete completed success succeeded done pass passed",
    "failed": "failed fail failure error diverged nan errored err dnf",
    "crashed": "crashed crash killed oom out_of_memory node_fail preempted terminated",
    "timeout": "timeout timed_out timedout time_out tle",
    "cancelled": "cancelled canceled pruned stopped aborted running waiting pending queued "
    "scheduled",
}
STATUSES = {word: s for s, words in _STATUS_WORDS.items() for word in words.split()}


def words_of(column: str) -> set[str]:
    """Return the words of a name, in small letters.

    >>> sorted(words_of("Eval-episode_2"))
    ['2', 'episode', 'eval']
    """
    return set(re.split(r"[\W_]+", column.casefold()))


def folded(column: str) -> str:
    """Return a name in small letters, with an underscore for spaces and hyphens.

    >>> folded("Mean - Time")
    'mean_time'
    """
    return re.sub(r"[\s-]+", "_", column.casefold())


def is_row_number(column: str) -> bool:
    """Return whether a name is one that frames give to the numbers of their rows.

    >>> is_row_number("Unnamed: 0"), is_row_number("run")
    (True, False)
    """
    return folded(column) in ROW


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
        for column, variants in forms:
            if place < len(variants):
                by_form.setdefault(variants[place], column)
    return list(dict.fromkeys(by_form[name] for name in usual if name in by_form))


def _forms(column: str) -> Iterator[str]:
    whole = folded(column)
    yield whole
    if not is_param(column) or whole.startswith("config"):
        yield re.split(r"[./]", whole)[-1]  # time/total_timesteps, label.seed
    yield _SUFFIX.sub("", whole)  # model_name, Run ID


def is_score(column: str) -> bool:
    """Return whether a name is one that scores usually have.

    >>> is_score("val_acc"), is_score("metrics.bleu"), is_score("lr")
    (True, True, False)
    """
    if _METRIC_PREFIX.match(column) or column.casefold() in _SCORE:
        return True
    return find(column) is not None or bool(_SCORE_ON.fullmatch(column.casefold()))


def metric_name(column: str) -> str:
    """Return what a metric is called without the prefix that says it is one.

    >>> metric_name("metrics.acc")
    'acc'
    """
    return _METRIC_PREFIX.sub("", column) or column


def is_param(column: str) -> bool:
    """Return whether a name is one that hyperparameters usually have.

    >>> is_param("learning_rate"), is_param("params_x"), is_param("win_rate")
    (True, True, False)
    """
    if has_param_prefix(column):
        return True
    if column.startswith("label.") or find(column) is not None:
        return False
    words = [word for word in re.split(r"[^a-z0-9]+", column.casefold()) if word]
    if {*words} <= _OF_BATCHES:
        return False  # it counts batches, and batch_size says how large they are
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
    return STATUSES.get(folded(word.strip()).rpartition(".")[2])
