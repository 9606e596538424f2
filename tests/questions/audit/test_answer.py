"""The self-audit: what it deals, draws and counts, and that it sees what is broken."""

import functools
import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest
from support import assert_at_least, assert_at_most

import curvewise as cw
from curvewise import CurvewiseError, Metric, Trial, Trials
from curvewise.questions import audit
from curvewise.questions.audit.checks import (
    Check,
    Settings,
    band_holds,
    holds,
    leaves_out,
)
from curvewise.questions.audit.draws import dealing_of, drawn_scores, populations_of
from curvewise.questions.confusion import audit as confusion_audit
from curvewise.questions.difference import audit as difference_audit
from curvewise.questions.learning import audit as learning_audit
from curvewise.questions.performance import audit as performance_audit
from curvewise.questions.registry import QUESTIONS
from curvewise.questions.robustness import audit as robustness_audit
from curvewise.stats.confusion.drift import COMMON
from curvewise.stats.interval import CurveBand, Interval, clopper_pearson

FEW = 20  # repetitions: enough to count, too few to judge by


def scored(n=60, algorithms=("a", "b"), tasks=("t",), seed=0, shift=0.0):
    """Return accuracies that do not hang on the algorithm, unless shifted."""
    rng = np.random.default_rng(seed)
    return Trials(
        Trial(task, name, i, {"accuracy": 0.4 + 0.5 * rng.random() + shift * k})
        for task in tasks
        for k, name in enumerate(algorithms)
        for i in range(n)
    )


def lined(n=6, steps=5, algorithms=("a", "b"), seed=0):
    """Return curves that do not hang on the algorithm."""
    rng = np.random.default_rng(seed)
    return Trials(
        [
            Trial("t", name, i, {"return": rng.normal() + rng.normal(size=steps)})
            for name in algorithms
            for i in range(n)
        ],
        [Metric("return", "higher")],
    )


def sized(n=8, algorithms=("a", "b"), seed=0):
    """Return errors that fall with data as a power law, the same for all."""
    rng = np.random.default_rng(seed)
    sizes = np.array([50.0, 100.0, 200.0, 400.0, 800.0])
    law = 0.1 + 2.0 * sizes**-0.6
    return Trials(
        Trial("t", name, i, {"error": law + 0.01 * rng.normal(size=5)}, steps=sizes)
        for name in algorithms
        for i in range(n)
    )


def check(audited, analysis, kind, what):
    """Return the check whose words contain some."""
    (one,) = [c for c in audited.of(analysis, kind) if what in c.what]
    return one


def broken(audited, kind):
    return [c.what for c in audited.broken if c.kind == kind]


def only(monkeypatch, name):
    """Let an audit try one analysis."""
    one = [question for question in QUESTIONS if question.name == name]
    monkeypatch.setattr(audit, "with_part", lambda _part: one)


# --- counting and judging ----------------------------------------------------------------


@pytest.mark.parametrize(("k", "n"), [(0, 200), (3, 50), (50, 50), (17, 1000)])
def test_the_interval_is_that_of_clopper_and_pearson(k, n):
    expected = binomtest(k, n).proportion_ci(0.99, method="exact")
    assert clopper_pearson(k, n, 0.01) == pytest.approx((expected.low, expected.high))


def test_the_interval_of_fractions_lies_between_those_of_whole_numbers():
    low, high = clopper_pearson(2.5, 100, 0.01)
    assert clopper_pearson(2, 100, 0.01) < (low, high) < clopper_pearson(3, 100, 0.01)
    assert clopper_pearson(0, 0, 0.01) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("wrong", "verdict"),
    [
        (0, "conservative"),
        (2, "conservative"),
        (3, "kept"),
        (19, "kept"),
        (21, "broken"),
    ],
)
def test_a_promise_is_broken_only_where_the_whole_interval_breaks_it(wrong, verdict):
    for kind in ("shuffled", "simulated"):
        one = Check("performance", kind, "", 0.05, wrong, 200, 200)
        assert one.verdict == verdict
    warned = replace(one, is_warned=True)
    assert warned.verdict == ("as warned" if verdict == "broken" else verdict)


