import pickle
import re
from collections import Counter

import numpy as np
import pytest
import scipy.stats
from support import assert_rate, refused

from curvewise import CurvewiseError
from curvewise.engine import spaces
from curvewise.engine.spaces import adapters
from curvewise.engine.spaces.adapters import Suggest, from_configspace, from_optuna

FALSE_ALARM = 1e-6


def draws(space, n=1200, seed=20_26):
    one, rng = spaces.sampler(space), np.random.default_rng(seed)
    return [one(rng) for _ in range(n)]


def same_numbers(one, other):
    return scipy.stats.ks_2samp(one, other).pvalue > FALSE_ALARM


def same_shares(one, other):
    counts = Counter(map(repr, one)), Counter(map(repr, other))
    options = sorted(set().union(*counts))
    if len(options) == 1:
        return True
    table = [[count[option] for option in options] for count in counts]
    return scipy.stats.chi2_contingency(table).pvalue > FALSE_ALARM


# --- ConfigSpace -------------------------------------------------------------------------


@pytest.fixture
def cs():
    return pytest.importorskip("ConfigSpace")


@pytest.fixture
def rich(cs):
    """A space with a hyperparameter of every kind, conditions in a chain, clauses."""
    space = cs.ConfigurationSpace(seed=5)
    space.add(
        cs.Float("C", (1e-2, 1e2), log=True),
        cs.Float("u", (0, 1)),
        cs.Float("normal", (-1, 1), distribution=cs.Normal(0, 1)),
        cs.Integer("n", (1, 100), log=True),
        cs.Integer("i", (1, 4)),
        cs.Integer("beta", (1, 10), distribution=cs.Beta(2, 2)),
        cs.Categorical("kernel", ["linear", "poly", "rbf"], weights=[1, 2, 1]),
        cs.Integer("degree", (2, 5)),
        cs.OrdinalHyperparameter("order", [1, 5, 9]),
        cs.Constant("k", 3),
        cs.Categorical("a_mixed", [True, 1.5, (1, 2)]),
        cs.Float("b_chained", (0, 1)),
    )
    space.add(cs.EqualsCondition(space["degree"], space["kernel"], "poly"))
    space.add(
        cs.AndConjunction(
            cs.GreaterThanCondition(space["b_chained"], space["degree"], 3),
            cs.InCondition(space["b_chained"], space["i"], [1, 2, 3]),
        )
    )
    space.add(
        cs.ForbiddenAndConjunction(
            cs.ForbiddenEqualsClause(space["kernel"], "rbf"),
            cs.ForbiddenInClause(space["i"], [1, 2]),
        )
    )
    space.add(cs.ForbiddenGreaterThanRelation(space["i"], space["degree"]))
    return space


def test_configspace_is_drawn_by_its_own_law(rich):
    ours = draws(rich)
    theirs = [dict(one) for one in rich.sample_configuration(3000)]
    assert same_shares((sorted(p) for p in ours), (sorted(p) for p in theirs))
    for name in ("C", "u", "normal", "n", "beta", "b_chained"):
        one, other = ([p[name] for p in found if name in p] for found in (ours, theirs))
        assert same_numbers(one, other), name
    for name in ("i", "degree", "k", "a_mixed"):
        one, other = ([p[name] for p in found if name in p] for found in (ours, theirs))
        one = [tuple(v) if isinstance(v, list) else v for v in one]
        assert same_shares(one, other), name
    for name in ("kernel", "order"):
        one, other = ([str(p[name]) for p in found] for found in (ours, theirs))
        assert same_shares(one, other), name


def test_ignoring_the_clauses_would_be_another_law(rich, cs):
    """The negative control."""
    free = cs.ConfigurationSpace()
    free.add(rich["kernel"])
    one, other = ([p["kernel"] for p in draws(space)] for space in (rich, free))
    assert not same_shares(one, other)


def test_conditions_and_clauses_hold_in_every_draw(rich):
    for params in draws(rich, 1000):
        assert ("degree" in params) is (params["kernel"] == "poly")
        chained = params.get("degree", 0) > 3 and params["i"] <= 3
        assert ("b_chained" in params) is chained
        assert not (params["kernel"] == "rbf" and params["i"] in (1, 2))
        assert params["i"] <= params.get("degree", 9)
        assert params["a_mixed"] in (True, 1.5, [1, 2])


def test_configspace_draws_hang_on_our_rng_alone(rich):
    one = draws(from_configspace(rich), 20, seed=1)
    rich.seed(99)
    rich.sample_configuration(3)
    assert draws(rich, 20, seed=1) == one
    assert draws(rich, 20, seed=2) != one
    copied = pickle.loads(pickle.dumps(from_configspace(rich)))
    assert draws(copied, 20, seed=1) == one


