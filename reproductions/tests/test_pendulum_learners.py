"""Learners on the pendulum, as algorithms of an experiment."""

import math
import subprocess
import sys

import numpy as np
import pytest

import curvewise as cw
import curvewise_papers
from curvewise.errors import CurvewiseError
from curvewise_papers.pendulum import (
    ActorCritic,
    Episodes,
    Pendulum,
    Proximal,
    actor_critic,
    pendulum_task,
    ppo,
    return_metric,
)

pytest.importorskip("numba")

GOOD = {"actor_rate": 1e-3, "critic_rate": 1e-2, "lambda": 0.5}
GOOD |= {"critic_independent": 5, "critic_dependent": 5}
SMALL = {"rate": 1e-3, "steps": 32, "epochs": 2, "batch": 8, "clip": 0.2, "lambda": 0.5}
SMALL |= {"critic_independent": 2, "critic_dependent": 1}
QUIET = {"executor": "serial", "progress": False}


def curve(algorithm, params, episodes=40, steps=2000, seed=0):
    data = Episodes(Pendulum(), episodes, steps, seed)
    found = list(algorithm.run(params, data, np.random.default_rng(seed)))
    return [step for step, _ in found], np.array([told["return"] for _, told in found])


def test_actor_critic_learns_to_stand():
    params = {**GOOD, "critic_independent": 8, "critic_dependent": 8}
    _, returns = curve(actor_critic(), params)
    # In 12 seeds the last ten episodes had means of 1872 to 1928.
    assert returns[-10:].mean() > 1500
    _, idle = curve(actor_critic(), {**params, "actor_rate": 0.0, "critic_rate": 0.0})
    assert idle.mean() < 0  # in 20 seeds: -1185 to -534


def test_stretches_of_episodes_have_the_mean_return():
    steps, every = curve(actor_critic(), GOOD, 6, 100)
    assert steps == [1, 2, 3, 4, 5, 6]
    steps, three = curve(actor_critic(points=3), GOOD, 6, 100)
    assert steps == [2, 4, 6]
    np.testing.assert_allclose(three, every.reshape(3, 2).mean(axis=1))
    _, one = curve(actor_critic(points=1), GOOD, 6, 100)
    assert one == pytest.approx([every.mean()])


def test_fewer_episodes_are_the_first_of_many():
    for algorithm, params in ((actor_critic(), GOOD), (ppo(), SMALL)):
        _, few = curve(algorithm, params, 3, 100)
        _, many = curve(algorithm, params, 6, 100)
        np.testing.assert_array_equal(few, many[:3])