def test_cases_that_hang_together_count_as_one_for_the_interval():
    one = Check("performance", "simulated", "", 0.05, 60, 600, 600)
    assert one.verdict == "broken"
    assert replace(one, apart=100).verdict == "kept"
    assert replace(one, apart=100).rate == one.rate == 0.1


def test_promises_are_shown_as_errors_or_as_intervals_that_held():
    one = Check("performance", "shuffled", "", 0.05, 4, 100, 100)
    low, high = one.interval
    assert one.shown == (0.05, 0.04, low, high)
    other = replace(one, kind="simulated")
    assert other.shown == pytest.approx((0.95, 0.96, 1 - high, 1 - low))


def test_what_has_no_ends_says_nothing_and_what_is_no_number_is_missed():
    inf, nan = np.inf, np.nan
    assert holds(Interval(0.0, inf, "", ""), 3.0) is True
    assert holds(Interval(-inf, inf, "", ""), 3.0) is None
    assert holds(Interval(nan, nan, "", ""), 3.0) is False
    assert holds(Interval(0.1, 0.3, "", ""), 0.1 + 0.2) is True  # but for rounding
    one = np.array([1.0, 2.0])
    band = CurveBand(one, one, one - 1, one + 1, "", "")
    assert band_holds(band, one) is True
    assert band_holds(band, one * 3) is False
    assert band_holds(replace(band, lower=one * nan, upper=one * nan), one) is None
    assert band_holds(replace(band, lower=one * [1, nan]), one) is False
    silent = Check("performance", "simulated", "", 0.05, 0, 100, 100, silent=60)
    assert silent.verdict == "says nothing"


def test_only_a_number_outside_is_a_claim():
    assert leaves_out(Interval(0.1, 0.2, "", ""))
    assert leaves_out(Interval(0.6, 0.7, "", ""), 0.5)
    assert not leaves_out(Interval(-0.1, 0.2, "", ""))
    assert not leaves_out(Interval(np.nan, np.nan, "", ""))
    assert not leaves_out(None)


# --- dealing -----------------------------------------------------------------------------


def contents(trials):
    """Return each trial without its name and number."""
    return sorted(
        (
            t.task,
            t.status,
            t.steps.tobytes(),
            t.metrics["loss"].tobytes(),
            str(t.params),
        )
        for t in trials
    )


def rough(numbers):
    """Return trials with curves of their own, parameters and failures."""
    rng = np.random.default_rng(0)
    return Trials(
        Trial(
            task,
            name,
            i,
            {"loss": rng.random(3)},
            params={"lr": rng.random()},
            status="crashed" if i == 1 else "ok",
            error="out of memory" if i == 1 else "",
        )
        for task in "tu"
        for name in numbers
        for i in numbers[name]
    )


@pytest.mark.parametrize("within", [True, False])
def test_a_deal_changes_names_and_nothing_else(within):
    trials = rough({"a": range(4), "b": range(4), "c": range(4)})
    dealing = dealing_of(trials)
    dealt = dealing.deal(np.random.default_rng(3), within_numbers=within)
    assert contents(dealt) == contents(trials)
    assert {dealt.key(i) for i in range(24)} == {trials.key(i) for i in range(24)}
    assert dealt != trials
    assert dealing.paired == ("t", "u")


def owners(trials):
    """Return name and number of each trial, by its parameter."""
    return {t.params["lr"]: (t.task, t.algorithm, t.number) for t in trials}


def test_within_numbers_trials_of_one_number_stay_together():
    trials = rough({"a": range(5), "b": range(5)})
    dealing, before = dealing_of(trials), owners(trials)
    moved = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        after = owners(dealing.deal(rng, within_numbers=True))
        assert all(after[lr][::2] == before[lr][::2] for lr in before)
        after = owners(dealing.deal(rng, within_numbers=False))
        assert all(after[lr][0] == before[lr][0] for lr in before)
        moved += sum(after[lr][2] != before[lr][2] for lr in before)
    assert moved > 20


