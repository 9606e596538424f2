"""The page in a real browser: what it draws, says, saves and prints."""

import base64
import csv
import io
import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from browser import listen
from example_pages import EXAMPLES, example_page

import curvewise as cw
from curvewise import Trial, Trials
from curvewise.questions.performance.charts import quantile_chart

pytestmark = pytest.mark.service

WIDE = {"width": 1280, "height": 900}
STILL = {"reduced_motion": "reduce"}  # nothing scrolls smoothly
# How much of the page has jumped since it was opened.
SHIFT = """window.shift = 0; new PerformanceObserver((list) => {
for (const one of list.getEntries()) window.shift += one.value;
}).observe({type: "layout-shift", buffered: true});"""
NARROW = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """The page of each example, and one of many tasks and algorithms."""
    folder = tmp_path_factory.mktemp("pages")
    out = {name: folder / f"{name}.html" for name in EXAMPLES}
    for name, path in out.items():
        path.write_text(example_page(name), "utf-8")
    rng = np.random.default_rng(0)
    many = Trials(
        Trial(f"task {t}", f"algorithm {a}", i, {"accuracy": score})
        for t in range(4)
        for a in range(13)
        for i, score in enumerate(rng.uniform(a / 40, 1 - t / 20, 5))
    )
    return out | {"many": cw.report.write(many, folder / "many.html")}


@pytest.fixture(scope="module")
def opened(browser, paths):
    """A function that opens each page once; tests leave it as they found it."""
    pages = {}

    def open_page(name, *, copy=0):
        if (name, copy) not in pages:
            page = browser.new_page(viewport=WIDE, **STILL)
            page.add_init_script(SHIFT)
            page.heard = listen(page)
            page.goto(paths[name].as_uri())
            pages[name, copy] = page
        return pages[name, copy]

    return open_page


def drawn(page, place=0):
    """Return a chart once it is there."""
    chart = page.locator(".chart").nth(place)
    chart.scroll_into_view_if_needed()
    chart.locator(".main-svg").first.wait_for(state="attached")
    return chart


def visible(chart):
    """Return whether each trace of a chart is visible, by group."""
    groups = chart.evaluate(
        "c => c._fullData.map((t, i) => [c.data[i].legendgroup, t.visible === true])"
    )
    return dict(groups)


def saved(page, button):
    with page.expect_download() as waiting:
        button.click()
    return waiting.value.suggested_filename, waiting.value.path().read_text("utf-8")


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


# --- charts ------------------------------------------------------------------------------


# Scrolls to each chart, waits until it is drawn, and tells what it says of itself.
VISIT = """async () => {
const out = [];
for (const chart of document.querySelectorAll(".chart")) {
  chart.scrollIntoView();
  const until = performance.now() + 20000;
  while (!chart.querySelector(".main-svg") && performance.now() < until) {
    await new Promise((done) => setTimeout(done, 10));
  }
  const table = document.getElementById(chart.getAttribute("aria-details"));
  out.push([chart.querySelectorAll(".main-svg").length > 0, chart.getAttribute("role"),
    chart.getAttribute("aria-label"), table.caption.innerText, table.rows.length]);
}
return out; }"""


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_chart_is_drawn_when_it_comes_near_and_has_its_table(opened, paths, name):
    page = opened(name)
    n = page.locator(".chart").count()
    assert n > 5
    height = page.evaluate("document.documentElement.scrollHeight")
    assert page.locator(".chart:not(:empty)").count() < n  # not all at once
    told = page.evaluate(VISIT)
    assert len(told) == n
    for is_drawn, role, label, caption, rows in told:
        assert is_drawn
        assert role == "img"
        assert "numbers are in the table" in label
        assert caption
        assert rows > 1
    assert page.heard.complaints == []
    assert page.heard.requests == [paths[name].as_uri()]
    assert page.evaluate("window.shift") < 0.001
    assert page.evaluate("document.documentElement.scrollHeight") == height


