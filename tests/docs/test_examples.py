"""Every example of the documentation is run: by the test of its page, or else here."""

import re
import tomllib

import pytest
from pages import ROOT, text_of
from walked_pages import agrees, walked

import curvewise as cw
from curvewise.examples import example_text

slow = pytest.mark.slow

# Pages that have a test of their own, and where it is.
OWN = {
    "README.md": "test_examples.py",
    "docs/tutorial/first-experiment.md": "test_examples.py",
    "docs/tutorial/random-search.md": "test_examples.py",
    "docs/tutorial/first-report.md": "docs/test_report.py",
    "docs/tutorial/compare-curves.md": "docs/test_curves.py",
    "docs/explanation/curves.md": "docs/test_curves.py",
    "docs/tutorial/more-data.md": "docs/test_learning.py",
    "docs/how-to/use-learning-curves.md": "docs/test_learning.py",
    "docs/explanation/error-and-data.md": "docs/test_learning.py",
    "docs/tutorial/precision-and-recall.md": "docs/test_confusion.py",
    "docs/explanation/rates-and-data.md": "docs/test_confusion.py",
    "docs/how-to/which-analysis.md": "docs/test_paper.py",
    "docs/how-to/write-a-paper.md": "docs/test_paper.py",
    "docs/how-to/compare-versions-in-ci.md": "docs/test_versions.py",
    **dict.fromkeys(
        (
            "docs/tutorial/five-minutes.md",
            "docs/how-to/own-training-function.md",
            "docs/how-to/resume-a-run.md",
            "docs/how-to/use-a-cluster.md",
            "docs/how-to/choose-the-number-of-trials.md",
            "docs/how-to/import-your-results.md",
            "docs/explanation/distributions.md",
            "docs/explanation/lines-and-shuffling.md",
            "docs/explanation/bands-and-targets.md",
            "docs/explanation/data-reliance.md",
            "docs/explanation/failed-trials.md",
            "docs/explanation/seeds.md",
            "docs/explanation/guarantees.md",
            "docs/explanation/running.md",
            "docs/coming-from/rliable.md",
            "docs/coming-from/opda.md",
            "docs/coming-from/optuna.md",
            "docs/coming-from/scikit-learn.md",
        ),
        "docs/test_prose.py",
    ),
}
# The others that take more than two seconds.
SLOW = (
    "docs/explanation/self-audit.md",
    "docs/how-to/quantile-slices.md",
    "docs/how-to/reproduce-a-paper.md",
    "docs/how-to/run-an-experiment.md",
    "docs/how-to/run-until-certain.md",
    "docs/reference/audit.md",
    "docs/reference/pendulum.md",
    "docs/reference/tictactoe.md",
)
# How many blocks of a page say that they are not run, and why.
NOT_RUN = {
    "docs/how-to/reproduce-a-paper.md": ["takes minutes"],
    "docs/how-to/watch-a-run.md": [
        "goes on until it is stopped",
        "goes on until it is stopped",
        "needs another machine",
    ],
    "docs/papers/index.md": ["takes minutes, and days"],
    "docs/reference/audit.md": ["takes a minute"],
    "docs/reference/plan.md": ["takes minutes"],
}
EXAMPLE = re.compile(r"^```(?:python|console)$", re.M)


def pages():
    """Return every page that has something to run."""
    found = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    names = (path.relative_to(ROOT).as_posix() for path in found)
    return sorted(
        name
        for name in names
        if not name.startswith(("docs/_build", "docs/figures"))
        and EXAMPLE.search(text_of(name))
    )


def is_named_in(page, test):
    """Say whether a test file names a page, and walks or runs what it names."""
    text = (ROOT / "tests" / test).read_text()
    stem = page.removeprefix("docs/").removesuffix(".md")
    named = page in text or f'"{stem}"' in text or _by_pattern(stem, text)
    return named and re.search(r"walked\(|run_blocks\(|comes_out\(|exec\(", text)


def _by_pattern(stem, text):
    """The first tutorials are named by what they have in common."""
    folder, _, last = stem.rpartition("/")
    first, _, rest = last.partition("-")
    return f"{folder}/{first}-{{n}}.md" in text and f'"{rest}"' in text


def with_imports():
    """Return the declared pages, and those on other tools, each with the tool's tests."""
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    names = [test.relative_to(ROOT / "tests").as_posix() for test in tests]
    tools = [page for page in pages() if page.startswith("docs/how-to/import-from-")]
    found = {page: [n for n in names if is_named_in(page, n)] for page in tools}
    return OWN | {page: own[0] for page, own in found.items() if own}


TESTED = with_imports()
HERE = [
    pytest.param(page, id=page, marks=slow if page in SLOW else ())
    for page in pages()
    if page not in TESTED
]


@pytest.mark.parametrize("page", HERE)
def test_a_page_without_a_test_of_its_own_is_run(page, page_folder, monkeypatch):
    monkeypatch.syspath_prepend(page_folder)
    prepare(page_folder)
    walk = walked(text_of(page), page)
    for said, written in walk.outputs:
        assert agrees(said, written), f"{page} says\n{written}\nand it is\n{said}"
    assert len(walk.not_run) == len(NOT_RUN.get(page, []))


def prepare(folder):
    """Put what pages take for granted into a folder: results, a store, what is kept."""
    (folder / "results.csv").write_text(example_text("search"))
    (folder / "docs").symlink_to(ROOT / "docs")
    if not (folder / "watched.db").exists():
        with cw.store.open(str(folder / "watched.db")) as store:
            store.write(cw.example("search").where(task="rings"))


@pytest.mark.parametrize("page", TESTED)
def test_a_page_that_is_said_to_have_a_test_has_one(page):
    assert (ROOT / page).exists()
    assert is_named_in(page, TESTED[page])


def test_a_page_that_nobody_tests_would_be_noticed():
    """The negative control."""
    assert not is_named_in("docs/tutorial/unheard-of.md", "docs/test_prose.py")
    assert not is_named_in("docs/index.md", "docs/test_prose.py")
    assert {page.values[0] for page in HERE} | TESTED.keys() >= set(pages())


def reasons(text):
    """Return why blocks of a page are not run."""
    return re.findall(r"^<!-- not run: (.+) -->\n+```\w+$", text, re.M)


def test_what_is_not_run_is_known_and_has_a_reason():
    found = {page: why for page in pages() if (why := reasons(text_of(page)))}
    here = {page: why for page, why in found.items() if page not in TESTED}
    assert here == NOT_RUN
    for page, why in found.items():
        print(page, *why, sep="\n  ")  # pytest -rP lists them
    marked = sum("<!-- not run" in text_of(page) for page in pages())
    assert marked == len(found)  # a marker that stands before no block does nothing


def test_every_file_of_settings_can_be_read():
    blocks = [
        (page.name, block)
        for page in sorted((ROOT / "docs").glob("*/*.md"))
        for block in re.findall(r"^```toml\n(.*?)```", page.read_text(), re.S | re.M)
    ]
    assert len(blocks) > 5
    for page, block in blocks:
        assert tomllib.loads(block), page
    with pytest.raises(tomllib.TOMLDecodeError):
        tomllib.loads(blocks[0][1] + "\ntrials = ")