def test_all_algorithms_meet_the_same_starts():
    task = pendulum_task(3, steps=10)
    one, same, other = (task.sample(np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.starts(), same.starts())
    assert not np.array_equal(one.starts(), other.starts())
    many = Episodes(Pendulum(), 4000, 1, 0).starts()
    # 4 standard errors of the mean and of the share in one half: false alarms 1 in 8000.
    assert abs(many.mean()) < 4 * math.pi / math.sqrt(3 * 4000)
    assert abs((many > 0).mean() - 0.5) < 4 * 0.5 / math.sqrt(4000)


@pytest.mark.parametrize("direct", [False, True])
def test_what_diverges_is_scored(direct):
    params = {**GOOD, "critic_rate": 50.0}
    learner = ActorCritic(params, Pendulum(), np.random.default_rng(0), direct)
    noise = np.random.default_rng(0).standard_normal(500)
    total, learned = learner.play(1.0, noise)
    assert 0 < learned < 500
    assert -500 <= total <= 500
    before = learner.actor.copy()
    assert np.isfinite(before).all()
    _, learned = learner.play(1.0, noise, learn=False)
    assert learned == 0
    np.testing.assert_array_equal(learner.actor, before)


def test_a_ppo_that_diverges_keeps_the_weights_that_it_had():
    params = {**SMALL, "rate": 1e9}
    learner = Proximal(params, Pendulum(), np.random.default_rng(0), False)
    noise = np.random.default_rng(0).standard_normal(100)
    total, learned = learner.play(1.0, noise)
    assert learned == 32
    assert not learner.weights.any()
    assert math.isfinite(total)


def test_a_diverged_trial_is_part_of_an_experiment():
    wild = actor_critic(space={**GOOD, "critic_rate": 50.0}, name="wild")
    tame = actor_critic(space=dict(GOOD), name="tame")
    search = cw.Experiment(
        pendulum_task(4, steps=100), [wild, tame], 2, 0, metrics=[return_metric(100)]
    )
    trials = cw.run(search, **QUIET)
    assert {trial.status for trial in trials} == {"ok"}
    shares = trials.scores("diverged", at="mean")
    assert (shares["wild"] > 0.5).all()
    assert not shares["tame"].any()
    answer = cw.performance(trials, "return", at="mean")
    assert answer.one("wild").mean < answer.one("tame").mean + 100


@pytest.mark.parametrize("make", [actor_critic, ppo])
def test_spaces_are_those_of_the_paper(make):
    rng = np.random.default_rng(0)
    drawn = [make().draw(rng) for _ in range(300)]
    orders = [own[f"critic_{k}"] for own in drawn for k in ("dependent", "independent")]
    assert set(orders) == set(range(11))
    ends = {key: (min(v), max(v)) for key in drawn[0] if (v := [d[key] for d in drawn])}
    # 300 draws come within 4 % of both ends: a miss has a chance of 2 * 0.96^300 = 1e-5.
    assert ends["lambda"] == (pytest.approx(0, abs=0.04), pytest.approx(1, abs=0.04))
    if make is ppo:
        assert ends["steps"][0] < 19
        assert ends["steps"][1] > 230
        assert ends["epochs"] == (1, 15)
        assert ends["batch"][0] < 11
        assert ends["batch"][1] > 61


@pytest.mark.parametrize("make", [actor_critic, ppo])
def test_trials_are_the_same_in_any_worker(make):
    search = cw.Experiment(
        pendulum_task(2, steps=50), make(points=1), 6, 3, metrics=[return_metric(50)]
    )
    one, other = (cw.run(search, **QUIET).scores("return") for _ in range(2))
    np.testing.assert_array_equal(one[make().name], other[make().name])
    assert len(set(one[make().name])) == 6


@pytest.mark.slow
@pytest.mark.parametrize("make", [actor_critic, ppo])
def test_trials_are_the_same_in_two_processes(make):
    search = cw.Experiment(
        pendulum_task(2, steps=50), make(points=1), 6, 3, metrics=[return_metric(50)]
    )
    here = cw.run(search, **QUIET)
    there = cw.run(search, workers=2, progress=False)
    assert here == there


# --- what can go wrong -------------------------------------------------------------------


def test_learners_need_a_pendulum():
    with pytest.raises(CurvewiseError, match=r"got float.*pendulum_task"):
        next(actor_critic().run(GOOD, 1.0, np.random.default_rng(0)))


def test_points_must_divide_the_episodes():
    with pytest.raises(CurvewiseError, match="points is 4, and 6 episodes"):
        curve(actor_critic(points=4), GOOD, 6, 10)


def test_a_task_needs_whole_numbers_and_a_pendulum():
    with pytest.raises(CurvewiseError, match="episodes is 0"):
        pendulum_task(0)
    with pytest.raises(CurvewiseError, match="pendulum is float"):
        pendulum_task(pendulum=9.8)


@pytest.mark.parametrize("library", ["numba", "gymnasium"])
def test_what_is_not_installed_is_named(library, monkeypatch):
    module = {"numba": "pendulum_kernels", "gymnasium": "pendulum_environment"}[library]
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, f"curvewise_papers.{module}", raising=False)
    monkeypatch.delattr(curvewise_papers, module, raising=False)
    with pytest.raises(CurvewiseError, match=r"pip install '\./reproductions\[rl\]'"):
        __import__(f"curvewise_papers.{module}")


def test_numba_is_not_imported_before_a_trial_runs():
    code = (
        "import sys; from curvewise_papers.pendulum import *; actor_critic(); ppo(); "
        "sys.exit('numba' in sys.modules or 'gymnasium' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_environment_is_one_of_gymnasium():
    pytest.importorskip("gymnasium")
    from gymnasium.utils.env_checker import check_env

    from curvewise_papers.pendulum_environment import PendulumEnv

    env = PendulumEnv(steps=3)
    check_env(env, skip_render_check=True)
    env.reset(seed=1)
    ends = [env.step([0.0])[2:4] for _ in range(3)]
    assert ends == [(False, False), (False, False), (False, True)]
