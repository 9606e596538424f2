"""Piater and Cohen (1998): what is printed, what follows from it, and what we get."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import curvewise_papers
from curvewise.stats.anova import (
    effect_shares,
    randomized_anova,
    stretch_power,
    two_way,
)
from curvewise.stats.deals import assignments
from curvewise_papers.piater1998 import PAPER, arithmetic, power, tables
from curvewise_papers.piater1998.tables import (
    EFFECTS,
    LINES,
    TABLES,
    anova_of,
    median_error,
    second_table,
    text,
    values,
)
from curvewise_papers.study import Results, Runner

KEPT = Path(__file__).parents[2] / "docs/results/piater1998"


@pytest.fixture(scope="module")
def kept():
    return {study.name: Results.read(KEPT / study.name) for study in PAPER.studies}


@pytest.fixture(scope="module")
def lines(kept):
    return tables.lines_of(kept["tables"].trials["curves"])


def claims_of(study, results):
    return {claim.name: claim for claim in study.claims(results)}


def test_the_paper_is_found_by_its_name():
    assert curvewise_papers.find("piater1998") is PAPER
    assert PAPER.printed.year == 1998
    assert len(PAPER.printed.errata) == 11


# --- arithmetic on the print -------------------------------------------------------------


@pytest.mark.paper
def test_the_print_agrees_with_itself_but_for_the_errata():
    found = claims_of(arithmetic.STUDY, Results())
    differ = [name for name, claim in found.items() if claim.verdict != "agrees"]
    assert len(found) == 59
    assert differ == [
        "Table 2, from Tables 1, 3 and 4, error, SS",
        "Table 2, from Tables 1, 3 and 4, algorithm, if means are close, SS",
        "Table 2, from Tables 1, 3 and 4, algorithm, if they are not, SS",
        "Table 2, from Tables 1, 3 and 4, interaction, at least, SS",
        "Section 4.1: p of a textbook, degrees of freedom of the algorithm",
        "Section 3: rules, p of rank 972, the observed one counted",
        "Section 3: rules, level of an F above the 950th of 1,000",
        "Section 2: a coin, critical number of heads at .05",
    ]
    for name in differ:
        assert found[name].why


@pytest.mark.paper
def test_numbers_that_follow_from_the_print():
    found = second_table()
    assert found.errors == pytest.approx((4331.4, 4383.0, 4742.5))
    assert found.error == pytest.approx(9073.9)
    assert found.algorithm == pytest.approx((1.056, 573.8), rel=1e-3)
    assert found.interaction == pytest.approx(11.87, abs=0.01)
    said = claims_of(arithmetic.STUDY, Results())
    rules = "Section 3: rules"
    assert said[f"{rules}, level of an F above the 950th of 1,000"].ours == 51 / 1001
    counted = said[f"{rules}, p of rank 972, the observed one counted"]
    assert counted.ours == pytest.approx(29 / 1001)
    heads = said["Section 2: a coin, p of 16 heads"].ours
    assert heads == pytest.approx(0.005908966064453125)
    book = [anova_of("table2").p(effect) for effect in EFFECTS]
    assert book == pytest.approx([0.56179, 0.64376], abs=1e-5)


@pytest.mark.paper
@pytest.mark.parametrize(
    ("design", "deals"),
    {(1, 5): 1, (2, 2): 3, (2, 7): 1716, (2, 10): 92378, (3, 4): 5775, (4, 3): 15400,
     (3, 10): 925166131890}.items(),
)  # fmt: skip
def test_deals_follow_the_printed_recursion(design, deals):
    def recursion(m, one):
        if m == 1:
            return 1
        ways = np.prod([float(m * one - i) / (one - i) for i in range(one)])
        return round(ways) / m * recursion(m - 1, one)

    assert assignments(*design) == deals == pytest.approx(recursion(*design))


def test_a_wrong_number_in_print_is_noticed():
    found = claims_of(arithmetic.STUDY, Results())
    mean_square = found["Table 1, its arithmetic, error, MS"]
    assert mean_square.verdict == "agrees"
    assert replace(mean_square, printed=60.54).verdict == "differs"
    heads = found["Section 2: a coin, p of 16 heads"]
    assert replace(heads, printed=0.007).verdict == "differs"


def test_sums_of_squares_of_three_are_two_thirds_of_those_of_pairs(lines):
    own = {name: curve[:LINES] for name, curve in lines.items()}
    three = two_way(own).ss
    pairs = [
        two_way([own[a], own[b]]).ss
        for a, b in (("A1", "A2"), ("A1", "A3"), ("A2", "A3"))
    ]
    for effect in EFFECTS:
        assert three[effect] == pytest.approx(sum(p[effect] for p in pairs) * 2 / 3)
    assert three["error"] == pytest.approx(sum(p["error"] for p in pairs) / 2)


def test_the_algorithms_sum_of_squares_cannot_say_when(lines):
    """Its terms are equal at all levels; with the interaction's they are not."""
    own = [lines["A1"][:LINES], lines["A2"][:LINES]]
    ss = two_way(own).ss
    together = LINES / 2 * ((own[0].mean(axis=0) - own[1].mean(axis=0)) ** 2)
    assert together.sum() == pytest.approx(ss["algorithm"] + ss["interaction"])
    shares = effect_shares(own, rng=np.random.default_rng(0))
    np.testing.assert_allclose(shares.cumulated, together.cumsum() / together.sum())


