"""Experiments: what is drawn anew, what is shared, what is crossed, what is refused."""

import itertools
import pickle

import numpy as np
import pytest
from support import refused

import curvewise
from curvewise import Algorithm, CurvewiseError, Experiment, Metric, Task, uniform
from curvewise.engine.experiment import VARIED
from curvewise.engine.seeding import stream

ROLES = ("params", "train", "test", "seed")
METRICS = [Metric(role) for role in ROLES]


def two_streams(train_rng, test_rng):
    return train_rng.random(), test_rng.random()


def one_stream(rng):
    return rng.random(), rng.random()


def tell(params, data, rng):
    """Score by the first random number of each role."""
    train, test = data
    yield (
        0,
        {"params": params["x"], "train": train, "test": test, "seed": rng.random()},
    )


TASK = Task("t", two_streams)
TELLER = Algorithm("a", {"x": uniform(0, 1)}, tell)


def ran(tasks=TASK, algorithms=TELLER, trials=None, seed=5, **options):
    experiment = Experiment(tasks, algorithms, trials, seed, metrics=METRICS, **options)
    return curvewise.run(experiment, executor="serial", progress=False)


def numbers(trials, role, **where):
    """Return the first random number of a role, for each trial in order."""
    (found,) = trials.where(**where).scores(role).values()
    return found.tolist()


def nothing(params, data, rng):
    return {"accuracy": 1.0}


PLAIN = Algorithm("a", {}, nothing)


# --- what is drawn anew --------------------------------------------------------------


@pytest.mark.parametrize(
    "vary",
    [c for n in range(5) for c in itertools.combinations(ROLES, n)],
    ids=lambda vary: "+".join(vary) or "nothing",
)
def test_what_varies_is_drawn_anew_and_the_rest_once(vary):
    trials = ran(trials=4, vary=vary)
    for role in ROLES:
        assert len(set(numbers(trials, role))) == (4 if role in vary else 1), role


def test_trial_0_is_the_same_whatever_varies():
    """What is frozen is frozen at its first draw, so that designs can be compared."""
    whole = ran(trials=2)
    for role in ROLES:
        frozen = ran(trials=2, vary=[r for r in ROLES if r != role])
        assert numbers(frozen, role) == numbers(whole, role)[:1] * 2
        for other in set(ROLES) - {role}:
            assert numbers(frozen, other) == numbers(whole, other)


def test_every_number_comes_from_the_stream_of_its_role():
    """The oracle: `stream`, which is held to numpy in a file of its own."""
    trials = ran(trials=3, seed=9)
    for i in range(3):
        assert (
            numbers(trials, "train")[i] == stream(9, "train", "t", replicate=i).random()
        )
        assert (
            numbers(trials, "test")[i] == stream(9, "test", "t", replicate=i).random()
        )
        expected = stream(9, "seed", "t", "a", replicate=i).random()
        assert numbers(trials, "seed")[i] == expected
        expected = TELLER.draw(stream(9, "params", "t", "a", replicate=i))["x"]
        assert numbers(trials, "params")[i] == expected


def test_a_task_of_one_stream_draws_both_sets_from_it():
    trials = ran(Task("t", one_stream), trials=3, seed=9)
    for i in range(3):
        rng = stream(9, "data", "t", replicate=i)
        both = numbers(trials, "train")[i], numbers(trials, "test")[i]
        assert both == (rng.random(), rng.random())


def test_data_is_train_and_test():
    one = Experiment(TASK, TELLER, 2, vary=["params", "data"])
    assert one.vary == ("params", "train", "test")
    assert (
        one.vary == Experiment(TASK, TELLER, 2, vary=["test", "params", "train"]).vary
    )


def test_one_role_needs_no_list():
    assert Experiment(TASK, TELLER, 2, vary="seed").vary == ("seed",)
    assert Experiment(Task("t", one_stream), TELLER, 2, vary="data").vary == (
        "train",
        "test",
    )


def test_another_seed_changes_every_number():
    one, other = ran(trials=3, seed=1), ran(trials=3, seed=2)
    for role in ROLES:
        assert not set(numbers(one, role)) & set(numbers(other, role))


def test_the_largest_seed_runs():
    assert len(ran(trials=2, seed=2**128 - 1)) == 2


# --- pairing, and what may be added --------------------------------------------------


def test_every_algorithm_meets_the_same_data_with_its_own_chance():
    trials = ran([TASK], [TELLER, Algorithm("b", TELLER.space, tell)], 5)
    for role, same in [
        ("train", True),
        ("test", True),
        ("params", False),
        ("seed", False),
    ]:
        a, b = (numbers(trials, role, algorithm=name) for name in "ab")
        assert (a == b) is same
        assert same or not set(a) & set(b)