def test_values_show_under_the_pointer_and_a_stretch_can_be_zoomed(opened):
    page = opened("search")
    chart = drawn(page)
    x, y = chart.evaluate(
        """c => { const {xaxis, yaxis} = c._fullLayout, box = c.getBoundingClientRect();
        const trace = c._fullData.find((t) => !t.fill || t.fill === "none");
        const i = Math.floor(trace.x.length / 2);
        return [box.x + xaxis._offset + xaxis.l2p(trace.x[i]),
          box.y + yaxis._offset + yaxis.l2p(trace.y[i])]; }"""
    )
    page.mouse.move(x, y)
    label = chart.locator(".hoverlayer .hovertext").first
    label.wait_for(state="attached")
    assert re.search(r"0\.\d+ at \d", label.text_content())
    before = chart.evaluate("c => c.layout.xaxis.range")
    page.mouse.down()
    page.mouse.move(x + 150, y + 5, steps=4)
    page.mouse.up()
    page.wait_for_function(
        "([c, b]) => c.layout.xaxis.range[0] > b + 0.2", arg=[chart.element_handle(), 0]
    )
    after = chart.evaluate("c => c.layout.xaxis.range")
    assert before[0] < after[0] < after[1] < before[1]


def test_a_click_on_a_name_hides_its_curves_and_another_shows_them(opened):
    page = opened("search")
    chart = drawn(page)
    keys = page.locator("figure").first.locator(".key")
    assert keys.all_inner_texts() == ["net", "forest", "svm"]
    groups = [key.get_attribute("data-group") for key in keys.all()]
    assert visible(chart) == dict.fromkeys(groups, True)
    keys.nth(1).click()
    assert keys.nth(1).get_attribute("aria-pressed") == "false"
    assert visible(chart) == {groups[0]: True, groups[1]: False, groups[2]: True}
    keys.nth(1).click()
    assert visible(chart) == dict.fromkeys(groups, True)
    for stroke, state in (("Enter", False), ("Space", True)):
        keys.nth(2).focus()
        page.keyboard.press(stroke)
        assert visible(chart)[groups[2]] is state
    keys.nth(0).dblclick()  # this one alone, and all again
    assert visible(chart) == {groups[0]: True, groups[1]: False, groups[2]: False}
    keys.nth(0).dblclick()
    assert visible(chart) == dict.fromkeys(groups, True)
    assert page.heard.complaints == []


def test_bars_go_with_their_curve(opened):
    page = opened("curves")
    places = page.locator(".chart").evaluate_all(
        """charts => charts.findIndex(c => JSON.parse(c.nextElementSibling.textContent)
        .layout.shapes?.some(s => s.legendgroup))"""
    )
    chart = drawn(page, places)
    shapes = (
        "c => c.layout.shapes.filter(s => s.legendgroup === '{}').map(s => s.visible)"
    )
    owner = chart.evaluate("c => c.layout.shapes.find(s => s.legendgroup).legendgroup")
    key = page.locator("figure").nth(places).locator(f"[data-group={owner}]")
    key.click()
    assert set(chart.evaluate(shapes.format(owner))) == {False}
    key.click()
    assert set(chart.evaluate(shapes.format(owner))) == {True}


def test_many_names_are_a_list_with_all_and_none(opened):
    page = opened("many")
    chart = drawn(page)
    figure = page.locator("figure").first
    assert figure.locator(".legend.many .key").count() == 13
    pressed = "k => k.map(b => b.getAttribute('aria-pressed'))"
    states = figure.locator(".key").evaluate_all(pressed)
    assert (
        states == ["true"] * 8 + ["false"] * 5
    )  # the best of them, and they stand first
    assert sorted(visible(chart).values()) == [False] * 5 + [True] * 8
    figure.locator("[data-every=false]").click()
    assert set(visible(chart).values()) == {False}
    figure.locator("[data-every=true]").click()
    assert set(visible(chart).values()) == {True}


def test_what_is_folded_is_drawn_when_it_is_opened(opened):
    page = opened("many")
    folders = page.locator("#performance-0 details.folder")
    assert [f.get_attribute("open") is not None for f in folders.all()] == [
        True, *[False] * 3,
    ]  # fmt: skip
    second = folders.nth(1)
    assert second.locator(".main-svg").count() == 0
    second.locator("summary").focus()
    page.keyboard.press("Enter")
    second.locator(".chart").first.scroll_into_view_if_needed()
    second.locator(".main-svg").first.wait_for(state="attached")
    page.locator("#performance-0 .open").click()
    assert page.locator("#performance-0 details.folder[open]").count() == 4
    page.locator("#performance-0 .open").click()
    assert page.locator("#performance-0 details.folder[open]").count() == 0
    folders.first.locator("summary").click()
    assert page.heard.complaints == []


