"""Hoiem et al. (2021): what is printed, what follows from it, and what we get."""

import csv
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from support import assert_rate, data

from curvewise.engine.experiment import Experiment
from curvewise.stats.powerlaw import PowerLaw, fit_power_law, fit_power_laws
from curvewise_papers.hoiem2021 import PAPER, comparisons, curves, table3, validation
from curvewise_papers.hoiem2021.comparisons import halves
from curvewise_papers.hoiem2021.curves import (
    POOLS,
    ROWS,
    algorithms,
    errors_of,
    half_task,
    learners,
    table_task,
)
from curvewise_papers.hoiem2021.table3 import multipliers
from curvewise_papers.hoiem2021.validation import coverage
from curvewise_papers.study import Results, Runner, columns, printed

ASSETS = Path(__file__).parents[2] / "tests" / "assets"
KEPT = Path(__file__).parents[2] / "docs" / "results" / "hoiem2021"
TOLD = printed("hoiem2021").tables


@cache
def kept(study):
    return Results.read(KEPT / study)


@cache
def claims(study):
    return PAPER.study(study).claims(kept(study))


def named(study, *words):
    """Return the claims whose names hold all these words."""
    found = [c for c in claims(study) if all(word in c.name for word in words)]
    assert found, words
    return found


# --- Table 3 and what follows from it ----------------------------------------------------


