"""An answer is complete when it is made: showing it fits nothing again."""

import sys
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest
from answers import ANSWERS, counts, searched

import curvewise as cw

STATS = str(Path(cw.__file__).parent / "stats")
FITS = ("fit", "extrapolate", "bootstrap", "next_run", "simulated")
QUESTIONS = (
    *(cw.performance, cw.robustness, cw.difference, cw.learning, cw.confusion),
    *(cw.variance_shares, cw.compare_versions, cw.check, cw.explain),
    *(cw.Learning.at, cw.Learning.size_for, cw.Learning.next_run, cw.Confusion.at),
)
SHOWN = ("__str__", "headline", "to_markdown", "to_latex", "to_json", "rows", "notes")


@contextmanager
def counted():
    """Count the fits of statistics that no question asked for."""
    making = {question.__code__ for question in QUESTIONS}
    fits, depth = Counter(), 0

    def watch(frame, event, _arg):
        nonlocal depth
        code = frame.f_code
        if code in making:
            depth += {"call": 1, "return": -1}.get(event, 0)
        is_fit = code.co_name.lstrip("_").startswith(FITS)
        is_ours = code.co_filename.startswith(STATS)
        if event == "call" and not depth and is_fit and is_ours:
            fits[code.co_qualname] += 1

    sys.setprofile(watch)
    try:
        yield fits
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize("kind", ANSWERS)
def test_showing_an_answer_fits_nothing(kind):
    answer = ANSWERS[kind]()
    with counted() as fits:
        for name in (*SHOWN, "would_change"):
            if hasattr(answer, name):
                getattr(answer, name)()
        for task in getattr(answer, "tasks", ()):
            for name in ("verdicts", "table", "pair_table", "beyond_table"):
                if hasattr(answer, name):
                    getattr(answer, name)(task)
    assert not fits


@pytest.mark.parametrize("trials", [counts, searched])
def test_a_page_fits_nothing_beyond_its_answers(trials, tmp_path):
    with counted() as fits:
        cw.report.write(trials(), tmp_path / "page.html", failed="worst")
    assert not fits


def test_a_fit_would_be_counted():
    """The negative control: a forecast that its answer does not hold."""
    fit = ANSWERS["Learning"]().of("all").fits[0]
    with counted() as fits:
        fit.forecast.predict(fit.measured.sizes[0])
    assert fits