# --- files -------------------------------------------------------------------------------


def test_the_numbers_of_a_chart_are_saved_as_they_are_drawn(opened):
    page = opened("search")
    button = page.locator("figure").first.locator("[data-get=numbers]")
    name, text = saved(page, button)
    assert re.fullmatch(r"curvewise-[a-z0-9-]+\.csv", name)
    answer = cw.performance(cw.example("search"), failed="worst")
    chart = quantile_chart(answer, answer.tasks[0])
    rows = rows_of(text)
    assert list(rows[0]) == ["series", "x", "y", "lower", "upper"]
    for series in chart.series:
        own = [row for row in rows if row["series"] == series.name]
        assert 1 < len(own) <= len(series.x)  # at the precision of the page
        x = np.array([float(row["x"]) for row in own])
        assert np.isclose(x.min(), series.x.min(), atol=1e-5)
        assert np.isclose(x.max(), series.x.max(), atol=1e-5)
        ends = [float(row["lower"]) for row in own if row["lower"]]
        assert np.isclose(min(ends), np.nanmin(series.lower), atol=1e-5)
        assert np.isclose(float(own[-1]["y"]), series.y[-1], atol=1e-5)


def test_lists_and_bytes_are_the_same_numbers(opened):
    """Numbers may travel as text or as bytes in base64; a file of them is the same."""
    page = opened("search", copy=1)
    last = page.locator(".chart").count() - 1  # far down: not drawn yet
    said = """([chart, figure]) => {
        chart.nextElementSibling.textContent = JSON.stringify(figure);
        chart.dataset.axis = 'linear'; }"""
    x, y = np.array([0.5, 1.0, 2.0]), np.array([0.1, np.nan, 0.3])
    ends = np.array([[0.0, 0.2], [np.nan, np.nan], [0.25, 0.35]])

    def coded(values, kind):
        raw = base64.b64encode(values.astype(kind).tobytes()).decode()
        shape = {"shape": ", ".join(map(str, values.shape))} if values.ndim > 1 else {}
        return {"dtype": kind[1:], "bdata": raw, **shape}

    def plain(values):
        return json.loads(json.dumps(values.tolist()).replace("NaN", "null"))

    ways = (plain, lambda v: coded(v, "<f4"), lambda v: coded(v, "<f8"))
    places = range(last - 2, last + 1)
    for place, of in zip(places, ways, strict=True):
        trace = {"x": of(x), "y": of(y), "customdata": of(ends)}
        trace |= {"type": "scatter", "name": "a", "legendgroup": "g0"}
        chart = page.locator(".chart").nth(place).element_handle()
        page.evaluate(said, [chart, {"data": [trace], "layout": {}}])
    told = []
    for place in places:
        button = page.locator("figure").nth(place).locator("[data-get=numbers]")
        rows = rows_of(saved(page, button)[1])
        told.append([[row[c] for c in ("x", "y", "lower", "upper")] for row in rows])
    assert told[0] == told[1] == told[2]
    assert told[0] == [
        ["0.5", "0.1", "0", "0.2"],
        ["1", "", "", ""],
        ["2", "0.3", "0.25", "0.35"],
    ]


def test_a_chart_on_an_axis_of_roots_is_saved_with_its_sizes(opened):
    page = opened("counts")
    place = page.locator(".chart").evaluate_all(
        "charts => charts.findIndex(c => c.dataset.axis === 'root')"
    )
    button = page.locator("figure").nth(place).locator("[data-get=numbers]")
    sizes = [float(row["x"]) for row in rows_of(saved(page, button)[1])]
    assert min(sizes) >= 1
    assert any(abs(size - 1280) < 0.5 for size in sizes)


def test_a_drawing_is_saved_with_its_names(opened):
    page = opened("search")
    drawn(page)
    name, text = saved(page, page.locator("figure").first.locator("[data-get=drawing]"))
    assert name.endswith(".svg")
    picture = ET.fromstring(text)
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    words = [t.strip() for t in picture.itertext() if t.strip()]
    assert {"net", "forest", "svm"} <= set(words)
    assert page.heard.complaints == []


