"""How far a computation is that runs no trials."""

from curvewise.flow import progress


def test_it_says_how_far_it_is_and_how_long_it_will_take(monkeypatch, capsys):
    seconds = iter(range(0, 1000, 7))
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(seconds)))
    assert list(progress.each(["a", "b", "c", "d"], "power")) == ["a", "b", "c", "d"]
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "curvewise: power, 1 of 4, 42 s left"
    assert len(said) == 2  # not more often than every ten seconds


def test_what_is_quick_or_not_wanted_says_nothing(capsys):
    assert list(progress.each([1, 2], "power")) == [1, 2]
    assert list(progress.each([1, 2], "power", False)) == [1, 2]
    assert capsys.readouterr().err == ""