def test_trials_without_partners_are_dealt_among_all_of_their_task():
    trials = rough({"a": range(4), "b": range(1, 6)})
    dealing = dealing_of(trials)
    assert dealing.paired == ()
    np.testing.assert_array_equal(dealing.by_task, dealing.by_number)
    dealt = dealing.deal(np.random.default_rng(0), within_numbers=True)
    assert {dealt.key(i) for i in range(18)} == {trials.key(i) for i in range(18)}


def test_every_deal_is_as_likely():
    """Four trials, two names: six deals, 1,200 draws."""
    trials = Trials(
        Trial("t", name, i, {"loss": 2 * k + i})
        for k, name in enumerate("ab")
        for i in range(2)
    )
    dealing, rng = dealing_of(trials), np.random.default_rng(0)
    seen = {}
    for _ in range(1200):
        dealt = dealing.deal(rng, within_numbers=False)
        key = tuple(sorted(dealt.scores("loss")["a"]))
        seen[key] = seen.get(key, 0) + 1
    assert len(seen) == 6
    assert all(binomtest(n, 1200, 1 / 6).pvalue > 1e-6 for n in seen.values())
    assert dealing.different == {"t": (3, 2)}


def test_runs_of_one_size_each_are_dealt_among_those_of_the_size():
    rng = np.random.default_rng(0)
    trials = Trials(
        Trial("t", name, 100 * k + i, {"error": rng.random()}, steps=[50 * (1 + i % 3)])
        for k, name in enumerate("ab")
        for i in range(12)
    )
    dealing = dealing_of(trials)
    assert dealing.by_size == ("t",)
    dealt = dealing.deal(rng, within_numbers=False)
    for name in "ab":
        steps = [float(t.steps[0]) for t in dealt.where(algorithm=name)]
        assert sorted(steps) == sorted(4 * [50.0, 100.0, 150.0])


def test_names_can_be_dealt_only_where_there_are_two():
    assert not dealing_of(scored(5, algorithms=("a",))).is_possible
    assert dealing_of(scored(5)).is_possible


# --- drawing -----------------------------------------------------------------------------


def asked(metric="accuracy", failed="raise"):
    return Settings(metric, "last", failed, 0.95)


def test_scores_are_drawn_between_those_seen_or_as_they_were_where_they_tie():
    trials = scored(20)
    own = populations_of(trials, asked())["t"]["a"]
    seen = np.sort(trials.scores("accuracy")["a"])
    assert own.scores[0] > seen[0]
    assert own.scores[-1] < seen[-1]
    assert len(np.unique(own.scores)) == len(own.scores) == 4000
    assert own.scores.mean() == pytest.approx(seen.mean(), abs=0.02)
    tied = Trials(
        Trial("t", "a", i, {"accuracy": z}) for i, z in enumerate([0.5, 0.5, 0.75])
    )
    own = populations_of(tied, asked())["t"]["a"]
    np.testing.assert_array_equal(own.scores, [0.5, 0.5, 0.75])


def test_a_failure_is_drawn_as_often_as_it_happened():
    trials = Trials(
        [
            Trial("t", "a", 0, status="crashed", error="out of memory"),
            *(Trial("t", "a", i, {"accuracy": 0.5 + i / 100}) for i in range(1, 10)),
        ]
    )
    own = populations_of(trials, asked(failed="worst"))["t"]["a"]
    assert (own.scores == 0).mean() == pytest.approx(0.1)
    assert not ((own.scores > 0) & (own.scores < 0.51)).any()


