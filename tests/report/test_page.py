import html.parser
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

import curvewise as cw
from curvewise import CurvewiseError, Trial, Trials
from curvewise.report import sections
from curvewise.report.page import render


class Outline(html.parser.HTMLParser):
    """Headings, links to elsewhere and open tags of a page."""

    void = ("meta", "br", "link", "img", "hr")

    def __init__(self, text):
        super().__init__()
        self.open, self.headings, self.addresses, self.inside = [], [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag not in self.void:
            self.open.append(tag)
        self.addresses += [v for k, v in attrs if k in ("src", "href") and v]
        self.inside = tag

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self.inside = None

    def handle_data(self, text):
        if self.inside in ("h1", "h2", "h3"):
            self.headings.append(text)


@pytest.fixture(scope="module")
def page():
    return render(cw.example("search"), failed="worst")


def test_the_page_holds_the_answer_and_its_numbers(page):
    outline = Outline(page)
    assert outline.open == []
    assert "How good is it, and how hard to tune? (accuracy)" in outline.headings
    assert "Task rings" in outline.headings
    answer = cw.performance(cw.example("search"), failed="worst")
    for row in answer.table("waves"):
        assert f">{row['mean']}<" in page
    assert "Who is ahead on waves?" in outline.headings
    assert "All 2 tasks" in outline.headings
    assert answer.provenance.data[:12] in page
    assert "9 failed trials counted" in page


def test_the_page_needs_no_network(page):
    assert all(address.startswith("#") for address in Outline(page).addresses)
    assert "default-src 'none'" in page
    assert "Plotly.react" in page
    assert len(page) > 4_000_000  # plotly.js travels inside


def test_charts_hold_the_numbers_of_the_answer(page):
    text = re.search(r'id="figures">(.*?)</script>', page, re.S)[1]
    figures = json.loads(text)
    # Two tasks: quantiles, best trials, best of k; and all tasks together.
    assert [len(f["data"]) for f in figures] == [6] * 7
    assert figures[0]["data"][1]["name"] == "net"


def test_hostile_names_stay_names():
    name = "</script><img src=x onerror=alert(1)>&\"'"
    trials = Trials(Trial(name, name, i, {"accuracy": i / 10}) for i in range(5))
    page = render(trials)
    assert "<img" not in page
    assert Outline(page).open == []
    assert json.loads(re.search(r'id="figures">(.*?)</script>', page, re.S)[1])


def test_every_metric_has_its_section_unless_one_is_asked_for():
    trials = Trials(
        Trial("t", "a", i, {"loss": i, "accuracy": i / 9}) for i in range(9)
    )
    both = [h for h in Outline(render(trials)).headings if h.startswith("How good")]
    assert [h.split("? ")[1] for h in both] == ["(loss)", "(accuracy)"]
    one = [
        h for h in Outline(render(trials, metric="loss")).headings if "How good" in h
    ]
    assert len(one) == 1


def test_counts_alone_make_a_report():
    headings = Outline(render(cw.example("counts"))).headings
    assert sum("How good" in h for h in headings) == 6


def test_counts_along_sizes_have_a_section_of_their_own(page):
    counted = render(cw.example("counts"))
    outline = Outline(counted)
    assert outline.open == []
    asked = "How do precision, recall and F1 move with data?"
    assert asked in outline.headings
    told = outline.headings[outline.headings.index(asked) + 1 :]
    # Verdicts are about F1, and so is the chart below them.
    assert told[:4] == [
        f"{m} and data on all" for m in ("F1", "Error", "Precision", "Recall")
    ]
    answer = cw.confusion(cw.example("counts"))
    for row in answer.table("all"):
        assert f">{row['at 1,280']}<" in counted
    assert answer.verdicts("all")[0] in counted
    assert asked not in page


def test_counts_that_make_no_curve_do_not_cost_the_page():
    counts = np.array([[[90, 10], [20, 80]]] * 3)
    counts[:, 1] = 0  # a class that nobody met
    trials = Trials(
        Trial("t", "a", i, {}, steps=[10, 20, 40], counts=counts) for i in range(3)
    )
    page = render(trials)
    assert "These counts make no curve." in page
    assert "never occurs in the test sets" in page


def test_curves_have_a_section_of_their_own(page):
    curves = render(cw.example("curves"))
    headings = Outline(curves).headings
    assert "Do the curves differ, and where? (return)" in headings
    assert "Who differs on hill, and where?" in headings
    assert "Curves over all 2 tasks" in headings
    assert "fast is ahead of slow by" in curves
    assert "Do the curves differ" not in page  # one score per trial is no curve


def test_uneven_curves_are_compared_on_a_grid_that_is_told():
    trials = Trials(
        Trial(
            "t", name, i, {"loss": np.arange(9.0)[i % 2 :] + i}, steps=range(i % 2, 9)
        )
        for name in "ab"
        for i in range(6)
    )
    page = render(trials)
    assert "8 steps from 1 to 8, what 6 lines recorded before is left out" in page


def test_no_algorithm_is_left_out_of_the_curves_without_a_word():
    """One that fails at once has no curve, and is the first that a reader must see."""
    rng = np.random.default_rng(0)
    trials = [
        Trial("t", name, i, {"return": rng.normal(size=5)})
        for name in "ab"
        for i in range(5)
    ]
    trials += [Trial("t", "c", i, {}, status="failed", error="boom") for i in range(5)]
    trials += [Trial("t", "d", 0, {"return": rng.normal(size=5)})]
    trials += [Trial("u", "a", i, {"return": rng.normal(size=5)}) for i in range(5)]
    page = render(Trials(trials), failed=-9.0)
    assert "lines of a 5, b 5, c 5 (5 failed)" in page
    assert "is ahead of c by" in page
    assert "Left out on t, with one line: &#39;d&#39;." in page
    assert "Left out: u, with lines of fewer than two algorithms." in page


def test_curves_that_cannot_be_compared_do_not_cost_the_page():
    apart = Trials(
        Trial("t", name, i, {"loss": [i, i + 1]}, steps=[10 * i, 10 * i + 1])
        for name in "ab"
        for i in range(4)
    )
    assert "These curves cannot be compared. The lines share no steps" in render(apart)
    lonely = Trials(
        Trial("t", name, i, {"loss": [i, i + 1]})
        for name, runs in (("a", 5), ("b", 1))
        for i in range(runs)
    )
    assert "Do the curves differ" not in render(lonely)


def test_a_new_section_is_one_line(monkeypatch):
    extra = sections.Section("x", "What else?", "Nothing.", provenance="by hand")
    monkeypatch.setattr(
        "curvewise.report.page.SECTIONS", (*sections.SECTIONS, lambda t, s: [extra])
    )
    assert "What else?" in Outline(render(cw.example("curves"))).headings


def test_the_verdict_claims_no_more_than_the_intervals_show():
    rng = np.random.default_rng(0)

    def said(shift):
        scores = {"a": rng.random(40) / 4, "b": rng.random(40) / 4 + shift}
        trials = Trials(
            Trial("t", name, i, {"accuracy": v})
            for name, values in scores.items()
            for i, v in enumerate(values)
        )
        return render(trials)

    assert "No pair is told apart with 95 % confidence" in said(0.0)
    assert "Told apart over the best 50 % with 95 % confidence: b from a" in said(0.6)


def test_writing_makes_folders_and_leaves_no_half_page(tmp_path, monkeypatch):
    target = tmp_path / "new" / "report.html"
    assert cw.report.write(cw.example("curves"), target) == target
    before = target.read_text()
    with pytest.raises(CurvewiseError, match="5 of 180 trials have no score"):
        cw.report.write(cw.example("search"), target)
    assert target.read_text() == before
    monkeypatch.setattr("pathlib.Path.replace", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        cw.report.write(cw.example("curves"), target)
    assert [p.name for p in target.parent.iterdir()] == ["report.html"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda path: cw.report.write(Trials(), path / "a.html"),
            "no trials to report",
        ),
        (lambda path: cw.report.write(cw.example("curves"), path), "is a folder"),
        (
            lambda path: cw.report.write(
                cw.example("curves"), path / "a", metric="retrun"
            ),
            r"no metric 'retrun'\. Did you mean 'return'",
        ),
    ],
)
def test_bad_input_is_named_and_nothing_written(tmp_path, call, words):
    with pytest.raises(CurvewiseError, match=words):
        call(tmp_path)
    assert list(tmp_path.iterdir()) == []


