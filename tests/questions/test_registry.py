"""A question is one folder and one line: whoever goes through all of them sees it."""

import json

import pytest
from click.testing import CliRunner

import curvewise as cw
from curvewise import questions
from curvewise.cli import main, sections
from curvewise.questions import registry
from curvewise.questions.registry import QUESTIONS, Question

SECTION = """
from curvewise.questions.needs import Prospect
from curvewise.questions.section import Section

ASKS = "How many trials are there?"


def prospect(asked):
    return Prospect("toy", ASKS, "how many there are", "yes", found="all of them")


def sections(trials, settings):
    return [Section("toy", ASKS, "Count them.", f"There are {len(trials)}.")]


NEEDS = {prospect: "performance"}
"""
AUDIT = """
from curvewise.questions.audit.checks import Seen, Subject


class Toy(Subject):
    name, found = "toy", 0

    def ask(self, trials, seed):
        return len(trials)

    def claims(self, answer):
        return [Seen("one trial more", 0, 1, 1, 0.05)]

    def draw(self, rng):
        return range(3)

    def ask_drawn(self, trials, seed):
        return len(trials)

    def misses(self, answer):
        return [Seen("the number of trials", 0, 1, 1, 0.05)]


def subject(trials, asked):
    return Toy()
"""
COMMAND = """
import click


@click.command()
@click.argument("source")
def toy(source):
    \"\"\"How many trials are there?\"\"\"
    import curvewise as cw

    click.echo(len(cw.read(source)))
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A folder beside those of the other questions, and its line."""
    folder = tmp_path / "toy"
    folder.mkdir()
    for name, code in (
        *(("__init__", ""), ("section", SECTION), ("audit", AUDIT)),
        ("command", COMMAND),
    ):
        (folder / f"{name}.py").write_text(code)
    monkeypatch.setattr(questions, "__path__", [*questions.__path__, str(tmp_path)])
    line = Question(
        "toy", "How many trials are there?", "toy", ("needs", "section", "audit")
    )
    monkeypatch.setattr(registry, "QUESTIONS", (*QUESTIONS, line))
    return line


@pytest.fixture
def trials():
    return cw.example("search").where(task="rings", algorithm=["net", "svm"])


def test_explain_tells_of_it(toy, trials):
    assert cw.explain(trials).of("toy").found == "all of them"


def test_the_page_has_its_section(toy, trials, tmp_path):
    page = cw.report.write(trials, tmp_path / "page.html", failed="worst").read_text()
    assert f"There are {len(trials)}." in page
    assert 'id="toy"' in page


def test_the_audit_tries_it(toy, trials):
    checks = cw.audit(trials, failed="worst", repetitions=20).of("toy")
    assert {check.kind for check in checks} == {"shuffled", "simulated"}


def test_the_command_line_lists_it_and_runs_it(toy, tmp_path):
    (tmp_path / "r.csv").write_text(cw.examples.example_text("search"))
    run = CliRunner().invoke
    assert toy.asks in run(main, ["--help"]).output
    assert run(main, ["toy", str(tmp_path / "r.csv")]).stdout == "360\n"


def test_without_its_line_nobody_sees_it(trials, tmp_path):
    """The negative control."""
    assert "toy" not in {one.analysis for one in cw.explain(trials).questions}
    assert CliRunner().invoke(main, ["toy", "x.csv"]).exit_code == 2
    assert "toy" not in json.dumps([*sections().values()])


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_a_folder_has_what_its_line_promises(question):
    homes = {"needs": ("section", "NEEDS"), "section": ("section", "sections")}
    for part in question.parts:
        assert question.part(*homes.get(part, ("audit", "subject")))
    if question.command:
        name = question.command.replace("-", "_")
        assert question.part("command", name).name == question.command
