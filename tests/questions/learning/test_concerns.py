"""What may be wrong with a curve is put into words, whatever statistics name."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

import curvewise as cw
from curvewise.questions.learning.concerns import (
    concerns_of,
    shape_concerns,
    size_concerns,
)
from curvewise.stats.learning import amount, extrapolation, shape
from curvewise.stats.powerlaw import curve


@pytest.fixture(scope="module")
def answer():
    return cw.learning(cw.example("counts"), "error")


def is_sentence(text):
    return text[0].isupper() and text.endswith(".") and "nan" not in text


def test_every_concern_has_its_sentence(answer):
    fit = answer.curve("trees")
    of_law = get_args(curve.Concern)
    law = replace(fit.law, concerns=of_law, p_misfit=3e-7, p_linked_runs=0.004)
    of_forecast = get_args(extrapolation.Concern)[2:]
    ahead = replace(fit.forecast, concerns=of_forecast)
    sentences = concerns_of(replace(fit, law=law, forecast=ahead))
    assert len(set(sentences)) == len(of_law) + len(of_forecast)
    assert all(is_sentence(text) for text in sentences)
    assert "p < 0.0001" in sentences[of_law.index("misfit")]
    assert "p = 0.004" in sentences[of_law.index("linked_runs")]


def test_every_concern_about_an_amount_has_its_sentence(answer):
    needed = answer.size_for(0.09).found[0].size
    sentences = size_concerns(replace(needed, concerns=get_args(amount.Concern)))
    assert len(set(sentences)) == 2
    assert all(is_sentence(text) for text in sentences)


def test_the_largest_three_stretches_are_named():
    heights = [0.5, 0.4, 0.41, 0.3, 0.33, 0.2, 0.24, 0.1, 0.12]
    rng = np.random.default_rng(1)
    errors = [h + 1e-4 * rng.normal(size=20) for h in heights]
    found = shape([2**k for k in range(9)], errors)
    assert found.concerns == ("rises", "not_convex")
    for text, stretches in zip(
        shape_concerns(found), (found.rises, found.bumps), strict=True
    ):
        assert is_sentence(text)
        assert text.count(" by ") == 3
        assert f"{max(d.amount for d in stretches):.4f}" in text
        assert ("more stretch" in text) == (len(stretches) > 3)