def test_tasks_have_data_of_their_own():
    trials = ran([TASK, Task("u", two_streams)], TELLER, 5)
    for role in ROLES:
        t, u = (set(numbers(trials, role, task=name)) for name in "tu")
        assert not t & u


@pytest.mark.parametrize(
    ("tasks", "algorithms", "trials"),
    [
        ([TASK, Task("u", two_streams)], [TELLER], 3),
        ([Task("u", two_streams), TASK], [TELLER], 3),
        ([TASK], [Algorithm("b", {"x": [1.0]}, tell), TELLER], 3),
        ([TASK], [TELLER], 30),
    ],
    ids=["a task after", "a task before", "an algorithm before", "more trials"],
)
def test_what_is_added_changes_no_other_trial(tasks, algorithms, trials):
    """Streams hang on names, not on order: a table can grow."""
    before = ran([TASK], [TELLER], 3)
    grown = ran(tasks, algorithms, trials)
    assert len(grown) > len(before)
    assert grown.where(task="t", algorithm="a", number=[0, 1, 2]) == before


def test_another_name_is_another_trial():
    """The negative control: were names ignored, the tests above would hold as well."""
    one, other = (
        ran(trials=3),
        ran(algorithms=Algorithm("b", TELLER.space, tell), trials=3),
    )
    assert not set(numbers(one, "seed")) & set(numbers(other, "seed"))


# --- crossed designs -----------------------------------------------------------------


def test_a_crossed_design_has_every_combination_once():
    trials = ran(cross={"params": 3, "train": 2, "seed": 4})
    places = [tuple(t.labels[r] for r in ("params", "train", "seed")) for t in trials]
    assert places == list(itertools.product(range(3), range(2), range(4)))


def test_labels_say_which_draw_a_trial_has():
    trials = ran(cross={"params": 3, "seed": 4})
    assert trials[7].labels == {"params": 1, "seed": 3}
    for role in ("params", "seed"):
        by_label = {}
        for trial, number in zip(trials, numbers(trials, role), strict=True):
            by_label.setdefault(trial.labels[role], set()).add(number)
        assert all(len(found) == 1 for found in by_label.values())
        assert len(set.union(*by_label.values())) == len(by_label)


def test_what_is_crossed_uses_the_same_draws_as_what_varies():
    whole, crossed = ran(trials=3), ran(cross={"params": 3, "seed": 2})
    assert numbers(crossed, "params")[::2] == numbers(whole, "params")
    assert numbers(crossed, "seed")[:2] == numbers(whole, "seed")[:2]


def test_what_is_neither_crossed_nor_frozen_is_drawn_anew():
    trials = ran(cross={"params": 3, "seed": 2})
    assert len(set(numbers(trials, "train"))) == 6
    frozen = ran(cross={"params": 3, "seed": 2}, vary=["params", "seed"])
    assert len(set(numbers(frozen, "train"))) == 1


def test_the_first_factor_may_grow():
    """Its draws come last to an end, so that the numbers of all others stay."""
    small = ran(cross={"params": 3, "seed": 4})
    large = ran(cross={"params": 5, "seed": 4})
    assert large.where(number=range(12)) == small


def test_the_first_factor_has_no_end():
    """Trial 12 of a design of 3 x 4 is the first of a fourth draw, not draw 0 again."""
    small = Experiment(TASK, TELLER, cross={"params": 3, "seed": 4})
    assert small.labels(TASK, 12) == {"params": 3, "seed": 0}
    assert small.replicates(13)[::3] == (3, 1)


def test_another_factor_may_not():
    """The negative control: and `definition` says so, see test_definitions.py."""
    small = ran(cross={"params": 3, "seed": 4})
    large = ran(cross={"params": 3, "seed": 5})
    assert large.where(number=range(12)) != small


def test_data_is_crossed_as_a_whole():
    trials = ran(Task("t", one_stream), cross={"params": 2, "data": 3})
    assert [t.labels for t in trials][4] == {"params": 1, "data": 1}
    pairs = list(zip(numbers(trials, "train"), numbers(trials, "test"), strict=True))
    assert pairs[:3] == pairs[3:]
    assert len(set(pairs)) == 3


def test_trials_without_cross_have_no_labels():
    assert [t.labels for t in ran(trials=2)] == [{}, {}]