def test_what_trials_of_one_number_share_is_drawn_with_them():
    rng = np.random.default_rng(0)
    hard = rng.random(50)
    trials = Trials(
        Trial("t", name, i, {"accuracy": 0.2 + 0.5 * hard[i] + 0.1 * rng.random()})
        for name in "ab"
        for i in range(50)
    )
    populations = populations_of(trials, asked())
    drawn = drawn_scores(populations, asked(), trials, rng).scores("accuracy")
    seen = trials.scores("accuracy")
    before = np.corrcoef(seen["a"], seen["b"])[0, 1]
    assert np.corrcoef(drawn["a"], drawn["b"])[0, 1] == pytest.approx(before, abs=0.1)
    apart = Trials(
        replace(t, number=t.number + 100) if t.algorithm == "b" else t for t in trials
    )
    drawn = drawn_scores(populations_of(apart, asked()), asked(), apart, rng)
    own = drawn.scores("accuracy")
    assert abs(np.corrcoef(own["a"], own["b"])[0, 1]) < 0.6
    assert drawn.where(algorithm="b").core.number.min() == 100


def test_how_often_one_is_better_is_that_of_the_draws():
    rng = np.random.default_rng(1)
    trials = scored(12, shift=0.05)
    fewer = trials.where(algorithm="b") + trials.where(algorithm="a", number=range(8))
    for those in (trials, fewer):
        populations = populations_of(those, asked())
        own = populations["t"]
        truth = own["b"].is_better(own["a"], 1)
        assert own["b"].is_better(own["a"], -1) == pytest.approx(1 - truth)
        hits = total = 0
        for _ in range(300):
            z = drawn_scores(populations, asked(), those, rng).scores("accuracy")
            if own["a"].pile == own["b"].pile:
                hits, total = hits + int((z["b"] > z["a"]).sum()), total + 12
            else:
                hits, total = hits + int(z["b"][0] > z["a"][0]), total + 1
        assert binomtest(hits, total, truth).pvalue > 1e-6