# --- Tables 1-4 --------------------------------------------------------------------------


def test_kept_curves_come_out_again(lines):
    """Three runs of each learner, from the seed that is kept in the code."""
    again = Runner("quick", None, {"executor": "serial", "progress": False})
    trials = again.trials(tables.experiment(("A1", "A2", "A3"), 3), "curves")
    for name, own in tables.lines_of(trials).items():
        np.testing.assert_array_equal(own, lines[name][:3])


@pytest.fixture
def from_kept(monkeypatch, kept):
    """Let studies start from the first curves that are kept, and run none."""

    def some(runner, names):
        number = range(LINES * tables.REPLICATIONS[runner.scale])
        return kept["tables"].trials["curves"].where(algorithm=names, number=number)

    for module in (tables, power, power):
        monkeypatch.setattr(module, "curves", some)
    return Runner("quick", None, {"progress": False})


@pytest.mark.paper
def test_tables_again_from_a_few_replications(monkeypatch, from_kept, kept):
    monkeypatch.setitem(tables.REPLICATIONS, "quick", 6)
    found = tables.run(from_kept)
    for table in TABLES:
        for row in ("interaction", "algorithm", "training", "error"):
            own = values(found, table, row, "ss")
            before = values(kept["tables"], table, row, "ss")[:6]
            np.testing.assert_allclose(own, before, atol=1e-6)
        # 1,000 shuffles: two p differ by less than 6 of their errors, < 1e-8 of the time.
        for effect in EFFECTS:
            p = values(found, table, effect, "p")
            before = values(kept["tables"], table, effect, "p")[:6]
            assert np.abs(p - before).max() < 6 * np.sqrt(2 * 0.25 / 1000)
    pure = values(found, "table4", "interaction", "ss")
    assert pure == pytest.approx(np.full(6, 840.0), abs=1e-6)
    assert values(found, "table4", "algorithm", "ss") == pytest.approx(np.zeros(6))
    assert values(found, "table4", "algorithm", "p_corrected") == pytest.approx(1)
    assert (values(found, "table4", "algorithm", "p") < 1).any()


@pytest.mark.paper
def test_printed_tables_are_draws_like_ours(kept):
    found = claims_of(tables.STUDY, kept["tables"])
    differ = {name for name, claim in found.items() if claim.verdict == "differs"}
    assert differ == {"Table 4, algorithm, p, corrected"}
    # Where F is not drawn, p is a sharp comparison: all shuffled F of ours about the
    # printed one.
    for table, effect, p in (
        ("table1", "interaction", 0.253),
        ("table1", "algorithm", 0.015),
        ("table4", "interaction", 0.057),
    ):
        own = values(kept["tables"], table, effect, "p_of_print")
        assert np.median(own) == pytest.approx(p, abs=0.01)


def test_a_table_of_other_curves_is_noticed(kept):
    """Negative control: the sums of squares of Table 2 are not those of such curves."""
    found = claims_of(tables.STUDY, kept["tables"])
    one = found["Table 1, error, SS"]
    assert one.verdict == "agrees"
    assert replace(one, printed=anova_of("table2").ss["error"]).verdict == "differs"
    assert all(found[f"Table 2, {row}, SS"].verdict == "unchecked" for row in EFFECTS)


def test_the_error_of_a_median_is_that_of_medians():
    # 400 medians of 200: their standard deviation has an error of 3.5 %, and one
    # estimate of about 30 %; the mean of 400 estimates is within 15 % but for 1e-4.
    rng = np.random.default_rng(0)
    draws = rng.exponential(size=(400, 200))
    true = np.median(draws, axis=1).std()
    assert np.mean([median_error(row) for row in draws]) == pytest.approx(
        true, rel=0.15
    )


# --- power and levels --------------------------------------------------------------------


@pytest.mark.paper
def test_kept_power_agrees_with_the_print_and_comes_out_again(kept, lines):
    found = claims_of(power.POWER, kept["power"])
    assert {name for name, claim in found.items() if claim.verdict == "differs"} == {
        f"Figures 6 and 7: Type I error, not stretched, {effect}, as published"
        for effect in EFFECTS
    }
    rng = np.random.default_rng(1)
    again = stretch_power(
        lines["A1"], 1.1, size=10, null_draws=1000, draws=400, disjoint=True, rng=rng
    )
    kept_power = power._at(kept["power"], "stretch", "algorithm", 1.1, 10)["ours"]
    # At 4 standard errors: false alarm < 1e-4.
    error = float(again.algorithm_error[0])
    assert again.algorithm[0] == pytest.approx(kept_power, abs=4 * error)