def test_a_table_is_saved_with_its_intervals_apart(opened):
    page = opened("search")
    caption = page.locator(".numbers caption").first.inner_text()
    name, text = saved(page, page.locator(".numbers > .get").first)
    words = re.sub("[^a-z0-9]+", "-", caption.lower())
    assert name == f"curvewise-{words}.csv"
    answer = cw.performance(cw.example("search"), failed="worst")
    for row, own in zip(rows_of(text), answer.table(answer.tasks[0]), strict=True):
        assert row["algorithm"] == own["algorithm"]
        assert row["trials"] == str(own["trials"])
        told = f"{row['mean']} [{row['mean lower']}, {row['mean upper']}]"
        assert told == own["mean"]


def test_a_spreadsheet_runs_nothing_of_a_table(opened):
    page = opened("search")
    texts = [
        "=1+1",
        "+x",
        "-3.5",
        "-3 to 4",
        "@a",
        "\tb",
        'say "a", "b"',
        "a\nb",
        "1e5",
    ]
    page.evaluate(
        """texts => {
        const cell = (text) => {
          const out = document.createElement("td");
          out.textContent = text;
          return out; };
        const rows = texts.map((text) => {
          const out = document.createElement("tr");
          out.append(cell("fact"), cell(text));
          return out; });
        document.querySelector("#data tbody").replaceChildren(...rows); }""",
        texts,
    )
    rows = rows_of(saved(page, page.locator("#data .numbers > .get"))[1])
    assert [row["what was understood"] for row in rows] == [
        *("'=1+1", "'+x", "-3.5", "'-3 to 4", "'@a", "'\tb"),
        *('say "a", "b"', "a\nb", "1e5"),
    ]


# --- looks -------------------------------------------------------------------------------


def test_charts_follow_the_colours_of_the_screen(opened):
    page = opened("search")
    chart = drawn(page)
    # Ink and ground, from 0 for black to 765 for white.
    light = """() => [".chart .xtick text", "body"].map((which, i) =>
        getComputedStyle(document.querySelector(which))[i ? "backgroundColor" : "fill"]
        .match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0))"""
    for scheme, asked in (
        ("dark", "a > 500 && b < 200"),
        ("light", "a < 200 && b > 700"),
    ):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(
            f"() => {{ const [a, b] = ({light})(); return {asked}; }}"
        )
    assert chart.locator(".main-svg").count() > 0
    assert page.heard.complaints == []


# The captions of tables that a button lies on.
COVERED = """() => Array.from(document.querySelectorAll(".numbers")).filter((n) => {
const [a, b] = [".get", "caption span"].map((w) => n.querySelector(w))
  .map((e) => e.getBoundingClientRect());
return a.width && b.width && a.left < b.right - 1 && a.top < b.bottom && b.top < a.bottom;
}).map((n) => n.querySelector("caption").textContent)"""


@pytest.mark.parametrize("name", [*EXAMPLES, "many"])
def test_the_page_is_never_wider_than_the_screen(opened, name):
    page = opened(name)
    side = page.locator("nav")
    for viewport in (NARROW, WIDE):
        page.set_viewport_size(viewport)
        drawn(page)
        page.wait_for_function(
            "width => document.documentElement.scrollWidth === width",
            arg=viewport["width"],
        )
        assert page.evaluate(COVERED) == []
        position = side.evaluate("n => getComputedStyle(n).position")
        assert position == ("sticky" if viewport is WIDE else "static")
    assert page.heard.complaints == []


