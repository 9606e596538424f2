"""Which sections a page has, what each says, and that it says it honestly."""

import functools
import json
import re

import numpy as np
import pytest
from example_pages import EXAMPLES, example_sections

import curvewise as cw
from curvewise import CurvewiseError, Metric, Trial, Trials
from curvewise.questions.performance.section import sections as performance_sections
from curvewise.questions.plan.section import sections as plan_sections
from curvewise.questions.section import Settings
from curvewise.report.sections import page_sections, provenance_sections
from curvewise.trials.trial import STATUSES


def made(trials, *, only=None, failed="worst"):
    """Return all sections of a page, or those of one kind, by their anchors."""
    settings = Settings.of(trials, None, "last", failed)
    return by_anchor((only or page_sections)(trials, settings))


def by_anchor(sections):
    found = list(sections)
    assert len({section.anchor for section in found}) == len(found)
    return {section.anchor: section for section in found}


def kinds(sections):
    """Return which sections there are, in their order, each kind once."""
    return list(dict.fromkeys(anchor.split("-")[0] for anchor in sections))


def noise(tasks="t", algorithms="ab", n=20, seed=0, name="accuracy"):
    rng = np.random.default_rng(seed)
    return Trials(
        Trial(task, algorithm, i, {name: float(rng.beta(5, 2))})
        for task in tasks
        for algorithm in algorithms
        for i in range(n)
    )


DATA = {
    "search": lambda: cw.example("search"),
    "curves": lambda: cw.example("curves"),
    "counts": lambda: cw.example("counts"),
    "tuned": lambda: noise(algorithms=["svm", "svm tuned"], tasks="st"),
    "one algorithm": lambda: noise(algorithms="a"),
    "one trial each": lambda: noise(n=1),
    "one trial": lambda: noise(algorithms="a", n=1),
    "many": lambda: noise(tasks="stuvw", algorithms="abcd", n=5),
}


@functools.cache
def page_of(name):
    if name in EXAMPLES:
        return by_anchor(example_sections(name))
    return made(DATA[name]())


@pytest.fixture
def search():
    return page_of("search")


@pytest.fixture
def counts():
    return page_of("counts")


@pytest.fixture(scope="module")
def crossed():
    def net(params, data, rng):
        yield 0, {"loss": params["lr"] + 0.1 * rng.normal()}

    experiment = cw.Experiment(
        cw.Task("t", lambda rng: None),
        cw.Algorithm("net", {"lr": cw.uniform(0, 1)}, net),
        seed=7,
        cross={"params": 8, "seed": 4},
        metrics=[Metric("loss", "lower")],
    )
    return cw.run(experiment, executor="serial", progress=False)


# --- which sections ----------------------------------------------------------------------


def test_scores_alone_have_no_curves(search):
    assert kinds(search) == ["performance", "plan", "check", "cannot", "provenance"]


def test_curves_have_their_section():
    found = kinds(page_of("curves"))
    always = ["plan", "check", "cannot", "provenance"]
    assert found == ["performance", "difference", *always]


def test_counts_along_sizes_have_all_that_they_can_carry(counts):
    assert kinds(counts) == [
        *("performance", "difference", "learning", "confusion"),
        *("plan", "check", "cannot", "provenance"),
    ]


def test_tuned_algorithms_have_a_section_of_their_own():
    assert kinds(page_of("tuned"))[:2] == ["performance", "robustness"]


def test_a_crossed_design_is_asked_where_the_spread_comes_from(crossed):
    found = made(crossed)
    assert kinds(found) == ["variance", "algorithms", "check", "cannot", "provenance"]
    answer = cw.variance_shares(crossed, "loss")
    assert found["variance-0"].answer == answer.headline()


def test_a_crossing_with_a_hole_says_why_it_has_no_answer(crossed):
    found = made(crossed[:-1])["variance-0"]
    with pytest.raises(CurvewiseError) as problem:
        cw.variance_shares(crossed[:-1], "loss")
    assert str(problem.value) in found.answer
    assert not found.in_summary


def test_curves_that_share_no_steps_say_why_they_have_no_answer():
    apart = Trials(
        Trial("t", name, i, {"loss": [i, i + 1]}, steps=[10 * i, 10 * i + 1])
        for name in "ab"
        for i in range(4)
    )
    found = made(apart)["difference-0"]
    with pytest.raises(CurvewiseError) as problem:
        cw.difference(apart, grid=2)
    assert str(problem.value) in found.answer
    assert found.asked
    assert not found.in_summary