def test_configspace_moves_our_rng_on(cs):
    rng = np.random.default_rng(0)
    space = cs.ConfigurationSpace({"u": (0.0, 1.0)})
    assert spaces.draw(space, rng) != spaces.draw(space, rng)


def test_a_configspace_prints_as_ours_do(rich):
    assert spaces.describe(rich).splitlines() == [
        "C:         log-uniform from 0.01 to 100",
        "a_mixed:   one of True, 1.5, [1, 2]",
        "beta:      ConfigSpace Type: BetaInteger, Alpha: 2.0, Beta: 2.0, Range: [1, 10]",
        "i:         whole number from 1 to 4",
        "k:         3",
        "kernel:    one of 'linear' (0.25), 'poly' (0.5), 'rbf' (0.25)",
        "n:         log-uniform whole number from 1 to 100",
        "normal:    ConfigSpace Type: NormalFloat, Mu: 0.0, Sigma: 1.0, "
        "Range: [-1.0, 1.0]",
        "order:     one of 1, 5, 9",
        "u:         uniform from 0 to 1",
        "degree:    whole number from 2 to 5 when kernel is 'poly'",
        "b_chained: uniform from 0 to 1 when (degree > 3 and i is 1 or 2 or 3)",
        "forbidden: (kernel == 'rbf' && i in {1, 2})",
        "forbidden: i > degree",
    ]


def test_other_conditions_print_too(cs):
    space = cs.ConfigurationSpace({"a": (1, 5), "b": (1, 5), "c": (1, 5), "d": (1, 5)})
    space.add(
        cs.OrConjunction(
            cs.LessThanCondition(space["c"], space["a"], 3),
            cs.NotEqualsCondition(space["c"], space["b"], 2),
        )
    )
    assert "c: whole number from 1 to 5 when (a < 3 or b is not 2)" in spaces.describe(
        space
    )


def test_a_configspace_may_be_a_part_of_another_space(cs):
    inner = cs.ConfigurationSpace({"n": [1, 2]})
    space = {"inner": inner, "x": [5]}
    spaces.sampler(space, "Algorithm 'a'")
    params = spaces.draw(space, np.random.default_rng(0))
    assert params["inner"]["n"] in (1, 2)
    assert spaces.describe(space) == "inner: {n: one of 1, 2}\nx:     5"


def test_an_empty_configspace_is_an_empty_space(cs):
    assert spaces.draw(cs.ConfigurationSpace(), np.random.default_rng(0)) == {}
    assert spaces.describe(cs.ConfigurationSpace()) == ""


def test_forbidding_too_much_ends_with_an_error(cs, monkeypatch):
    monkeypatch.setattr(adapters, "TRIES", 100)
    space = cs.ConfigurationSpace({"a": (0.0, 1.0), "b": (0.0, 1.0)})
    space.add(cs.ForbiddenLessThanRelation(space["a"], space["b"]))
    space.add(cs.ForbiddenGreaterThanRelation(space["a"], space["b"]))
    message = "Algorithm 'x': forbidden clauses refused 100 draws in a row. Forbid less"
    with pytest.raises(CurvewiseError, match=re.escape(message)):
        spaces.sampler(space, "Algorithm 'x'")(np.random.default_rng(0))


def test_something_else_is_no_configspace():
    assert refused(from_configspace, {"a": 1}) == ("space", {"a": 1})


def test_a_configspace_of_old_is_refused():
    old = type("ConfigurationSpace", (), {"__module__": "ConfigSpace.space"})
    with pytest.raises(CurvewiseError, match=r"too old. Install ConfigSpace>=1.0"):
        from_configspace(old())


# --- Optuna ------------------------------------------------------------------------------


def everything(trial):
    """What Optuna can suggest."""
    trial.suggest_float("u", -1, 2)
    trial.suggest_float("log", 1e-4, 1.0, log=True)
    trial.suggest_float("grid", 0.1, 1.0, step=0.3)
    trial.suggest_float("cut", 0.0, 1.0, step=0.4)
    trial.suggest_int("n", 1, 6)
    trial.suggest_int("even", 2, 9, step=2)
    trial.suggest_int("width", 1, 64, log=True)
    if trial.suggest_categorical("kernel", ["linear", "poly"]) == "poly":
        trial.suggest_int("degree", 2, 5)
    trial.suggest_int("one", 4, 4)
    trial.suggest_float("same", 0.5, 0.5)


@pytest.mark.filterwarnings("ignore")  # Optuna warns that 'cut' is cut
def test_optuna_functions_are_drawn_by_optunas_own_law():
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    theirs = []
    for _ in range(800):
        trial = study.ask()
        everything(trial)
        theirs.append(trial.params)
    ours = draws(from_optuna(everything), 4000)
    for name in ("u", "log", "width"):
        one, other = ([p[name] for p in found] for found in (ours, theirs))
        assert same_numbers(one, other), name
    for name in ("n", "even", "kernel", "degree", "one", "same"):
        one, other = ([p[name] for p in found if name in p] for found in (ours, theirs))
        assert same_shares(one, other), name
    for name in ("grid", "cut"):
        one, other = ([round(p[name], 9) for p in found] for found in (ours, theirs))
        assert same_shares(one, other), name


