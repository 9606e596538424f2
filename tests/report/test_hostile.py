"""Names that want to be more than names: the page shows them, and does nothing else."""

import csv
import html.parser
import re
import xml.etree.ElementTree as ET
from collections import Counter
from functools import cache

import pytest
from browser import listen
from hypothesis import given, settings
from hypothesis import strategies as st

import curvewise as cw
from curvewise import Metric, Trial, Trials
from curvewise.report import page as report_page
from curvewise.report.layout import html_table
from curvewise.report.names import LETTERS, Names, visible

PAYLOADS = (
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 1</script>",
    "</title></style></textarea><img src=x onerror='window.hacked = 1'>",
    "<!-- <script>window.hacked = 1",
    "]]><svg onload=window.hacked=1>",
    '" onmouseover="window.hacked = 1" x="',
    "' autofocus onfocus='window.hacked = 1",
    "javascript:window.hacked=1",
    "{{ 7*7 }}{% raw %}${7*7}#{7*7}",
    "%{x} %{customdata[0]} %{fullData.name}<extra></extra>",
    "<b>bold</b><br><a href='javascript:window.hacked=1'>click</a>",
    "$x^2$ \\frac{1}{2}",
    "&lt;b&gt; &amp; &#60;",
    "__proto__",
    "constructor",
    "toString",
    "=1+1",
    "@sum(a1)",
    "a,b;c\td",
    "\u202eright to left\u202c",
    "\u2066isolated",
    "العربية",
    "עברית",
    "עברית (שנייה)",
    "👩‍🔬🧪🇳🇿",
    "nul\x00bell\x07escape\x1b[31m",
    "two\nlines",
    "two  spaces",
    "z\u0300\u0301\u0302\u0303\u0304" * 30,
    "x" * 10_000,
    "x" * 9_999 + "y",
    "many words " * 1_000,
)  # fmt: skip


def made(names, tasks=("t",), metric="accuracy"):
    """Return trials of algorithms with these names."""
    trials = (
        Trial(
            task,
            name,
            i,
            {metric: (i + place % 5) / 12},
            params={name[:200]: name},
            labels={"label": name},
        )
        for task in tasks
        for place, name in enumerate(names)
        for i in range(5)
    )
    return Trials(trials, [Metric(metric, "higher", range=(0, 1))])


class Reader(html.parser.HTMLParser):
    """What a page holds: its tags and attributes, and the text of each cell."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.cells, self.ids = [], set(), [], []
        self.titles, self._inside = [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        if tag != "bdi":  # names may be set apart, or not, and numbers head no row
            self.tags.append("td" if tag == "th" else tag)
        if tag in ("td", "th"):
            self.cells.append("")
            self._inside = tag
        self.attributes |= {name for name, _ in attrs}
        self.titles += [value for name, value in attrs if name == "title" and value]
        self.ids += [value for name, value in attrs if name == "id"]

    def handle_endtag(self, tag):
        if tag == self._inside:
            self._inside = ""

    def handle_data(self, text):
        if self._inside:
            self.cells[-1] += text


def light(trials, **options):
    """Return a page without plotly.js, which is most of it and is not what is tested."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report_page, "_plotly", lambda: "window.Plotly = {}")
        return report_page.render(trials, **options)


def shown(names):
    """Return what the page shows for each name."""
    short = Names.among([*names, "t", "accuracy"]).short
    return {name: visible(short.get(name, name)) for name in names}


# --- without a browser -------------------------------------------------------------------


@cache
def tame(algorithms, tasks=1):
    """Return what a page of names without malice holds."""
    names = [f"a{i}" for i in range(algorithms)]
    return Reader(light(made(names, [f"t{i}" for i in range(tasks)])))


def must_add_no_tag(algorithms, tasks, metric):
    """Fail if these names are more than text on the page, or are not on it."""
    text = light(made(algorithms, tasks, metric))
    hostile, usual = Reader(text), tame(len(algorithms), len(tasks))
    assert "\x00" not in text
    new = Counter(hostile.tags) - Counter(usual.tags)
    # Names are told in full once more; a line that is broken is two paragraphs.
    assert set(new) <= {"details", "summary", "dl", "dt", "dd", "p"}
    assert hostile.attributes <= usual.attributes | {"data-name", "title"}
    assert max(Counter(hostile.ids).values()) == 1
    names = shown([*algorithms, *tasks, metric])
    for name in algorithms:
        assert names[name] in hostile.cells


@pytest.mark.parametrize("first", range(0, len(PAYLOADS), 8))
def test_names_add_no_tag(first):
    """Each is an algorithm once; of every eight two are tasks and one is a metric."""
    own = PAYLOADS[first : first + 8]
    must_add_no_tag(own, own[:2], own[3])


@pytest.mark.slow
@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_a_name_adds_no_tag_wherever_it_stands(payload):
    must_add_no_tag([payload, "b"], [payload], payload)


def test_hostile_errors_and_params_stay_text():
    trials = [
        Trial("t", "a", i, {"accuracy": i / 9}, params={p[:99]: p, "p": [p]})
        for i, p in enumerate(PAYLOADS[:9])
    ]
    trials += [
        Trial("t", "b", i, {}, status="failed", error=payload)
        for i, payload in enumerate(PAYLOADS)
    ]
    read = Reader(light(Trials(trials), failed="worst"))
    assert not {"img", "br"} & set(read.tags)
    assert not [name for name in read.attributes if name.startswith("on")]


def test_hostile_labels_of_a_metric_stay_text():
    metric = Metric("accuracy", "higher", label=PAYLOADS[2])
    trials = Trials(
        (Trial("t", "a", i, {"accuracy": i / 9}) for i in range(6)), [metric]
    )
    read = Reader(light(trials))
    assert "img" not in read.tags
    assert PAYLOADS[2] in "".join(read.cells) + " ".join(read.titles)


