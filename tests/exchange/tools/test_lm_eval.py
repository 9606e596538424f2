"""Results of lm-evaluation-harness, against what it handed over itself."""

import json
import shutil
import warnings

import pytest
from pages import ROOT, text_of
from walked_pages import agrees, walked

import curvewise as cw

PAGE = "docs/how-to/import-from-lm-eval.md"
FOLDER = ROOT / "tests/assets/foreign/lm_eval"
GROUP = "sums"

pytestmark = pytest.mark.filterwarnings("ignore::curvewise.CurvewiseWarning")


@pytest.fixture
def file():
    return next(FOLDER.glob("*70m/results_*.json"))


def changed(file, tmp_path, change, name="results_1.json"):
    content = json.loads(file.read_text())
    change(content)
    out = tmp_path / name
    out.write_text(json.dumps(content))
    return out


def test_scores_are_those_that_the_tool_told():
    told = json.loads((FOLDER / "expected.json").read_text())
    trials = cw.read(FOLDER)
    assert {(t.algorithm, t.task) for t in trials} == {
        (model, task) for model, own in told.items() for task in own if task != GROUP
    }
    for trial in trials:
        scores = told[trial.algorithm][trial.task]
        kept = {f"{name},none": float(v[-1]) for name, v in trial.metrics.items()}
        recorded = {name: v for name, v in kept.items() if v == v}
        assert recorded == {
            name: value
            for name, value in scores.items()
            if name.endswith(",none") and not name.endswith("_stderr,none")
        }


def test_directions_are_those_of_the_tool():
    trials = cw.read(FOLDER)
    assert {name: m.direction for name, m in trials.metrics.items()} == {
        "acc": "higher",
        "acc_norm": "higher",
        "word_perplexity": "lower",
        "bits_per_byte": "lower",
    }
    assert {m.source for m in trials.metrics.values()} == {"source"}


def test_the_tool_goes_before_the_name(file, tmp_path):
    def turn(content):
        for ways in content["higher_is_better"].values():
            ways |= {name: not way for name, way in ways.items()}

    trials = cw.read(changed(file, tmp_path, turn))
    assert trials.metric("acc").direction == "lower"
    assert trials.metric("bits_per_byte").direction == "higher"


def test_a_direction_may_differ_by_task(file, tmp_path):
    def turn(content):
        content["higher_is_better"]["sums_small"]["acc"] = False

    metric = cw.read(changed(file, tmp_path, turn)).metric("acc")
    assert (metric.on("sums_small").direction, metric.on("sums_large").direction) == (
        "lower",
        "higher",
    )


def test_one_run_each_and_means_of_groups_are_counted():
    with pytest.warns(cw.CurvewiseWarning, match=f"2 tasks .*'{GROUP}'"):
        trials = cw.read(FOLDER)
    assert trials.design.unit == "single"


def test_filters_are_part_of_the_name(file, tmp_path):
    def add(content):
        content["results"]["sums_small"] |= {
            "acc,strict": 0.1,
            "acc_stderr,strict": 0.2,
        }

    trial = next(t for t in cw.read(changed(file, tmp_path, add)) if "small" in t.task)
    assert trial.metrics["acc (strict)"][-1] == 0.1


def test_one_model_with_other_arguments_is_another(file, tmp_path):
    changed(
        file,
        tmp_path,
        lambda c: c["config"].update(model_args="dtype=bf16"),
        "results_1.json",
    )
    changed(
        file,
        tmp_path,
        lambda c: c["config"].update(model_args="dtype=fp32"),
        "results_2.json",
    )
    assert set(cw.read(tmp_path).algorithms) == {"dtype=bf16", "dtype=fp32"}


def test_a_damaged_file_is_counted(file, tmp_path):
    changed(file, tmp_path, lambda _: None)
    (tmp_path / "results_2.json").write_text('{"results": {')
    with pytest.warns(cw.CurvewiseWarning, match="1 file"):
        assert len(cw.read(tmp_path)) == 3


def test_a_task_without_the_metric_is_left_out_and_named():
    trials = cw.read(FOLDER)
    answer = cw.performance(trials, "acc", anyway=True)
    assert answer.tasks == ("sums_small", "sums_large")
    assert any("'lines'" in line for line in answer.cautions)


def test_the_page_says_what_comes_out(page_folder):
    for model in FOLDER.glob("made__*"):
        shutil.copytree(model, page_folder / "output" / model.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cw.CurvewiseWarning)
        walk = walked(text_of(PAGE), PAGE)
    assert len(walk.outputs) == 1
    for said, written in walk.outputs:
        assert agrees(said, written), said
