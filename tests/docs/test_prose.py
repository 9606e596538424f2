"""The prose pages of the documentation say what comes out, and name what there is."""

import gzip
import re
import warnings
from functools import reduce

import pytest
from commands import commands
from pages import ROOT, followed_anchors, text_of
from walked_pages import agrees, walked

import curvewise as cw
from curvewise.exchange.tools import FOLDERS, TOOLS

slow = pytest.mark.slow

# page, how many outputs it shows, how many of its blocks need more than this machine
PAGES = [
    pytest.param("tutorial/five-minutes", 6, 0, marks=slow),
    pytest.param("how-to/own-training-function", 5, 1, marks=slow),
    pytest.param("how-to/resume-a-run", 5, 0, marks=slow),
    pytest.param("how-to/use-a-cluster", 3, 6, marks=slow),
    ("how-to/choose-the-number-of-trials", 5, 0),
    ("how-to/import-your-results", 9, 0),
    ("explanation/distributions", 2, 0),
    pytest.param("explanation/lines-and-shuffling", 4, 0, marks=slow),
    ("explanation/bands-and-targets", 4, 0),
    ("explanation/data-reliance", 3, 0),
    ("explanation/failed-trials", 3, 0),
    ("explanation/seeds", 4, 0),
    ("explanation/guarantees", 1, 0),
    pytest.param("explanation/running", 1, 0, marks=slow),
    ("coming-from/rliable", 5, 0),
    ("coming-from/opda", 4, 0),
    ("coming-from/optuna", 2, 0),
    pytest.param("coming-from/scikit-learn", 4, 0, marks=slow),
]
NAMES = [getattr(page, "values", page)[0] for page in PAGES]
GLOSSARY = "docs/reference/glossary.md"


@pytest.mark.parametrize(("page", "outputs", "not_run"), PAGES, ids=NAMES)
def test_a_page_says_what_comes_out(page, outputs, not_run, page_folder, monkeypatch):
    monkeypatch.syspath_prepend(page_folder)
    walk = walked(text_of(f"docs/{page}.md"), page)
    for said, written in walk.outputs:
        assert agrees(said, written), f"{page} says\n{written}\nand it is\n{said}"
    assert len(walk.outputs) == outputs
    assert len(walk.not_run) == not_run


# --- the walk itself ---------------------------------------------------------------------


def test_another_number_is_noticed(page_folder):
    page = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    ((said, written),) = walked(page).outputs
    assert not agrees(said, written)
    assert agrees(said, "2")


def test_dots_stand_for_anything_and_nothing_else_does():
    assert agrees("a b c d\n", "a\n...\nd")
    assert agrees("seconds 0.123", "seconds ...")
    assert not agrees("a b c d\n", "a\n...\ne")
    assert not agrees("a b c d\n", "a b")


def test_files_are_written_and_commands_are_typed(page_folder):
    page = (
        "```toml\n# moons.toml\ntrials = 2\n```\n"
        "```console\n$ curvewise example search > results.csv\n$ head -1 results.csv\n"
        "task,model,...\n```\n"
    )
    walk = walked(page)
    assert (page_folder / "moons.toml").read_text().endswith("trials = 2\n")
    assert walk.commands[1] == "head -1 results.csv"
    assert walk.outputs[0][0].startswith("task,model,seed")


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("```console\n$ rm -r results\n```", "neither run nor marked"),
        ("```console\n$ curvewise check nowhere.csv\n```", "nowhere.csv"),
        ("```text\n3\n```", "nothing was run before"),
        ("```ruby\n3\n```", "what is ```ruby"),
    ],
    ids=["another command", "a command that fails", "no block", "no language"],
)
def test_what_a_reader_could_not_follow_is_refused(page, said, page_folder):
    with pytest.raises(AssertionError, match=re.escape(said)):
        walked(page)


def test_what_needs_a_cluster_is_marked_and_not_run(page_folder):
    page = "<!-- not run: needs a cluster -->\n```python\nraise EOFError\n```\n"
    assert walked(page).not_run == ["raise EOFError\n"]
    with pytest.raises(EOFError):
        walked(page.replace("not run", "run"))


# --- links and names ---------------------------------------------------------------------


def test_links_lead_somewhere():
    pages = [f"docs/{name}.md" for name in NAMES]
    assert followed_anchors([*pages, GLOSSARY, "docs/explanation/curves.md"]) > 20


def resolves(name):
    """Say whether a name that a page calls, such as cw.plan.trials, is there."""
    path = name.removeprefix("cw.").removeprefix("curvewise.").split(".")
    try:
        reduce(getattr, path, cw)
    except AttributeError:
        return False
    return True


def test_every_name_that_is_called_is_there():
    pattern = r"`((?:cw|stats|figures|curvewise)\.[a-z_]+(?:\.[a-z_]+)*)\b"
    found = {
        (page, name)
        for page in NAMES
        for name in re.findall(pattern, text_of(f"docs/{page}.md"))
    }
    assert len(found) > 30
    assert [one for one in sorted(found) if not resolves(one[1])] == []
    assert not resolves("cw.plan.trails")


def test_every_command_that_is_named_is_there():
    named = {
        name
        for page in NAMES
        for name in re.findall(r"`curvewise ([a-z][\w-]*)", text_of(f"docs/{page}.md"))
    }
    assert named <= set(commands())
    assert len(named) > 5


