import pickle

import numpy as np
import pytest
from support import assert_rate, data

from curvewise import zoo
from curvewise.engine.definitions import definition
from curvewise.engine.supervised.sizes import sizes_for
from curvewise.errors import CurvewiseError
from curvewise.zoo import faces

DRAWN = ["moons", "circles", "linear", "simple", "exp2"]


def rng(seed):
    return np.random.default_rng(seed)


def drawn(task, train=1, test=2):
    return task.sample(rng(train), rng(test))


def own(**options):
    X = rng(0).random((40, 3))
    return zoo.data_task(X, np.arange(40) % 2, **options)


@pytest.fixture
def images(tmp_path):
    """A small file of the form that faces come in."""
    path = tmp_path / "people.npz"
    target = np.arange(60) % 3
    grey = rng(0).integers(0, 256, (60, 5, 4)) // 2 + 40 * target[:, None, None]
    np.savez(path, images=grey.astype(np.uint8), target=target)
    return path


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
    with pytest.raises(
        CurvewiseError, match=r"lines is 17, and .* form 16, which is 'all'"
    ):
        zoo.moons_task(sizes="cifar100", lines=17)
    with pytest.raises(
        CurvewiseError, match=r"lines is 'many', and .* 'all'. Pass a whole"
    ):
        zoo.moons_task(sizes="cifar100", lines="many")


# --- faces -------------------------------------------------------------------------------


def test_faces_are_components_of_the_training_images(images):
    one = drawn(zoo.faces_task(images, test=0.4, components=5))
    X, _ = one.train()
    assert X.shape == (36, 5)
    assert X.mean(0) == pytest.approx(0, abs=1e-4)
    assert X.var(0, ddof=1) == pytest.approx(1, abs=1e-3)
    assert np.abs(one.test[0].var(0, ddof=1) - 1).max() > 0.01  # not fitted to these
    assert one.classes.tolist() == [0, 1, 2]


def test_there_are_no_more_components_than_images_or_pixels(images, tmp_path):
    with np.load(images) as file:
        target = file["target"]
    small = tmp_path / "small.npz"
    np.savez(small, images=np.random.default_rng(0).random((60, 2, 3)), target=target)
    assert zoo.faces_task(small, components=6)
    words = "components is 7, and there are 36 images of 6 pixels.* from 1 to 6"
    with pytest.raises(CurvewiseError, match=words):
        zoo.faces_task(small, components=7)
    with pytest.raises(CurvewiseError, match=r"components is 11, .* from 1 to 10"):
        zoo.faces_task(images, test=50, components=11)


def test_faces_are_found_in_the_data_folder_or_fetched(images, tmp_path, monkeypatch):
    monkeypatch.delenv("CURVEWISE_DATA", raising=False)
    assert faces._found() is None
    monkeypatch.setenv("CURVEWISE_DATA", str(tmp_path))
    assert faces._found() is None
    images.rename(tmp_path / "lfw_people70.npz")
    assert faces._found() == str(tmp_path / "lfw_people70.npz")
    asked = {}

    def fetch(**settings):
        asked.update(settings)
        return type("People", (), {"data": np.zeros((2, 1850)), "target": np.arange(2)})

    monkeypatch.setattr("sklearn.datasets.fetch_lfw_people", fetch)
    assert faces._images.__wrapped__(None)[0].shape == (2, 1850)
    assert asked == {"min_faces_per_person": 70, "resize": 0.4}


@pytest.mark.slow
def test_real_faces_have_1288_images_of_7_people_and_150_components():
    path = data("lfw_people70/lfw_people70.npz")
    one = drawn(zoo.faces_task(path))
    assert one.train()[0].shape == (772, 150)
    assert one.test[0].shape == (516, 150)
    assert len(one.classes) == 7
    assert np.bincount(one.y).tolist() == [77, 236, 121, 530, 109, 71, 144]


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
        (lambda: zoo.faces_task("nowhere.npz"), "no file 'nowhere.npz'. Pass an .npz"),
        (lambda: zoo.faces_task(components=2.5), "components is 2.5, .*whole number"),
        (
            lambda: zoo.faces_task(components=900),
            "components is 900, .* 772 images of 1850 pix",
        ),
    ],
)
def test_impossible_tasks_say_why(call, message):
    with pytest.raises(CurvewiseError, match=message):
        call()


def test_a_file_without_faces_says_so(tmp_path):
    np.savez(tmp_path / "other.npz", images=np.zeros((3, 2, 2)))
    with pytest.raises(
        CurvewiseError, match=r"other.npz' has no 'target'. Pass an .npz"
    ):
        zoo.faces_task(tmp_path / "other.npz")
