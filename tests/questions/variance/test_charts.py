import matplotlib.pyplot as plt
import numpy as np
import pytest

from curvewise import CurvewiseError, Trial, Trials
from curvewise.questions.variance import variance_shares
from curvewise.questions.variance.charts import plot_variance_shares


def trials(tasks=("t",), scale=1.0):
    rng = np.random.default_rng(0)
    return Trials(
        Trial(
            *(task, name, 4 * i + j),
            {"return": scale * (i + rng.normal())},
            labels={"params": i, "seed": j},
        )
        for task in tasks
        for name in ("$a$", "b")
        for i in range(6)
        for j in range(4)
    )


def test_shares_are_drawn_with_their_intervals():
    answer = variance_shares(trials())
    ax = plot_variance_shares(answer)
    ax.figure.canvas.draw()
    assert [t.get_text() for t in ax.get_yticklabels()] == [
        "hyperparameters",
        "seed",
        "interaction",
    ]
    points, _, (bars,) = ax.containers[0]
    shares = [100 * s.interval.value for s in answer.of("t")[0].shares]
    np.testing.assert_allclose(points.get_xdata(), shares)
    ends = [segment[:, 0] for segment in bars.get_segments()]
    first = answer.of("t")[0].shares[0].interval
    np.testing.assert_allclose(ends[0], [100 * first.lower, 100 * first.upper])
    assert "95 % interval" in ax.get_xlabel()
    assert ax.get_legend().get_texts()[0].get_text() == r"\$a\$"


def test_it_draws_on_the_axes_it_is_given():
    _, ax = plt.subplots()
    both = variance_shares(trials(("t", "u")))
    assert plot_variance_shares(both, ax, task="u") is ax
    assert ax.get_title().endswith("on u")
    with pytest.raises(CurvewiseError) as problem:
        plot_variance_shares(both)
    assert problem.value.message.fixes == ({"task": ...},)


def test_nothing_to_share_is_an_empty_figure():
    plot_variance_shares(variance_shares(trials(scale=0.0))).figure.canvas.draw()
