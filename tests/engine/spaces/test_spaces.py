import json
import math
import pickle
import re
import subprocess
import sys
from collections import Counter
from functools import partial

import numpy as np
import pytest
import scipy.stats
from hypothesis import example, given
from hypothesis import strategies as st
from support import assert_rate, refused

from curvewise import CurvewiseError
from curvewise.engine.spaces import (
    choice,
    describe,
    draw,
    integers,
    log_integers,
    loguniform,
    mixture,
    sampler,
    uniform,
    when,
)
from curvewise.trials.columns import canonical

KERNELS = ["linear", "poly", "rbf", "sigmoid"]
SVM = {
    "kernel": KERNELS,
    "C": loguniform(0.01, 100),
    "degree": when({"kernel": "poly"}, [2, 3, 4, 5]),
    "gamma": when({"kernel": ["poly", "rbf", "sigmoid"]}, loguniform(0.001, 10)),
    "coef0": when({"kernel": ["poly", "sigmoid"]}, uniform(-1, 1)),
}
FALSE_ALARM = 1e-6


def draws(space, n=10_000, seed=20_26):
    one, rng = sampler(space), np.random.default_rng(seed)
    return [one(rng) for _ in range(n)]


def values(law, n=10_000, seed=20_26):
    return [params["x"] for params in draws({"x": law}, n, seed)]


def frequencies_fit(found, probabilities):
    """Return whether counts fit probabilities: chi-square, one false alarm in a million."""
    seen = Counter(found)
    assert set(seen) <= set(probabilities)
    n = sum(seen.values())
    observed = [seen[option] for option in probabilities]
    expected = [n * p for p in probabilities.values()]
    return scipy.stats.chisquare(observed, expected).pvalue > FALSE_ALARM


# --- laws --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("law", "reference"),
    [
        (uniform(-2, 5), scipy.stats.uniform(-2, 7)),
        (loguniform(0.01, 100), scipy.stats.loguniform(0.01, 100)),
        (scipy.stats.norm(1, 2), scipy.stats.norm(1, 2)),
    ],
)
def test_numbers_follow_their_law(law, reference):
    assert scipy.stats.kstest(values(law), reference.cdf).pvalue > FALSE_ALARM


def test_a_uniform_sample_would_not_pass_for_a_loguniform_one():
    """The negative control."""
    wrong = scipy.stats.kstest(
        values(uniform(0.01, 100)), scipy.stats.loguniform(0.01, 100).cdf
    )
    assert wrong.pvalue < FALSE_ALARM


def test_integers_are_equally_likely_both_ends_included():
    assert frequencies_fit(values(integers(3, 7)), dict.fromkeys(range(3, 8), 1 / 5))


def test_many_integers_reach_both_ends_of_64_bits():
    wide = values(integers(-(2**63), 2**63 - 1), n=200)
    assert min(wide) < -(2**60)
    assert max(wide) > 2**60
    large = values(integers(0, 2**40), n=1000)
    assert 0 <= min(large) < 2**34 < max(large) <= 2**40


@pytest.mark.parametrize(("low", "high"), [(1, 2), (1, 16), (5, 30)])
def test_log_integers_have_the_documented_probabilities(low, high):
    law = log_integers(low, high)
    expected = {k: law.probability(k) for k in range(low, high + 1)}
    assert math.fsum(expected.values()) == pytest.approx(1)
    assert frequencies_fit(values(law), expected)
    by_hand = math.log2((low + 0.5) / (low - 0.5)) / math.log2(
        (high + 0.5) / (low - 0.5)
    )
    assert expected[low] == pytest.approx(by_hand)
    assert law.probability(high + 1) == law.probability(low + 0.5) == 0


def test_rounding_down_would_not_give_the_law_of_log_integers():
    """The negative control: plain int(2**U) almost never gives the upper end."""
    rng = np.random.default_rng(1)
    cut = [int(2 ** rng.uniform(0, 4)) for _ in range(10_000)]
    law = log_integers(1, 16)
    assert not frequencies_fit(cut, {k: law.probability(k) for k in range(1, 17)})


def test_lists_ranges_and_arrays_are_chosen_from_equally():
    third = 1 / 3
    for options in ([4, 5, 6], (4, 5, 6), range(4, 7), np.array([4, 5, 6])):
        found = values(options)
        assert frequencies_fit(found, {4: third, 5: third, 6: third})
        assert type(found[0]) is int


