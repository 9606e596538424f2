"""`curvewise report --audit`: what it prints, and what it says while it works."""

import json

import pytest
from click.testing import CliRunner

import curvewise as cw
from curvewise.cli import main
from curvewise.cli import results as cli_results
from curvewise.examples import example_text
from curvewise.flow import progress
from curvewise.questions import audit
from curvewise.questions import audit as analysis


@pytest.fixture
def results(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text(example_text("search"))
    return path


def ran(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


def test_a_report_prints_its_audit_and_puts_it_on_the_page(results, tmp_path):
    page = tmp_path / "page.html"
    asked = ("report", results, "-o", page, "--failed", "worst", "--audit")
    done = ran(*asked, "--audit-repetitions", 20)
    answer = cw.audit(cw.read(results), failed="worst", repetitions=20)
    assert done.stdout == f"{answer}\n\nwrote {page}\n"
    assert '<section id="audit"' in page.read_text()
    done = ran(*asked, "--audit-repetitions", 20, "--json")
    (found,) = json.loads(done.stdout)["audit"]
    assert found["rows"] == json.loads(answer.to_json())["rows"]


def test_without_it_nothing_is_audited(results, tmp_path):
    page = tmp_path / "page.html"
    done = ran("report", results, "-o", page, "--failed", "worst")
    assert done.stdout == f"wrote {page}\n"
    assert '<section id="audit"' not in page.read_text()


def test_too_few_repetitions_are_refused(results):
    done = ran("report", results, "--audit", "--audit-repetitions", 3)
    assert done.exit_code == 2
    assert "20" in done.stderr


def test_the_command_has_the_numbers_of_the_api():
    assert (cli_results.FEWEST, cli_results.REPETITIONS) == (
        audit.FEWEST,
        analysis.REPETITIONS,
    )


def test_lines_come_after_a_second_and_then_rarely(monkeypatch):
    seconds = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: seconds[-1])
    said = []
    show = cli_results._shown(said.append, every=10.0)
    for done, now in enumerate([0.0, 0.5, 1.2, 2.0, 11.1, 12.0, 21.5], start=1):
        seconds.append(now)
        show(done, 8)
    assert [line.split(",")[0].split()[1] for line in said] == ["3", "6"]
    assert "about 4 s" in said[1]


def test_a_terminal_shows_one_line_that_changes(monkeypatch, results, tmp_path, capsys):
    monkeypatch.setattr(cli_results.sys.stderr, "isatty", lambda: True, raising=False)
    with cli_results.auditing("writing") as found:
        cw.report.write(
            cw.example("search"), tmp_path / "a.html", failed="worst", audit=20
        )
    assert len(found) == 1
