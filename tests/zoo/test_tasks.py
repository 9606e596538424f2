import pickle

import numpy as np
import pytest
from support import assert_rate, refused

from curvewise import zoo
from curvewise.engine.definitions import definition
from curvewise.engine.supervised.sizes import sizes_for
from curvewise.errors import CurvewiseError

DRAWN = ["moons", "circles", "linear", "simple", "exp2"]


def rng(seed):
    return np.random.default_rng(seed)


def drawn(task, train=1, test=2):
    return task.sample(rng(train), rng(test))


def own(**options):
    X = rng(0).random((40, 3))
    return zoo.data_task(X, np.arange(40) % 2, **options)


# --- what is drawn -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "train", "test", "features", "classes"),
    [
        ("moons", 1200, 800, 2, 2),
        ("circles", 1200, 800, 2, 2),
        ("linear", 1200, 800, 10, 4),
        ("simple", 1280, 320, 10, 2),
        ("exp2", 1280, 320, 2, 2),
    ],
)
def test_tasks_have_the_sizes_of_the_papers(name, train, test, features, classes):
    task = zoo.task(name)
    one = drawn(task)
    assert task.name == name
    assert task.streams == 2
    assert task.lines == 1
    assert one.train()[0].shape == (train, features)
    assert one.test[0].shape == (test, features)
    assert one.classes.tolist() == list(range(classes))
    assert one.sizes == (train,)
    shares = np.bincount(one.y) / len(one.y)
    assert np.abs(shares - 1 / classes).max() < 0.05


@pytest.mark.parametrize("name", DRAWN)
def test_the_same_streams_give_the_same_data_and_others_give_others(name):
    task = zoo.task(name)
    one, again, other = drawn(task), drawn(task), drawn(task, train=3, test=4)
    for a, b, c in zip(
        (one.X, one.y), (again.X, again.y), (other.X, other.y), strict=True
    ):
        assert (a == b).all()
        assert (a != c).any()


@pytest.mark.parametrize("name", ["moons", "circles", "simple", "exp2"])
def test_training_and_test_set_hang_on_a_stream_each(name):
    task = zoo.task(name)
    one, test, train = drawn(task), drawn(task, test=9), drawn(task, train=9)
    assert (one.train()[0] == test.train()[0]).all()
    assert (one.test[0] != test.test[0]).any()
    assert (one.train()[0] != train.train()[0]).any()
    assert (one.test[0] == train.test[0]).all()


def test_a_frozen_training_stream_of_linear_keeps_problem_and_training_set():
    task = zoo.linear_task()
    one, test = drawn(task), drawn(task, test=9)
    assert (one.train()[0] == test.train()[0]).all()
    assert (one.test[0] != test.test[0]).any()
    rows = {row.tobytes() for row in one.train()[0]}
    assert not rows & {row.tobytes() for row in one.test[0]}


def test_a_frozen_test_stream_of_a_data_set_keeps_who_is_held_out():
    task = own()
    one, train, test = drawn(task), drawn(task, train=9), drawn(task, test=9)
    assert (one.test_ids == train.test_ids).all()
    assert one.order.tolist() != train.order.tolist()
    assert set(one.order) == set(train.order)
    assert one.test_ids.tolist() != test.test_ids.tolist()


def test_simple_has_the_moments_it_should():
    """Means 0 and .5, variances 1 and 2: within five standard errors."""
    X, y = drawn(zoo.simple_task(20_000)).train()
    assert y.sum() == 10_000
    for label, mean, variance in ((0, 0, 1), (1, 0.5, 2)):
        own = X[y == label].ravel()
        n = len(own)
        assert own.mean() == pytest.approx(mean, abs=5 * np.sqrt(variance / n))
        assert own.var() == pytest.approx(variance, abs=5 * variance * np.sqrt(2 / n))


def test_exp2_is_balanced_by_symmetry_and_each_class_has_a_disc_in_the_other():
    X, y = drawn(zoo.exp2_task(20_000)).train()
    assert_rate(int(y.sum()), len(y), 0.5)
    for centre, label in (((3.75, 5.0), 1), ((11.25, 10.0), 0)):
        inside = np.linalg.norm(X - centre, axis=1) < 2.4
        ring = np.abs(np.linalg.norm(X - centre, axis=1) - 2.6) < 0.05
        assert (y[inside] == label).all()
        assert (y[ring] != label).all()


def test_noise_is_a_setting():
    X, y = drawn(zoo.circles_task(noise=0.0, factor=0.3)).train()
    assert np.linalg.norm(X[y == 1], axis=1) == pytest.approx(0.3)
    X, y = drawn(zoo.moons_task(400, noise=0.0, test=0.5)).train()
    assert np.linalg.norm(X[y == 0], axis=1) == pytest.approx(1)


# --- sizes and lines ---------------------------------------------------------------------


@pytest.mark.parametrize("name", DRAWN)
def test_every_task_can_grow_in_lines(name):
    task = zoo.task(name, sizes="small", lines="all")
    assert task.lines == 4
    assert [len(drawn(task).line(i).sizes) for i in range(4)] == [3, 1, 2, 1]


def test_the_sizes_of_xue():
    design = sizes_for(1280, "doubling", steps=6)
    task = zoo.simple_task(sizes=design, lines="all")
    assert task.lines == 32
    assert drawn(task).line(0).sizes == (40, 80, 160, 320, 640, 1280)
    assert zoo.simple_task(sizes=[40 * 2**i for i in range(6)], lines="all").lines == 32


def test_some_of_the_lines_are_enough():
    assert zoo.moons_task(sizes="cifar100", lines=3).lines == 3
    for lines in (17, "many"):
        asked = refused(zoo.moons_task, sizes="cifar100", lines=lines)
        assert asked == ("lines", lines)


# --- what they are, and what is refused --------------------------------------------------


@pytest.mark.parametrize("name", DRAWN)
def test_tasks_travel_by_reference_and_their_definition_holds_their_settings(name):
    one, other = zoo.task(name), zoo.task(name, n=100, test=40)
    copy = pickle.loads(pickle.dumps(one))
    assert len(pickle.dumps(one)) < 1000
    assert definition(copy.sample) == definition(one.sample)
    assert definition(other.sample) != definition(one.sample)
    assert (drawn(copy).X == drawn(one).X).all()


def test_the_definition_of_a_data_set_changes_with_its_data():
    X, y = np.eye(8), [0, 1] * 4
    one, same, other = (
        definition(zoo.data_task(data, y).sample) for data in (X, X + 0, X + 1)
    )
    assert one == same != other


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: zoo.task("moon"), "no task 'moon'. Did you mean 'moons'"),
        (lambda: zoo.task("moons", nose=1), "Task 'moons': .*unexpected keyword.*nose"),
        (lambda: zoo.moons_task(0), "n is 0. Pass a whole number"),
        (lambda: zoo.moons_task(test=1.5), "test is 1.5, and there are 2,000 examples"),
        (lambda: zoo.simple_task(test=0.2), "test is 0.2. Pass a whole number"),
        (lambda: zoo.simple_task(-1), "n is -1. Pass a whole number"),
        (lambda: zoo.exp2_task(sizes=[2000]), "Size 2000 was asked for"),
        (lambda: own(test=40), "test is 40, and there are 40 examples"),
        (lambda: zoo.data_task([1, 2], [1]), "X has 2 rows and y 1 label"),
    ],
)
def test_impossible_tasks_say_why(call, message):
    with pytest.raises(CurvewiseError, match=message):
        call()
