"""Every form of the catalogue gives back its own curves, and what is the same is so."""

import numpy as np
import pytest

from curvewise.errors import CurvewiseError
from curvewise.stats.forms import FORMS, Design, fit_form, fit_forms, form_of

SIZES = np.round(16 * 2 ** np.arange(0, 8, 0.5))
FAR = np.array([20.0, 100.0, 3000.0, 10_000.0])

# The formulas once more, written out: name -> (function of n and parameters, parameters)
CURVES = {
    "POW2": (lambda n, b, g: b * n**-g, [(1.5, 0.4), (3.0, 1.1), (0.3, 0.0)]),
    "POW3": (
        lambda n, c, b, g: c + b * n**-g,
        [(0.1, 1.5, 0.5), (0.0, 0.9, 0.1), (0.3, 40.0, 1.7)],
    ),
    "POW4": (
        lambda n, c, b, d, g: c + b * (n + d) ** -g,
        [(0.1, 3.0, 30.0, 0.6), (0.05, 1.0, -8.0, 0.4), (0.2, 400.0, 300.0, 1.3)],
    ),
    "LOG2": (lambda n, c, b: c - b * np.log(n), [(0.8, 0.05), (0.5, 0.02)]),
    "ILOG2": (lambda n, c, b: c + b / np.log(n), [(0.1, 1.2), (0.0, 2.0)]),
    "LIN2": (lambda n, c, b: c - b * n, [(0.6, 5e-5), (0.9, 2e-4)]),
    "EXP2": (lambda n, b, r: b * np.exp(-r * n), [(0.5, 0.002), (0.9, 0.02)]),
    "EXP3": (
        lambda n, c, b, r: c + b * np.exp(-r * n),
        [(0.1, 0.5, 0.002), (0.2, 0.4, 0.03)],
    ),
    "EXP4": (
        lambda n, c, b, r, d: c + b * np.exp(-r * n**d),
        [(0.1, 0.8, 0.15, 0.4), (0.2, 0.5, 0.001, 1.2)],
    ),
    "WBL4": (
        lambda n, c, b, r, d: c + b * np.exp(-r * n**d),
        [(0.1, 0.8, 0.15, 0.4), (0.2, 0.5, 0.001, 1.2)],
    ),
    "LOGPOWER3": (
        lambda n, b, k, d: b / (1 + (n / k) ** d),
        [(0.6, 200.0, 0.7), (0.9, 50.0, 1.5)],
    ),
    "MMF4": (
        lambda n, c, b, k, d: c + b / (1 + (n / k) ** d),
        [(0.1, 0.5, 200.0, 1.5), (0.2, 0.7, 40.0, 0.8)],
    ),
    "VAP3": (
        lambda n, a, b, g: np.exp(a + b / n + g * np.log(n)),
        [(-0.3, 2.0, -0.2), (0.0, 4.0, -0.5)],
    ),
    "EXPP3": (
        lambda n, c, a, b: c - np.exp((n - b) ** a),
        [(3.6, 0.02, -100.0), (3.6, 0.025, 5.0)],
    ),
    "BNSL1": (
        lambda n, a, b, c0, c1, d, f: (
            a + b * n**-c0 * (1 + (n / d) ** (1 / f)) ** (-c1 * f)
        ),
        [(0.05, 0.9, 0.2, 0.6, 250.0, 0.4)],
    ),
}
EACH = [(name, at) for name, (_, all_) in CURVES.items() for at in all_]


def curve(name, at, n=SIZES):
    return CURVES[name][0](np.asarray(n, dtype=float), *at)


def test_the_whole_catalogue_is_tried():
    assert set(CURVES) | {"LAST1"} == set(FORMS)


@pytest.mark.parametrize(("name", "at"), EACH)
def test_a_form_foresees_its_own_noise_free_curve(name, at):
    """Far from the sizes seen, too: to 1e-7, or 1e-5 for the six parameters of BNSL1."""
    fit = fit_form(SIZES, curve(name, at), name)
    near = 1e-5 if name == "BNSL1" else 1e-7
    np.testing.assert_allclose(
        fit.error(FAR), np.clip(curve(name, at, FAR), 0, 1), atol=near
    )
    assert fit.cost < 1e-12


