"""What a score means, and rates from confusion counts."""

import math
from functools import partial

import numpy as np
import pytest
from facts import facts, refused
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from curvewise import metrics
from curvewise.metrics import FROM_COUNTS, Metric, find, meaning, register

PAPER = [[60, 12], [9, 40]]  # tn, fp / fn, tp
AGREEMENTS = ("mcc", "kappa")  # from -1 to 1, and 0 where nothing is known
AVERAGED = ("precision", "recall", "specificity", "f1", "jaccard")


@pytest.fixture
def registry(monkeypatch):
    """What a test registers must not mean anything to the next one."""
    monkeypatch.setattr(meaning, "REGISTRY", dict(meaning.REGISTRY))


# --- Metric --------------------------------------------------------------------------


def test_a_metric_has_no_direction_and_no_bounds_unless_it_says_otherwise():
    metric = Metric("zorp")
    assert metric.direction is None
    assert metric.range == (-math.inf, math.inf)
    assert (metric.unit, metric.label) == ("", "zorp")


def test_direction_decides_sign_and_worst():
    up, down = Metric("a", "higher", (0, 1)), Metric("b", "lower", (0, 5))
    assert (up.sign, up.worst) == (1, 0.0)
    assert (down.sign, down.worst) == (-1, 5.0)
    assert Metric("c", "higher").worst == -math.inf
    assert Metric("d", "lower").worst == math.inf


def test_only_what_lies_between_0_and_1_is_a_rate():
    assert Metric("a", range=(0, 1)).is_rate
    assert not Metric("a", range=(-1, 1)).is_rate
    assert not Metric("a").is_rate


def test_a_metric_prints_its_direction_and_the_bounds_that_it_has():
    acc, r2 = (
        Metric(n, "higher", (low, 1)) for n, low in [("acc", 0), ("r2", -math.inf)]
    )
    assert facts(acc) == [0, 1]
    assert "-inf" in str(r2)
    assert facts(r2) == [1]
    loss = str(Metric("loss", "lower"))
    assert "lower" in loss
    assert "higher" not in loss


def test_a_metric_is_frozen_and_equal_by_value():
    metric = Metric("a", range=(0, 1))
    assert metric == Metric("a", range=(0.0, 1.0))
    assert hash(metric) == hash(Metric("a", range=(0.0, 1.0)))
    with pytest.raises(AttributeError):
        metric.direction = "lower"


@pytest.mark.parametrize("name", ["", "  ", None, 3])
def test_a_metric_needs_a_name(name):
    with refused("name", name):
        Metric(name)


def test_a_direction_is_one_of_two_words():
    with refused("direction", "up", says=["a", "up", "higher", "lower"]):
        Metric("a", "up")


@pytest.mark.parametrize(
    "range_", [(1, 0), (0, 0), (0,), (0, 1, 2), "ab", None, (0, math.nan)]
)
def test_a_range_is_two_numbers_the_lower_first(range_):
    with refused("range", range_, says=["a"]):
        Metric("a", range=range_)


# --- the registry --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "direction", "range_"),
    [
        ("accuracy", "higher", (0, 1)),
        ("acc", "higher", (0, 1)),
        ("val_acc", "higher", (0, 1)),
        ("Test/Accuracy", "higher", (0, 1)),
        ("eval-f1.macro", "higher", (0, 1)),
        ("train loss", "lower", (-math.inf, math.inf)),
        ("error", "lower", (0, 1)),
        ("mean_squared_error", "lower", (0, math.inf)),
        ("RMSE", "lower", (0, math.inf)),
        ("r2", "higher", (-math.inf, 1)),
        ("mcc", "higher", (-1, 1)),
        ("ppl", "lower", (1, math.inf)),
        ("episode_reward", "higher", (-math.inf, math.inf)),
        ("rollout/ep_rew_mean", "higher", (-math.inf, math.inf)),
        ("AverageEpRet", "higher", (-math.inf, math.inf)),
    ],
)
def test_usual_metrics_are_known_under_their_usual_names(name, direction, range_):
    metric = find(name)
    assert (metric.name, metric.direction, metric.range) == (name, direction, range_)


def test_a_metric_that_nobody_registered_is_not_found():
    assert find("zorp") is None


def test_a_metric_of_ones_own_takes_one_call(registry):
    own = register(Metric("bleu", range=(0, 1)), "sacre bleu")
    assert find("bleu") is own
    assert find("Sacre-BLEU") == Metric("Sacre-BLEU", range=(0, 1))
    assert find("val_bleu").range == (0, 1)


def test_registering_again_replaces_the_meaning(registry):
    register(Metric("accuracy", "lower", (0, 100)))
    assert find("accuracy").direction == "lower"


