import base64
import hashlib
import html
import html.parser
import json
import os
import re
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from example_pages import EXAMPLES, example_page

import curvewise as cw
from curvewise import CurvewiseError, Trial, Trials
from curvewise.figures.chart import Chart, Series, no_band
from curvewise.questions.difference.fit import with_lines
from curvewise.questions.difference.text import lines_in_words
from curvewise.questions.section import Block, Group, Method, Section
from curvewise.report.layout import chart_rows, html_table
from curvewise.report.names import Names
from curvewise.report.page import _plotly, _template, render


class Outline(html.parser.HTMLParser):
    """Headings with their levels, addresses, names of places and open tags of a page."""

    void = ("meta", "br", "link", "img", "hr")

    def __init__(self, text):
        super().__init__()
        self.open, self.headings, self.levels, self.addresses = [], [], [], []
        self.ids, self.tags, self.inside = [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag not in self.void:
            self.open.append(tag)
        self.tags.append((tag, dict(attrs)))
        self.addresses += [v for k, v in attrs if k in ("src", "href") and v]
        self.ids += [v for k, v in attrs if k == "id"]
        self.inside = tag

    def handle_startendtag(self, tag, attrs):
        self.addresses += [v for k, v in attrs if k in ("src", "href") and v]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self.inside = None

    def handle_data(self, text):
        if self.inside in ("h1", "h2", "h3", "h4"):
            self.headings.append(text)
            self.levels.append(int(self.inside[1]))

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def figures(page):
    """Return the figures of a page, in its order."""
    found = re.findall(r'<script type="application/json">(.*?)</script>', page, re.S)
    return [json.loads(text) for text in found]


def rendered(monkeypatch, *made, **options):
    """Return a page of these sections alone."""
    monkeypatch.setattr(
        "curvewise.report.page.page_sections", lambda _trials, _settings: list(made)
    )
    return render(cw.example("curves"), **options)


ONE_TRIAL = Trials([Trial("t", "a", 0, {"accuracy": 0.5})])
TABLE = [{"name": "a", "value": 0.5}]


@pytest.fixture(scope="module")
def page():
    return example_page("search")


def test_the_page_holds_the_answer_and_its_numbers(page):
    outline = Outline(page)
    assert outline.open == []
    assert "Task rings" in outline.headings
    answer = cw.performance(cw.example("search"), failed="worst")
    for row in answer.table("waves"):
        assert f">{row['mean']}<" in page
    assert "Both tasks" in outline.headings
    assert answer.provenance.data[:12] in page


def test_the_page_needs_no_network(page):
    assert all(address.startswith("#") for address in Outline(page).addresses)
    assert "default-src 'none'" in page
    assert "Plotly.react" in page
    assert re.findall(r"https?://\S+", page.replace(_plotly(), "")) == []
    assert len(page) > 4_000_000  # plotly.js travels inside


def test_curves_belong_to_the_names_above_them(page):
    charts = figures(page)
    assert len(charts) >= 7  # two tasks: quantiles, best trials, best of k; all tasks
    algorithms = set(cw.example("search").algorithms)
    traces = charts[0]["data"]
    assert {t["name"] for t in traces if t.get("showlegend") is not False} == algorithms
    known = json.loads(re.search(r'id="known">(.*?)</script>', page, re.S)[1])
    groups = {known["groups"][int(t["legendgroup"][1:])] for t in traces}
    assert groups == algorithms
    keys = re.findall(r'data-group="g(\d+)".*?<bdi>(.*?)</bdi>', page)
    assert all(known["groups"][int(group)] == name for group, name in keys)


def test_the_same_trials_make_the_same_page(page):
    assert render(cw.example("search"), failed="worst") == page


@pytest.mark.slow
def test_another_process_makes_the_same_page():
    """Names come in sets and dicts somewhere, whose order must not show."""
    made = (
        "import hashlib, curvewise as cw; from curvewise.report.page import render\n"
        "for name in ('search', 'curves', 'counts'):\n"
        "    page = render(cw.example(name), failed='worst')\n"
        "    print(hashlib.sha256(page.encode()).hexdigest())"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", made],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert said[0] == said[1]
    own = hashlib.sha256(render(cw.example("search"), failed="worst").encode())
    assert said[0].split()[0] == own.hexdigest()


def test_only_the_scripts_of_the_page_may_run(page):
    allowed = re.findall(r"'sha256-(.*?)'", page[: page.index("<title>")])
    scripts = re.findall(r"<script>(.*?)</script>", page, re.S)
    assert len(scripts) == 2
    assert [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in scripts
    ] == allowed
    assert "unsafe-inline" not in re.search(r"script-src(.*?);", page)[1]


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
    headings = Outline(example_page("counts")).headings
    assert sum("How good" in h for h in headings) == 6


def test_counts_along_sizes_have_a_section_of_their_own(page):
    counted = example_page("counts")
    outline = Outline(counted)
    assert outline.open == []
    asked = "How do precision, recall and F1 move with data?"
    assert asked in outline.headings
    told = outline.headings[outline.headings.index(asked) + 1 :]
    # Verdicts are about F1, and so is the chart below them.
    # The one task of a table that names none has no name.
    assert told[:4] == [f"{m} and data" for m in ("F1", "Error", "Precision", "Recall")]
    assert not [h for h in outline.headings if "all" in h.split()]
    answer = cw.confusion(cw.example("counts"))
    for row in answer.table("all"):
        assert f">{row['at 1,280']}<" in counted
    assert answer.verdicts("all")[0] in counted
    assert asked not in Outline(page).headings


def test_counts_that_make_no_curve_do_not_cost_the_page():
    counts = np.array([[[90, 10], [20, 80]]] * 3)
    counts[:, 1] = 0  # a class that nobody met
    trials = Trials(
        Trial("t", "a", i, {}, steps=[10, 20, 40], counts=counts) for i in range(3)
    )
    with pytest.raises(CurvewiseError) as problem:
        cw.confusion(trials)
    page = html.unescape(render(trials))
    assert str(problem.value) in page[page.index('<section id="confusion"') :]


def test_curves_have_a_section_of_their_own(page):
    assert '<section id="difference-0"' in example_page("curves")
    # One score per trial is no curve.
    assert '<section id="difference-0"' not in page


def test_uneven_curves_are_compared_on_a_grid_that_is_told():
    trials = Trials(
        Trial(
            "t", name, i, {"loss": np.arange(9.0)[i % 2 :] + i}, steps=range(i % 2, 9)
        )
        for name in "ab"
        for i in range(6)
    )
    compared = cw.difference(trials, grid=8).of()
    assert lines_in_words(compared) in render(trials)


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
    page = html.unescape(render(Trials(trials), failed=-9.0))
    assert "c 5 (5 failed)" in page
    kept, left_out = with_lines(Trials(trials))
    assert (kept.tasks, kept.algorithms) == (("t",), ("a", "b", "c"))
    assert len(left_out) == 2
    for line in left_out:
        assert line in page


def test_curves_that_cannot_be_compared_do_not_cost_the_page():
    apart = Trials(
        Trial("t", name, i, {"loss": [i, i + 1]}, steps=[10 * i, 10 * i + 1])
        for name in "ab"
        for i in range(4)
    )
    with pytest.raises(CurvewiseError) as problem:
        cw.difference(apart, grid=2)
    assert str(problem.value) in html.unescape(render(apart))
    lonely = Trials(
        Trial("t", name, i, {"loss": [i, i + 1]})
        for name, runs in (("a", 5), ("b", 1))
        for i in range(runs)
    )
    assert '<section id="difference-0"' not in render(lonely)


# --- how a page is put together ----------------------------------------------------------


def test_answers_stand_at_the_top_with_a_link(monkeypatch):
    page = rendered(
        monkeypatch,
        Section("one", "First?", "Asked.", "It is <so>.", "More trials."),
        Section("two", "Second?", "Asked.", "Nearly the same.", in_summary=False),
        Section("three", "Third?", "Untold."),
    )
    top = page[page.index('id="in-short"') : page.index('<section id="one">')]
    assert 'href="#one"' in top
    assert "It is &lt;so&gt;." in top
    assert "Nearly the same." not in top
    assert "Third?" not in top
    assert "</b> More trials." in page
    assert '<p class="asked alone">Untold.</p>' in page
    assert Outline(page).headings[1:] == [
        *("In short", "First?", "Second?", "Third?", "What was read?"),
    ]
    nothing = rendered(monkeypatch, Section("three", "Third?", "Untold."))
    assert "In short" not in nothing
    assert "plotly" not in nothing  # a page without charts is small
    assert len(nothing) < 60_000


def test_method_and_provenance_are_one_click_away(monkeypatch):
    method = Method("Bands.", "95 % hold.", "A paper, 1999.")
    page = rendered(
        monkeypatch,
        Section("a", "A?", "Asked.", notes=["Mind this."], method=method),
        Section("b", "B?", "Asked.", provenance="seed 7"),
        Section("c", "C?", "Asked."),
    )
    first, second, third = re.findall(r'<section id="[abc]">.*?</section>', page, re.S)
    # A number and its percent sign stay on one line.
    assert "95\xa0% hold." in first[first.index("<details") :]
    assert "Mind this." in first[: first.index("<details")]  # in the open
    assert "seed 7" in second[second.index("<details") :]
    assert "<details" not in third


@pytest.mark.parametrize(("tasks", "folded"), [(3, 0), (4, 4)])
def test_many_tasks_are_folded_but_for_the_first(monkeypatch, tasks, folded):
    block = Block("How many?", "One sentence.\nAnother.", None, TABLE, "Numbers")
    groups = [Group(f"Task {i}", [block]) for i in range(tasks)]
    whole = Group("", [Block("All of them", "", None, TABLE, "All")])
    page = rendered(monkeypatch, Section("a", "A?", "Asked.", groups=[whole, *groups]))
    outline = Outline(page)
    folders = [a for a in outline.all("details") if a.get("class") == "folder"]
    assert len(folders) == folded
    assert [i for i, a in enumerate(folders) if "open" in a] == ([0] if folded else [])
    assert outline.headings[2:4] == ["All of them", "Task 0"]
    assert outline.levels == [1, 2, 3, *([3, 4] * tasks), 2]
    # What is folded says the first of its sentences.
    assert page.count('class="brief">One sentence.<') == folded


def test_headings_have_no_gaps_and_places_are_unique():
    for text in map(example_page, EXAMPLES):
        outline = Outline(text)
        assert outline.levels[0] == 1
        assert outline.levels.count(1) == 1
        steps = [b - a for a, b in pairwise(outline.levels)]
        assert max(steps) == 1
        assert len(outline.ids) == len(set(outline.ids))
        assert {a[1:] for a in outline.addresses} <= set(outline.ids)


def test_a_question_about_several_metrics_is_one_line_of_the_contents(monkeypatch):
    page = rendered(
        monkeypatch,
        Section("a-0", "How good? (loss)", "Asked."),
        Section("b", "What else? (loss)", "Asked."),
        Section("a-1", "How good? (F1 (macro))", "Asked."),
    )
    nav = page[page.index("<nav") : page.index("</nav>")]
    assert re.findall(r'<a href="#(.*?)">(.*?)</a>', nav) == [
        ("a-0", "loss"),
        ("a-1", "F1 (macro)"),
        ("b", "What else?"),
        ("data", "What was read?"),
    ]
    assert nav.count("How good?") == 1


def test_sections_of_one_name_have_places_of_their_own(monkeypatch):
    page = rendered(monkeypatch, *[Section("a", "A?", "Asked.")] * 3)
    places = [a["id"] for a in Outline(page).all("section")]
    assert len(set(places)) == 4


def test_every_table_has_a_caption_and_every_chart_its_table(page):
    outline = Outline(page)
    tables = {a["id"] for a in outline.all("table")}
    assert len(outline.all("caption")) == len(tables) > 5
    charts = [a for a in outline.all("div") if a.get("class") == "chart"]
    assert charts
    for chart in charts:
        assert chart["role"] == "img"
        assert len(chart["aria-label"]) > 60
        assert chart["aria-details"] in tables
    areas = [a for a in outline.all("div") if a.get("class", "").startswith("scroll")]
    assert len(areas) == len(tables)
    assert all(a["tabindex"] == "0" and a["role"] == "region" for a in areas)
    assert all(a["aria-label"] for a in areas)
    assert all("type" in a for a in outline.all("button"))


def test_a_chart_without_a_table_gets_one(monkeypatch):
    x = np.linspace(1, 9, 9)
    lower, upper = x / 10, x / 8
    series = (
        Series("a", x, x / 9, lower, upper),
        Series("b", x[:5], x[:5] / 9, *no_band(x[:5])),
    )
    chart = Chart("Title", "size", "score", series, "Caption.", axis="linear")
    group = Group("", [Block("Each class", "", chart, [], "")])
    page = rendered(monkeypatch, Section("s", "S?", "Asked.", groups=[group]))
    assert "<caption><span>score: Title</span></caption>" in page
    heads = re.findall(r'<th scope="col"[^>]*>(at .*?)</th>', page)
    assert heads == ["at 1", "at 3", "at 5", "at 7", "at 9"]
    assert ">0.1111 [0.100, 0.125]<" in page
    assert chart_rows(Chart("t", "x", "y", (), "c")) == []


def test_long_tables_are_scrolled(monkeypatch):
    rows = [{"n": i, "text": "word " * 20} for i in range(40)]
    groups = [Group("", [Block("Long", "", None, rows, "Many"), *[_SHORT]])]
    page = rendered(monkeypatch, Section("s", "S?", "Asked.", groups=groups))
    areas = [a.get("class", "") for a in Outline(page).all("div")]
    assert areas.count("scroll tall") == 1
    assert "40 rows" in page


_SHORT = Block("Short", "", None, TABLE, "Few")


def test_numbers_stand_to_the_right_and_names_to_the_left():
    rows = [
        {"algorithm": "a", "mean": "0.84 [0.67, 0.94]", "from to": "8 to 447", "n": 3},
        {"algorithm": "b", "mean": "[?, -1.5e+03]", "from to": "", "n": None},
    ]
    text = str(html_table(rows, "c", Names({})))
    assert re.findall(r'scope="col"(.*?)>', text) == [' class="text"', "", "", ""]
    assert text.count('<th scope="row"') == 2


def test_the_title_says_what_was_compared():
    def title(algorithms, tasks=("t",)):
        trials = Trials(
            Trial(t, a, i, {"accuracy": i / 4}) for t in tasks for a in algorithms
            for i in range(4)
        )  # fmt: skip
        return Outline(render(trials)).headings[0]

    assert title(["svm"]) == "svm on t"
    assert title(["svm", "net"], ["t", "u"]).endswith("on 2 tasks")
    assert title(list("abcde")).startswith("5 algorithms")
    assert title(["svm"], ["all"]) == "svm"  # no task was named
    assert title(["all"]).startswith("4 trials")


# --- colours -----------------------------------------------------------------------------

TEXT_COLOURS = ("ink", "soft", "link", "off", "accent")


def colours(css):
    """Return the variables of the page, by day and by night."""
    light, dark = re.findall(r":root \{(.*?)\}", css, re.S)
    of = lambda text: dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", text))  # noqa: E731
    return of(light), of(light) | of(dark)


def contrast(one, other):
    """Return by how much two colours differ in light, as the web's guidelines count."""

    def light(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [
            p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
        ]
        return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))

    dark, bright = sorted([light(one), light(other)])
    return (bright + 0.05) / (dark + 0.05)


def test_every_text_can_be_read_by_day_and_by_night():
    css = _template("style.css")
    for known in colours(css):
        for ground in ("page", "panel"):
            for text in TEXT_COLOURS:
                assert contrast(known[text], known[ground]) >= 4.5, (text, ground)
        assert contrast(known["screen-ink"], known["screen-page"]) >= 4.5
        assert contrast(known["paper-ink"], known["paper-page"]) >= 4.5


def test_a_pale_text_would_be_noticed():
    light, _ = colours(
        _template("style.css").replace("--soft: #575f6b", "--soft: #8f98a3")
    )
    assert contrast(light["soft"], light["page"]) < 4.5
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


# --- what it says ------------------------------------------------------------------------


def test_the_verdict_claims_no_more_than_the_intervals_show():
    rng = np.random.default_rng(0)

    def said(shift):
        scores = {"a": rng.random(40) / 4, "b": rng.random(40) / 4 + shift}
        trials = Trials(
            Trial("t", name, i, {"accuracy": v})
            for name, values in scores.items()
            for i, v in enumerate(values)
        )
        return cw.performance(trials), render(trials).replace("\xa0", " ")

    for shift, ahead in ((0.0, None), (0.6, "b")):
        answer, page = said(shift)
        assert answer.contrasts[0].ahead == ahead
        assert all(line in page for line in answer.verdict("t").splitlines())


def test_writing_makes_folders_and_leaves_no_half_page(tmp_path, monkeypatch):
    target = tmp_path / "new" / "report.html"
    assert cw.report.write(ONE_TRIAL, target) == target
    before = target.read_text()
    with pytest.raises(CurvewiseError):
        cw.report.write(cw.example("search"), target)
    assert target.read_text() == before
    monkeypatch.setattr("pathlib.Path.replace", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        cw.report.write(ONE_TRIAL, target)
    assert [p.name for p in target.parent.iterdir()] == ["report.html"]


@pytest.mark.parametrize(
    ("trials", "name", "metric"),
    [
        (Trials(), "a.html", None),
        (cw.example("curves"), ".", None),
        (cw.example("curves"), "a", "retrun"),
    ],
)
def test_bad_input_is_refused_and_nothing_written(tmp_path, trials, name, metric):
    with pytest.raises(CurvewiseError):
        cw.report.write(trials, tmp_path / name, metric=metric)
    assert list(tmp_path.iterdir()) == []


def test_few_errors_make_a_page_without_a_band():
    few = Trials(
        Trial("t", name, 0, {"error": [0.5, 0.4, last]}, steps=[10, 20, 40])
        for name, last in (("a", 0.33), ("b", 0.35))
    )
    assert '<section id="learning-0"' in render(few)


@pytest.mark.parametrize("failed", ["wurst", float("nan"), True])
def test_what_no_failed_run_can_score_is_refused_before_a_page_is_made(
    failed, tmp_path
):
    with pytest.raises(CurvewiseError) as caught:
        cw.report.write(cw.example("search"), tmp_path / "page.html", failed=failed)
    assert caught.value.argument == "failed"
    assert not (tmp_path / "page.html").exists()
