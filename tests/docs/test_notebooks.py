"""What a notebook shows of answers: tables that people read, of any names."""

import contextlib
import html
import importlib
import inspect
import pkgutil
import re
from html.parser import HTMLParser

import pytest
from answers import ANSWERS, answer, curved, experiment, searched

import curvewise as cw
from curvewise.answer import Answer
from curvewise.flow.status import standing
from curvewise.text import Table, notebook, shown

HOSTILE = "<script>alert('x')</script> & \"<b>\" -->"
VOID = {"br", "hr", "img", "meta", "link", "input"}
ALLOWED = {
    *("table", "caption", "thead", "tbody", "tr", "th", "td"),
    *("div", "style", "p", "details", "summary", "ul", "li"),
}


class Balanced(HTMLParser):
    """Reads HTML; complains about what is not closed, and keeps what it says."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.texts, self.attributes = [], set(), [], []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.texts.append(data)


def read(text):
    page = Balanced()
    page.feed(text)
    page.close()
    assert page.open == []
    return page


def cells(text):
    return [
        html.unescape(c) for c in re.findall(r"<t[dh](?: [^>]*)?>(.*?)</t[dh]>", text)
    ]


def tables_of(one):
    """Yield the tables that an answer has for people."""
    for name in ("table", "pair_table", "overall_table"):
        method = getattr(one, name, None)
        if method is None:
            continue
        if "task" in inspect.signature(method).parameters:
            yield from (method(task) for task in one.tasks)
        else:
            yield method()


@pytest.mark.parametrize("kind", ANSWERS)
def test_every_answer_shows_its_tables_and_its_notes(kind):
    one = answer(kind)
    text = one._repr_html_()
    page = read(text)
    said = set(cells(text))
    for rows in tables_of(one):
        for row in rows:
            assert set(row) <= said
            assert {shown(value) for value in row.values()} <= said
    told = " ".join(page.texts)
    for note in one.notes():
        assert note in told
    assert str(one.provenance) in told
    assert page.tags <= ALLOWED


@pytest.mark.parametrize("kind", ANSWERS)
def test_hostile_names_are_shown_and_nothing_else(kind):
    page = read(answer(kind, HOSTILE)._repr_html_())
    assert page.tags <= ALLOWED
    assert {name for name, _ in page.attributes} <= {"class", "scope", "colspan"}
    told = " ".join(page.texts)
    if kind not in ("BandPlan", "TopPlan", "Telling"):  # which have no names
        assert HOSTILE in told


@pytest.mark.parametrize("kind", ANSWERS)
def test_no_colour_is_set_as_a_notebook_may_be_dark(kind):
    text = answer(kind)._repr_html_()
    (style,) = re.findall(r"<style>(.*?)</style>", text)
    assert not re.search(r"color|background|#[0-9a-f]{3}|rgb", style)


def subclasses(of):
    for one in of.__subclasses__():
        yield one
        yield from subclasses(one)


def test_every_kind_of_answer_is_among_them():
    for package in (cw, cw.papers):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name != "curvewise.__main__":
                importlib.import_module(module.name)
    concrete = {
        one.__name__
        for one in subclasses(Answer)
        if not inspect.isabstract(one)
        and one.__module__.startswith(("curvewise.", "curvewise_papers."))
    }
    assert concrete == set(ANSWERS)
    for kind in ANSWERS:
        assert type(answer(kind)).__name__ == kind


def test_an_answer_that_says_nothing_to_notebooks_cannot_be_made():
    """The negative control: whoever adds an answer has to say how it shows."""

    class Silent(Answer):
        def rows(self):
            return []

    with pytest.raises(TypeError, match="_parts"):
        Silent()


def test_raw_rows_would_be_noticed():
    """The negative control of the first test: rows are for programs."""
    one = answer("Performance")
    said = set(cells(notebook([Table(one.rows())])))
    assert not set(next(tables_of(one))[0]) <= said


def test_what_is_not_balanced_would_be_noticed():
    for text in ("<p><b>x</p>", "<p>", "</p>"):
        with pytest.raises(AssertionError):
            read(text)


# --- other things that people look at ----------------------------------------------------


@pytest.mark.parametrize("suffix", ["", HOSTILE])
def test_trials_show_what_was_understood(suffix):
    text = searched(suffix)._repr_html_()
    page = read(text)
    assert "180 (30 each of 6 pairs of task, algorithm)" in cells(text)
    assert page.tags <= ALLOWED
    if suffix:
        assert "<script>alert" in " ".join(page.texts)


@pytest.mark.parametrize("suffix", ["", HOSTILE])
def test_how_far_a_store_is_shows_as_a_table(tmp_path, suffix):
    where = str(tmp_path / "runs.db")
    store = cw.store.open(where)
    with contextlib.closing(store):
        store.write(searched(suffix))
    text = standing(where)._repr_html_()
    page = read(text)
    assert {"done", "failed", f"forest{suffix}"} <= set(cells(text))
    assert f"diverged{suffix}"[:20] in " ".join(page.texts)
    assert page.tags <= ALLOWED


@pytest.mark.parametrize("kind", ANSWERS)
def test_jupyter_would_take_the_html(kind):
    """It asks an object, not its class, for this method, and takes a text."""
    one = answer(kind)
    assert callable(one._repr_html_)
    assert isinstance(one._repr_html_(), str)
    assert not hasattr(one, "_repr_mimebundle_")  # which would come first
    assert not hasattr(one, "_ipython_display_")
    # Without HTML, as in a terminal, it is what is printed.
    assert "object at 0x" not in repr(one)


# --- how much of it ----------------------------------------------------------------------


def test_long_tables_end_and_say_how_many_rows_are_left():
    rows = [{"n": i} for i in range(1000)]
    text = notebook([Table(rows, "long")])
    assert text.count("<tr>") == 1 + 40 + 1
    assert "and 960 more rows; to_frame() has all" in text
    assert notebook([Table(rows[:41])]).count("<tr>") == 1 + 41


def test_many_tables_end_too():
    text = notebook([Table([{"n": 1}])] * 100)
    assert text.count("<table") == 24
    assert "and more; to_frame() has all" in text
    read(text)


def test_an_answer_about_many_tasks_stays_small():
    rng = np_rng()
    many = cw.Trials(
        cw.Trial(f"task {t}", name, i, {"accuracy": rng.random()})
        for t in range(60)
        for name in "ab"
        for i in range(3)
    )
    text = cw.performance(many)._repr_html_()
    read(text)
    assert len(text) < 60_000


def np_rng():
    import numpy as np

    return np.random.default_rng(0)


def test_nothing_to_show_is_still_balanced():
    read(notebook([]))
    read(notebook(["", Table([])], notes=[""]))
    read(cw.Trials()._repr_html_())
    assert "nothing to object to" in cw.check(clean())._repr_html_()


def clean():
    """Trials that a reviewer has nothing to say about."""
    plan = experiment(trials=40)
    found = cw.run(plan, executor="serial", progress=False)
    kept = cw.check(found)
    return found if not len(kept) else curved()


# --- in a browser ------------------------------------------------------------------------


@pytest.mark.service
def test_a_browser_shows_them_without_running_anything(browser):
    from browser import listen

    page = browser.new_page()
    heard = listen(page)
    page.set_content("".join(answer(k, HOSTILE)._repr_html_() for k in ANSWERS))
    assert heard.complaints == []
    assert page.locator("script").count() == 0
    assert page.locator("table").count() >= len(ANSWERS)
    folded = page.locator("details").first
    assert not folded.locator("li").first.is_visible()
    folded.locator("summary").click()
    assert folded.locator("li").first.is_visible()
    page.close()
