"""A paper from its file to the command line, the page and the documentation."""

import json
import re

import pytest
import toy
from click.testing import CliRunner
from support import refused

from curvewise.cli import main
from curvewise_papers import PAPERS, find
from curvewise_papers.page import drawings, page, render
from curvewise_papers.study import Results, Runner, kept, reproduce


def run(paper, folder=None, scale="quick"):
    return list(
        reproduce(
            paper,
            paper.studies,
            scale=scale,
            folder=folder,
            command=lambda study: f"curvewise paper toy --study {study.name}",
            executor="serial",
            progress=False,
        )
    )


def test_a_study_is_run_and_compared(paper):
    done, lacking = run(paper)
    assert done.claims.tally() == {"agrees": 2, "differs": 1, "unchecked": 1}
    assert lacking.claims is None
    assert lacking.missing == "a gold coin"


def test_the_same_command_goes_on_and_a_larger_scale_too(paper, tmp_path):
    first = run(paper, tmp_path)[0].results.trials["tosses"]
    again = run(paper, tmp_path)[0].results.trials["tosses"]
    assert again.digest() == first.digest()
    more = run(paper, tmp_path, "kept")[0].results.trials["tosses"]
    assert len(more) == 40
    heads = [t.scores("accuracy")["toss"][:20].tolist() for t in (first, more)]
    assert heads[0] == heads[1]


def test_what_is_kept_is_what_was_found(paper, tmp_path):
    done = run(paper)[0]
    done.results.write(tmp_path / "toy" / "tosses")
    (again,) = kept(paper, [toy.STUDY], tmp_path)
    assert again.results.digest() == done.results.digest()
    assert again.claims.rows() == done.claims.rows()
    assert again.results.made["command"] == "curvewise paper toy --study tosses"
    assert again.results.made["seed"] == "3"
    assert "numpy" in again.results.made


def test_another_number_has_another_digest():
    """The negative control of the digest."""
    one, two = (Results(tables={"a": {"x": [v]}}).digest() for v in (1.0, 1.1))
    assert one != two


def test_an_empty_folder_says_what_to_do(tmp_path):
    assert refused(Results.read, tmp_path) == ("folder", tmp_path)


def test_the_docs_page_is_made_from_the_claims(paper):
    text = page(paper, run(paper))
    assert "# On coins" in text
    assert re.search(
        r"\| heads \| 0\.50 \\\| 0\.\d+ ± 0\.\d+ \| 1\.80 \\\| .* ≠ \|", text
    )
    assert "![Figure 1: tosses](../images/papers/toy-figure-1.png)" in text
    assert "Not run here: it needs a gold coin." in text
    assert "Nobody looked." in text
    assert "a \\| b (proved)" in text


def test_figures_are_drawn_in_rows(paper):
    import matplotlib.pyplot as plt

    found = drawings(paper, run(paper)[0])
    figure = found["toy-figure-1"].figure
    assert len(figure.axes) == 3
    places = {ax.get_subplotspec().num1 for ax in figure.axes}
    assert places == {0, 1, 2}
    plt.close(figure)


def test_the_page_has_tables_figures_and_errata(paper):
    text = render(paper, run(paper))
    assert "Author and Writer 1999, reproduced" in text
    for part in ("Table 1", "Figure 1: tosses", "Errata, with proof", "a gold coin"):
        assert part in text
    assert "≠" in text


def invoke(*words):
    return CliRunner().invoke(main, ["paper", *words])


def test_the_command_runs_and_writes(paper, tmp_path):
    out = tmp_path / "toy.html"
    done = invoke(
        "toy", "--store", str(tmp_path / "runs"), "--workers", "1", "--quiet",
        "--report", str(out), "--keep", str(tmp_path / "kept"),
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "4 numbers: 2 agree, 1 differs and 1 cannot be checked." in done.output
    assert "Not run, for it needs a gold coin." in done.output
    assert (tmp_path / "runs" / "tosses" / "tosses.db").exists()
    assert out.read_text("utf-8").startswith("<!DOCTYPE html>")
    again = invoke(
        "toy", "--kept", str(tmp_path / "kept"), "--study", "tosses", "--json"
    )
    assert again.exit_code == 0, again.output
    assert len(json.loads(again.output)["rows"]) == 4


def test_a_page_that_cannot_be_written_is_refused_before_anything_is_run(
    paper, tmp_path
):
    taken = tmp_path / "results.csv"
    taken.write_text("somebody's results")
    store = tmp_path / "runs"
    done = invoke("toy", "--store", str(store), "--quiet", "--report", str(taken))
    assert done.exit_code == 1
    assert "is there already and is no HTML page" in done.output
    assert not store.exists()
    assert taken.read_text() == "somebody's results"


def test_unknown_names_are_answered_with_those_there_are(paper):
    assert refused(find, "jordan") == ("paper", "jordan")
    assert refused(paper.study, "toses") == ("study of toy", "toses")
    for asked in (["jordan"], ["toy", "--study", "toses"]):
        assert invoke(*asked).exit_code == 1


def test_a_list_says_what_each_study_needs():
    done = invoke("list")
    assert done.exit_code == 0, done.output
    for name in PAPERS:
        for study in find(name).studies:
            assert study.name in done.output


@pytest.mark.parametrize("name", PAPERS)
def test_every_paper_is_whole(name):
    paper = find(name)
    assert paper.printed.errata
    assert paper.printed.tables
    for study in paper.studies:
        assert set(study.cost) == {"quick", "kept", "full"}
        assert study.about


def test_a_runner_without_a_folder_keeps_nothing():
    assert Runner("quick").store("a") is None
