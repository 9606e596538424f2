import matplotlib.pyplot as plt
import numpy as np
import pytest
from drawn_figures import versions

import curvewise as cw
from curvewise.questions.versions.charts import plot_versions, version_strips


def version(scores, names=("ppo",), task="Hopper"):
    return cw.Trials(
        cw.Trial(task, name, i, {"return": float(z)})
        for name in names
        for i, z in enumerate(scores)
    )


def test_shares_are_drawn_in_percent_of_the_base():
    answer = versions()
    strips = version_strips(answer)
    assert [one.name for one in strips[:2]] == ["ppo, Hopper", "sac, Hopper"]
    for one, change in zip(strips, answer.changes, strict=True):
        assert one.margin == pytest.approx(-5)
        assert one.verdict == change.verdict
        assert one.value == pytest.approx(
            100 * change.interval.value / change.base.mean
        )
        assert one.lower < one.value < one.upper
    assert len({one.verdict for one in strips}) > 1


def test_units_are_drawn_as_they_are():
    rng = np.random.default_rng(0)
    base, new = (version(50 + rng.normal(size=9)) for _ in range(2))
    answer = cw.compare_versions(base, new, margin=3)
    (one,) = version_strips(answer)
    assert (one.name, one.margin) == ("ppo", -3)
    assert one.lower == answer.changes[0].interval.lower
    ax = plot_versions(answer)
    assert "gain in return" in ax.get_xlabel()
    assert ax.get_title().endswith("no worse")
    low, high = ax.get_xlim()
    assert low < -3 < 0 < high


def test_it_draws_on_the_axes_it_is_given_and_returns_them():
    _, ax = plt.subplots()
    assert plot_versions(versions(), ax) is ax
    assert [t.get_text() for t in ax.get_yticklabels()][-1] == "sac, Ant"
    named = [t.get_text() for t in ax.figure.legends[0].get_texts()]
    assert named[0] == "margin"
    assert set(named[1:]) == {c.verdict for c in versions().changes}


def test_rows_are_told_apart_by_what_differs():
    base = cw.Trials.concat([version(range(5), task=t) for t in ("Hopper", "Ant")])
    strips = version_strips(cw.compare_versions(base, base))
    assert [one.name for one in strips] == ["Hopper", "Ant"]


def test_one_trial_has_no_line_and_many_rows_have_room():
    one = cw.compare_versions(version([5.0]), version([6.0]))
    plot_versions(one).figure.canvas.draw()
    names = [f"a{i}" for i in range(30)]
    many = version(range(4), names)
    figure = plot_versions(cw.compare_versions(many, many)).figure
    figure.canvas.draw()
    assert figure.get_size_inches()[1] > 8