def test_a_crossed_design_says_how_many_trials_it_has():
    assert Experiment(TASK, TELLER, cross={"params": 3, "seed": 4}).trials == 12
    assert Experiment(TASK, TELLER, 12, cross={"params": 3, "seed": 4}).trials == 12


# --- lines ---------------------------------------------------------------------------


class Cut:
    """Data that can be cut into lines."""

    def __init__(self, rng, line=None):
        self.drawn, self.own = rng if line is not None else rng.random(), line

    def line(self, i):
        return Cut(self.drawn, i)


def tell_line(params, data, rng):
    return {"params": data.own, "train": data.drawn, "seed": rng.random()}


LINES = Algorithm("a", {}, tell_line)


def test_lines_share_a_draw():
    trials = ran(Task("t", Cut, lines=3), LINES, 7)
    assert numbers(trials, "params") == [0, 1, 2, 0, 1, 2, 0]
    drawn = numbers(trials, "train")
    whole = numbers(ran(Task("t", Cut, lines=1), Algorithm("a", {}, once), 3), "train")
    assert drawn == [whole[0]] * 3 + [whole[1]] * 3 + [whole[2]]
    assert len(set(numbers(trials, "seed"))) == 7


def once(params, data, rng):
    return {"train": data.drawn}


def test_labels_say_which_draw_and_which_line():
    trials = ran(Task("t", Cut, lines=3), LINES, 5)
    assert [t.labels for t in trials] == [
        {"draw": i // 3, "line": i % 3} for i in range(5)
    ]


def test_lines_of_two_streams_share_both():
    def sample(train_rng, test_rng):
        cut = Cut(train_rng)
        cut.drawn += test_rng.random()
        return cut

    drawn = numbers(ran(Task("t", sample, lines=2), LINES, 6), "train")
    assert drawn[::2] == drawn[1::2]
    assert len(set(drawn)) == 3


def test_lines_of_data_that_is_frozen_are_those_of_one_draw():
    trials = ran(Task("t", Cut, lines=3), LINES, 4, vary=["params", "seed"])
    assert numbers(trials, "params") == [0, 1, 2, 0]
    assert [t.labels for t in trials] == [{"draw": 0, "line": n} for n in (0, 1, 2, 0)]


def test_data_that_cannot_be_cut_fails_its_trials():
    trials = ran(Task("t", one_stream, lines=2), LINES, 2)
    assert [t.status for t in trials] == ["failed"] * 2
    assert "'tuple' object has no attribute 'line'" in trials[0].error


# --- tasks ---------------------------------------------------------------------------


class Sampler:
    def __call__(self, rng):
        return rng

    def twice(self, train_rng, test_rng, n=10):
        return train_rng, test_rng


@pytest.mark.parametrize(
    ("sample", "streams"),
    [
        (lambda rng: 0, 1),
        (lambda rng, n=5: 0, 1),
        (lambda rng, *, n=5: 0, 1),
        (lambda rng, *rest: 0, 1),
        (lambda a, b: 0, 2),
        (lambda a, b, n=5, **rest: 0, 2),
        (Sampler(), 1),
        (Sampler().twice, 2),
        (np.random.Generator.random, 1),  # a signature that nobody can read
        (Cut.line, 2),
    ],
)
def test_a_task_has_as_many_streams_as_its_sample_takes(sample, streams):
    assert Task("t", sample).streams == streams


@pytest.mark.parametrize(
    ("sample", "n"), [(lambda: 0, 0), (lambda a, b, c: 0, 3), (lambda *all_: 0, 0)]
)
def test_a_sample_of_none_or_three_streams_is_refused(sample, n):
    with pytest.raises(
        CurvewiseError,
        match=rf"Task 't': sample takes {n} arguments\. Write sample\(rng\), or "
        r"sample\(train_rng, test_rng\)\.",
    ):
        _ = Task("t", sample).streams


@pytest.mark.parametrize(
    "options",
    [
        {"vary": ["params", "train"], "trials": 2},
        {"vary": ["test"], "trials": 2},
        {"cross": {"train": 2, "params": 2}},
        {"cross": {"train": 2, "test": 2}},
        {"cross": {"test": 2}, "vary": ["params", "seed"]},
    ],
    ids=str,
)
def test_half_a_stream_is_refused(options):
    Experiment(TASK, TELLER, **options)
    tasks = [TASK, Task("half", one_stream)]
    asked = refused(Experiment, tasks, TELLER, **options)
    assert asked == ("sample", one_stream)


@pytest.mark.parametrize(
    "options",
    [
        {"vary": ["params", "data"], "trials": 2},
        {"vary": ["seed"], "trials": 2},
        {"cross": {"data": 2, "params": 2}},
        {"cross": {"data": 2}, "vary": ["seed"]},
    ],
    ids=str,
)
def test_a_whole_stream_is_not(options):
    assert Experiment(Task("t", one_stream), TELLER, **options).size


# --- algorithms ----------------------------------------------------------------------


def test_fixed_hyperparameters_are_the_same_in_every_trial():
    fixed = TELLER.fixed({"x": 0.25})
    assert fixed.name == 'a {"x":0.25}'
    trials = ran(algorithms=[TELLER, fixed, TELLER.fixed({"x": 0.5}, "half")], trials=3)
    assert numbers(trials, "params", algorithm=fixed.name) == [0.25] * 3
    assert numbers(trials, "params", algorithm="half") == [0.5] * 3
    assert trials.where(algorithm="half")[1].params == {"x": 0.5}


@pytest.mark.parametrize(
    "params", [{"layers": [64, 32]}, {"x": None}, {"net": {"lr": 0.1}}, {}]
)
def test_a_fixed_value_may_be_a_list_a_dict_or_nothing(params):
    assert PLAIN.fixed(params).draw(np.random.default_rng(0)) == params


def test_fixed_values_are_plain():
    params = {"f": object()}
    assert refused(PLAIN.fixed, params) == ("Algorithm 'a'", params)


def test_an_algorithm_draws_plain_values():
    drawn = TELLER.draw(np.random.default_rng(3))
    assert list(drawn) == ["x"]
    assert type(drawn["x"]) is float


# --- looking things up, words, copies ------------------------------------------------


def test_members_are_found_by_name():
    experiment = Experiment([TASK], [TELLER], 2)
    assert experiment.task("t") is TASK
    assert experiment.algorithm("a") is TELLER
    assert list(experiment.cells()) == [(TASK, TELLER)]
    assert refused(experiment.task, "T") == ("task", "T")
    assert refused(experiment.algorithm, "x") == ("algorithm", "x")


def test_an_experiment_prints_what_it_will_do():
    experiment = Experiment(
        [TASK, Task("u", two_streams)], [TELLER, PLAIN.fixed({}, "b")], 1_000, 7
    )
    assert str(experiment) == (
        "4,000 trials: 1,000 of each algorithm on each task\n"
        "tasks: t, u\n"
        "seed: 7; drawn anew in each trial: params, train, test, seed\n"
        "algorithms:\n"
        "a\n"
        "  x: uniform from 0 to 1\n"
        "b"
    )


def test_a_crossed_experiment_prints_its_factors():
    text = str(Experiment(TASK, TELLER, cross={"params": 10, "seed": 5}))
    assert "50 trials: 50 of each" in text
    assert "\ncrossed: 10 params x 5 seed\n" in text


def test_what_each_algorithm_draws_from_can_be_read():
    experiment = Experiment(TASK, [TELLER, Algorithm("b", {}, tell)], 2)
    assert experiment.spaces() == {"a": "x: uniform from 0 to 1", "b": ""}


def test_size_is_the_number_of_all_trials():
    algorithms = [TELLER, Algorithm("b", {}, tell)]
    assert Experiment([TASK, Task("u", two_streams)], algorithms, 5).size == 20


def test_an_experiment_is_frozen_and_does_not_follow_what_it_was_made_of():
    tasks, cross = [TASK], {"params": 2}
    experiment = Experiment(tasks, TELLER, cross=cross)
    tasks.append(Task("u", two_streams))
    cross["seed"] = 3
    assert experiment.size == 2
    with pytest.raises(AttributeError):
        experiment.seed = 3


def test_an_experiment_survives_a_pickle():
    experiment = Experiment(TASK, TELLER, 3, 4, metrics=METRICS)
    assert pickle.loads(pickle.dumps(experiment)) == experiment


def test_generators_of_tasks_and_algorithms_will_do():
    names = ("a", "b")
    experiment = Experiment(
        iter([TASK]), (Algorithm(n, {}, tell) for n in names), np.int64(3), np.int64(4)
    )
    assert (experiment.size, type(experiment.seed), type(experiment.trials)) == (
        6,
        int,
        int,
    )


# --- what is refused; goldens hold the words -----------------------------------------


# "\ud800" has no bytes: an experiment that took it could keep no trial.
@pytest.mark.parametrize("name", ["", "  ", None, 3, b"t", "\ud800"])
@pytest.mark.parametrize(
    ("make", "rest"), [(Task, [one_stream]), (Algorithm, [{}, tell])]
)
def test_tasks_and_algorithms_have_names(make, rest, name):
    assert refused(make, name, *rest) == ("name", name)


@pytest.mark.parametrize(
    ("make", "given", "argument", "value"),
    [
        (Task, ("t", 3), "sample", 3),
        (Algorithm, ("a", {}, None), "run", None),
        (Algorithm, ("a", {"C": []}, nothing), "Algorithm 'a', parameter 'C'", []),
        (Experiment, (TASK, TELLER), "trials", None),
        (Experiment, ([], TELLER, 2), "tasks", []),
        (Experiment, (TASK, (), 2), "algorithms", ()),
        (Experiment, ([TASK, TASK], TELLER, 2), "tasks", ["t"]),
        (Experiment, (TASK, [TELLER, PLAIN], 2), "algorithms", ["a"]),
    ],
)
def test_what_an_experiment_is_made_of_is_checked(make, given, argument, value):
    assert refused(make, *given) == (argument, value)


def test_an_algorithm_takes_three_arguments():
    for run in (lambda params, data: None, lambda a, b, c, d: None):
        assert refused(Algorithm, "net", {}, run) == ("run", run)


@pytest.mark.parametrize("lines", [0, -1, 1.0, "2", True, None])
def test_lines_are_a_whole_number(lines):
    asked = refused(Task, "t", one_stream, lines=lines)
    assert asked == ("Task 't': lines", lines)


@pytest.mark.parametrize("trials", [0, -3, 2.0, "many", True])
def test_trials_are_a_whole_number(trials):
    assert refused(Experiment, TASK, TELLER, trials) == ("trials", trials)


def test_trials_are_not_said_twice():
    cross = {"params": 2, "seed": 3}
    assert refused(Experiment, TASK, TELLER, 5, cross=cross) == ("trials", 5)
    assert Experiment(TASK, TELLER, 6, cross=cross).trials == 6


@pytest.mark.parametrize("seed", [1.0, "1", None, True, np.float64(3), -1, 2**128])
def test_a_seed_is_a_whole_number_of_128_bits(seed):
    assert refused(Experiment, TASK, TELLER, 2, seed) == ("seed", seed)


def test_only_known_roles_vary_or_are_crossed():
    asked = refused(Experiment, TASK, TELLER, 2, vary=["param"])
    assert asked == ("role to vary", "param")
    asked = refused(Experiment, TASK, TELLER, cross={"lr": 3})
    assert asked == ("role to cross", "lr")
    assert VARIED == ROLES


@pytest.mark.parametrize("n", [0, 2.5, "3", True])
def test_a_factor_has_a_whole_number_of_levels(n):
    asked = refused(Experiment, TASK, TELLER, cross={"seed": n})
    assert asked == ("cross['seed']", n)


@pytest.mark.parametrize("other", ["train", "test"])
def test_data_and_a_half_of_it_are_not_crossed(other):
    cross = {"data": 2, other: 2}
    assert refused(Experiment, TASK, TELLER, cross=cross) == ("cross", cross)


@pytest.mark.parametrize(
    ("tasks", "culprit"),
    [
        ([TELLER], TELLER),
        ("moons", "m"),
        (3, 3),
        ([TASK, None], None),
        ({"t": TASK}, "t"),
    ],
)
def test_tasks_are_tasks(tasks, culprit):
    assert refused(Experiment, tasks, TELLER, 2) == ("tasks", culprit)


@pytest.mark.parametrize(
    ("algorithms", "culprit"), [([TASK], TASK), (nothing, nothing)]
)
def test_algorithms_are_algorithms(algorithms, culprit):
    asked = refused(Experiment, TASK, algorithms, 2)
    assert asked == ("algorithms", culprit)


@pytest.mark.parametrize(("metrics", "culprit"), [(["loss"], "loss"), ("loss", "l")])
def test_metrics_are_metrics(metrics, culprit):
    asked = refused(Experiment, TASK, TELLER, 2, metrics=metrics)
    assert asked == ("metrics", culprit)


def test_one_metric_needs_no_list():
    loss = Metric("loss", "lower")
    assert Experiment(TASK, TELLER, 2, metrics=loss).metrics == (loss,)


# --- what is found out early -------------------------------------------------------------


def test_what_an_algorithm_does_not_have_cannot_be_fixed():
    net = Algorithm("net", {"lr": [0.1, 0.2]}, lambda params, data, rng: None)
    assert refused(net.fixed, {"lrr": 0.1}) == ("hyperparameter", "lrr")
