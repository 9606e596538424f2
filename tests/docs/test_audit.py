"""The numbers that the documentation prints about audits of the examples."""

import re
from pathlib import Path

import pytest

import curvewise as cw

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "self-audit.md"


def printed(column):
    """Return what the page says about each promise for one of the examples."""
    out = {}
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and re.match(r"\d", cells[2 + column]):
            out[cells[0], cells[1]] = cells[2 + column]
    return out


def measured(answer):
    out = {}
    for row in answer.rows():
        rate, low, high = (
            f"{100 * row[name]:.1f}"
            for name in ("observed", "observed_lower", "observed_upper")
        )
        warned = " *as warned*" if row["verdict"] == "as warned" else ""
        out[row["analysis"], row["check"]] = f"{rate} ({low} to {high}){warned}"
    return out


@pytest.mark.slow
def test_every_promise_is_on_the_page():
    found = cw.audit(cw.example("counts"), "error", repetitions=20)
    told = measured(found)
    assert told.keys() == printed(2).keys()
    assert told != printed(2)  # of 20 repetitions: the negative control


@pytest.mark.slow
def test_the_page_prints_what_an_audit_finds():
    found = cw.audit(cw.example("search"), failed="worst", repetitions=1000)
    assert measured(found) == printed(0)
