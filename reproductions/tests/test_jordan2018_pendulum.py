"""Jordan et al. (2018), the pendulum: Table 2, Appendix C, and a run in small."""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import curvewise as cw
from curvewise.stats.distribution import cvar
from curvewise_papers.jordan2018 import pendulum_numbers
from curvewise_papers.jordan2018.pendulum import STUDY
from curvewise_papers.pendulum import actor_critic, pendulum_task, return_metric
from curvewise_papers.study import Results, Runner

pytest.importorskip("numba")

KEPT = Path(__file__).parents[2] / "docs/results/jordan2018/pendulum"
QUIET = {"executor": "serial", "progress": False}
SMALL = pendulum_numbers.Size(40, 20, 3, 3, 0, 4, 4)


@pytest.fixture(scope="module")
def small():
    return pendulum_numbers.run_size(
        Runner("quick", None, QUIET), SMALL, episodes=5, steps=20
    )


@pytest.fixture(scope="module")
def kept():
    if not KEPT.exists():
        pytest.skip(f"{KEPT} is not there")
    return Results.read(KEPT)


# --- the print ---------------------------------------------------------------------------


@pytest.mark.paper
@pytest.mark.parametrize(
    ("name", "mean", "best", "worst"),
    [("actor-critic", 388.3, 1476.2, -699.6), ("ppo", -342.1, 363.8, -1048.0)],
)
def test_the_worse_half_follows_from_mean_and_cvar(name, mean, best, worst):
    assert pendulum_numbers.printed_number(name, "mean") == mean
    assert pendulum_numbers.printed_number(name, "best") == best
    assert pendulum_numbers.printed_number(name, "worst") == pytest.approx(
        worst, abs=1e-9
    )


@pytest.mark.paper
def test_the_numbers_of_trials_are_not_the_same():
    trials = [pendulum_numbers.printed_trials(name) for name in pendulum_numbers.LABELS]
    assert trials == [3_041_685, 17_415]
    seconds = [12 * 3600 * 1000 / n for n in trials]
    assert seconds == [pytest.approx(14.2, abs=0.05), pytest.approx(2481, abs=0.5)]


def test_both_halves_have_the_mean_of_all():
    z = np.random.default_rng(0).gumbel(size=1001)
    told = pendulum_numbers.told(z)
    assert told["best"] == pytest.approx(cvar(z, 0.5))
    assert (told["best"] + told["worst"]) / 2 == pytest.approx(told["mean"], abs=1e-12)


# --- a run in small ----------------------------------------------------------------------


def test_a_small_run_has_all_tables(small):
    lengths = {k: len(next(iter(table.values()))) for k, table in small.tables.items()}
    assert lengths == {
        "actor-critic": 40,
        "ppo": 20,
        "episodes": 2 * 5,
        "speed": 2,
        "slices": 8,
        "curves": 8 * 5,
        "reruns": 8 * 3,
        "torques": 4,
    }
    floats = [
        np.asarray(column)
        for table in small.tables.values()
        for column in table.values()
        if np.asarray(column).dtype.kind == "f"
    ]
    assert {column.dtype for column in floats} == {np.dtype("float32")}
    assert all(np.isfinite(column).all() for column in floats)


def test_fewer_episodes_end_in_the_score(small):
    for name in pendulum_numbers.LABELS:
        own = pendulum_numbers.by_episodes(small, name)
        mean = pendulum_numbers.scores(small, name).mean()
        assert own["mean"][-1] == pytest.approx(mean, rel=1e-5)


def test_the_trials_are_those_of_the_public_api(small):
    task = pendulum_task(5, steps=20)
    search = cw.Experiment(
        task, actor_critic(), 3, pendulum_numbers.SEED, metrics=[return_metric(20)]
    )
    trials = cw.run(search, **QUIET)
    own = trials.scores("return", at="mean")["actor-critic"]
    np.testing.assert_allclose(
        pendulum_numbers.scores(small, "actor-critic")[:3], own, rtol=1e-6
    )
    rates = [trial.params["actor_rate"] for trial in trials]
    np.testing.assert_allclose(small.tables["actor-critic"]["actor_rate"][:3], rates)


def test_claims_and_figures_come_from_a_small_run(small, tmp_path):
    small.write(tmp_path)
    read = Results.read(tmp_path)
    for results in (small, read):
        claims = {claim.name: claim for claim in STUDY.claims(results)}
        assert len(claims) == 16
        assert len(STUDY.figures(results)) == 4
        identity = [c for n, c in claims.items() if "two CVaR" in n]
        assert [claim.verdict for claim in identity] == ["agrees", "agrees"]
        # Episodes of 20 steps have returns from -20 to 20: nothing of Table 2 fits.
        table = [c for c in claims.values() if c.table == "Table 2"]
        assert {claim.verdict for claim in table} == {"differs"}
    figure = STUDY.figures(small)[1]
    assert [len(chart.series) for chart in figure.charts] == [2, 4, 4]
    assert [mark.label for mark in figure.charts[0].marks] == [
        "p1",
        "p50",
        "p95",
        "p99",
    ]