def browser():
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = next((shutil.which(n) for n in names if shutil.which(n)), None)
    if found is None:
        pytest.skip("no Chromium or Chrome; make services installs one")
    return found


def opened(path, profile, *more):
    """Return what the browser made of a page, and what it complained about."""
    flags = (
        *(
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
        ),
        *("--disable-background-networking", "--disable-component-update"),
        *("--disable-sync", "--disable-dev-shm-usage", "--enable-logging=stderr"),
        *(
            f"--user-data-dir={profile}",
            "--virtual-time-budget=8000",
            "--window-size=900,1400",
        ),
    )
    done = subprocess.run(
        [browser(), *flags, *more, path.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, complaints


@pytest.mark.service
def test_a_browser_draws_every_chart_without_complaint(tmp_path):
    path = cw.report.write(
        cw.example("search"), tmp_path / "report.html", failed="worst"
    )
    dom, complaints = opened(path, tmp_path / "profile", "--dump-dom")
    assert complaints == []
    assert dom.count('class="main-svg"') >= 2
    for name in ("net", "forest", "svm"):
        assert dom.count(f'data-unformatted="{name}"') == 7


@pytest.mark.service
def test_the_browser_would_have_complained(tmp_path):
    """The negative control: a script that fails does show."""
    path = cw.report.write(
        cw.example("search"), tmp_path / "report.html", failed="worst"
    )
    broken = path.read_text().replace("Plotly.react(", "Plotly.nothing(")
    path.write_text(broken)
    dom, complaints = opened(path, tmp_path / "profile", "--dump-dom")
    assert complaints
    assert 'class="main-svg"' not in dom


def test_few_errors_make_a_page_without_a_band():
    few = Trials(
        Trial("t", name, 0, {"error": [0.5, 0.4, last]}, steps=[10, 20, 40])
        for name, last in (("a", 0.33), ("b", 0.35))
    )
    assert "Error and data on t" in Outline(render(few)).headings