def test_a_prefix_does_not_hide_a_metric_of_that_very_name(registry):
    """``mean_absolute_error`` is no mean of something called absolute error."""
    register(Metric("test_loss", "higher"))
    assert find("test_loss").direction == "higher"
    assert find("loss").direction == "lower"


def test_every_metric_from_counts_is_registered_with_its_range():
    for name in FROM_COUNTS:
        assert find(name).range == ((-1, 1) if name in AGREEMENTS else (0, 1))
        assert find(name).direction == ("lower" if name == "error" else "higher")


# --- from counts ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("accuracy", 0.8264),
        ("error", 0.1736),
        ("precision", 0.7692),
        ("recall", 0.8163),
        ("specificity", 0.8333),
        ("f1", 0.7921),
        ("jaccard", 0.6557),
        ("balanced_accuracy", 0.8248),
        ("mcc", 0.6442),
        ("kappa", 0.6434),
    ],
)
def test_two_classes_give_the_rates_of_class_1(name, value):
    assert FROM_COUNTS[name](PAPER) == pytest.approx(value, abs=5e-5)


def test_three_classes_are_averaged_class_against_rest():
    c = [[5, 1, 0], [2, 6, 1], [0, 1, 4]]
    p = np.mean([5 / 7, 6 / 8, 4 / 5])
    r = np.mean([5 / 6, 6 / 9, 4 / 5])
    s = np.mean([12 / 14, 9 / 11, 14 / 15])
    f = np.mean([10 / 13, 12 / 17, 8 / 10])
    j = np.mean([5 / 8, 6 / 11, 4 / 6])
    assert metrics.precision(c) == pytest.approx(p)
    assert metrics.recall(c) == pytest.approx(r)
    assert metrics.specificity(c) == pytest.approx(s)
    assert metrics.f1(c) == pytest.approx(f)
    assert metrics.jaccard(c) == pytest.approx(j)
    assert metrics.accuracy(c) == pytest.approx(15 / 20)
    assert metrics.error(c) == pytest.approx(5 / 20)


def test_macro_f1_is_not_the_harmonic_mean_of_the_averages():
    """Two conventions exist; ours is scikit-learn's, the mean of each class's F1."""
    c = [[8, 0, 0], [6, 2, 0], [0, 0, 9]]
    p, r = metrics.precision(c), metrics.recall(c)
    assert metrics.f1(c) != pytest.approx(2 * p * r / (p + r), abs=1e-3)


@pytest.mark.parametrize("name", FROM_COUNTS)
def test_0_over_0_is_the_worst_value_unless_stated(name):
    nothing = np.zeros((2, 2))
    # Agreement beyond chance is none, rather than the contrary of agreement.
    worst = 0.0 if name in AGREEMENTS else find(name).worst
    assert FROM_COUNTS[name](nothing) == worst
    assert FROM_COUNTS[name](nothing, undefined=0.5) == 0.5
    assert math.isnan(FROM_COUNTS[name](nothing, undefined=math.nan))


def test_a_class_that_is_never_predicted_has_precision_0():
    assert metrics.precision([[10, 0], [5, 0]]) == 0.0
    assert metrics.recall([[10, 0], [5, 0]]) == 0.0
    assert metrics.f1([[10, 0], [5, 0]]) == 0.0
    assert metrics.precision([[10, 0], [5, 0]], undefined=1.0) == 1.0


def test_a_class_without_examples_counts_in_the_macro_average():
    c = [[4, 0, 0], [0, 4, 0], [0, 0, 0]]
    assert metrics.recall(c) == pytest.approx(2 / 3)
    assert metrics.recall(c, undefined=1.0) == 1.0


def agreement(name, c, hits, total):
    """Return agreement beyond chance, from the totals of true and called classes."""
    true = [sum(row) for row in c]
    called = [sum(column) for column in zip(*c, strict=True)]
    chance = sum(t * p for t, p in zip(true, called, strict=True))
    if name == "kappa":
        below = total**2 - chance
    else:
        below = math.sqrt(
            (total**2 - sum(t * t for t in true))
            * (total**2 - sum(p * p for p in called))
        )
    return (total * hits - chance) / below if below else 0.0


def scalar(name, c):
    """Return a metric written out the long way, class by class."""
    k, total = len(c), sum(map(sum, c))
    hits = sum(c[i][i] for i in range(k))
    if name in AGREEMENTS:
        return agreement(name, c, hits, total)
    if name == "balanced_accuracy":
        recalls = [c[i][i] / sum(c[i]) if sum(c[i]) else 0.0 for i in range(k)]
        return sum(recalls) / k
    if name in ("accuracy", "error"):
        if not total:
            return float(name == "error")
        return hits / total if name == "accuracy" else (total - hits) / total
    rates = []
    for i in range(k):
        tp = c[i][i]
        fp = sum(c[j][i] for j in range(k) if j != i)
        fn = sum(c[i][j] for j in range(k) if j != i)
        tn = total - tp - fp - fn
        above, below = {
            "precision": (tp, tp + fp),
            "recall": (tp, tp + fn),
            "specificity": (tn, tn + fp),
            "f1": (2 * tp, 2 * tp + fp + fn),
            "jaccard": (tp, tp + fp + fn),
        }[name]
        rates.append(above / below if below else 0.0)
    return rates[1] if k == 2 else sum(rates) / k