def test_long_names_are_short_and_told_apart_and_in_full_once():
    one, other = "x" * 10_000, "x" * 9_999 + "y"
    text = light(made([one, other]))
    told = shown([one, other])
    assert max(map(len, told.values())) <= LETTERS + 1
    assert told[one] != told[other]
    assert f">{told[one]}<" in text
    assert len(text) < 400_000
    assert f'<dd class="whole"><bdi>{other}</bdi></dd>' in text


def test_the_reader_would_notice():
    """The negative control: a name that gets through does show."""
    tame = Reader("<table><tr><td>a</td></tr></table>")
    for payload in PAYLOADS[:2]:
        hostile = Reader(f"<table><tr><td>{payload}</td></tr></table>")
        assert hostile.tags != tame.tags


TEXTS = st.text(
    st.one_of(st.characters(codec="utf-8"), st.sampled_from("<>&\"'{}%$/\\ \n\t\x00")),
    min_size=1,
    max_size=80,
)


@given(st.lists(TEXTS, min_size=1, max_size=8), TEXTS)
@settings(max_examples=100, deadline=None)
def test_a_table_reads_back_as_it_was(texts, caption):
    names = Names.among(texts[::2])
    rows = [{"name": text, "value": i} for i, text in enumerate(texts)]
    read = Reader(str(html_table(rows, caption, names)))
    tame = Reader(
        str(html_table([{"name": "a", "value": 1} for _ in texts], "c", Names({})))
    )
    assert read.tags == tame.tags
    for text, cell in zip(texts, read.cells[2::2], strict=True):
        short = Names.among(texts[::2]).short
        # A name inside another text is short as well.
        if not any(name in text for name in short):
            assert cell == visible(text)
        elif text in short:
            assert cell == visible(short[text])


@given(st.sets(TEXTS.filter(str.strip), min_size=8, max_size=8), TEXTS)
@settings(max_examples=4, deadline=None)
def test_a_page_reads_back_as_it_was(names, task):
    names = sorted(names)
    read, usual = Reader(light(made(names, [task]))), tame(len(names))
    assert set(read.tags) <= {*usual.tags, "details", "dl", "dt", "dd"}
    assert read.attributes <= usual.attributes | {"data-name", "title"}
    short = Names.among([*names, task, "accuracy"]).short
    for name in names:
        if not any(other in name for other in short):
            assert visible(name) in read.cells
    assert max(Counter(read.ids).values()) == 1


# --- in a browser ------------------------------------------------------------------------

FUZZED = [
    "".join(chr(33 + (i * 7919 + j * j * 104_729) % 1_500) for j in range(3 + i % 9))
    for i in range(16)
]


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "page.html"
    trials = made([*PAYLOADS, *FUZZED], [PAYLOADS[0]])
    cw.report.write(trials, path)
    opened = browser.new_page(
        viewport={"width": 1200, "height": 900}, reduced_motion="reduce"
    )
    opened.heard = listen(opened)
    opened.dialogs = []
    opened.on(
        "dialog",
        lambda dialog: (opened.dialogs.append(dialog.message), dialog.dismiss()),
    )
    opened.goto(path.as_uri())
    yield opened
    opened.close()


@pytest.mark.service
def test_a_browser_shows_hostile_names_and_runs_nothing(page):
    chart = page.locator(".chart").first
    chart.scroll_into_view_if_needed()
    chart.locator(".main-svg").first.wait_for(state="attached")
    names = [*PAYLOADS, *FUZZED]
    told = shown(names)
    keys = page.locator("figure").first.locator(".key")
    assert set(keys.evaluate_all("k => k.map(b => b.textContent)")) == set(
        told.values()
    )
    ids = page.evaluate("Array.from(document.querySelectorAll('[id]'), (e) => e.id)")
    assert len(ids) == len(set(ids))
    for width in (390, 1200):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(
            "width => document.documentElement.scrollWidth === width", arg=width
        )
    page.mouse.move(*page.evaluate("() => [innerWidth / 2, innerHeight / 2]"))
    assert page.evaluate("window.hacked") is None
    assert page.dialogs == []
    assert page.heard.complaints == []
    assert len(page.heard.requests) == 1


@pytest.mark.service
def test_names_are_literal_in_charts_and_in_files(page):
    figure = page.locator("figure").first
    figure.locator("[data-every=true]").click()
    with page.expect_download() as waiting:
        figure.locator("[data-get=drawing]").click()
    picture = ET.fromstring(waiting.value.path().read_text("utf-8"))
    words = {
        " ".join("".join(e.itertext()).split())
        for e in picture.iter()
        if e.tag.endswith("text")
    }
    assert "javascript:window.hacked=1" in words
    assert "__proto__" in words
    assert not [
        e for e in picture.iter() if e.tag.endswith(("script", "foreignObject"))
    ]
    with page.expect_download() as waiting:
        figure.locator("[data-get=numbers]").click()
    with waiting.value.path().open(encoding="utf-8", newline="") as file:
        series = {row["series"] for row in csv.DictReader(file)}
    told = {re.sub(r"^(?=[=+@\t\r-])", "'", name) for name in PAYLOADS}
    assert told <= series
    table = page.locator(".numbers").first
    with page.expect_download() as waiting:
        table.locator(".get").click()
    with waiting.value.path().open(encoding="utf-8", newline="") as file:
        cells = {cell for row in csv.reader(file) for cell in row}
    assert {"x" * 10_000, "x" * 9_999 + "y", "'=1+1"} <= cells
    assert page.evaluate("window.hacked") is None
