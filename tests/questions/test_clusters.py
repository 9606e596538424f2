"""Answers about repeated settings: a cluster of runs counts as its mean, once."""

from dataclasses import replace

import numpy as np
import pytest
from support import assert_rate, data

import curvewise as cw
from curvewise.errors import CurvewiseError
from curvewise.metrics import Metric
from curvewise.questions.difference.fit import lines_by_task
from curvewise.questions.sampling import samples
from curvewise.trials import Trial, Trials
from curvewise.trials.columns import Core, from_texts, no_details

RETURN = Metric("return", "higher")
SETTINGS, SEEDS = 20, 5


def studies(scores, rng, metric=RETURN):
    """Return (study, setting, seed) scores as trials, a task for each study."""
    n, (many, settings, seeds) = scores.size, scores.shape
    core = Core(
        np.repeat(np.arange(many, dtype=np.int32), settings * seeds),
        np.zeros(n, np.int32),
        np.tile(np.arange(settings * seeds), many),
        np.zeros(n, np.int8),
        np.arange(n + 1),
        np.zeros(n),
        {metric.name: scores.ravel()},
        {},
    )
    lr = rng.uniform(size=(many * settings)).repeat(seeds).tolist()
    details = replace(
        no_details(n),
        params=from_texts(f'{{"lr":{x!r}}}' for x in lr),
        labels=from_texts(f'{{"seed":{i % seeds}}}' for i in range(n)),
    )
    names = [f"study {i}" for i in range(many)], ["net"]
    return Trials.from_columns(*names, {metric.name: metric}, core, details)


def drawn(rng, many, of_setting, of_seed):
    effects = of_setting * rng.normal(size=(many, SETTINGS, 1))
    return effects + of_seed * rng.normal(size=(many, SETTINGS, SEEDS))


def real_pool(size=256):
    """Return the errors of 25 runs of each data set and learner at one training size."""
    import pyarrow.parquet as pq

    table = pq.read_table(data("learning_curves/lcdb10_curves.parquet"))
    columns = [table[c].to_pylist() for c in ("dataset", "learner", "n", "score")]
    pool = {}
    for one, learner, n, score in zip(*columns, strict=True):
        if n == size:
            pool.setdefault((one, learner), []).append(score)
    return [np.array(own) for own in pool.values() if len(own) >= SEEDS]


def drawn_from(pool, rng, many):
    chosen = rng.integers(len(pool), size=(many, SETTINGS))
    return np.array(
        [
            [rng.choice(pool[i], SEEDS, replace=False) for i in row]
            for row in chosen.tolist()
        ]
    )


def covered(trials, truth, metric="return"):
    """Return how often the interval that is printed has the true mean."""
    found = cw.performance(trials, metric).distributions
    return sum(truth in one.mean_interval for one in found)


# --- coverage --------------------------------------------------------------------------

SPREADS = {"settings": (1.0, 0.2), "alike": (1.0, 1.0), "seeds": (0.2, 1.0)}


def test_intervals_of_settings_with_seeds_hold_and_without_clusters_they_would_not():
    """The second half is the negative control: 100 runs counted as independent."""
    rng = np.random.default_rng(6)
    trials = studies(drawn(rng, 500, *SPREADS["settings"]), rng)
    assert trials.design.units == (SETTINGS, SETTINGS)
    assert_rate(covered(trials, 0), 500, 0.95)
    hits = covered(trials.with_design(cluster=[]), 0)
    assert 0.54 < hits / 500 < 0.71
    with pytest.raises(AssertionError):
        assert_rate(hits, 500, 0.95)


@pytest.mark.slow
@pytest.mark.parametrize("spread", SPREADS)
def test_intervals_of_settings_with_seeds_hold(spread):
    rng = np.random.default_rng(5)
    trials = studies(drawn(rng, 2000, *SPREADS[spread]), rng)
    hits = covered(trials, 0)
    assert_rate(hits, 2000, 0.95)
    assert 0.93 <= hits / 2000 <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("size", [64, 256, 1024])
@pytest.mark.parametrize("metric", [RETURN, Metric("error", "lower", (0, 1))])
def test_intervals_of_real_settings_with_seeds_hold(size, metric):
    pool, rng = real_pool(size), np.random.default_rng(7)
    truth = float(np.mean([own.mean() for own in pool]))
    trials = studies(drawn_from(pool, rng, 2000), rng, metric)
    assert 0.93 <= covered(trials, truth, metric.name) / 2000 <= 0.97
    if metric is RETURN:  # the control; of a bounded metric the interval is guaranteed
        alone = covered(trials.with_design(cluster=[]), truth, metric.name)
        assert alone / 2000 < 0.66


# --- each door -------------------------------------------------------------------------


