"""Photographs to tell people by, as a task."""

import numpy as np
import pytest
from support import data, refused

from curvewise.errors import CurvewiseError
from curvewise_papers import tasks
from curvewise_papers.tasks import faces_task


def rng(seed):
    return np.random.default_rng(seed)


def drawn(task, train=1, test=2):
    return task.sample(rng(train), rng(test))


@pytest.fixture
def images(tmp_path):
    """A small file of the form that faces come in."""
    path = tmp_path / "people.npz"
    target = np.arange(60) % 3
    grey = rng(0).integers(0, 256, (60, 5, 4)) // 2 + 40 * target[:, None, None]
    np.savez(path, images=grey.astype(np.uint8), target=target)
    return path


def test_faces_are_components_of_the_training_images(images):
    one = drawn(faces_task(images, test=0.4, components=5))
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
    assert faces_task(small, components=6)
    assert refused(faces_task, small, components=7) == ("components", 7)
    assert faces_task(images, test=50, components=10)
    assert refused(faces_task, images, test=50, components=11) == ("components", 11)


def test_faces_are_found_in_the_data_folder_or_fetched(images, tmp_path, monkeypatch):
    monkeypatch.delenv("CURVEWISE_DATA", raising=False)
    assert tasks._found() is None
    monkeypatch.setenv("CURVEWISE_DATA", str(tmp_path))
    assert tasks._found() is None
    images.rename(tmp_path / "lfw_people70.npz")
    assert tasks._found() == str(tmp_path / "lfw_people70.npz")
    asked = {}

    def fetch(**settings):
        asked.update(settings)
        return type("People", (), {"data": np.zeros((2, 1850)), "target": np.arange(2)})

    monkeypatch.setattr("sklearn.datasets.fetch_lfw_people", fetch)
    assert tasks._images.__wrapped__(None)[0].shape == (2, 1850)
    assert asked == {"min_faces_per_person": 70, "resize": 0.4}


@pytest.mark.slow
def test_real_faces_have_1288_images_of_7_people_and_150_components():
    path = data("lfw_people70/lfw_people70.npz")
    one = drawn(faces_task(path))
    assert one.train()[0].shape == (772, 150)
    assert one.test[0].shape == (516, 150)
    assert len(one.classes) == 7
    assert np.bincount(one.y).tolist() == [77, 236, 121, 530, 109, 71, 144]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: faces_task("nowhere.npz"), "no file 'nowhere.npz'. Pass an .npz"),
        (lambda: faces_task(components=2.5), "components is 2.5, .*whole number"),
        (
            lambda: faces_task(components=900),
            "components is 900, .* 772 images of 1850 pix",
        ),
    ],
)
def test_impossible_faces_say_why(call, message):
    with pytest.raises(CurvewiseError, match=message):
        call()


def test_a_file_without_faces_says_so(tmp_path):
    np.savez(tmp_path / "other.npz", images=np.zeros((3, 2, 2)))
    with pytest.raises(
        CurvewiseError, match=r"other.npz' has no 'target'. Pass an .npz"
    ):
        faces_task(tmp_path / "other.npz")