def counts(k, steps=()):
    return hnp.arrays(np.int64, (*steps, k, k), elements=st.integers(0, 50))


@given(st.integers(2, 4).flatmap(counts), st.sampled_from(sorted(FROM_COUNTS)))
def test_counts_give_what_the_scalar_formula_gives(c, name):
    assert FROM_COUNTS[name](c) == pytest.approx(scalar(name, c.tolist()), abs=1e-12)


@given(counts(3, (2, 4)), st.sampled_from(sorted(FROM_COUNTS)))
def test_a_stack_of_counts_is_the_stack_of_its_values(c, name):
    values = FROM_COUNTS[name](c)
    assert values.shape == (2, 4)
    assert values[1, 2] == FROM_COUNTS[name](c[1, 2])
    low, high = find(name).range
    assert ((values >= low - 1e-12) & (values <= high + 1e-12)).all()


@given(counts(2))
def test_f1_is_the_harmonic_mean_of_precision_and_recall(c):
    p, r, f = metrics.precision(c), metrics.recall(c), metrics.f1(c)
    assert f == pytest.approx(2 * p * r / (p + r) if p + r else 0.0)
    assert metrics.error(c) == pytest.approx(1 - metrics.accuracy(c))


@given(counts(3), st.permutations(range(3)), st.sampled_from(sorted(FROM_COUNTS)))
def test_the_order_of_more_than_two_classes_does_not_matter(c, order, name):
    turned = c[np.ix_(order, order)]
    assert FROM_COUNTS[name](turned) == pytest.approx(FROM_COUNTS[name](c))


# --- averages, one class against the rest, beta and costs ----------------------------


@given(counts(3), st.permutations(range(3)), st.sampled_from(AVERAGED))
def test_one_class_against_the_rest_is_that_of_two_classes(c, order, name):
    """Class k and everything else, put into two classes, have the same rates."""
    function = getattr(metrics, name)
    k = order[0]
    tp, fn, fp = c[k, k], c[k].sum() - c[k, k], c[:, k].sum() - c[k, k]
    two = [[c.sum() - tp - fn - fp, fp], [fn, tp]]
    assert function(c, positive=k) == pytest.approx(function(two))
    assert function(two, positive=0) == pytest.approx(
        function(np.array(two)[::-1, ::-1])
    )


@given(st.integers(2, 4).flatmap(counts), st.sampled_from(AVERAGED))
def test_averages_are_those_of_the_classes(c, name):
    function = getattr(metrics, name)
    each = np.array([function(c, positive=k) for k in range(len(c))])
    assert function(c, average="macro") == pytest.approx(each.mean())
    if c.sum():
        weighted = (each * c.sum(-1)).sum() / c.sum()
        assert function(c, average="weighted") == pytest.approx(weighted)


@given(st.integers(2, 4).flatmap(counts))
def test_micro_averages_of_single_labels_are_the_accuracy(c):
    for name in ("precision", "recall", "f1"):
        micro = getattr(metrics, name)(c, average="micro")
        assert micro == pytest.approx(metrics.accuracy(c))
    assert metrics.recall(c, average="weighted") == pytest.approx(metrics.accuracy(c))


def answers(c):
    """Return true and called classes of single examples that have these counts."""
    k = len(c)
    return np.repeat(np.arange(k * k) // k, c.ravel()), np.repeat(
        np.arange(k * k) % k, c.ravel()
    )


def peers():
    """Return each metric here with what scikit-learn calls it."""
    learn = pytest.importorskip("sklearn.metrics")
    pairs = {
        "mcc": (metrics.mcc, learn.matthews_corrcoef),
        "kappa": (metrics.kappa, learn.cohen_kappa_score),
    }
    for average in ("macro", "micro", "weighted"):
        own = {"average": average, "zero_division": 0.0}
        for name in ("precision", "recall", "f1", "jaccard"):
            pairs[f"{name} {average}"] = (
                partial(getattr(metrics, name), average=average),
                partial(getattr(learn, f"{name}_score"), **own),
            )
        pairs[f"f2 {average}"] = (
            partial(metrics.f_beta, beta=2, average=average),
            partial(learn.fbeta_score, beta=2, **own),
        )
    return pairs


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_metrics_are_those_of_scikit_learn(classes):
    rng = np.random.default_rng(classes)
    for strength in (0.0, 2.0, 50.0):
        c = rng.poisson(3 + strength * np.eye(classes))
        true, called = answers(c)
        for name, (ours, theirs) in peers().items():
            assert ours(c) == pytest.approx(theirs(true, called)), name


