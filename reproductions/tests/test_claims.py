"""What a claim is, and when it holds."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import refused

from curvewise.answer import Provenance
from curvewise.errors import CurvewiseError
from curvewise_papers.claims import Claim, Claims

small = st.floats(0, 10)


def claim(printed=0.5, ours=0.5, **given):
    return Claim("Table 1", "k-NN", "moons", printed, ours, reason="a reason", **given)


def test_a_wrong_printed_value_differs():
    """The negative control: the same claim with another number on the paper."""
    right = claim(0.914, 0.9146, error=0.0009)
    wrong = claim(0.941, 0.9146, error=0.0009)
    assert right.verdict == "agrees"
    assert wrong.verdict == "differs"
    assert "(off by -0.0264, 0.0027 allowed)" in wrong.explanation


@given(small, small, small)
def test_no_tolerance_is_wider_than_three_errors_and_the_gap(error, printed, gap):
    one = claim(error=error, printed_error=printed, gap=gap)
    assert one.tolerance <= 3 * math.sqrt(error**2 + printed**2) + gap + 1e-9
    assert claim(0.0, one.tolerance * 0.999, error=error, printed_error=printed,
                 gap=gap).verdict == "agrees"  # fmt: skip
    assert claim(0.0, one.tolerance * 1.001 + 1e-6, error=error, printed_error=printed,
                 gap=gap).verdict == "differs"  # fmt: skip


@pytest.mark.parametrize("ours", [math.nan, math.inf])
def test_what_is_no_number_does_not_agree(ours):
    assert claim(0.5, ours, gap=1.0).verdict == "differs"


def test_the_last_printed_digit_is_held_to_half_a_unit():
    assert claim(0.42, 0.4187, gap=0.005, digits=2).verdict == "agrees"
    assert claim(0.42, 0.4149, gap=0.005, digits=2).verdict == "differs"


@pytest.mark.parametrize(
    ("printed", "ours", "cell"),
    [
        (False, False, "0.500 | 0.5010 ± 0.0020"),
        (True, False, "0.500* | 0.5010 ± 0.0020"),
        (False, True, "0.500 | 0.5010* ± 0.0020"),
        (True, True, "0.500* | 0.5010* ± 0.0020"),
    ],
)
def test_what_is_in_bold_has_a_star_that_is_explained(printed, ours, cell):
    one = claim(0.5, 0.501, error=0.002, printed_bold=printed, ours_bold=ours)
    answer = Claims((one,), Provenance("paper", {}, None, "", ""))
    assert answer.beside("Table 1")[0]["moons"] == cell
    assert any("A star" in note for note in answer.notes()) == (printed or ours)


def test_a_tolerance_needs_a_reason():
    number = "Table 1", "a", "b", 1.0, 1.0
    assert refused(Claim, *number, gap=0.1) == ("reason", "")


@pytest.mark.parametrize("name", ["error", "printed_error", "gap"])
@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf])
def test_a_tolerance_that_is_no_number_is_refused(name, value):
    with pytest.raises(CurvewiseError, match=f"{name} is"):
        claim(**{name: value})


def answer():
    return Claims(
        (
            claim(0.914, 0.9146, error=0.0009),
            Claim("Table 1", "RF", "moons", 0.5, 0.9, why="A misprint of 0.4."),
            Claim("Table 1", "RF", "faces", 0.5, None, why="No images."),
            Claim("Section 2", "tasks", "", 4, 4.0, digits=0),
        ),
        Provenance("paper toy", {}, None, "0" * 64),
    )


def test_claims_are_shown_as_the_table_is_printed():
    rows = answer().beside("Table 1")
    assert rows == [
        {"": "k-NN", "moons": "0.914 | 0.9146 ± 0.0009", "faces": ""},
        {"": "RF", "moons": "0.500 | 0.900 ≠", "faces": "0.500 | ?"},
    ]
    (row,) = answer().beside("Section 2")
    assert (row["printed"], row["ours"], row["verdict"]) == ("4", "4", "agrees")


def test_claims_say_how_many_agree_and_why_others_do_not():
    text = str(answer())
    assert "4 numbers: 2 agree, 1 differs and 1 cannot be checked." in text
    assert "RF, moons (off by +0.4, nothing allowed): A misprint of 0.4." in text
    assert "RF, faces: No images." in text
    assert "Table 1: a reason" in text
    assert answer().headline("Section 2") == "1 number: 1 agrees."


def test_claims_are_an_answer_like_any_other():
    found = answer()
    assert len(found.rows()) == 4
    assert "verdict" in found.to_frame("pandas").columns
    assert found.to_latex(found.beside("Table 1")).startswith(r"\begin{tabular}")
    assert "<table" in found._repr_html_()
    assert refused(found.of, "Table 9") == ("table", "Table 9")
