"""What check objects to reaches the answers: withheld, tempered, or let pass anyway."""

import json
import pickle

import numpy as np
import pytest
import studies

import curvewise as cw
from curvewise import Trial, Trials
from curvewise.errors import Blocked
from curvewise.review.check import MOST_CAUTIONS, RULES, gate, ungated
from curvewise.review.finding import Concern

ALL = set(Concern.__args__)
DISTRIBUTION = {"performance", "robustness", "variance", "plan"}


def blocked(trials, **keywords):
    """Return the questions whose answers are withheld."""
    out = set()
    for question in ALL:
        try:
            gate(trials, question, **keywords)
        except Blocked:
            out.add(question)
    return out


def rules(trials, severity="blocks"):
    return {f.rule for f in cw.check(trials) if f.severity == severity}


@pytest.mark.parametrize(
    ("kind", "rule", "questions"),
    [
        ("drift", "params-drift", DISTRIBUTION),
        ("pooled", "pooled-groups", DISTRIBUTION - {"variance"}),
        ("steps as runs", "replication-axis", ALL),
        ("walk", "replication-axis", ALL - {"variance"}),
        ("percent and fractions", "percent-and-fractions", ALL - {"confusion"}),
        ("copies", "duplicate-curves", ALL),
    ],
)
def test_a_rule_blocks_its_questions_and_no_others(kind, rule, questions):
    trials = studies.BLOCKED[kind]()
    assert rules(trials) == {rule}
    assert blocked(trials) == questions


@pytest.mark.parametrize("kind", studies.CLEAN)
def test_clean_studies_get_no_caution(kind):
    trials = studies.CLEAN[kind]()
    assert all(gate(trials, question) == () for question in ALL)


@pytest.mark.parametrize("kind", studies.TEMPERED)
def test_what_tempers_stands_in_a_short_line(kind):
    trials = studies.TEMPERED[kind]()
    assert blocked(trials) == set()
    lines = gate(trials, "performance")
    assert 0 < len(lines) <= MOST_CAUTIONS
    assert all(len(line) <= 100 and "\n" not in line for line in lines)


def asked(trials):
    """Return, by question, a function that asks it of trials."""
    return {
        "performance": lambda **k: cw.performance(trials, failed="worst", **k),
        "robustness": lambda **k: cw.robustness(trials, **k),
        "difference": lambda **k: cw.difference(trials, shuffles=99, **k),
        "variance": lambda **k: cw.variance_shares(trials, **k),
        "plan": lambda **k: cw.plan.trials(0.1, of="mean", pilot=trials, **k),
        "plan.lines": lambda **k: cw.plan.lines(trials, shift=0.2, **k),
        "versions": lambda **k: cw.compare_versions(trials, trials, **k),
        "versions, new": lambda **k: cw.compare_versions(studies.scores(), trials, **k),
    }


@pytest.mark.parametrize(
    ("kind", "question"),
    [
        ("drift", "performance"),
        ("drift", "robustness"),
        ("drift", "plan"),
        ("pooled", "performance"),
        ("pooled", "plan"),
        ("steps as runs", "versions"),
        ("steps as runs", "versions, new"),
        ("copies", "difference"),
        ("copies", "plan.lines"),
        ("copies", "performance"),
    ],
)
def test_anyway_answers_with_the_objection_above_the_verdict(kind, question):
    call = asked(studies.BLOCKED[kind]())[question]
    with pytest.raises(Blocked) as caught:
        call()
    assert {"anyway": True} in caught.value.fixes
    answer = call(anyway=True)
    first, *_ = answer.cautions
    assert first.startswith("Despite: ")
    assert str(answer).startswith(first)
    assert first.split("'")[0] in answer._repr_html_()
    told = json.loads(answer.to_json())["provenance"]["cautions"]
    assert told == list(answer.cautions)


@pytest.mark.parametrize(
    ("kind", "question"),
    [("drift", "versions"), ("copies", "variance"), ("pooled", "versions")],
)
def test_other_questions_are_asked_in_their_own_way(kind, question):
    """What is not blocked is answered, or refused for a reason of its own."""
    trials = studies.BLOCKED[kind]()
    if question in blocked(trials):
        with pytest.raises(Blocked):
            asked(trials)[question]()
    else:
        assert asked(trials)[question]().cautions == ()