def test_power_again_at_two_points(monkeypatch, from_kept):
    monkeypatch.setattr(power, "STRETCHES", (1.0, 1.1))
    monkeypatch.setattr(power, "SIZES", (10,))
    monkeypatch.setattr(power, "_MANY", 500)
    found = power.run(from_kept)
    assert all(claim.verdict != "unchecked" for claim in power.claims(found))
    one = power._at(found, "stretch", "algorithm", 1.1, 10)
    assert one["ours"] > 0.6
    assert power._at(found, "stretch", "algorithm", 1.0, 10)["ours"] < 0.15


@pytest.mark.paper
def test_kept_levels(kept):
    found = kept["levels"]
    for effect in EFFECTS:
        for test in ("published rule", "corrected p, whole lines"):
            share, error = power.rate(found, "A1 and A1", test, effect)
            assert share == pytest.approx(0.05, abs=3 * error)
        share, error = power.rate(found, "A1 and A1", "default", effect)
        assert 0.03 < share < 0.05 + 3 * error  # the larger of two p
    # Negative controls: what is known to err is seen to.
    share, error = power.rate(found, "A1 and A1", "textbook F", "algorithm")
    assert share > 0.05 + 10 * error
    share, error = power.rate(found, "A1 and A1 + 10", "published rule", "interaction")
    assert share > 0.05 + 10 * error
    share, error = power.rate(found, "A1 and A1 + 10", "default", "interaction")
    assert share < 0.05 + 3 * error
    differ = [c for c in power.level_claims(found) if c.verdict == "differs"]
    assert differ
    assert all(claim.why for claim in differ)


def test_levels_again_from_few_data_sets(monkeypatch, from_kept, kept):
    monkeypatch.setitem(power.DATA_SETS, "quick", 25)
    found = power.run_levels(from_kept)
    for test in power.TESTS:
        for effect in EFFECTS:
            for case in power.CASES:
                now, _ = power.rate(found, case, test, effect)
                before, _ = power.rate(kept["levels"], case, test, effect)
                # 60 binomials of 25: at 5 errors (and 2 for rare ones) false alarm 1e-3.
                error = np.sqrt(max(before * (1 - before), 0.02) / 25)
                assert abs(now - before) < 5 * error


@pytest.mark.parametrize("study", PAPER.studies, ids=lambda study: study.name)
def test_every_study_has_figures_and_says_what_it_costs(study, kept):
    figures = study.figures(kept[study.name])
    assert figures
    for figure in figures:
        assert figure.says
        assert figure.charts
    assert set(study.cost) == {"quick", "kept", "full"}
    assert kept[study.name].made["scale"] == "kept"
    assert study.missing() == ""


def test_figures_3_to_7_and_1_are_there(kept):
    names = [f.name for study in PAPER.studies for f in study.figures(kept[study.name])]
    assert {f"figure-{i}" for i in (1, 3, 4, 5, 6, 7)} <= set(names)


# --- what is settled, measured -----------------------------------------------------------


@pytest.mark.slow
@pytest.mark.paper
def test_variants_are_further_from_the_print():
    """What `settled` says about other learners; 60 curves each, errors about 1 point."""
    import curvewise as cw
    from curvewise_papers.tictactoe import SCORE, td_learner, tictactoe_task

    def means(**options):
        learners = [
            td_learner(rate, name=name, **options)
            for name, rate in text()["rates"].items()
        ]
        experiment = cw.Experiment([tictactoe_task()], learners, 60, 5, metrics=[SCORE])
        trials = cw.run(experiment, executor="serial", progress=False)
        return {name: own.mean(axis=0) for name, own in tables.lines_of(trials).items()}

    usual = means()
    assert abs(usual["A2"].mean() - usual["A1"].mean()) < 4
    for options in ({"learns_from_exploring": True}, {"play": "random"}):
        other = means(**options)
        assert 4 < other["A1"].mean() - other["A2"].mean() < 10
    assert means(symmetric=False)["A1"][1] < 20 < 40 < usual["A1"][1]


@pytest.mark.slow
@pytest.mark.paper
def test_the_published_test_on_fresh_curves_has_its_level():
    """A1 against A1, 300 data sets of curves that nothing else uses."""
    runner = Runner("quick", None, {"executor": "serial", "progress": False})
    fresh = replace_seed(tables.experiment(["A1"], 1000), seed=77)
    own = tables.lines_of(runner.trials(fresh, "fresh"))["A1"]
    rng = np.random.default_rng(7)
    p, book = [], []
    for _ in range(300):
        chosen = own[rng.choice(len(own), 20, replace=False)]
        found = randomized_anova(
            [chosen[:10], chosen[10:]],
            null="joint", exact=False, shuffles=199, most=199, rng=rng,
        )  # fmt: skip
        p.append(found.p("algorithm"))
        book.append(found.anova.p("algorithm"))
    # At 4 standard errors of .05 (.0126): false alarm < 1e-4.
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=4 * 0.0126)
    assert np.mean(np.array(book) <= 0.05) > 0.1


def replace_seed(experiment, seed):
    from curvewise.engine.experiment import Experiment

    return Experiment(
        experiment.tasks, experiment.algorithms, experiment.trials, seed,
        metrics=experiment.metrics,
    )  # fmt: skip