def test_table_3_is_the_one_that_other_tests_use():
    with (ASSETS / "hoiem2021_table3.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 42
    for name in ("alpha", "eta", "gamma", "e400", "beta400"):
        assert TOLD["table3"][name] == [float(row[name]) for row in rows]
    for name in ("light_alpha", "light_eta", "light_e400", "light_beta400"):
        assert TOLD["table3"][name] == [float(row[name]) for row in rows]
    assert TOLD["table3"]["label"] == [row["label"] for row in rows]


@pytest.mark.paper
def test_all_42_rows_keep_the_identities():
    full, light = curves.full(), curves.light()
    for own in (full, light):
        assert (np.abs(own.error_off) <= own.error_rounding + 1e-9).all()
        assert (np.abs(own.reliance_off) <= own.reliance_rounding + 1e-9).all()
        assert np.abs(own.error_off).max() < 0.0105
        assert np.abs(own.reliance_off).max() < 0.0055
    # The negative control: one row a little off is noticed.
    off = replace(full, alpha=full.alpha + 0.03 * (np.arange(42) == 7))
    assert (np.abs(off.error_off) > off.error_rounding).sum() == 1
    alpha = full.error + full.reliance / (2 * full.gamma)
    assert np.abs(alpha - full.alpha).max() < 0.0305


@pytest.mark.paper
def test_the_light_fit_and_two_swapped_rows():
    assert curves.apart(curves.light(), curves.full()) == pytest.approx(
        (0.4187, 0.9459), abs=5e-5
    )
    right = curves.light(put_right=True)
    assert curves.apart(right, curves.full()) == pytest.approx(
        (0.1617, 0.9203), abs=5e-5
    )
    (as_printed,) = named("table3", "RMS of e_400", "as printed")
    (put_right,) = named("table3", "RMS of e_400", "put right")
    assert (as_printed.verdict, put_right.verdict) == ("agrees", "differs")


@pytest.mark.paper
def test_what_augmentation_is_worth():
    found = list(multipliers().values())
    np.testing.assert_allclose(
        found,
        [
            [1.55, 1.77, 2.02, 2.33, 2.69],
            [1.51, 1.60, 1.73, 1.91, 2.16],
            [1.19, 1.25, 1.29, 1.29, 1.24],
        ],
        atol=0.02,
    )


@pytest.mark.paper
def test_the_same_setting_printed_twice():
    """Error at N agrees where the asymptote does not."""
    keys = list(zip(TOLD["table3"]["block"], TOLD["table3"]["label"], strict=True))
    twice = {
        "No Pretr; Finetune": "AUG_NO_PRETR_FT",
        "Pretr; Finetune": "AUG_PRETR_FT",
        "Pretr; Linear": "AUG_PRETR_LINEAR",
    }
    pairs = np.array(
        [
            (
                keys.index(("PRETRAIN_IN2PLACES", label)),
                keys.index((block, "Resnet-18 w/ Data-Aug")),
            )
            for label, block in twice.items()
        ]
    )
    full = curves.full()
    assert np.abs(np.diff(full.error[pairs])).max() == pytest.approx(0.12)
    assert np.abs(np.diff(full.alpha[pairs])).max() == pytest.approx(5.2)
    again = (("PRETRAIN_IN2CIFAR", "Pretr; Linear"), ("DEPTH_LINEAR", "Resnet-18"))
    rates = {TOLD["table3"]["rate"][keys.index(key)] for key in again}
    assert rates == {0.0003, 0.001}


@pytest.mark.paper
def test_table_2_and_the_linear_predictor():
    alphas = [c.ours for c in named("table3", "Table 2", "asymptote")]
    assert alphas == pytest.approx([18.91111111111111, 16.26382978723404], abs=1e-9)
    for claim in named("table3", "Section 2.3"):
        assert claim.ours == pytest.approx(claim.printed, abs=1e-9)
    law = PowerLaw.from_summary(25.3, 4.6, -0.36, 100, unit="percent")
    assert law.alpha == pytest.approx(alphas[0])  # whatever N is


@pytest.mark.paper
def test_averages_of_figure_2():
    ours = [c.ours for c in named("table3", "averages of its own columns")]
    assert ours == pytest.approx([1.044, 1.104, 1.214, 1.424, 1.162, 1.298], abs=5e-4)


@pytest.mark.paper
def test_the_public_curves_come_back_to_more_digits_than_printed():
    found = kept("table3").tables["public"]
    row = list(found["label"]).index("No Pretr; Finetune")
    ours = [found[n][row] for n in ("alpha", "eta", "gamma", "e400", "beta400")]
    assert ours == pytest.approx([5.6835, 259.286, -0.41, 27.9133, 18.2284], rel=5e-6)
    assert all(c.verdict == "agrees" for c in named("table3", "four public curves"))


@pytest.mark.paper
def test_the_public_curves_again_and_what_units_do_to_them():
    """A floor of .02 among fractions drowns all noise, and the prior wins four times."""
    curves = table3.public_curves(data("learning_curves/hoiem_cifar100.csv"))
    again = table3.fitted(curves)
    for name, column in kept("table3").tables["public"].items():
        if name != "label":
            np.testing.assert_allclose(again[name], column, rtol=1e-6)
    assert [len(e) for e in curves["Pretr; Linear"][1]] == [10, 8, 4, 2, 1]
    gammas = []
    for sizes, errors in curves.values():
        parts = [e / 100 for e in errors]
        wrong = fit_power_law(sizes, parts, method="paper", noise_floor=0.02)
        assert (wrong.gamma, wrong.noise_slope) == (-0.5, 0)
        right = fit_power_law(sizes, parts, method="paper", noise_floor=0.02e-4)
        guide = fit_power_law(
            sizes, errors, unit="percent", method="paper", noise_floor=0.01
        )
        gammas.append((right.gamma, guide.gamma))
    assert gammas == [(-0.84, -0.86), (-0.41, -0.41), (-0.35, -0.35), (-0.57, -0.57)]


def test_without_the_data_folder_the_public_curves_are_unchecked(monkeypatch):
    monkeypatch.delenv("CURVEWISE_DATA", raising=False)
    study = PAPER.study("table3")
    results = study.run(Runner("quick"))
    found = [c for c in study.claims(results) if "four public curves" in c.table]
    assert {c.verdict for c in found} == {"unchecked"}
    assert all("CURVEWISE_DATA" in c.why for c in found)
    assert "letter.parquet" in PAPER.study("validation").missing()
    assert not study.missing()


def test_which_claims_of_table_3_differ():
    """Those that the errata explain, and the caption's sign; all others agree."""
    odd = {c.table for c in claims("table3") if c.verdict == "differs"}
    assert odd == {
        "Table 3, its 42 readable rows",
        "Appendix D, light fit less full fit",
        "Section 4.2, data that augmentation is worth",
        "Figures 3 to 8 in words, counted in Table 3",
    }
    assert len(PAPER.printed.errata) == 15
    (drawn,) = PAPER.study("table3").figures(kept("table3"))
    assert len(drawn.charts) == 2


# --- what is measured on curves ----------------------------------------------------------


def blocks(noise, rng, alpha=5.0):
    """Return a power law in seven sizes, every block with an error of its own."""
    sizes = 250.0 * 2 ** np.arange(7)
    errors = tuple(
        alpha + 300 * n**-0.5 + noise * rng.standard_normal(64 >> k)
        for k, n in enumerate(sizes)
    )
    return curves.Blocks(sizes, errors)


def test_quarters_are_a_design_of_their_own():
    own = blocks(0.1, np.random.default_rng(1))
    for i in range(4):
        assert [len(e) for e in own.quarter(i)] == [16, 8, 4, 2, 1]
        for part, rest, whole in zip(
            own.quarter(i), own.others(i), own.errors, strict=False
        ):
            assert sorted([*part, *rest]) == sorted(whole)
    assert [len(e) for e in own.largest] == [16, 8, 4, 2, 1]


def test_a_model_that_diverged_is_noticed():
    own = blocks(0.1, np.random.default_rng(1))
    assert not own.is_diverged
    broken = (*own.errors[:-1], 3 * own.errors[-2][:1])
    assert replace(own, errors=broken).is_diverged


def test_the_unit_of_size_does_not_matter():
    own = blocks(0.3, np.random.default_rng(2)).largest
    one = fit_power_law(curves.SHARES, own, unit="percent", method="paper")
    sizes = 1000 * 2.0 ** np.arange(5)
    other = fit_power_law(sizes, own, unit="percent", method="paper")
    assert one.gamma == other.gamma
    assert one.summary() == pytest.approx(other.summary())


def test_tables_of_true_power_laws():
    """Where curves are power laws with an exponent of -1/2, the light fit is right."""
    rng = np.random.default_rng(3)
    found = {("table", f"{i}", 0): blocks(0.05, rng, 5 + i) for i in range(6)}
    tables = columns(curves._left_out(found), real=np.float32)
    left = curves.left_out_of(tables)
    assert left.predicted.shape == (6, 6, 5)
    assert left.average.max() < 0.3
    observed = np.array([[e.mean() for e in own.largest] for own in found.values()])
    np.testing.assert_allclose(left.observed, observed, rtol=1e-6)
    light = columns(curves._light(found), real=np.float32)
    np.testing.assert_allclose(light["light_e_N"], light["e_N"], atol=0.25)
    held = coverage(columns(list(curves._coverage(found)), real=np.float32))
    # 24 intervals at each of seven sizes; at .85 at least, 70 % of all are a 1e-6 event.
    assert np.mean([share for share, _ in held["calibrated"]]) > 0.8
    # The negative control: bounds around another curve do not hold.
    table = columns(list(curves._coverage(found)), real=np.float32)
    shifted = {**table, "observed": table["observed"] + 2}
    assert coverage(shifted)["printed"][4][0] < 0.05


def test_the_jackknife_of_a_ratio():
    """Against the spread over many sets of curves; both have an error of about a tenth."""
    rng = np.random.default_rng(4)
    drawn = rng.standard_normal((400, 2, 30, 5)) * [[[1.0]], [[1.5]]]
    told = [validation.jackknife(one) for one in drawn]
    ratio = np.array([r[1, -1] for r, _ in told])
    error = np.array([e[1, -1] for _, e in told])
    assert ratio.mean() == pytest.approx(1.5, abs=0.02)
    assert error.mean() == pytest.approx(ratio.std(), rel=0.15)


# --- a scaled-down rerun -----------------------------------------------------------------


def rerun(algorithm, task, trials, seed):
    serial = {"executor": "serial", "progress": False}
    plan = Experiment([task], [algorithm], trials, seed)
    return Runner("quick", options=serial).trials(plan, "again")


def test_a_tree_on_letter_comes_out_as_kept():
    """Same seeds, other libraries: within four standard errors of the difference."""
    data("tabular/letter.parquet")
    tree = next(a for a in learners() if a.name == "tree, leaves of 10")
    again = rerun(tree, table_task("letter"), 8, 2021)
    whole = (
        kept("validation").trials["curves"].where(task="letter", algorithm=tree.name)
    )
    ours, theirs = (t.points("error")[tree.name] for t in (again, whole))
    for n in np.unique(ours.size)[:4]:
        one, other = ours.value[ours.size == n], theirs.value[theirs.size == n]
        allowed = 4 * other.std(ddof=1) * np.sqrt(1 / len(one) + 1 / len(other))
        assert abs(one.mean() - other.mean()) < allowed, n

    # The negative control: a learner that ignores its features is noticed.
    def majority(_params, _X, y, _rng):
        labels, number = np.unique(y, return_counts=True)
        return lambda X: np.full(len(X), labels[number.argmax()])

    broken = rerun(errors_of("broken", majority), table_task("letter"), 1, 2021)
    value = broken.points("error")["broken"].value
    assert (value > theirs.value.max() + 0.1).all()


def test_a_network_on_half_of_the_letters_comes_out_as_kept():
    """Two blocks of 500, within five standard deviations of those that are kept."""
    data("tabular/satellite.parquet")
    half = "N to Z"
    split = half_task(half).sample(*np.random.default_rng(1).spawn(2))
    for name in ("scratch", "random, frozen"):
        network = next(a for a in algorithms(half) if a.name == name)
        theirs = kept("comparisons").trials["n-to-z"].points("error")[name]
        other = theirs.value[theirs.size == 500]
        for line in (1, 3):
            ((n, told),) = network.run(
                {}, split.line(line), np.random.default_rng(line)
            )
            assert n == 500
            assert abs(told["error"] - other.mean()) < 5 * other.std(ddof=1)


def test_pools_leave_a_fifth_to_test_on():
    for name, pool in POOLS.items():
        assert pool % 64 == 0
        assert 0.19 < 1 - pool / ROWS[name] < 0.21
    assert len(learners()) == 16


# --- what is kept ------------------------------------------------------------------------


def test_every_learner_has_all_blocks():
    found = curves.blocks_of(kept("validation").trials["curves"])
    assert len(found) == 48
    for own in found.values():
        assert [len(e) for e in own.errors] == [64, 32, 16, 8, 4, 2, 1]
        assert all(((e >= 0) & (e <= 100)).all() for e in own.errors)


def test_kept_tables_are_those_of_the_kept_trials():
    """The cheap ones; the others are made by the same code."""
    results = kept("validation")
    found = curves.blocks_of(results.trials["curves"])
    diverged = [key for key, own in found.items() if own.is_diverged]
    assert diverged == [("letter", "boosting", 0)]
    found = {key: own for key, own in found.items() if key not in diverged}
    again = columns(curves._light(found), real=np.float32)
    for name in ("e_N", "beta_N", "light_e_N", "light_beta_N"):
        np.testing.assert_allclose(
            again[name], results.tables["light"][name], rtol=1e-4
        )
    tables = kept("comparisons").tables
    names = {half.name for half in halves(tables)}
    assert names == {"A to M", "N to Z"}
    wanted = 2 * sum(len(pairs) for pairs in comparisons.GROUPS.values())
    assert len(tables["pairs"]["half"]) == wanted


def test_figures_have_a_panel_for_each_half():
    found = PAPER.study("comparisons").figures(kept("comparisons"))
    assert len(found) == len(comparisons.GROUPS)
    assert all(len(figure.charts) == 2 for figure in found)
    found = PAPER.study("validation").figures(kept("validation"))
    assert [len(figure.charts) for figure in found] == [3, 4, 1]


# --- the printed band, simulated ---------------------------------------------------------

NOISE = (0.02, 25.0)
SIZES, COUNTS = np.array([25.0, 50, 100, 200, 400]), np.array([16.0, 8, 4, 2, 1])
AT = np.array([25.0, 50, 100, 200, 400, 800, 1600, np.inf])


def held(curve, terms, replications, seed):
    """Return how often the printed band holds a curve at each of AT."""
    rng = np.random.default_rng(seed)
    alpha, eta, gamma = curve
    sd = np.sqrt(NOISE[0] + NOISE[1] / SIZES)
    shape = (replications, 5)
    means = alpha + eta * SIZES**gamma + rng.normal(size=shape) * sd / np.sqrt(COUNTS)
    freedom = np.maximum(COUNTS - 1, 1)
    variances = sd**2 * rng.chisquare(freedom, size=shape) / freedom
    laws = fit_power_laws(
        SIZES, means, COUNTS, variances, unit="percent", method="paper", terms=terms
    )
    band = laws.interval(AT)
    truth = alpha + eta * AT**gamma
    return ((band.lower <= truth) & (truth <= band.upper)).sum(axis=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("curve", "rates"),
    [
        (
            (5.68, 259.29, -0.41),
            (0.940, 0.886, 0.735, 0.945, 0.883, 0.694, 0.567, 0.261),
        ),
        (
            (15.76, 237.19, -0.73),
            (0.928, 0.774, 0.745, 0.955, 0.853, 0.724, 0.633, 0.463),
        ),
    ],
)
def test_the_printed_band_covers_too_little(curve, rates):
    """False alarms: one in a million for each of 16 rates, the chance of theirs aside."""
    found = held(curve, "power", 1000, seed=11)
    for cell, rate in zip(found, rates, strict=True):
        assert_rate(cell, 1000, rate)


@pytest.mark.slow
def test_with_a_known_exponent_the_printed_band_is_about_right():
    """The negative control: what is wrong with it is that the exponent is not known."""
    found = held((12.0, 180.0, -0.5), "linear", 2000, seed=12) / 2000
    assert found.min() > 0.90
    assert found.max() < 0.97
