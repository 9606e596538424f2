"""Every shape of a table is read rightly, or asked about; the answer, typed, is right."""

import json
import shlex
from collections import Counter

import numpy as np
import pytest
from click.testing import CliRunner
from tables_by_hand import CASES

import curvewise as cw
from curvewise.cli import main
from curvewise.errors import CurvewiseError, as_words

pytestmark = pytest.mark.filterwarnings("ignore::curvewise.CurvewiseWarning")


def came_out(trials, truth):
    """Return what trials say about the metrics of the truth, in any order of runs."""
    wanted = {name for *_, curves in truth for name in curves}
    out = []
    for trial in trials:
        curves = {}
        for name in wanted:
            if name in trial.metrics:
                curve = trial.metrics[name]
                known = ~np.ma.getmaskarray(curve)
                pairs = zip(trial.steps[known], np.asarray(curve)[known], strict=True)
                curves[name] = [(float(s), round(float(v), 9)) for s, v in pairs]
            elif trial.counts is not None:
                counts = trial.counts[-1]
                curves[name] = [(0.0, round(np.trace(counts) / counts.sum(), 9))]
        curves = {name: curve for name, curve in curves.items() if curve}
        out.append((trial.algorithm, trial.task, json.dumps(curves, sort_keys=True)))
    return Counter(out)


def as_truth(truth):
    out = []
    for algorithm, task, curves in truth:
        whole = {
            name: [(0.0, round(float(v), 9))]
            if not isinstance(v, list)
            else [(float(s), round(float(x), 9)) for s, x in v]
            for name, v in curves.items()
        }
        out.append((algorithm, task, json.dumps(whole, sort_keys=True)))
    return Counter(out)


def merged(keywords, fix):
    """Return keywords with a fix typed in addition: it stands in for what it names."""
    if "where" in fix and "metrics" in keywords:
        keywords = {k: v for k, v in keywords.items() if k != "metrics"}
    if "where" in fix and "trial" in keywords:
        keywords = {k: v for k, v in keywords.items() if k != "trial"}
    return keywords | fix


def source_of(case, tmp_path):
    if not isinstance(case.content, str):
        return case.content
    path = tmp_path / f"results{case.suffix}"
    path.write_text(case.content, encoding="utf-8")
    return path


def must_be_true(trials, case):
    assert came_out(trials, case.truth) == as_truth(case.truth)
    if case.status:
        assert Counter(t.status for t in trials) == case.status


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_table_is_read_rightly_or_asked_about(case, tmp_path):
    source = source_of(case, tmp_path)
    if case.refused:
        with pytest.raises(CurvewiseError) as refused:
            cw.read(source, **case.keywords)
        assert not refused.value.fixes
        return
    if case.answer is None:
        must_be_true(cw.read(source, **case.keywords), case)
        return
    with pytest.raises(CurvewiseError) as asked:
        cw.read(source, **case.keywords)
    assert case.answer in asked.value.fixes
    assert " ".join(as_words(case.answer)) in asked.value.as_options()
    must_be_true(cw.read(source, **merged(case.keywords, case.answer)), case)
    if isinstance(case.content, str):
        out = tmp_path / "trials.parquet"
        words = as_words(merged(case.keywords, case.answer))
        typed = shlex.split(
            f"export {shlex.quote(str(source))} {out} {' '.join(words)}"
        )
        done = CliRunner().invoke(main, typed)
        assert done.exit_code == 0, done.output
        must_be_true(cw.read(out), case)


def test_there_are_shapes_enough():
    names = [case.name for case in CASES]
    assert len(names) == len(set(names)) >= 60


def test_a_wrong_truth_is_seen(tmp_path):
    """The control: the same comparison fails where one score differs."""
    case = CASES[0]
    wrong = [(*case.truth[0][:2], {"accuracy": 0.9101}), *case.truth[1:]]
    assert came_out(cw.read(source_of(case, tmp_path)), wrong) != as_truth(wrong)