def repeated(settings=6, seeds=3, *, curve=False, fail=(), sizes=None):
    """Return two algorithms, the same settings each, scores that tell where they are."""
    rng = np.random.default_rng(0)
    lr = [float(x) for x in rng.uniform(size=settings)]
    runs = []
    for a, name in enumerate(("one", "two")):
        for number in range(settings * seeds):
            i, seed = divmod(number, seeds)
            level = a + i + 0.01 * seed
            values = level + np.arange(4.0) * (i + 1) if curve else level
            steps = None
            if sizes is not None:
                values, steps = 1 / np.sqrt(sizes) + 0.01 * level, sizes
            bad = (name, number) in fail
            runs.append(
                Trial(
                    *("t", name, number, {} if bad else {"return": values}),
                    steps=steps if not bad else None,
                    params={"lr": lr[i]},
                    labels={"seed": seed},
                    status="failed" if bad else "ok",
                )
            )
    return Trials(runs, [Metric("return", "lower", (0, np.inf))])


def test_scores_are_means_of_settings_and_the_answer_says_so():
    trials = repeated()
    one = samples(trials, "return", "last", "raise")["t"]["one"]
    assert sorted(one.scores.round(6)) == [i + 0.01 for i in range(6)]
    assert (
        not one.is_numbered
    )  # the same settings are no pairs, unless somebody says so
    answer = cw.performance(trials)
    assert answer.cautions == (
        "3 runs of each of 6 settings were averaged: intervals and quantiles are for "
        "settings.",
    )
    assert str(answer).splitlines()[0] == answer.cautions[0]
    assert [row["trials"] for row in answer.rows()] == [6, 6]
    free = cw.performance(trials.with_design(cluster=[]))
    assert free.cautions == ()
    assert [row["trials"] for row in free.rows()] == [18, 18]


def test_failed_runs_count_in_the_mean_of_their_setting():
    trials = repeated(fail={("one", 0), ("one", 1)})
    with pytest.raises(CurvewiseError, match="2 of 36"):
        cw.performance(trials)
    one = samples(trials, "return", "last", 10.0)["t"]["one"]
    assert one.failed == 2
    assert one.scores.max() == pytest.approx((10 + 10 + 0.02) / 3)
    assert not one.broken.any()


def test_clusters_are_paired_where_they_are_blocks():
    trials = repeated().with_design(block="params", cluster="params")
    own = samples(trials, "return", "last", "raise")["t"]
    assert own["one"].is_numbered
    assert own["one"].numbers.tolist() == own["two"].numbers.tolist()
    gaps = own["two"].scores - own["one"].scores
    assert gaps == pytest.approx(np.ones(6))


def test_curves_are_means_of_settings():
    trials = repeated(curve=True)
    lines = lines_by_task(trials, "return", None, None, "raise")["t"]
    assert lines["one"].shape == (6, 4)
    assert sorted(lines["one"][:, 0].round(6)) == [i + 0.01 for i in range(6)]
    answer = cw.difference(trials, shuffles=99)
    assert answer.cautions
    assert answer.found[0].lines["two"].shape == (6, 4)


def test_errors_along_sizes_are_means_of_settings():
    trials = repeated(sizes=np.array([50.0, 100, 200, 400]))
    answer = cw.learning(trials, "return")
    assert answer.cautions
    measured = answer.found[0].fits[0].measured
    assert measured.counts == [6] * 4