def test_curves_are_drawn_around_their_means_with_their_covariance():
    rng = np.random.default_rng(0)
    for n in (8, 40):  # noise that is normal, and noise of the shape that it has
        trials = lined(n)
        subject = difference_audit.subject(trials, asked("return"))
        seen = trials.lines("return")["a"]
        drawn = [subject.draw(rng).lines("return")["a"] for _ in range(3000 // n)]
        every = np.concatenate(drawn)
        np.testing.assert_allclose(every.mean(0), seen.mean(0), atol=0.2)
        np.testing.assert_allclose(np.cov(every.T), np.cov(seen.T), atol=0.35)


def test_errors_are_drawn_around_the_law_and_stay_errors():
    rng = np.random.default_rng(0)
    mean, spread = np.full(20_000, 0.02), np.full(20_000, 0.015**2)
    for unit in ("fraction", "loss"):
        drawn = learning_audit._around(mean, spread, rng.normal(size=20_000), unit)
        assert drawn.min() >= 0
        assert drawn.mean() == pytest.approx(0.02, abs=0.0006)
        assert drawn.std() == pytest.approx(0.015, rel=0.05)
    none = learning_audit._around(
        np.array([0.0, 0.3]), np.zeros(2), np.ones(2), "fraction"
    )
    np.testing.assert_array_equal(none, [0.0, 0.3])


def test_drawn_errors_are_as_noisy_as_those_seen():
    subject = learning_audit.subject(sized(10), asked("error"))
    law = subject.found.found[0].fits[0].law
    rng = np.random.default_rng(0)
    drawn = [subject.draw(rng).lines("error")["a"] for _ in range(200)]
    every = np.concatenate(drawn)
    sizes = subject.found.found[0].fits[0].measured.sizes
    np.testing.assert_allclose(every.mean(0), law.error(sizes), atol=0.002)
    spread = law.noise(sizes) + law.run_shift
    np.testing.assert_allclose(every.var(0), spread, rtol=0.2)


def test_counts_are_drawn_from_the_fitted_matrices_and_hard_examples_stay_hard():
    subject = confusion_audit.subject(cw.example("counts"), asked("error"))
    assert confusion_audit.TOGETHER == COMMON  # as the fit takes it
    fit = subject.found.found[0].fits[0]
    rng = np.random.default_rng(0)
    drawn = [confusion_audit._counts(fit, rng) for _ in range(300)]
    seen = np.array(
        [[own.sum(0) for own in one] for one in drawn]
    )  # (draw, size, 2, 2)
    rates = fit.curve.rates(fit.counted.trained_on)
    total = seen.sum((2, 3), keepdims=True)
    np.testing.assert_allclose((seen / total).mean(0), rates, atol=0.01)
    totals = [own.sum((-2, -1)) for own in fit.counted.counts]
    for one in drawn:
        for own, before in zip(one, totals, strict=True):
            np.testing.assert_array_equal(own.sum((-2, -1)), before)
    errors = 1 - np.trace(seen, axis1=2, axis2=3) / total[..., 0, 0]
    assert np.corrcoef(errors[:, -1], errors[:, -2])[0, 1] > 0.3


def test_models_that_vary_more_than_tests_do_are_seen_to():
    rng = np.random.default_rng(0)
    counted = confusion_audit.subject(cw.example("counts"), asked("error")).found
    own = counted.found[0].fits[0].counted
    recalls = np.full((len(own.sizes), 2), 0.8)

    def counts(spread):
        """All runs meet the same 100 examples, of which 60 stay as hard as they are."""
        out = []
        for n in own.trained_on:
            p = np.clip(0.8 + rng.normal(size=400) * np.sqrt(spread * 0.16 / n), 0, 1)
            right = np.round(60 * p) + rng.binomial(40, p)
            rows = [[r, 100 - r, 100 - r, r] for r in right]
            out.append(np.array(rows).reshape(-1, 2, 2))
        return tuple(out)

    found = confusion_audit.model_spread(replace(own, counts=counts(5.0)), recalls)
    np.testing.assert_allclose(found, 5.0, rtol=0.5)
    found = confusion_audit.model_spread(replace(own, counts=counts(0.0)), recalls)
    assert found.max() < 0.5


# --- the answer --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def search():
    return cw.audit(cw.example("search"), failed="worst", repetitions=FEW)


def test_the_same_seed_gives_the_same_audit_and_another_does_not(search):
    again = cw.audit(cw.example("search"), failed="worst", repetitions=FEW)
    assert again.rows() == search.rows()
    other = cw.audit(cw.example("search"), failed="worst", repetitions=FEW, seed=1)
    assert other.rows() != search.rows()
    assert (search.provenance.seed, other.provenance.seed) == (0, 1)


def test_each_check_has_a_row_with_its_counts(search):
    rows = search.rows()
    assert {row["kind"] for row in rows} == {"shuffled", "simulated"}
    for row, one in zip(rows, search.checks, strict=True):
        wrong = one.wrong / one.asked
        right = wrong if row["kind"] == "shuffled" else 1 - wrong
        assert row["observed"] == pytest.approx(right)
        assert row["observed_lower"] <= row["observed"] <= row["observed_upper"]
    told = check(search, "performance", "shuffled", "told apart at some quantile")
    assert (told.asked, told.apart) == (FEW, FEW)
    band = check(search, "performance", "simulated", "band of an algorithm")
    assert (band.asked, band.apart) == (6 * FEW, 2 * FEW)


def test_it_prints_its_table_its_notes_and_where_it_came_from(search):
    text = str(search)
    for part in (search.headline(), *search.notes(), str(search.provenance)):
        assert part in text
    assert [row["no."] for row in search.table()][:2] == ["1", "2"]
    content = json.loads(search.to_json())
    assert len(content["rows"]) == 15
    assert [one["note"] for one in content["notes"]] == search.notes()
    assert search._repr_html_().count("<tr>") == 16


def test_many_repetitions_are_not_asked_for_again(search):
    assert search.would_change()
    assert replace(search, repetitions=1000).would_change() == ""


def test_checks_are_asked_for_by_analysis(search):
    assert search.analyses == ("performance",)
    assert len(search.of("performance")) == 15
    with pytest.raises(CurvewiseError) as problem:
        search.of("learning")
    assert (problem.value.argument, problem.value.value) == ("analysis", "learning")


def test_progress_is_told_for_every_answer():
    told = []
    cw.audit(scored(10), repetitions=FEW, progress=lambda *far: told.append(far))
    assert told == [(i, 2 * FEW) for i in range(1, 2 * FEW + 1)]


def tried(trials, metric="accuracy"):
    """Return the names of the analyses that an audit would try."""
    return [s.name for s in audit.subjects_of(trials, asked(metric))[0]]


def test_the_data_decide_which_analyses_are_tried():
    assert tried(scored(20)) == ["performance"]
    assert tried(scored(20, ("svm", "svm tuned"))) == ["performance", "robustness"]
    assert tried(lined(), "return") == ["performance", "difference"]
    every = ["performance", "difference", "learning", "confusion"]
    assert tried(cw.example("counts"), "error") == every


def test_counts_and_tuned_algorithms_are_audited(monkeypatch):
    tuned = cw.audit(scored(40, ("svm", "svm tuned")), repetitions=FEW)
    assert tuned.analyses == ("performance", "robustness")
    only(monkeypatch, "confusion")
    counts = cw.audit(cw.example("counts"), "error", repetitions=FEW)
    assert check(counts, "confusion", "shuffled", "do not meet").promised == 0.1
    assert dealing_of(cw.example("counts")).different == {"all": (462, 32)}
    # Numbers pair trials; there are few deals, and confusion makes no comparison.
    assert (len(tuned.told), len(counts.told)) == (1, 2)
    assert tuned.broken == counts.broken == ()


def test_one_algorithm_has_nobody_to_be_confused_with():
    found = cw.audit(scored(20, algorithms=("a",)), repetitions=FEW)
    assert {c.kind for c in found.checks} == {"simulated"}
    assert len(found.checks) == 5
    assert found.broken == ()


def test_failed_trials_are_dealt_and_drawn():
    trials = cw.example("search").where(task="rings")
    assert trials.count_failed() > 0
    with pytest.raises(CurvewiseError) as problem:
        cw.audit(trials, repetitions=FEW)
    assert {"failed": "worst"} in problem.value.message.fixes
    assert cw.audit(trials, failed=0.1, repetitions=FEW).broken == ()


def test_curves_that_break_off_are_tried_too():
    trials = lined(8)
    cut = [
        replace(
            t,
            steps=t.steps[:3],
            metrics={"return": t.metrics["return"][:3]},
            status="failed",
            error="diverged",
        )
        if t.number == 0
        else t
        for t in trials
    ]
    broke = Trials(cut, [Metric("return", "higher")])
    found = cw.audit(broke, failed=-3.0, repetitions=FEW)
    assert "difference" in found.analyses
    assert found.broken == ()


def test_an_analysis_that_refuses_is_named_and_the_others_are_tried():
    rng = np.random.default_rng(0)
    trials = Trials(
        Trial("t", name, i, {"error": 0.1 + (1 + rng.random()) / n}, steps=[n])
        for name in "ab"
        for i, n in enumerate(3 * [50, 100, 200, 400])
    )
    found, problems = audit.subjects_of(trials, asked("error"))
    assert [one.name for one in found] == ["learning"]
    (problem,) = problems.values()
    assert str(problem) in " ".join(cw.audit(trials, repetitions=FEW).notes())


def test_no_answer_to_a_draw_counts_as_a_miss(monkeypatch):
    real = performance_audit.performance
    asked_for = []

    def shy(trials, *settings, **more):
        asked_for.append(more)
        if len(asked_for) > 1 and "at" not in more:  # a draw
            raise CurvewiseError("no")
        return real(trials, *settings, **more)

    monkeypatch.setattr(performance_audit, "performance", shy)
    found = cw.audit(scored(30), repetitions=FEW)
    assert all(c.wrong == c.asked for c in found.of("performance", "simulated"))
    assert all(c.refused == FEW for c in found.of("performance", "simulated"))
    assert not broken(found, "shuffled")


# --- negative controls: it sees what is broken -------------------------------------------


def bolder(function, **settings):
    """Return an analysis that answers with other settings than it is asked with."""

    @functools.wraps(function)
    def answer(*args, **keywords):
        return function(*args, **keywords | settings)

    return answer


def test_intervals_that_are_too_short_and_claims_that_are_too_bold_are_broken(
    monkeypatch,
):
    honest = cw.audit(scored(100), repetitions=40)
    assert honest.broken == ()
    wrong = bolder(performance_audit.performance, confidence=0.3)
    monkeypatch.setattr(performance_audit, "performance", wrong)
    found = cw.audit(scored(100), repetitions=40)
    assert "the first of a pair is better" in broken(found, "shuffled")[-1]
    assert any("band of an algorithm" in what for what in broken(found, "simulated"))
    assert found.broken[0].what in found.headline()
    assert len(found.would_change()) > len(honest.would_change())


def test_tests_of_curves_at_another_level_are_broken(monkeypatch):
    only(monkeypatch, "difference")
    monkeypatch.setattr(
        difference_audit, "difference", bolder(difference_audit.difference, level=0.5)
    )
    found = cw.audit(lined(), repetitions=FEW)
    assert "curves of a task differ in height" in broken(found, "shuffled")
    assert any("difference in height" in what for what in broken(found, "simulated"))


def test_curves_of_errors_that_are_too_narrow_are_broken(monkeypatch):
    only(monkeypatch, "learning")
    monkeypatch.setattr(
        learning_audit, "learning", bolder(learning_audit.learning, confidence=0.5)
    )
    found = cw.audit(sized(), repetitions=FEW)
    assert "one of a pair on a task is better" in broken(found, "shuffled")
    both = "difference of errors, all pairs of a task at once"
    assert both in broken(found, "simulated")


def test_rates_that_are_too_narrow_are_broken(monkeypatch):
    only(monkeypatch, "confusion")
    monkeypatch.setattr(
        confusion_audit, "confusion", bolder(confusion_audit.confusion, confidence=0.5)
    )
    found = cw.audit(cw.example("counts"), "error", repetitions=FEW)
    assert any("at the size compared" in what for what in broken(found, "simulated"))


def test_gains_that_are_none_are_broken(monkeypatch):
    only(monkeypatch, "robustness")
    monkeypatch.setattr(
        robustness_audit,
        "robustness",
        bolder(robustness_audit.robustness, confidence=0.3),
    )
    found = cw.audit(scored(100, ("svm", "svm tuned")), repetitions=FEW)
    assert "tuning gains or loses" in broken(found, "shuffled")
    assert any("gains by tuning" in what for what in broken(found, "simulated"))


def test_trials_that_are_copies_are_not_seen_in_an_audit():
    """What it cannot show: dealt anew, copies are as independent as any trials."""
    few = scored(8, seed=4)
    copies = Trials(replace(t, number=8 * k + t.number) for t in few for k in range(15))
    told = cw.performance(copies).contrasts[0]
    assert told.ahead is not None  # a false claim: 8 trials, each counted 15 times
    assert cw.audit(copies, repetitions=FEW).broken == ()


# --- shortcuts decide as the analyses do -------------------------------------------------


def test_fewer_shuffles_decide_as_many_do():
    trials = lined(7, seed=5)
    subject = difference_audit.subject(trials, asked("return"))
    dealing, rng = dealing_of(trials), np.random.default_rng(1)
    for _ in range(5):
        dealt = dealing.deal(rng, within_numbers=False)
        short, whole = subject.ask(dealt, 0), cw.difference(dealt, "return")
        for effect in ("algorithm", "interaction"):
            one, other = short.of().anova, whole.of().anova
            assert one.decision(effect) == other.decision(effect)
            assert one.p(effect) == pytest.approx(other.p(effect), abs=0.06)


def test_one_rate_is_told_the_same_with_and_without_the_others():
    trials = cw.example("counts")
    subject = confusion_audit.subject(trials, asked("error"))
    dealt = dealing_of(trials).deal(np.random.default_rng(0), within_numbers=False)
    alone, among = subject.ask(dealt, 0), cw.confusion(dealt)
    for one, other in zip(alone.of().fits, among.of().fits, strict=True):
        np.testing.assert_array_equal(one.told["f1"].lower, other.told["f1"].lower)
        np.testing.assert_array_equal(one.told["f1"].upper, other.told["f1"].upper)
    assert subject.claims(alone) == subject.claims(among)


# --- what is refused ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("repetitions", 10),
        ("repetitions", "many"),
        ("metric", "accuracyy"),
        ("confidence", 95),
        ("seed", -1),
        ("at", "first"),
        ("failed", "drop"),
    ],
)
def test_what_cannot_be_asked_is_named(argument, value):
    with pytest.raises(CurvewiseError) as problem:
        cw.audit(scored(5), **{"repetitions": FEW} | {argument: value})
    assert (problem.value.argument, problem.value.value) == (argument, value)