def test_what_a_failure_scores_is_still_for_the_caller_to_say(crossed):
    with pytest.raises(CurvewiseError) as problem:
        made(cw.example("search"), failed="raise")
    assert {"failed": "worst"} in problem.value.message.fixes
    broken = [
        Trial("t", "net", 0, {}, status="failed", labels={"params": 0, "seed": 0})
    ]
    trials = Trials(broken, metrics=crossed.metrics.values()) + crossed[1:]
    with pytest.raises(CurvewiseError) as problem:
        made(trials, failed="raise")
    assert "failed" in problem.value.message.fixes[0]


# --- what each says ----------------------------------------------------------------------


@pytest.mark.parametrize("name", DATA)
def test_every_section_says_what_was_asked_answered_and_how(name):
    for section in page_of(name).values():
        assert section.question.split(" (")[0].endswith("?")
        assert len(section.asked) > 30
        assert section.answer.endswith(".")
        method = section.method
        assert method is not None
        assert all(map(len, (method.name, method.guarantee, method.reference)))
        for text in (section.answer, section.change, section.asked):
            assert not re.search(r"\bnan\b|\binf\b|None|  |\.\.", text), text


def test_answers_are_those_of_the_analyses(counts):
    trials = cw.example("counts")
    assert counts["learning-0"].answer == cw.learning(trials, "error").headline()
    assert counts["confusion"].answer == cw.confusion(trials).headline()
    difference = cw.difference(trials, "accuracy")
    assert counts["difference-0"].answer == difference.headline()
    assert counts["difference-0"].change == difference.would_change()
    performance = cw.performance(trials, "accuracy")
    # Of a curve, the sentence says which of its values is meant.
    _, rest = counts["performance-0"].answer.split(", ", 1)
    assert rest[1:] == performance.headline()[1:]


def test_a_further_metric_does_not_repeat_itself_in_the_summary(counts):
    short = [section for section in counts.values() if section.in_summary]
    per_kind = [section.anchor.split("-")[0] for section in short]
    assert len(per_kind) == len(set(per_kind))
    assert counts["performance-5"].answer
    assert not counts["performance-5"].in_summary


def test_many_tasks_begin_with_who_leads_where():
    trials = DATA["many"]()
    first = page_of("many")["performance-0"].groups[0]
    assert first.heading == ""
    (block,) = first.blocks
    assert block.heading == "Who leads where"
    assert list(block.table) == cw.performance(trials).lead_table()
    assert page_of("tuned")["performance-0"].groups[0].heading == "Task s"


def test_findings_are_counted_and_what_is_settled_is_not_asked_again(search):
    assert "3 notes" in search["check"].answer
    assert search["check"].change == ""
    lonely, found = page_of("one trial each")["check"], cw.check(noise(n=1))
    assert "1 objection" in lonely.answer
    assert lonely.change in [one.do for one in found]


def test_tasks_are_called_by_their_names_once():
    def headings(*tasks):
        trials = Trials(
            Trial(t, "a", i, {"accuracy": i / 9}) for t in tasks for i in range(4)
        )
        groups = made(trials, only=performance_sections)["performance-0"].groups
        return [group.heading for group in groups][: len(tasks)]

    assert headings("rings", "task 1", "Task B") == ["Task rings", "task 1", "Task B"]
    assert headings("all") == [""]


def test_what_cannot_be_answered_is_listed_with_what_to_add(search):
    section = search["cannot"]
    (block,) = section.groups[0].blocks
    asked = {row["question"]: row for row in block.table}
    answer = cw.explain(cw.example("search"), "accuracy")
    lacking = [one for one in answer.questions if one.can != "yes"]
    assert list(asked) == [one.question for one in lacking]
    assert all(row["why not"] and row["what to add"] for row in block.table)
    assert section.answer == answer.lacking()


# --- plan --------------------------------------------------------------------------------


def test_the_plan_is_for_half_of_the_present_half_width(search):
    trials = cw.example("search")
    answer = cw.performance(trials, failed="worst")
    section = search["plan"]
    (block,) = section.groups[0].blocks
    found = cw.plan.trials(
        answer.sharper, of="cvar", pilot=trials, metric="accuracy", failed="worst"
    )
    assert list(block.table) == found.table()
    assert section.answer == found.headline()
    assert block.chart is not None
    assert [s.name for s in block.chart.series] == list(found.widths([10]))


def test_of_many_pairs_those_that_are_known_least_are_planned_for():
    section = page_of("many")["plan"]
    (block,) = section.groups[0].blocks
    assert len(block.table) == 12
    assert "the 12 with" in section.notes[-1]


def test_scores_that_do_not_vary_need_no_plan():
    still = Trials(Trial("t", "a", i, {"loss": 1.0}) for i in range(5))
    assert made(still, only=plan_sections) == {}