def test_learning_and_confusion_are_withheld_too():
    rng = np.random.default_rng(1)
    sizes = [100, 200, 400, 800, 1600]
    curve = [0.5 * 2**-i + 0.01 * rng.random() for i in range(5)]
    copied = Trials(Trial("t", "a", i, {"error": curve}, steps=sizes) for i in range(6))
    with pytest.raises(Blocked):
        cw.learning(copied)
    assert cw.learning(copied, anyway=True).cautions[0].startswith("Despite: ")
    assert str(cw.learning(copied, anyway=True).at(5000)).startswith("Despite: ")
    copied = studies.copies_of_counts()
    with pytest.raises(Blocked):
        cw.confusion(copied)
    assert str(cw.confusion(copied, "f1", anyway=True)).startswith("Despite: ")


# --- fixes ------------------------------------------------------------------------------


EPISODES = [
    "algorithm,seed,rollout,accuracy",
    *(
        f"{a},{i},{j},{(i * 37 + j * 17 + 50 * (a > 'x')) % 101 / 101}"
        for a in "xy"
        for i in range(6)
        for j in range(10)
    ),
]
POOLED = [
    "seed,model,accuracy",
    *(f"{i},{'ppo' if i % 2 else 'sac'},{i * 37 % 101 / 101}" for i in range(40)),
]


@pytest.mark.parametrize(
    ("lines", "keywords", "fix"),
    [
        (
            EPISODES,
            {"trial": ["seed", "rollout"]},
            {"trial": ["seed"], "step": "rollout"},
        ),
        (POOLED, {"roles": {"algorithm": "all"}}, {"algorithm": "model"}),
    ],
)
def test_a_fix_passed_literally_answers(tmp_path, lines, keywords, fix):
    path = tmp_path / "results.csv"
    path.write_text("\n".join(lines))
    trials = cw.read(path, **keywords)
    with pytest.raises(Blocked) as caught:
        cw.performance(trials)
    assert caught.value.fixes == (fix, {"anyway": True})
    again = cw.read(path, **keywords | fix)
    told = [metric.assumption for metric in again.metrics.values()]
    assert set(cw.performance(again).cautions) <= {*told}


def test_mixed_units_have_no_answer_anyway():
    with pytest.raises(Blocked) as caught:
        cw.performance(studies.percent_and_fractions())
    assert {"anyway": True} not in caught.value.fixes


def test_only_the_metric_that_is_asked_for_is_looked_at():
    mixed = studies.percent_and_fractions()
    both = Trials(
        (
            Trial(r.task, r.algorithm, r.number, {**r.metrics, "loss": 0.1 * r.number})
            for r in mixed
        ),
        [cw.Metric("loss", "lower")],
    )
    with pytest.raises(Blocked):
        cw.performance(both, "accuracy")
    assert cw.performance(both, "loss").metric.name == "loss"


# --- groups that are pooled, surely or perhaps --------------------------------------------


@pytest.mark.parametrize(
    ("label", "task", "algorithm", "severity"),
    [
        ("model", "t", "all", "blocks"),
        ("env_id", "all", "a", "blocks"),
        ("dataset", "t", "a", "blocks"),
        ("host", "t", "all", None),  # where something ran says nothing of what ran
        ("gpu_type", "t", "all", None),
        ("Start Date", "all", "a", None),
        ("git_branch", "all", "all", None),
        ("notes", "t", "all", None),
        ("flavour", "t", "all", "tempers"),
        ("version", "t", "all", "tempers"),  # perhaps of the algorithm
        ("architecture", "t", "a", "tempers"),  # perhaps that of the machine
        ("architecture", "t", "all", "blocks"),
        ("arch", "all", "a", "tempers"),
        ("environment", "all", "a", "blocks"),
        ("host", "t", "a", None),
    ],
)
def test_pooled_groups_block_where_they_are_sure(label, task, algorithm, severity):
    found = cw.check(studies.pooled(label, task, algorithm))
    assert [f.severity for f in found if f.rule == "pooled-groups"] == (
        [severity] if severity else []
    )


def test_a_hyperparameter_that_is_called_like_an_algorithm_is_no_label():
    rng = np.random.default_rng(0)
    trials = Trials(
        Trial(
            *("t", "all", i, {"accuracy": float(rng.random())}),
            params={
                "model": str(rng.choice(["big", "small"])),
                "lr": float(rng.random()),
            },
        )
        for i in range(40)
    )
    assert blocked(trials) == set()
    assert gate(trials, "performance") == ()


# --- how the gate works -----------------------------------------------------------------