def test_what_is_needed_is_named(monkeypatch):
    assert STUDY.missing() == ""
    monkeypatch.setattr("curvewise_papers.study.find_spec", lambda name: None)
    assert "pip install './reproductions[rl]'" in STUDY.missing()


# --- Appendix C --------------------------------------------------------------------------


def with_reruns(top, lower, around=()):
    """Return results that have nothing but reruns of PPO."""
    z = np.concatenate([np.sort(top), np.sort(lower)])
    at = np.repeat([99.0, 95.0], [len(top), len(lower)])
    tables = {
        "reruns": {"algorithm": np.full(len(z), "ppo"), "percentile": at, "return": z}
    }
    if len(around):
        at = np.repeat(98 + np.arange(len(around)) / 10, [len(own) for own in around])
        tables["around"] = {"percentile": at, "return": np.concatenate(around)}
    return Results(tables=tables)


def test_reruns_that_fall_behind_are_counted_where_the_curves_cross():
    lower = np.linspace(1000, 1100, 1000)
    top = np.concatenate([np.linspace(-500, 900, 100), np.linspace(1500, 1600, 900)])
    found = pendulum_numbers.fallen(with_reruns(top, lower))
    assert found.value == pytest.approx(0.1, abs=0.002)
    assert found.error == pytest.approx(math.sqrt(0.1 * 0.9 * 2 / 1000), rel=0.02)
    assert found.between == 0
    other = [lower - 2000, lower + 2000]  # always behind, never behind
    assert pendulum_numbers.fallen(
        with_reruns(top, lower, other)
    ).between == pytest.approx(math.sqrt(0.5))
    assert pendulum_numbers.beats(top, lower) == pytest.approx(0.9)


# --- what is kept ------------------------------------------------------------------------


def test_what_is_kept_is_as_much_as_promised(kept):
    assert len(pendulum_numbers.scores(kept, "actor-critic")) >= 10_000
    assert len(pendulum_numbers.scores(kept, "ppo")) >= 1_000
    for name in pendulum_numbers.LABELS:
        assert pendulum_numbers.by_episodes(kept, name)["episodes"][-1] == 250
        for percentile in pendulum_numbers.PERCENTILES:
            assert len(pendulum_numbers.reruns(kept, name, percentile)) >= 200
    assert kept.made["scale"] == "kept"
    assert sum(file.stat().st_size for file in KEPT.iterdir()) < 1_000_000


def test_each_number_that_differs_says_why_with_a_number(kept):
    for claim in STUDY.claims(kept):
        if claim.verdict != "agrees":
            assert re.search(r"\d", claim.why), claim.name


@pytest.mark.paper
def test_actor_critic_leads_ppo_in_mean_and_cvar(kept):
    (claim,) = [c for c in STUDY.claims(kept) if "leads PPO" in c.row]
    assert claim.verdict == "agrees"
    one, other = (
        pendulum_numbers.our_numbers(kept, name)["best"]
        for name in pendulum_numbers.LABELS
    )
    # In CVaR by more than 3 standard errors: once in 700 if they were equal.
    assert one.value - other.value > 3 * math.hypot(one.error, other.error)


def test_a_wrong_print_is_reported(kept):
    claims = [c for c in STUDY.claims(kept) if c.verdict == "agrees" and c.printed]
    assert claims
    for claim in claims:
        wrong = claim.printed + 1.01 * claim.tolerance + abs(claim.difference) + 0.01
        assert replace(claim, printed=wrong).verdict == "differs"


@pytest.mark.slow
def test_other_seeds_give_the_kept_mean(kept):
    many = pendulum_numbers.scores(kept, "actor-critic")
    search = cw.Experiment(
        pendulum_task(), actor_critic(points=1), 100, 7, metrics=[return_metric()]
    )
    few = cw.run(search, **QUIET).scores("return")["actor-critic"]
    error = many.std() / math.sqrt(len(few))
    # 3.5 standard errors: one false alarm in 2,000 choices of the seed.
    assert abs(few.mean() - many.mean()) < 3.5 * error
    # A learner that does not learn is noticed.
    still = actor_critic(points=1, space={**_IDLE}, name="still")
    search = cw.Experiment(pendulum_task(), still, 20, 7, metrics=[return_metric()])
    idle = cw.run(search, **QUIET).scores("return")["still"]
    assert abs(idle.mean() - many.mean()) > 3.5 * error


_IDLE = {"actor_rate": 0.0, "critic_rate": 0.0, "lambda": 0.0}
_IDLE |= {"critic_independent": 0, "critic_dependent": 0}