@pytest.mark.slow
def test_paper_gets_everything(opened):
    page = opened("many")
    page.emulate_media(color_scheme="dark")
    page.evaluate(
        """() => addEventListener("beforeprint", () => {
        const n = (what) => document.querySelectorAll(what).length;
        window.printed = [n(".chart:not(:empty)"), n("details:not([open])"),
          Math.max(...Array.from(document.querySelectorAll(".main-svg"),
          (s) => s.clientWidth))]; })"""
    )
    charts = page.locator(".chart").count()
    closed = page.locator("details:not([open])").count()
    before = page.locator(".chart:not(:empty)").count()
    assert before < charts
    assert closed > 3
    assert page.pdf(format="A4").startswith(b"%PDF")
    assert page.evaluate("window.printed") == [charts, 0, 660]
    count = "([what, n]) => document.querySelectorAll(what).length === n"
    page.wait_for_function(count, arg=["details:not([open])", closed])  # as it was
    assert page.locator(".chart:not(:empty)").count() < charts
    page.set_viewport_size({"width": 673, "height": 950})  # the width of A4
    page.emulate_media(media="print")
    page.wait_for_function(count, arg=[".chart:not(:empty)", charts])
    assert not page.locator("nav, .get, .open").filter(visible=True).count()
    for tall in page.locator(".tall").all():
        assert tall.evaluate("t => t.scrollHeight <= t.clientHeight + 1")
    ink = page.locator(".xtick text").first.evaluate("t => getComputedStyle(t).fill")
    assert max(map(int, re.findall(r"\d+", ink)[:3])) < 80
    assert page.evaluate("document.documentElement.scrollWidth") <= 673
    page.emulate_media(media="screen", color_scheme="light")
    page.set_viewport_size(WIDE)
    assert page.heard.complaints == []


def test_a_keyboard_is_enough(opened):
    page = opened("search", copy=2)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.locator(".skip").bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    seen = set()
    for _ in range(20):
        page.keyboard.press("Tab")
        what, outline = page.evaluate(
            """() => { const e = document.activeElement;
            return [e.tagName, getComputedStyle(e).outlineStyle]; }"""
        )
        assert outline == "solid"
        seen.add(what)
    assert {"A", "BUTTON", "DIV"} <= seen  # links, names of curves, areas that scroll
    method = page.locator("details.method summary").first
    method.focus()
    page.keyboard.press("Space")
    assert page.locator("details.method").first.get_attribute("open") is not None


# --- what the tests above would notice ---------------------------------------------------


@pytest.fixture
def bare(browser, paths, tmp_path):
    """A function that opens a page without plotly.js, after a change to its text."""
    whole = paths["search"].read_text("utf-8")
    start = whole.index("<script>", whole.index('id="known"'))
    text = whole[:start] + whole[whole.index("</script>", start) + len("</script>") :]
    page = browser.new_page(viewport=WIDE, **STILL)
    heard = listen(page)

    def open_page(old, new):
        path = tmp_path / "changed.html"
        assert old in text
        path.write_text(text.replace(old, new, 1), "utf-8")
        page.goto(path.as_uri())
        return page, heard

    yield open_page
    page.close()


def soon(page, is_so):
    """Return whether something comes true within ten seconds."""
    for _ in range(100):
        if is_so():
            return True
        page.wait_for_timeout(100)
    return False


def complained(page, heard, words):
    return soon(page, lambda: any(words in said for said in heard.complaints))


def test_a_script_that_fails_would_be_heard(bare):
    page, heard = bare("<main", "<main")
    assert complained(page, heard, "Plotly is not defined")
    assert page.locator(".main-svg").count() == 0


def test_a_script_that_is_not_ours_is_refused(bare):
    page, heard = bare("<main", "<script>window.hacked = 1</script><main")
    assert complained(page, heard, "Content Security Policy")
    assert page.evaluate("window.hacked") is None


def test_a_request_is_refused_and_would_be_heard(bare):
    address = "http://127.0.0.1:9/x.png"
    page, heard = bare("<main", f'<img src="{address}"><main')
    assert complained(page, heard, "Content Security Policy")
    policy = 'http-equiv="Content-Security-Policy"'
    page, heard = bare(policy, f"name='x'><img src='{address}'><meta name='y'")
    assert soon(page, lambda: address in heard.requests)


def test_a_caption_under_a_button_would_be_noticed(opened):
    page = opened("search", copy=1)
    page.evaluate(
        "document.querySelector('caption span').textContent += ' x'.repeat(999)"
    )
    assert page.evaluate(COVERED) == []  # a long one has its place
    loose = (
        "caption, caption span { padding: 0 !important; max-width: none !important }"
    )
    page.add_style_tag(content=loose)
    assert page.evaluate(COVERED) != []


def test_what_jumps_would_be_noticed(opened):
    page = opened("search", copy=1)
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(300)
    before = page.evaluate("window.shift")
    page.evaluate("document.querySelector('header').style.paddingTop = '300px'")
    page.wait_for_function("before => window.shift > before + 0.01", arg=before)