def test_balanced_accuracy_is_scikit_learns():
    learn = pytest.importorskip("sklearn.metrics")
    c = np.array([[5, 1, 0], [2, 6, 1], [0, 1, 4]])
    theirs = learn.balanced_accuracy_score(*answers(c))
    assert metrics.balanced_accuracy(c) == pytest.approx(theirs)


def test_a_metric_of_other_classes_would_be_seen():
    """The negative control: macro is not weighted, and F2 is not F1."""
    c = np.array([[50, 3, 0], [2, 6, 1], [0, 9, 4]])
    assert metrics.f1(c, average="macro") != pytest.approx(
        metrics.f1(c, average="weighted"), abs=0.01
    )
    assert metrics.f_beta(c, beta=2) != pytest.approx(metrics.f1(c), abs=0.001)


@given(counts(2))
def test_f_beta_is_between_precision_and_recall(c):
    p, r = metrics.precision(c), metrics.recall(c)
    assert metrics.f_beta(c, beta=1) == metrics.f1(c)
    assert metrics.f_beta(c, beta=1e-6) == pytest.approx(p if r else 0.0, abs=1e-6)
    assert metrics.f_beta(c, beta=1e6) == pytest.approx(r if p else 0.0, abs=1e-6)


@given(st.integers(2, 4).flatmap(counts))
def test_the_cost_of_wrong_answers_alone_is_the_error(c):
    assume(c.any())
    price = 1 - np.eye(len(c))
    assert metrics.cost(c, costs=price) == pytest.approx(metrics.error(c))


def test_costs_are_those_of_true_classes_called_another():
    assert metrics.cost(PAPER, costs=[[0, 1], [10, 0]]) == (12 + 90) / 121
    assert metrics.cost(PAPER, costs=[[-1, 0], [0, -1]]) == -100 / 121
    assert math.isnan(metrics.cost(np.zeros((2, 2)), costs=np.ones((2, 2))))


def test_agreement_is_1_where_all_agree_and_0_for_what_does_not_look():
    assert metrics.mcc(np.diag([5, 7, 2])) == pytest.approx(1)
    assert metrics.kappa(np.diag([5, 7, 2])) == pytest.approx(1)
    assert metrics.mcc([[0, 5], [5, 0]]) == pytest.approx(-1)
    for name in AGREEMENTS:
        assert FROM_COUNTS[name](np.outer([6, 3, 1], [2, 5, 3])) == pytest.approx(0)
        assert FROM_COUNTS[name]([[8, 0], [2, 0]]) == 0


@pytest.mark.parametrize("beta", [0, -1, math.inf, math.nan, "2", None])
def test_beta_is_above_0(beta):
    with refused("beta"):
        metrics.f_beta(PAPER, beta=beta)


@pytest.mark.parametrize("bad", [[[0, 1]], np.eye(3), [[0, math.nan], [1, 0]]])
def test_costs_have_the_shape_of_the_matrix(bad):
    with refused("costs"):
        metrics.cost(PAPER, costs=bad)


@pytest.mark.parametrize("positive", [2, -1, "1", 0.5])
def test_the_positive_class_is_one_of_them(positive):
    with refused("positive", positive, says=[0, 1]):
        metrics.f1(PAPER, positive=positive)


def test_classes_are_averaged_or_one_is_chosen():
    with refused(fixes=[{"average": ...}, {"positive": ...}]):
        metrics.f1(PAPER, average="macro", positive=1)
    with refused("average", "mean"):
        metrics.f1(PAPER, average="mean")


# --- what is refused -----------------------------------------------------------------


@pytest.mark.parametrize("bad", [3, [1, 2], [[1]], [[1, 2, 3], [4, 5, 6]]])
def test_counts_must_be_square(bad):
    with refused("counts", bad, says=[2]):
        metrics.accuracy(bad)


@pytest.mark.parametrize("bad", [-1, math.nan, math.inf])
def test_counts_must_be_counts(bad):
    with refused("counts"):
        metrics.f1([[1, bad], [2, 3]])


@pytest.mark.parametrize("bad", [[["a", "b"], ["c", "d"]], [[1, 2], [3]], [[None, {}]]])
def test_counts_must_be_numbers(bad):
    with refused("counts", bad):
        metrics.f1(bad)


def test_a_range_is_turned_with_the_scores():
    up, down = Metric("a", "higher", (0, 2)), Metric("b", "lower", (0, math.inf))
    assert (up.upward, down.upward) == ((0, 2), (-math.inf, 0))
    assert (up.is_bounded, down.is_bounded) == (True, False)