def test_confusion_counts_of_clusters_are_refused_with_the_reason():
    rows = [
        Trial(
            *("t", "a", i, {}),
            counts=np.full((3, 2, 2), 10 + i),
            steps=[50, 100, 200],
            params={"lr": 0.1 * (i // 3) + 0.0123456789},
            labels={"seed": i % 3},
        )
        for i in range(12)
    ]
    trials = Trials(rows)
    with pytest.raises(CurvewiseError, match="same examples"):
        cw.confusion(trials, "f1")
    assert cw.confusion(trials.with_design(cluster=[]), "f1")
    assert cw.explain(trials).of("confusion").can == "no"


def test_robustness_plan_and_versions_average_too():
    runs = [
        Trial(
            *("t", name, 3 * i + seed, {"accuracy": 0.5 + i / 100 + seed / 1000}),
            params={"lr": 0.0123456789 * (i + 1)},
            labels={"seed": seed},
        )
        for name in ("svm", "svm tuned")
        for i in range(12)
        for seed in range(3)
    ]
    trials = Trials(runs)
    gain = cw.robustness(trials)
    assert gain.cautions
    assert gain.rows()[0]["trials"] == 12
    plan = cw.plan.trials(0.05, of="mean", pilot=trials, metric="accuracy")
    assert plan.cautions[0] in str(plan)
    base, new = (trials.where(algorithm=name) for name in ("svm", "svm"))
    versions = cw.compare_versions(base, new, "accuracy")
    assert versions.cautions
    assert versions.changes[0].base.trials == 12


def settings_with_seeds(shift=0.0, algorithms=("svm",), noun="lr"):
    rng = np.random.default_rng(4)
    return Trials(
        Trial(
            *("t", name, 3 * i + seed, {"accuracy": 0.5 + rng.random() / 5 + shift}),
            params={"lr": 0.0123456789 * (i + 1)},
            labels={"seed": seed, "site": i},
        )
        for name in algorithms
        for i in range(8)
        for seed in range(3)
    ).with_design(cluster=[noun])


@pytest.mark.parametrize(("noun", "unit"), [("lr", "setting"), ("site", "cluster")])
def test_numbers_of_more_trials_are_numbers_of_settings_where_these_are_averaged(
    noun, unit
):
    """Who is told of 40 more must not run 40 seeds of 13 settings."""
    trials = settings_with_seeds(noun=noun, algorithms="ab")
    answer = cw.performance(trials)
    (row, _) = answer.table("t")
    assert row[f"{unit}s"] == 8
    assert "trials" not in row
    assert f"all {unit}s" in answer.best_table("t")[0]
    assert f"times as many {unit}s" in answer.would_change()
    assert "trials" in answer.rows()[0]
    plan = cw.plan.trials(0.01, of="mean", pilot=trials, metric="accuracy")
    assert f"\n{unit.capitalize()}s for the mean" in str(plan)
    assert f"the mean accuracy of all {unit}s" in plan.headline()
    assert f"{unit}s of an algorithm" in plan.headline()
    assert "trials" not in " ".join([plan.headline(), *plan.notes()])
    new = settings_with_seeds(0.003, "ab", noun)
    versions = cw.compare_versions(trials, new, margin=0.02)
    assert versions.verdict == "cannot tell"
    assert f" more {unit}s of each would tell" in versions.headline()
    assert {f"{unit}s", f"more {unit}s"} <= set(versions.table()[0])
    assert {"trials", "more_if_equal"} <= set(versions.rows()[0])
    assert " trials" not in versions.headline()


def test_trials_stay_trials_where_none_is_averaged():
    trials = settings_with_seeds(algorithms="ab").with_design(cluster=[])
    assert cw.performance(trials).table("t")[0]["trials"] == 24
    assert "trials" in cw.plan.trials(0.01, of="mean", pilot=trials).headline()
    new = settings_with_seeds(0.003, "ab").with_design(cluster=[])
    versions = cw.compare_versions(trials, new, margin=0.002, paired=False)
    assert " more trials of each" in versions.headline()


def test_an_audit_keeps_the_runs_of_a_setting_together():
    rng = np.random.default_rng(0)
    effect = rng.normal(size=(2, 12, 1))
    scores = effect + 0.1 * rng.normal(size=(2, 12, 4))
    lr = rng.uniform(size=12).tolist()
    trials = Trials(
        [
            Trial(
                *("t", name, 4 * i + j, {"return": scores[a, i, j]}),
                params={"lr": lr[i]},
                labels={"seed": j},
            )
            for a, name in enumerate("ab")
            for i in range(12)
            for j in range(4)
        ],
        [RETURN],
    )
    from curvewise.questions.audit.draws import dealing_of

    dealt = dealing_of(trials).deal(rng, within_numbers=False)
    assert dealt.design.units == (12, 12)
    by_score = {round(float(x), 9): (a, i) for (a, i, _), x in np.ndenumerate(scores)}
    values = dealt.core.values["return"].round(9).tolist()
    names = {}
    for value, algorithm in zip(values, dealt.core.algorithm.tolist(), strict=True):
        names.setdefault(by_score[value], set()).add(algorithm)
    assert all(len(own) == 1 for own in names.values())
    answer = cw.audit(trials, "return", repetitions=20)
    assert answer.cautions


def test_shares_of_variance_see_every_run():
    answer = cw.variance_shares(repeated(), "return", factors=["params", "seed"])
    assert answer.cautions == ()
    assert [row["source"] for row in answer.rows()][:2] == ["hyperparameters", "seed"]


def test_explain_and_the_page_name_the_design(tmp_path):
    trials = repeated()
    line = str(trials.design)
    assert cw.explain(trials).design == line
    page = cw.report.write(trials, tmp_path / "page.html").read_text("utf-8")
    assert line in page


def test_runs_of_one_size_are_averaged_within_it():
    """Trials of one step each, some algorithms without the size that is asked for."""
    rows = [
        Trial(
            *("t", name, i, {"return": size / 100 + setting + seed / 100}),
            steps=[size],
            params={"lr": 0.0123456789 * (setting + 1)},
            labels={"seed": seed},
        )
        for name, sizes in (("small", [50]), ("both", [50, 100]), ("large", [100]))
        for i, (size, setting, seed) in enumerate(
            (size, setting, seed)
            for size in sizes
            for setting in range(4)
            for seed in range(3)
        )
    ]
    trials = Trials(rows, [RETURN])
    assert trials.design.unit == "cluster"
    own = samples(trials, "return", 100, "raise")["t"]
    assert own.keys() == {"both", "large"}
    for one in own.values():
        assert sorted(one.scores.round(6)) == [1.01, 2.01, 3.01, 4.01]


def test_a_page_of_clustered_counts_says_why_rates_are_not_told(tmp_path):
    rows = [
        Trial(
            *("t", "a", i, {}),
            counts=np.full((3, 2, 2), 10 + i),
            steps=[50, 100, 200],
            params={"lr": 0.1 * (i // 3) + 0.0123456789},
            labels={"seed": i % 3},
        )
        for i in range(12)
    ]
    page = cw.report.write(Trials(rows), tmp_path / "page.html").read_text("utf-8")
    assert "are of the same examples" in page