def test_at_most_three_lines_stand_above_a_verdict():
    rng = np.random.default_rng(0)
    rows = [
        Trial("t", "a", i, {"return": 1.0}, labels={"seed": i // 10, "host": i % 10})
        for i in range(40)
    ]
    rows += [Trial("t", "b", 0, {"return": 0.5}), Trial("u", "a", 0, {"return": 0.1})]
    rows += [Trial("t", "c", i, {}, status="failed") for i in range(3)]
    rows += [Trial("u", "c", i, {"return": float(rng.random())}) for i in range(9)]
    lines = gate(Trials(rows), "performance")
    assert len(lines) == MOST_CAUTIONS
    assert "more objections" in lines[-1]


def test_a_rule_looks_once_at_a_set_of_trials(monkeypatch):
    from curvewise.review import check as room

    looks = []

    def rule(trials):
        looks.append(trials)
        yield from ()

    monkeypatch.setattr(room, "CONCERNS", {rule: ("performance",)})
    trials = studies.scores()
    for _ in range(3):
        gate(trials, "performance")
    gate(trials, "difference")
    assert len(looks) == 1
    gate(studies.scores(), "performance")
    assert len(looks) == 2


def test_every_rule_that_blocks_or_tempers_is_asked_before_answers():
    """A finding of check that concerns a question is met by its gate."""
    for make in studies.STUDIES.values():
        trials = make()
        for finding in cw.check(trials):
            if finding.severity == "notes":
                continue
            assert finding.brief
            for question in finding.concerns or ALL:
                lines = gate(trials, question, anyway=True)
                assert any(finding.brief in line for line in lines) or (
                    len(lines) == MOST_CAUTIONS
                )


def test_trials_of_the_engine_are_not_suspected_of_their_own_params():
    drift = studies.drift()
    ours = Trials.from_columns(
        drift.tasks,
        drift.algorithms,
        drift.metrics,
        drift.core,
        drift.details(),
        spaces=dict.fromkeys(drift.algorithms, "lr ~ uniform(0, 1)"),
    )
    assert blocked(ours) == set()
    half = Trials.from_columns(
        drift.tasks,
        drift.algorithms,
        drift.metrics,
        drift.core,
        drift.details(),
        spaces={drift.algorithms[0]: "lr ~ uniform(0, 1)"},
    )
    assert blocked(half) == DISTRIBUTION


def test_what_chance_made_passes_unlooked_at():
    with ungated():
        assert gate(studies.drift(), "performance") == ()
    with pytest.raises(Blocked):
        gate(studies.drift(), "performance")


def test_an_audit_of_blocked_trials_is_made_all_the_same():
    answer = cw.audit(studies.drift(), repetitions=20)
    assert {check.analysis for check in answer.checks} >= {"performance"}


def test_the_error_survives_a_process():
    with pytest.raises(Blocked) as caught:
        cw.performance(studies.pooled())
    again = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(again, Blocked)
    assert again.fixes == caught.value.fixes


def test_trials_that_were_looked_at_can_be_sent():
    trials = studies.scores()
    cw.check(trials)
    assert pickle.loads(pickle.dumps(trials)) == trials


def test_rules_are_asked_in_the_gate_or_can_only_note():
    from curvewise.review.check import CONCERNS

    # An answer says by itself which way is better, or that nobody knows.
    only_notes = {"ties", "assumed_directions"}
    assert {rule.__name__ for rule in RULES if rule not in CONCERNS} == only_notes


# --- negative controls ------------------------------------------------------------------


def random_clean_study(rng):
    """Return a study as people make them: independent runs, params drawn at random."""
    n = int(rng.integers(2, 60))
    names = ["ppo", "sac", "td3"][: int(rng.integers(1, 4))]
    has_params, has_curves = rng.random(2) < 0.5
    steps = sorted({int(s) for s in rng.integers(1, 100, 12)})
    digits = int(rng.integers(2, 12))
    rows = []
    for task in ("Hopper", "Walker")[: int(rng.integers(1, 3))]:
        for name in names:
            for i in range(n):
                values = rng.random(len(steps)).round(digits).tolist()
                rows.append(
                    Trial(
                        *(task, name, i),
                        {"accuracy": values if has_curves else values[0]},
                        steps=steps if has_curves else None,
                        params={
                            "lr": float(rng.random()),
                            "opt": str(rng.choice(["a", "b"])),
                        }
                        if has_params
                        else {},
                        labels={"host": str(rng.choice(["x", "y"]))},
                    )
                )
    return Trials(rows)


def test_clean_studies_are_never_blocked():
    seeds = np.random.SeedSequence(2026).spawn(200)
    kinds = [random_clean_study(np.random.default_rng(seed)) for seed in seeds]
    assert [blocked(trials) for trials in kinds] == [set()] * 200