def test_every_tool_has_its_row():
    page = text_of("docs/how-to/import-your-results.md")
    pages = {"sb3": "stable-baselines3", "ray": "ray-tune", "sklearn": "scikit-learn"}
    pages |= dict.fromkeys(FOLDERS, "folders")
    for tool in TOOLS:
        assert f"(import-from-{pages.get(tool, tool)}.md)" in page


def test_calls_of_the_overview_read_real_files(page_folder):
    foreign = ROOT / "tests/assets/foreign"
    (page_folder / "runs").symlink_to(foreign / "tensorboard/torch")
    (page_folder / "logs").symlink_to(foreign / "sb3/logs")
    packed = foreign / "mlflow/3.17.2/mlflow.db.gz"
    (page_folder / "mlflow.db").write_bytes(gzip.decompress(packed.read_bytes()))
    table = text_of("docs/how-to/import-your-results.md").split("From a shell")[0]
    calls = re.findall(r"`(cw\.read\(.+?\))`", table)
    known = [call for call in calls if re.search(r'"(runs|logs|mlflow\.db)"', call)]
    assert len(known) == 3
    for call in known:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cw.CurvewiseWarning)  # unknown metrics
            trials = eval(call, {"cw": cw})
        assert len(trials) > 1, call
        assert len(trials.algorithms) == 2


def test_numbers_of_trials_are_those_of_the_plan():
    page = text_of("docs/how-to/choose-the-number-of-trials.md")
    rows = re.findall(
        r"^\| .+ \| (\d+)(?:, .+)? \| `plan\.(\w+)\((.+)\)` \|$", page, re.M
    )
    assert len(rows) == 4
    for told, name, argument in rows:
        if name == "tell":
            assert told == argument
            assert cw.plan.tell(int(told)).told.top <= 0.05
        elif name == "top":
            assert cw.plan.top(float(argument)).rows()[0]["trials"] == int(told)
        else:
            assert cw.plan.trials(float(argument)).rows()[0]["trials"] == int(told)


def test_refusals_are_quoted_as_they_are(page_folder):
    page = text_of("docs/tutorial/five-minutes.md").split("## It refused")[1]
    quotes = re.findall(r"^\| `(.+?)` \|", page, re.M)
    said = [refusal(attempt) for attempt in (repeated, percent, unscored, unnamed)]
    for quote, text in zip(quotes, said, strict=True):
        assert quote in text


def refusal(attempt):
    with pytest.raises(cw.CurvewiseError) as caught:
        attempt()
    return str(caught.value)


def repeated():
    cw.read({"model": ["a", "a"], "seed": [0, 0], "accuracy": [0.1, 0.2]})


def percent():
    trials = cw.read({"model": ["a", "a"], "seed": [0, 1], "accuracy": [91, 92]})
    cw.performance(trials)


def unscored():
    cw.performance(cw.example("search"), "accuracy")


def unnamed():
    cw.read(ROOT / "tests/assets/foreign/tensorboard/tensorboardx")


# --- the glossary ------------------------------------------------------------------------


def terms():
    """Return the terms that the glossary defines, in its order."""
    block = text_of(GLOSSARY).split("```{glossary}\n:sorted:\n")[1].split("\n```")[0]
    return re.findall(r"^(\S.*)$", block, re.M)


def linked_terms():
    """Return the terms that pages link to."""
    for page in sorted((ROOT / "docs").glob("*/*.md")):
        for found in re.findall(r"\{term\}`(.+?)`", page.read_text()):
            yield re.sub(r".*<(.+)>", r"\1", found)


def test_every_term_that_is_linked_is_explained():
    known = terms()
    assert len(set(known)) == len(known) > 100
    assert known == sorted(known, key=str.lower)
    linked = list(linked_terms())
    assert len(linked) > 10
    assert set(linked) <= set(known)


def test_every_column_of_a_printed_table_is_explained():
    page = text_of(GLOSSARY).split("## Columns of printed tables")[1]
    known = [plain(name) for name in re.findall(r"`(.+?)`", page)]
    assert plain("error at 1,280") in known
    missing = [head for head in headings() if plain(head) not in known]
    assert missing == []


def plain(heading):
    """Return a heading without what follows from the data: sizes, tasks."""
    heading = re.sub(r"\bat [\d,.]+", "at ...", heading)
    heading = re.sub(r"^z, .*", "z, ...", heading)
    heading = re.sub(r"best of \d+", "best of 1", heading)
    return re.sub(r"with \d+ times.*", "with ... times", heading)


def headings():
    """Return the headings of the tables that are printed for the examples."""
    found = cw.performance(cw.example("search"), "accuracy", failed="worst")
    lines = cw.difference(cw.example("curves"))
    error = cw.learning(cw.example("counts"), "error")
    rates = cw.confusion(cw.example("counts"))
    tables = [
        *(found.table("rings"), found.contrast_table("rings"), found.overall_table()),
        *(found.best_table("rings"), found.tuning_table("rings")),
        *(lines.table("hill"), lines.pair_table("hill"), lines.overall_table()),
        *(error.table("all"), error.pair_table("all"), error.beyond_table("all")),
        *(rates.table("all"), rates.class_table("all")),
    ]
    return {name for table in tables for name in table[0]}