def test_weights_are_shares():
    found = values(choice("a", "b", "c", "never", weights=[1, 2, 5, 0]))
    assert frequencies_fit(found, {"a": 1 / 8, "b": 2 / 8, "c": 5 / 8})
    assert set(values(choice("never", "a", "b", weights=[0, 1, 1]), 200)) == {"a", "b"}


def test_options_may_be_distributions_dicts_and_lists():
    law = choice(uniform(5, 6), {"depth": [1, 2]}, [16, 32], "auto")
    found = values(law, 400)
    kinds = Counter(type(v).__name__ for v in found)
    assert set(kinds) == {"float", "dict", "list", "str"}
    assert {"depth": 1} in found
    assert [16, 32] in found
    assert_rate(kinds["list"], 400, 1 / 4)


def test_a_mixture_draws_each_space_by_its_weight():
    spaces_ = mixture({"C": [1]}, lambda rng: {"nu": rng.random()}, weights=[1, 3])
    found = draws(spaces_)
    assert_rate(sum("C" in params for params in found), len(found), 1 / 4)
    assert all(set(params) in ({"C"}, {"nu"}) for params in found)


def test_a_mixture_may_be_the_law_of_one_parameter():
    law = mixture(uniform(0, 1), [5, 6], scipy.stats.uniform(10, 1))
    found = values(law)
    assert_rate(sum(v < 1 for v in found), len(found), 1 / 3)
    assert_rate(found.count(5), len(found), 1 / 6)
    nested = values(mixture(lambda rng: {"a": 1}, {"b": 2}), 50)
    assert {"a": 1} in nested
    assert {"b": 2} in nested


# --- conditions --------------------------------------------------------------------------


def test_conditions_leave_the_kernel_uniform():
    """An erratum's reason to be: a list of dicts would draw 'poly' half of the time."""
    found = draws(SVM)
    assert frequencies_fit([p["kernel"] for p in found], dict.fromkeys(KERNELS, 1 / 4))
    assert_rate(sum("degree" in p for p in found), len(found), 1 / 4)


def test_a_mixture_of_dicts_would_draw_poly_half_of_the_time():
    """The negative control: what scikit-learn makes of a list of dicts."""
    wrong = mixture(
        {"kernel": ["linear", "rbf", "sigmoid"]}, {"kernel": ["poly"], "degree": [2, 3]}
    )
    kernels = [params["kernel"] for params in draws(wrong)]
    assert not frequencies_fit(kernels, dict.fromkeys(KERNELS, 1 / 4))
    assert_rate(kernels.count("poly"), len(kernels), 1 / 2)


def test_a_parameter_is_there_exactly_when_its_condition_holds():
    for params in draws(SVM, 500):
        kernel = params["kernel"]
        assert ("degree" in params) is (kernel == "poly")
        assert ("gamma" in params) is (kernel != "linear")
        assert ("coef0" in params) is (kernel in ("poly", "sigmoid"))


def test_conditions_chain_and_an_absent_parameter_holds_none():
    space = {
        "a": when({"b": 1}, [7, 8]),
        "b": when({"z": True}, [1, 2]),
        "z": [True, False],
        "both": when({"a": 7, "z": True}, 5),
    }
    found = {json.dumps(params, sort_keys=True) for params in draws(space, 500)}
    assert found == {
        '{"z": false}',
        '{"b": 2, "z": true}',
        '{"a": 8, "b": 1, "z": true}',
        '{"a": 7, "b": 1, "both": 5, "z": true}',
    }


def test_true_is_not_one():
    space = {"n": choice(1, True), "x": when({"n": True}, 5)}
    for params in draws(space, 50):
        assert ("x" in params) is (params["n"] is True)


def test_conditions_inside_a_nested_space_look_at_their_own_dict():
    space = {"kernel": "outer", "svm": SVM, "rest": when({"kernel": "outer"}, {"a": 1})}
    params = draw(space, np.random.default_rng(0))
    assert params["kernel"] == "outer"
    assert params["svm"]["kernel"] in KERNELS
    assert params["rest"] == {"a": 1}


# --- draws -------------------------------------------------------------------------------


