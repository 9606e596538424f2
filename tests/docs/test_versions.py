"""The page on comparing versions says what comes out, and how often that is right."""

import re

import numpy as np
import pytest
from pages import followed_anchors, text_of
from scipy import stats
from scores_of_versions import SCENES, draw
from walked_pages import agrees, walked

from curvewise.stats.noninferiority import cautious_difference

PAGE = "docs/how-to/compare-versions-in-ci.md"
SIZES = ((5, 5), (10, 10), (20, 20), (5, 20), (10, 100))
PRINTED = 4000  # repetitions behind each number on the page


def test_the_page_says_what_comes_out(page_folder):
    walk = walked(text_of(PAGE), PAGE)
    assert len(walk.outputs) == 3
    for said, written in walk.outputs:
        assert agrees(said, written), said
    (workflow,) = walk.not_run
    assert "curvewise compare-versions main/results.csv results.csv" in workflow


def test_its_links_lead_somewhere():
    followed_anchors((PAGE,))


def printed():
    """Return the two tables of levels: scene to five cells, ours and Welch's in percent."""
    tables = ({}, {})
    for line in text_of(PAGE).splitlines():
        scene, *cells = (part.strip() for part in line.strip("|").split("|"))
        if scene in SCENES and len(cells) == len(SIZES):
            one = tables[0] if scene not in tables[0] else tables[1]
            one[scene] = [
                tuple(map(float, re.findall(r"[\d.]+", cell))) for cell in cells
            ]
    return tables


def measured(scene, n, m, repetitions, rng):
    """Return how often the lower and the upper limit were beyond: ours, Welch's."""
    a, b, truth = draw(scene, (repetitions, n), (repetitions, m), rng)
    limits = [cautious_difference(*pair).interval for pair in zip(a, b, strict=True)]
    ours = np.array([(one.lower, one.upper) for one in limits])
    u, v = a.var(axis=1, ddof=1) / n, b.var(axis=1, ddof=1) / m
    error = np.sqrt(u + v)
    known = error > 1e-12  # where no trial varies, Welch's interval says nothing
    freedom = (u + v) ** 2 / np.where(known, u**2 / (n - 1) + v**2 / (m - 1), 1)
    reach = error * stats.t.ppf(0.95, np.where(known, freedom, 1))
    value = a.mean(axis=1) - b.mean(axis=1)
    low = np.stack([ours[:, 0], np.where(known, value - reach, -np.inf)])
    high = np.stack([ours[:, 1], np.where(known, value + reach, np.inf)])
    beyond = np.stack([low > truth + 1e-12, high < truth - 1e-12])
    return beyond.sum(axis=2)


def disagreement(hits, repetitions, percent):
    """Return p of two counts having the same rate."""
    before = round(percent * PRINTED / 100)
    table = [[hits, repetitions - hits], [before, PRINTED - before]]
    return stats.fisher_exact(table).pvalue


def test_every_scene_is_on_the_page():
    no_worse, worse = printed()
    assert list(no_worse) == list(worse) == list(SCENES)


QUICK = [s for s in SCENES if s.startswith(("lognormal", "10 %"))]


@pytest.mark.parametrize(
    ("scenes", "repetitions"),
    [
        pytest.param(QUICK, 150, id="some"),
        pytest.param(list(SCENES), 2000, id="all", marks=pytest.mark.slow),
    ],
)
def test_levels_are_those_on_the_page(scenes, repetitions):
    rng = np.random.default_rng(66)
    tables = printed()
    for scene in scenes:
        for place, (n, m) in enumerate(SIZES):
            found = measured(scene, n, m, repetitions, rng)
            for side, table in enumerate(tables):
                for who, percent in enumerate(table[scene][place]):
                    p = disagreement(found[side, who], repetitions, percent)
                    assert p > 1e-6, (scene, n, m, side, who, found[side, who], percent)


def test_another_number_on_the_page_would_be_noticed():
    """The negative control."""
    assert disagreement(52, 150, 34.6) > 0.5
    assert disagreement(52, 150, 12.0) < 1e-6