@pytest.mark.parametrize(("name", "at"), EACH)
def test_a_form_gives_back_the_parameters_of_its_formula(name, at):
    fit = fit_form(SIZES, curve(name, at), name)
    assert tuple(fit.parameters) == FORMS[name].parameters
    near = 5e-2 if name == "BNSL1" else 1e-4
    np.testing.assert_allclose(list(fit.parameters.values()), at, rtol=near, atol=1e-5)


@pytest.mark.parametrize(("name", "at"), EACH)
def test_parameters_put_into_the_formula_are_the_fit(name, at):
    noise = np.random.default_rng(0).normal(0, 0.005, len(SIZES))
    fit = fit_form(SIZES, np.clip(curve(name, at) + noise, 0, 1), name)
    again = np.clip(curve(name, tuple(fit.parameters.values()), FAR), 0, 1)
    np.testing.assert_allclose(fit.error(FAR), again, atol=1e-9)


def test_another_form_does_not_fit():
    """The negative control."""
    fit = fit_form(SIZES, curve("EXP3", (0.1, 0.5, 0.002)), "POW3")
    assert fit.cost > 1e-3


@pytest.mark.parametrize(
    ("name", "alias"),
    [("EXP3", "EXPD3"), ("EXP3", "expd3"), ("LOGPOWER3", "logp3"), ("POW3", "pow3")],
)
def test_names_are_found_in_any_case_and_spelling(name, alias):
    assert form_of(alias) is FORMS[name] is form_of(FORMS[name])


def test_an_unknown_form_is_refused_with_the_nearest_one():
    with pytest.raises(CurvewiseError, match="'POW3'"):
        fit_form(SIZES, np.full(16, 0.3), "POW33")


@pytest.mark.parametrize(
    ("inner", "outer"),
    [
        ("EXP4", "WBL4"),
        ("WBL4", "EXP4"),
        ("EXP3", "EXP4"),
        ("EXP2", "EXP3"),
        ("LOGPOWER3", "MMF4"),
        ("POW2", "POW3"),
        ("POW3", "POW4"),
        ("POW3", "BNSL1"),
    ],
)
def test_a_form_inside_another_never_fits_better(inner, outer):
    rng = np.random.default_rng(1)
    n = SIZES / SIZES[0]
    c, b, g = rng.uniform([[0], [0.1], [0.1]], [[0.3], [0.5], [1]], (3, 100))
    curves = c[:, None] + b[:, None] * n ** -g[:, None]
    curves = np.clip(curves + rng.normal(0, 0.01, curves.shape), 0, 1)
    part, whole = (fit_forms(SIZES, curves, form).cost for form in (inner, outer))
    # Shapes of several parameters are found to a thousandth, not to the last digit.
    assert (whole <= 1.001 * part + 1e-9).all()
    if {inner, outer} == {"EXP4", "WBL4"}:
        np.testing.assert_array_equal(part, whole)


def test_only_wbl4_rises():
    """EXP4 is the same formula with b at least 0."""
    rising = 0.5 - 0.3 * np.exp(-0.01 * SIZES)
    falls = fit_form(SIZES, rising, "EXP4", allow_increase=True)
    rises = fit_form(SIZES, rising, "WBL4", allow_increase=True)
    assert rises.cost < 1e-12 < falls.cost
    assert falls.error([10**6]) == pytest.approx(rising.mean())


def test_every_grid_is_made_of_relative_sizes():
    for form in FORMS.values():
        relative = SIZES / SIZES[-1]
        one, other = (
            form.shapes(relative, Design(relative[0], top)) for top in (2896.0, 2.9e6)
        )
        is_same = all(
            a.shape == b.shape and np.allclose(a, b)
            for a, b in zip(one, other, strict=True)
        )
        assert is_same == form.is_unit_free


def test_forms_say_what_they_are():
    assert repr(FORMS["POW3"]) == "Form(POW3: c + b n^-g)"
    for name, form in FORMS.items():
        assert name[-1] == str(form.size) or name == "BNSL1"