def test_the_same_rng_gives_the_same_params_whatever_the_order_of_the_dict():
    turned = dict(reversed(SVM.items()))
    for seed in range(20):
        one, other = (draw(s, np.random.default_rng(seed)) for s in (SVM, turned))
        assert list(one.items()) == list(other.items())
    assert draws(SVM, 20, seed=1) != draws(SVM, 20, seed=2)


def test_draw_is_the_first_of_a_sampler():
    assert draw(SVM, np.random.default_rng(3)) == sampler(SVM)(np.random.default_rng(3))


def test_an_empty_space_gives_nothing():
    sampler({}, "Algorithm 'a'")
    assert draw({}, np.random.default_rng(0)) == {}
    assert describe({}) == ""


ODD = {
    "b": np.float32(0.5),
    "a": (1, (2, np.int8(3))),
    "text": np.str_("größe"),
    "array": np.arange(3.0),
    "truth": np.bool_(True),
    "none": None,
    "big": 10**30,
    "inner": {2: "x", 1: [np.float64(1)]},
    "é": "é",
}


@pytest.mark.parametrize("names", [list(ODD), ["b", "a", "text", "array", "inner"]])
def test_params_are_what_json_would_give_back(names):
    given = {name: ODD[name] for name in names}
    params = draw(lambda rng: given, np.random.default_rng(0))
    assert repr(params) == repr(json.loads(canonical(given)))
    fixed = draw({n: [v] for n, v in given.items()}, np.random.default_rng(0))
    assert repr(fixed) == repr(params)


plain_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abcé", max_size=2), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.text("abcdé", min_size=1), plain_values, max_size=4))
def test_any_plain_params_come_through_as_they_are(params):
    expected = json.loads(canonical(params))
    found = draw(lambda rng: params, np.random.default_rng(0))
    listed = draw({n: [v] for n, v in params.items()}, np.random.default_rng(0))
    assert repr(found) == repr(listed) == repr(expected)


finite = st.floats(-1e300, 1e300)
positive = st.floats(5e-324, 1e300)
whole = st.integers(-(2**63), 2**63 - 1)


@given(st.tuples(finite, finite).filter(lambda e: e[0] < e[1]), st.integers(0, 2**32))
def test_uniform_stays_within_its_ends(ends, seed):
    drawn = uniform(*ends).rvs(random_state=seed)
    assert type(drawn) is float
    assert ends[0] <= drawn <= ends[1]


@given(st.tuples(positive, positive).filter(lambda e: e[0] < e[1]), st.integers(0, 99))
def test_loguniform_stays_within_its_ends(ends, seed):
    assert ends[0] <= loguniform(*ends).rvs(random_state=seed) <= ends[1]


@example((2**62 - 256, 2**62 - 255), 0)
@given(st.tuples(whole, whole).filter(lambda e: e[0] < e[1]), st.integers(0, 99))
def test_integers_stay_within_their_ends(ends, seed):
    drawn = integers(*ends).rvs(random_state=seed)
    assert type(drawn) is int
    assert ends[0] <= drawn <= ends[1]


sizes = st.integers(1, 2**53)


@given(st.tuples(sizes, sizes).filter(lambda e: e[0] < e[1]), st.integers(0, 99))
def test_log_integers_stay_within_their_ends(ends, seed):
    drawn = log_integers(*ends).rvs(random_state=seed)
    assert type(drawn) is int
    assert ends[0] <= drawn <= ends[1]


def test_who_changes_drawn_params_does_not_change_the_space():
    space = {"layers": choice([16], [16]), "more": [[1], [1]], "only": [[2]], "d": {}}
    one, rng = sampler(space), np.random.default_rng(0)
    expected = {"d": {}, "layers": [16], "more": [1], "only": [2]}
    for _ in range(5):
        params = one(rng)
        assert params == expected
        for name in ("layers", "more", "only"):
            params[name].append(99)
        params["d"]["new"] = 1


@pytest.mark.slow
def test_laws_of_ours_fit_scikit_learn():
    selection = pytest.importorskip("sklearn.model_selection")
    space = {"C": loguniform(0.1, 10), "n": integers(1, 9), "k": choice("a", "b")}
    one, again = (
        list(selection.ParameterSampler(space, 5, random_state=0)) for _ in range(2)
    )
    assert one == again
    assert len({params["C"] for params in one}) == 5