@pytest.mark.parametrize("trials", ["results.csv", Trials(), cw.example("counts")])
def test_what_is_no_trials_of_one_metric_is_refused(trials):
    with pytest.raises(CurvewiseError):
        cw.audit(trials)


def test_what_would_take_hours_is_refused_with_what_to_pass():
    many = scored(2, algorithms=[f"a{i}" for i in range(120)])
    with pytest.raises(CurvewiseError) as problem:
        cw.audit(many, repetitions=1000)
    assert str(problem.value.message.fixes[0]["repetitions"]) == "200"
    more = scored(1, algorithms=[f"a{i}" for i in range(800)])
    with pytest.raises(CurvewiseError) as problem:
        cw.audit(more)
    assert problem.value.message.fixes == ()  # even the fewest would take so long


# --- rates, as promised ------------------------------------------------------------------


def test_where_nothing_differs_claims_are_as_rare_as_promised():
    """False alarm: one in a million for each of the assertions."""
    found = cw.audit(scored(60, tasks=("t", "u")), repetitions=100)
    for one in found.of("performance"):
        if not one.is_warned:
            assert_at_most(one.wrong * one.apart // one.asked, one.apart, one.promised)
    told = check(found, "performance", "simulated", "band of an algorithm")
    assert_at_least(told.asked - told.wrong, told.asked, 0.95)
    assert told.rate > 0.01  # it does miss sometimes: 5 % are promised, and used


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "metric"),
    [(lined, "return"), (lambda: cw.example("counts"), "error")],
)
def test_many_repetitions_break_no_promise(make, metric):
    found = cw.audit(make(), metric, repetitions=400)
    assert found.broken == ()
    for one in found.checks:
        if not one.is_warned:
            wrong = one.wrong * one.apart // one.asked
            assert_at_most(wrong, one.apart, 1.3 * one.promised)


@pytest.mark.slow
def test_what_is_no_test_by_shuffles_keeps_its_promise_over_studies(monkeypatch):
    """In one study learners that are equal may seem better in 11 % of the deals."""
    only(monkeypatch, "learning")
    claims = misses = 0
    for seed in range(8):
        found = cw.audit(sized(seed=seed), repetitions=40)
        claims += check(found, "learning", "shuffled", "is better").wrong
        misses += check(found, "learning", "simulated", "difference of errors").wrong
    assert_at_most(claims, 320, 0.07)
    assert_at_most(misses, 320, 0.06)


@pytest.mark.slow
def test_an_audit_of_many_trials_keeps_nothing_of_them():
    import tracemalloc

    trials = scored(10_000)
    tracemalloc.start()
    cw.audit(trials, repetitions=FEW)
    first = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    cw.audit(trials, repetitions=3 * FEW)
    assert tracemalloc.get_traced_memory()[1] < 1.2 * first
    tracemalloc.stop()