def test_a_grid_has_clean_numbers_and_both_ends():
    found = draws(from_optuna(everything), 500)
    assert {p["grid"] for p in found} == {0.1, 0.4, 0.7, 1.0}
    assert {p["cut"] for p in found} == {0.0, 0.4, 0.8}
    assert {p["even"] for p in found} == {2, 4, 6, 8}
    assert_rate(sum("degree" in p for p in found), 500, 1 / 2)


def test_a_function_may_return_what_it_suggested():
    def returning(trial):
        return {
            "lr": trial.suggest_loguniform("lr", 0.01, 1),
            "u": trial.suggest_uniform("u", 0, 1),
            "q": trial.suggest_discrete_uniform("q", 0, 1, 0.5),
            "layers": trial.suggest_categorical("layers", [(1, 2), (3,)]),
        }

    params = spaces.draw(from_optuna(returning), np.random.default_rng(0))
    assert sorted(params) == ["layers", "lr", "q", "u"]
    assert params["layers"] in ([1, 2], [3])
    assert params == spaces.draw(from_optuna(returning), np.random.default_rng(0))


def test_the_same_name_gives_the_same_value():
    trial = Suggest(np.random.default_rng(0))
    assert trial.suggest_float("x", 0, 1) == trial.suggest_float("x", 0, 1)
    assert trial.suggest_int("n", 0, 9) == trial.params["n"]
    message = (
        "parameter 'x' is suggested as ('float', 0, 1, None, False) and as ('float'"
    )
    with pytest.raises(CurvewiseError, match=re.escape(message)):
        trial.suggest_float("x", 0, 2)


def test_an_optuna_function_prints_its_words():
    assert spaces.describe(from_optuna(everything)) == "What Optuna can suggest."
    nested = {"x": from_optuna(everything)}
    assert spaces.describe(nested) == "x: what everything suggests"
    params = spaces.draw(nested, np.random.default_rng(0))
    assert params["x"]["one"] == 4
    assert pickle.loads(pickle.dumps(from_optuna(everything))).function is everything


def suggests(method, *args, **options):
    return lambda trial: getattr(trial, method)(*args, **options) and None


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda t: t.report(1, 2),
            "The space: the trial was asked for 'report'. A space",
        ),
        (
            lambda t: t.number,
            "the trial was asked for 'number'. A space can only suggest",
        ),
        (lambda t: 0.5, "<lambda> returned 0.5 and suggested {}. The params are what"),
        (
            lambda t: {"lr": t.suggest_float("rate", 0.5, 0.5)},
            "<lambda> returned {'lr': 0.5} and suggested {'rate': 0.5}. The params are",
        ),
        (
            suggests("suggest_float", "x", 2, 1),
            "The space, parameter 'x': uniform goes from 2 to 1. Pass the lower end",
        ),
        (
            suggests("suggest_float", "x", 0, 1, log=True),
            "The space, parameter 'x': loguniform goes from 0 to 1. Pass ends above 0",
        ),
        (
            suggests("suggest_float", "x", 2, 1, step=0.5),
            "The space, parameter 'x': uniform goes from 2 to 1.",
        ),
        (
            suggests("suggest_float", "x", 0, 1, step=0),
            "parameter 'x' has step=0 and log=False. Pass a step > 0, or log.",
        ),
        (
            suggests("suggest_float", "x", 1, 2, step=0.1, log=True),
            "parameter 'x' has step=0.1 and log=True. Pass a step > 0, or log.",
        ),
        (
            suggests("suggest_int", "x", 1, 8, step=2, log=True),
            "parameter 'x' has step=2 and log=True. Pass a whole step >= 1, or log.",
        ),
        (
            suggests("suggest_int", "x", 1.5, 8),
            "parameter 'x': integers goes from 1.5 to 8. Pass whole numbers.",
        ),
        (
            suggests("suggest_int", "x", 0, 8, log=True),
            "parameter 'x': log_integers goes from 0 to 8. Pass ends from 1",
        ),
        (
            suggests("suggest_categorical", "x", []),
            "parameter 'x' has no choices. Pass at least one.",
        ),
        (
            suggests("suggest_categorical", "x", [len]),
            "The space, parameter 'x': {'value': <built-in function len>} cannot be kept",
        ),
    ],
)
def test_what_cannot_be_suggested_is_refused_by_name(function, message):
    with pytest.raises(CurvewiseError, match=re.escape(message)):
        spaces.draw(from_optuna(function), np.random.default_rng(0))


def test_only_functions_suggest():
    assert refused(from_optuna, 5) == ("suggest", 5)