def test_rvs_takes_a_generator_a_randomstate_or_a_number():
    law = uniform(0, 1)
    assert law.rvs(random_state=1) == law.rvs(random_state=np.random.default_rng(1))
    old = [law.rvs(random_state=np.random.RandomState(1)) for _ in range(2)]
    assert old[0] == old[1]
    for wrong in (None, -1, "x"):
        assert refused(law.rvs, random_state=wrong) == ("random_state", wrong)
    assert refused(law.rvs, size=3, random_state=1) == ("size", 3)


def test_spaces_survive_pickling():
    space = SVM | {"x": mixture(choice(1, 2), log_integers(1, 8), weights=[1, 2])}
    copied = pickle.loads(pickle.dumps(space))
    assert copied == space
    assert draws(copied, 20) == draws(space, 20)


def test_a_huge_range_is_not_written_out():
    assert 0 <= values(range(10**15), 1)[0] < 10**15
    assert describe({"n": range(10**15)}).endswith("(1,000,000,000,000,000 values)")


# --- printing ----------------------------------------------------------------------------


def test_a_space_prints_a_line_for_each_parameter():
    space = SVM | {
        "lr": scipy.stats.uniform(),
        "n": 5,
        "opt": {"name": "adam", "beta": when({"name": "adam"}, uniform(0, 1))},
        "size": log_integers(1, 512),
    }
    assert describe(space).splitlines() == [
        "C:        log-uniform from 0.01 to 100",
        "kernel:   one of 'linear', 'poly', 'rbf', 'sigmoid'",
        "coef0:    uniform from -1 to 1 when kernel is 'poly' or 'sigmoid'",
        "degree:   one of 2, 3, 4, 5 when kernel is 'poly'",
        "gamma:    log-uniform from 0.001 to 10"
        " when kernel is 'poly' or 'rbf' or 'sigmoid'",
        "lr:       scipy.stats uniform(loc=0, scale=1)",
        "n:        5",
        "opt.name: 'adam'",
        "opt.beta: uniform from 0 to 1 when opt.name is 'adam'",
        "size:     log-uniform whole number from 1 to 512",
    ]
    assert describe(dict(reversed(space.items()))) == describe(space)


@pytest.mark.parametrize(
    ("law", "text"),
    [
        ([0.3, 0.5], "one of 0.3, 0.5"),
        ([1, 1.0, None, True], "one of 1, 1.0, None, True"),
        (np.array([1.5, 2.5]), "one of 1.5, 2.5"),
        ([7], "7"),
        ({}, "{}"),
        (range(100), "one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, … 99 (100 values)"),
        (integers(1, 6), "whole number from 1 to 6"),
        (choice([1, 2], [3]), "one of [1, 2], [3]"),
        (choice("a", "b", weights=[1, 3]), "one of 'a' (0.25), 'b' (0.75)"),
        (choice({"a": [1, 2]}, "x"), "one of {a: one of 1, 2}, 'x'"),
        (mixture([1, 2], uniform(0, 1)), "one of (one of 1, 2), uniform from 0 to 1"),
        (scipy.stats.beta(2, b=3), "scipy.stats beta(a=2, b=3, loc=0, scale=1)"),
        (scipy.stats.randint(1, 9), "scipy.stats randint(low=1, high=9, loc=0)"),
    ],
)
def test_a_law_prints_in_plain_words(law, text):
    assert describe({"x": law}) == f"x: {text}"


def test_nothing_is_cut_when_the_whole_is_asked_for():
    long, other = list(range(30)), [*range(14), -1, *range(15, 30)]
    assert describe({"x": long}) == describe({"x": other})
    whole = describe({"x": long}, whole=True)
    assert whole == f"x: one of {', '.join(map(str, long))}"


def with_words(rng):
    """A kernel, and sometimes its degree."""
    return {"kernel": "poly"}


def with_options(width, rng):
    """A width."""
    return {"width": width}


def without_words(rng):
    return {"kernel": "rbf"}


class Odd:
    def __init__(self, width):
        self.width = width

    def rvs(self, random_state):
        return self.width

    def __call__(self, rng):
        return {}