def test_one_trial_beside_many_does_not_cost_the_plan():
    rng = np.random.default_rng(0)
    trials = Trials(
        (
            Trial("t", name, i, {"return": float(rng.normal())})
            for name, n in (("a", 20), ("b", 20), ("c", 1))
            for i in range(n)
        ),
        metrics=[Metric("return", "higher")],
    )
    (block,) = made(trials, only=plan_sections)["plan"].groups[0].blocks
    assert np.isnan(block.chart.series[2].y).all()
    assert np.isfinite(block.chart.series[0].y).any()


# --- provenance --------------------------------------------------------------------------


def facts(section):
    used, ended, *rest = section.groups[0].blocks
    return {row["what"]: row["value"] for row in used.table}, ended, rest


def test_provenance_names_data_seed_and_versions(search):
    trials = cw.example("search")
    told, _, rest = facts(search["provenance"])
    assert told["hash of the data"] == trials.digest()
    assert told["read from"] == trials.origin
    assert told["seed of the analyses"].startswith("0")
    assert f"curvewise {cw.__version__}" in told["software"]
    assert f"numpy {np.__version__}" in told["software"]
    assert "not known" in told["experiment"]
    assert rest == []


def test_every_status_is_counted_and_the_sum_is_all_trials():
    trials = Trials(
        [
            Trial(
                "t", "a", i, {"accuracy": 0.5} if status == "ok" else {}, status=status
            )
            for i, status in enumerate([*STATUSES, "ok", "ok", "failed"])
        ]
    )
    _, ended, _ = facts(made(trials, only=provenance_sections)["provenance"])
    *rows, total = ended.table
    assert {row["status"]: row["trials"] for row in rows} == {
        "ok": 3,
        "failed": 2,
        **dict.fromkeys(("crashed", "timeout", "cancelled"), 1),
    }
    assert sum(row["trials"] for row in rows) == total["trials"] == len(trials)


def test_provenance_says_how_failures_were_scored(search):
    _, ended, _ = facts(search["provenance"])
    assert "score 0 (failed='worst')" in ended.sentence
    other = made(cw.example("search"), failed=0.25, only=provenance_sections)
    _, ended, _ = facts(other["provenance"])
    assert "score 0.25 (failed=0.25)" in ended.sentence
    _, ended, _ = facts(page_of("curves")["provenance"])
    assert "failed=" not in ended.sentence


def test_a_page_where_all_failed_says_so():
    trials = Trials(
        Trial("t", name, i, {}, status="failed", error="boom")
        for name in "ab"
        for i in range(3)
    )
    found = made(trials)
    assert found["performance-0"].in_summary
    assert not found["performance-0"].groups
    _, ended, _ = facts(found["provenance"])
    assert "failed=" not in ended.sentence


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """Return the trials of a run that stopped early, from a TOML file with a password."""

    def coin(params, data, rng):
        yield 0, {"accuracy": 0.25 + 0.5 * float(rng.random() < 0.5)}

    experiment = cw.Experiment(
        cw.Task("t", lambda rng: None), cw.Algorithm("coin", {}, coin), 400, seed=3
    )
    store = tmp_path_factory.mktemp("stopped") / "coin.db"
    text = 'store = "postgresql://ann:secret@host/db"\n[experiment]\nseed = 3'
    return cw.run(
        experiment,
        store=store,
        executor="serial",
        progress=False,
        until="mean +- 0.1",
        notes={"source": "coin.toml", "source text": text},
    )


def test_an_experiment_that_is_known_is_told(stopped):
    found = made(stopped)
    told, _, (file,) = facts(found["provenance"])
    assert told["experiment"] == "coin.toml"
    assert told["experiment, seed"] == "3"
    assert "400" in told["experiment, planned"]
    assert told["experiment, stopped"] == stopped.about["stopped"]
    assert "seed 3" in found["provenance"].answer
    lines = [row["text"] for row in file.table]
    assert lines[0] == 'store = "postgresql://ann:***@host/db"'
    assert "secret" not in json.dumps(lines)
    assert any("stopped" in note for note in found["performance-0"].notes)
    assert "stopped" in found["performance-0"].change


def test_a_page_without_a_store_knows_its_experiment_too(crossed):
    told, _, _ = facts(made(crossed)["provenance"])
    assert told["experiment, seed"] == "7"
    assert told["experiment, crossed"] == "params x {'seed': 4}"


def test_the_order_of_sections_is_fixed(counts):
    order = kinds(counts)
    assert order[0] == "performance"
    known = ["performance", "learning", "confusion", "plan", "check", "provenance"]
    assert [kind for kind in order if kind in known] == known