def test_a_function_prints_its_docstring_or_its_source_or_its_name():
    assert describe(with_words) == "A kernel, and sometimes its degree."
    assert describe(without_words) == (
        'def without_words(rng):\n    return {"kernel": "rbf"}'
    )
    names = {}
    exec("def hidden(rng):\n    return {}", names)
    assert describe(names["hidden"]) == "hidden"
    assert describe(partial(with_options, 3)) == "A width.\nwith 3"
    assert describe(mixture(with_words, {})).splitlines() == [
        "either, with probability 0.5:",
        "  A kernel, and sometimes its degree.",
        "or, with probability 0.5:",
        "  no parameters",
    ]
    text = describe({"x": mixture(with_words, {"a": 1})})
    assert text == "x: one of A kernel, and sometimes its degree., {a: 1}"


def test_an_unknown_distribution_prints_without_its_place_in_memory():
    text = describe({"x": Odd(3)})
    assert text.startswith("x: ")
    assert text.endswith("Odd(width=3)")
    assert "0x" not in text
    assert values(Odd(3), 1) == [3]


def test_two_processes_print_the_same():
    code = (
        "from curvewise.engine.spaces import *\n"
        "class Law:\n    def rvs(self, random_state): return 1\n"
        "either = mixture(Law(), lambda rng: {})\n"
        "print(describe({'b': Law(), 'a': either, 'c': choice(Law(), 2)}))"
    )
    run = partial(subprocess.run, capture_output=True, text=True, check=True)
    one, two = (run([sys.executable, "-c", code]).stdout for _ in range(2))
    assert one == two
    assert "Law" in one


def test_spaces_import_neither_scipy_nor_other_tools():
    code = "import curvewise.engine.spaces, sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert not {"scipy", "ConfigSpace", "optuna"}.intersection(done.stdout.split())


# --- what is refused ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: uniform(1, 1), "uniform goes from 1 to 1. Pass the lower end first"),
        (lambda: uniform(2, 1), "uniform goes from 2 to 1. Pass the lower end first"),
        (lambda: uniform(0, math.inf), "from 0 to inf. Pass two finite numbers."),
        (lambda: uniform(0, 10**400), "Pass two finite numbers."),
        (lambda: uniform("a", 1), "uniform goes from 'a' to 1. Pass two finite"),
        (lambda: uniform(True, 2), "uniform goes from True to 2. Pass two finite"),
        (lambda: uniform(-1e308, 1e308), "wider than a float can say. Pass ends that"),
        (lambda: loguniform(0, 1), "loguniform goes from 0 to 1. Pass ends above 0"),
        (lambda: loguniform(-1, 1), "loguniform goes from -1 to 1. Pass ends above 0"),
        (lambda: loguniform(3, 1), "loguniform goes from 3 to 1. Pass the lower end"),
        (lambda: integers(0.5, 3), "integers goes from 0.5 to 3. Pass whole numbers."),
        (lambda: integers(4, 3), "integers goes from 4 to 3. Pass the lower end first"),
        (lambda: integers(0, 2**63), "which 64 bits cannot hold. Pass ends that are"),
        (lambda: log_integers(0, 8), "log_integers goes from 0 to 8. Pass ends from 1"),
        (lambda: log_integers(1, 2.5), "log_integers goes from 1 to 2.5. Pass whole"),
        (choice, "choice has no options. Pass at least one."),
        (lambda: choice([]), "choice has no options. Pass at least one."),
        (mixture, "mixture has no options. Pass at least one."),
        (
            lambda: choice(1, 2, weights=[1, 2, 3]),
            "choice has 2 options, and weights are 3 numbers. Pass one number for each.",
        ),
        (
            lambda: choice(1, weights="x"),
            "1 options, and weights are x. Pass one number",
        ),
        (
            lambda: choice(1, 2, weights=[1, -1]),
            "choice has weights [1.0, -1.0]. Pass finite numbers >= 0",
        ),
        (
            lambda: mixture({}, {}, weights=[0, 0]),
            "mixture has weights [0.0, 0.0]. Pass",
        ),
        (lambda: choice(1, 2, weights=[1, math.nan]), "Pass finite numbers >= 0"),
        (lambda: when({}, [1]), "when was called with the condition {}. Pass a dict"),
        (lambda: when("kernel", [1]), "condition kernel. Pass a dict from other"),
        (lambda: when({"a": []}, [1]), "when on 'a' has no values. Pass a value or"),
        (
            lambda: when({"a": 1}, when({"b": 1}, 2)),
            "Put both conditions into one dict",
        ),
    ],
)
def test_what_cannot_be_a_law_is_refused_where_it_is_written(make, message):
    with pytest.raises(CurvewiseError, match=re.escape(message)):
        make()


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (5, "Algorithm 'a': 5 is no space. Pass a dict of lists and distributions"),
        ([1, 2], "Algorithm 'a': [1, 2] is no space."),
        ([{"C": [1]}, {"nu": [1]}], "is a list of dicts. Write mixture(*spaces)"),
        (None, "Algorithm 'a': None is no space."),
        (
            uniform(0, 1),
            "'uniform from 0 to 1' is the law of one parameter. Put it into",
        ),
        (choice({}, {}), "is the law of one parameter. Put it into a dict"),
        (scipy.stats.norm(), "is no space. Pass a dict"),
        (mixture({}, [1]), "[1] is no space"),
        (
            lambda: {"C": 1},
            "cannot be called with one argument. Write a function of an rng",
        ),
        ({"C": []}, "Algorithm 'a', parameter 'C': the list is empty. Pass at least"),
        ({"C": np.ones((2, 2))}, "parameter 'C': an array of shape (2, 2) is no list"),
        (
            {"C": [1, math.nan]},
            "Algorithm 'a', parameter 'C': {'value': nan} cannot be",
        ),
        (
            {"C": math.inf},
            "Algorithm 'a', parameter 'C': {'value': inf} cannot be kept",
        ),
        ({"C": object()}, "object is no plain value"),
        ({"C": {1, 2}}, "set is no plain value"),
        ({"C": [uniform(0, 1), 5]}, "is a distribution where a plain value must be"),
        ({"C": len}, "parameter 'C': len is a function. Pass a list, a distribution"),
        ({"C": choice(1, when({"x": 1}, 1))}, "parameter 'C': when(...) stands inside"),
        ({1: [1]}, "Algorithm 'a': the name of a parameter is 1. Pass a text, not"),
        ({"": [1]}, "the name of a parameter is ''. Pass a text, not empty."),
        ({"o": {"lr": []}}, "parameter 'o', parameter 'lr': the list is empty"),
        ({"C": choice(1, [math.nan])}, "parameter 'C': {'value': nan} cannot be kept"),
        (
            {"degree": when({"kernl": "poly"}, [2]), "kernel": KERNELS},
            "parameter 'degree' is there only when 'kernl' has a certain value. "
            "There is no parameter 'kernl'. Did you mean 'kernel'?",
        ),
        (
            {"degree": when({"kernel": "polly"}, [2]), "kernel": KERNELS},
            "There is no value of 'kernel' 'polly'. Did you mean 'poly'?",
        ),
        (
            {"x": when({"k": 2}, 1), "k": choice(1, 2, weights=[1, 0])},
            "There is no value of 'k' '2'.",
        ),
        (
            {"a": when({"b": 1}, 1), "b": when({"a": 1}, 1), "c": [1]},
            "Algorithm 'a': the conditions of 'a', 'b' go round in a circle. Let",
        ),
        ({"a": when({"a": 1}, 1)}, "the conditions of 'a' go round in a circle"),
    ],
)
def test_what_is_no_space_is_refused_by_name(space, message):
    with pytest.raises(CurvewiseError, match=re.escape(message)):
        sampler(space, "Algorithm 'a'")
    with pytest.raises(CurvewiseError):
        describe(space)


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (lambda rng: [1], "<lambda> returned [1]. Return a dict of parameters."),
        (lambda rng: None, "<lambda> returned None. Return a dict of parameters."),
        (
            lambda rng: {"C": math.nan},
            "The space, parameter 'C': {'value': nan} cannot",
        ),
        (lambda rng: {"C": len}, "The space, parameter 'C': "),
        (
            lambda rng: {"C": uniform(0, 1)},
            "parameter 'C': uniform from 0 to 1 is a dis",
        ),
        (
            {"C": Odd(math.nan)},
            "The space, parameter 'C': {'value': nan} cannot be kept",
        ),
    ],
)
def test_what_only_a_draw_can_show_is_refused_by_name(space, message):
    one = sampler(space)
    with pytest.raises(CurvewiseError, match=re.escape(message)):
        one(np.random.default_rng(0))
