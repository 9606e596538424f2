"""What trials can answer, held to what the analyses do."""

import functools
import inspect
import json
import re
import shlex
import time
import types
import warnings
from dataclasses import replace

import numpy as np
import pytest
from explained_pages import ANCHORS, answered_on, sections_of

import curvewise as cw
from curvewise.answer import Answer
from curvewise.errors import CurvewiseError
from curvewise.questions.difference.fit import with_lines
from curvewise.questions.difference.section import with_enough
from curvewise.questions.needs import ONE_TRIAL, Settled, expression
from curvewise.questions.plan import line_plan
from curvewise.questions.sizes import IF_SIZES, TRAIN_ON_SIZES, could_be_sizes
from curvewise.trials.doors import scored

ACCURACY = cw.Metric("accuracy", "higher", (0, 1))
RETURN = cw.Metric("return", "higher")


def rates(*shape, seed=0):
    return np.random.default_rng(seed).uniform(0.6, 0.9, shape)


def scored_trials(names=("a", "b"), n=10, tasks=("t",), **options):
    return cw.Trials(
        cw.Trial(task, name, i, {"accuracy": rates(1, seed=i)}, **options)
        for task in tasks
        for name in names
        for i in range(n)
    )


def curves(names=("a", "b"), n=6, steps=None, metric="accuracy", tasks=("t",)):
    steps = np.arange(1, 11) if steps is None else np.asarray(steps)
    rng = np.random.default_rng(3)
    rising = 1 - 0.5 / np.sqrt(1 + np.arange(len(steps)))
    return cw.Trials(
        [
            cw.Trial(
                *(task, name, i),
                {metric: rising - 0.1 + 0.02 * rng.random(len(steps))},
                steps=steps,
            )
            for task in tasks
            for name in names
            for i in range(n)
        ],
        metrics=[RETURN] if metric == "return" else (),
    )


def single_sizes(sizes=(100, 200, 400, 800)):
    """Runs of one size each, as many people keep them."""
    rng = np.random.default_rng(5)
    return cw.Trials(
        cw.Trial(
            "t", name, 10 * k + i, {"error": n**-0.3 + 0.01 * rng.random()}, steps=[n]
        )
        for name in "ab"
        for k, n in enumerate(sizes)
        for i in range(4)
    )


def counted(sizes=(50, 100, 200, 400), n=4):
    rng = np.random.default_rng(7)

    def matrices(size):
        right = rng.binomial(100, 1 - 0.5 * size**-0.2, 2)
        return [[right[0], 100 - right[0]], [100 - right[1], right[1]]]

    return cw.Trials(
        cw.Trial("t", name, i, {}, steps=sizes, counts=[matrices(s) for s in sizes])
        for name in "ab"
        for i in range(n)
    )


def crossed():
    def net(params, data, rng):
        yield 0, {"loss": params["lr"] + 0.1 * rng.normal()}

    experiment = cw.Experiment(
        cw.Task("t", lambda rng: None),
        cw.Algorithm("net", {"lr": cw.uniform(0, 1)}, net),
        cross={"params": 6, "seed": 3},
    )
    return cw.run(experiment, executor="serial", progress=False)


def crossed_by_hand():
    return cw.Trials(
        cw.Trial(
            *("t", "a", 10 * i + j, {"accuracy": rates(1, seed=10 * i + j)}),
            labels={"host": i, "fold": j},
        )
        for i in range(4)
        for j in range(3)
    )


def failed(names=("a", "b"), metric="accuracy", n=5, good=0):
    return cw.Trials(
        [
            cw.Trial(
                *("t", name, i),
                {metric: 0.5 + i / 100 if i < good else np.nan},
                status="ok" if i < good else "failed",
                error="" if i < good else "loss is nan",
            )
            for name in names
            for i in range(n)
        ],
        metrics=[RETURN if metric == "return" else ACCURACY],
    )


def two_metrics():
    rng = np.random.default_rng(1)
    return cw.Trials(
        [
            cw.Trial("t", a, i, {"return": rng.normal(), "accuracy": rng.random()})
            for a in "ab"
            for i in range(8)
        ],
        metrics=[RETURN],
    )


def halves():
    """One task on which all failed, of a metric without a bound."""
    good = cw.Trials(
        [cw.Trial("u", "a", i, {"return": float(i)}) for i in range(6)], [RETURN]
    )
    return failed(("a",), "return") + good


def percent_read_as_fractions():
    return cw.Trials(
        cw.Trial("t", a, i, {"accuracy": 90.0 + i}) for a in "ab" for i in range(4)
    )


def lonely():
    """An algorithm with one run among others with several."""
    return curves() + curves(("c",), 1)


def unlike_steps():
    rng = np.random.default_rng(2)
    return cw.Trials(
        cw.Trial("t", a, i, {"accuracy": rng.random(k)}, steps=np.arange(k) + 1.0)
        for a in "ab"
        for i, k in enumerate((8, 9, 10, 11, 12))
    )


def apart():
    """Curves that share no steps."""
    first, second = np.arange(1, 6), np.arange(11, 16)
    return curves(("a",), 4, first) + curves(("b",), 4, second)


KINDS = {
    "search": lambda: cw.example("search"),
    "curves": lambda: cw.example("curves"),
    "counts": lambda: cw.example("counts"),
    "one trial": lambda: scored_trials(("a",), 1),
    "one trial each": lambda: scored_trials(n=1),
    "one algorithm": lambda: scored_trials(("a",)),
    "tuned": lambda: scored_trials(("svm", "svm tuned", "net")),
    "tuned elsewhere": lambda: (
        scored_trials(("svm",), tasks=("t",))
        + scored_trials(("svm tuned",), tasks=("u",))
    ),
    "epochs": curves,
    "time steps": lambda: curves(steps=np.arange(0, 3000, 10)),
    "sizes": lambda: curves(steps=[50, 100, 200, 400]),
    "two sizes": lambda: curves(steps=[50, 100]),
    "single sizes": single_sizes,
    "single sizes, two": lambda: single_sizes((100, 200)),
    "a loss along sizes": lambda: curves(steps=[50, 100, 200, 400], metric="loss"),
    "a return along sizes": lambda: curves(steps=[50, 100, 200, 400], metric="return"),
    "counts at sizes": counted,
    "counts at two sizes": lambda: counted((50, 100)),
    "counts at one size": lambda: counted((50,)),
    "counts at epochs": lambda: counted(tuple(range(1, 11))),
    "one curve each": lambda: curves(n=1),
    "three curves each": lambda: curves(n=3),
    "two curves each": lambda: curves(n=2),
    "curves of one algorithm": lambda: curves(("a",)),
    "lonely": lonely,
    "two tasks, one alone": lambda: curves() + curves(("a",), tasks=("u",)),
    "a task without curves": lambda: curves() + scored_trials(tasks=("u",)),
    "unlike steps": unlike_steps,
    "apart": apart,
    "crossed": crossed,
    "crossed by hand": crossed_by_hand,
    "some failed": lambda: failed(good=3),
    "all failed": failed,
    "all failed, no bound": lambda: failed(metric="return"),
    "all failed on a task": halves,
    "no scores": lambda: cw.Trials(
        cw.Trial("t", "a", i, {}, status="failed", error="no GPU") for i in range(3)
    ),
    "two metrics": two_metrics,
    "percent": percent_read_as_fractions,
    "no noise": lambda: scored_trials(n=4).where(number=0) + scored_trials(("c",), 1),
}


# Those in which most can go wrong; the others are looked at where there is time.
FIRST = {
    *("search", "counts", "one trial", "one algorithm", "tuned", "epochs", "sizes"),
    *("single sizes", "counts at two sizes", "three curves each", "lonely"),
    *("unlike steps", "apart", "crossed", "all failed, no bound", "percent"),
    *("a loss along sizes", "all failed on a task", "no scores"),
}


@pytest.fixture(
    params=[
        pytest.param(kind, marks=[] if kind in FIRST else pytest.mark.slow)
        for kind in KINDS
    ]
)
def trials(request):
    return KINDS[request.param]()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(line_plan, "SIMULATIONS", 100)


def namespace():
    """`cw` as a reader has it, with fewer shuffles."""
    room = types.SimpleNamespace(**{name: getattr(cw, name) for name in cw.__all__})
    room.difference = functools.partial(cw.difference, shuffles=99)
    return room


def ran(line, trials):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cw.CurvewiseWarning)
        return eval(line, {"cw": namespace(), "trials": trials})


FUNCTIONS = {
    "performance": cw.performance,
    "robustness": cw.robustness,
    "difference": functools.partial(cw.difference, shuffles=99),
    "learning": cw.learning,
    "variance_shares": cw.variance_shares,
    "plan.lines": cw.plan.lines,
}


def every_way(analysis, trials):
    """Yield the ways in which somebody would ask a question of all trials."""
    if analysis == "confusion":
        for failed in ("raise", "worst"):
            yield functools.partial(cw.confusion, trials, failed=failed)
        return
    for metric in scored(trials):
        for failed in ("raise", "worst"):
            yield functools.partial(FUNCTIONS[analysis], trials, metric, failed=failed)


def does_raise(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cw.CurvewiseWarning)
        try:
            call()
        except CurvewiseError:
            return True
    return False


def holds(one, trials):
    """Whether what explain says of a question is what the analysis does.

    Yes, or in part: the line that it gives runs. No: nothing that one tries does. But for
    one thing: analyses take any steps for sizes of training sets, and explain does not.
    """
    if one.can != "no":
        return not does_raise(lambda: ran(one.python, trials))
    if one.analysis == "plan.trials":  # without a pilot, for the worst there could be
        return "trials)" not in one.python and not does_raise(
            lambda: ran(one.python, trials)
        )
    if one.python:
        metric = "error" if one.analysis == "confusion" else scored(trials)[0]
        return (
            one.analysis in ("learning", "confusion")
            and "ask all the same" in one.add
            and not could_be_sizes(trials, metric)
            and not does_raise(lambda: ran(one.python, trials))
        )
    return all(map(does_raise, every_way(one.analysis, trials)))


PLANNED = ("lonely", "unlike steps")  # simulations take a while


def test_what_it_says_is_what_the_analyses_do(trials, request):
    kind = request.node.callspec.params["trials"]
    asked = [
        one
        for one in cw.explain(trials).questions
        if one.analysis != "plan.lines" or one.can == "no" or kind in PLANNED
    ]
    assert len(asked) >= 7
    for one in asked:
        assert holds(one, trials), one


@pytest.mark.slow
def test_plans_are_what_they_say_for_all_kinds(trials):
    assert holds(cw.explain(trials).of("plan.lines"), trials)


@pytest.mark.parametrize("kind", ["search", "epochs", "one trial", "crossed"])
def test_a_lie_would_be_found(kind):
    """The negative control: no becomes yes, and yes becomes no."""
    trials = KINDS[kind]()
    lines = {
        "performance": 'cw.performance(trials, "accuracy", failed="worst")',
        "robustness": "cw.robustness(trials)",
        "difference": "cw.difference(trials)",
    }
    for name, line in lines.items():
        one = cw.explain(trials).of(name)
        if one.can == "no":
            lie = replace(one, can="yes", python=line)
        else:
            lie = replace(one, can="no", python="")
        assert not holds(lie, trials)


def test_every_question_says_why_and_what_to_do(trials):
    for one in cw.explain(trials).questions:
        if one.can == "yes":
            assert one.found
            assert not one.why
        else:
            assert one.why.endswith("."), one
        if one.can == "no":
            assert one.add or re.search("Pass|Read|Choose|Declare", one.why), one
        assert not one.command or one.python


def test_the_report_has_a_section_for_what_can_be_answered(trials):
    """Sections show what explain says can be told from these trials, and no more."""
    answer = cw.explain(trials)
    promised = {
        one.analysis
        for one in answer.questions
        if one.can != "no" and one.found and one.analysis in ANCHORS
    }
    assert answered_on(sections_of(trials)) == promised


def test_an_analysis_without_a_question_would_be_noticed():
    """Every public function that turns trials into an answer has its question."""
    room = {name: getattr(cw, name) for name in cw.__all__}
    answers = {
        name
        for name, value in room.items()
        if inspect.isfunction(value)
        and next(iter(inspect.signature(value).parameters), "") == "trials"
        and inspect.signature(value).return_annotation
        in {v for v in room.values() if inspect.isclass(v) and issubclass(v, Answer)}
    }
    asked = {one.analysis for one in cw.explain(cw.example("search")).questions}
    left = answers - asked
    # What is run again, looked at, or asked about the pipeline, is no question of data.
    assert left <= {"explain", "quantile_slices", "audit"}
    assert "performance" in answers


# --- what it says ------------------------------------------------------------------------


def test_the_examples_are_told_in_one_sentence():
    answer = cw.explain(cw.example("curves"))
    told = answer.headline()
    assert told.startswith(answer.subject)
    assert all(one.clause in told for one in answer.questions)
    assert told.count(".") == 1


def test_one_trial_is_spoken_of_as_one():
    one = cw.explain(scored_trials(["a"], n=1))
    for told in (one.headline(), one.lacking()):
        assert told.startswith("This one trial")
        assert "; it " in told


def test_where_all_failed_it_is_answered_in_part():
    trials = [cw.Trial("t", "a", i, {"accuracy": np.nan}) for i in range(5)]
    question = cw.explain(cw.Trials(trials, [ACCURACY])).of("performance")
    assert question.can == "in part"
    assert "Every trial failed" in question.why


def test_how_strong_an_answer_can_be_is_said():
    many = cw.explain(scored_trials(n=800)).of("performance")
    few = cw.explain(scored_trials(n=10)).of("performance")
    assert "10 trials" in few.strength
    assert "within 0.41" in few.strength
    assert "731" in few.strength
    assert "731" not in many.strength
    alone = cw.explain(scored_trials(n=1)).of("performance")
    assert alone.can == "in part"
    assert alone.why == ONE_TRIAL


@pytest.mark.parametrize(("n", "can"), [(2, "in part"), (3, "in part"), (4, "yes")])
def test_runs_too_few_for_any_significance_are_called_so(n, can):
    trials = curves(n=n)
    said = cw.explain(trials).of("difference")
    assert said.can == can
    answer = cw.difference(trials, shuffles=99)
    assert (answer.of().anova.smallest_p > 0.05) == (can == "in part")
    assert ("nothing is significant" in said.why) == (can == "in part")
    assert ("4 runs" in said.why) == (can == "in part")


def test_few_sizes_are_called_few():
    three = cw.explain(curves(steps=[50, 100, 200])).of("learning")
    assert three.can == "yes"
    assert "3 sizes" in three.strength
    one = cw.explain(curves(n=1, steps=[50, 100, 200, 400])).of("learning")
    assert "1 run" in one.strength
    assert "4 sizes" not in one.strength


def test_epochs_are_no_sizes_and_it_says_what_to_do():
    said = cw.explain(curves()).of("learning")
    assert said.can == "no"
    assert "look like epochs" in said.why
    assert said.add.startswith(TRAIN_ON_SIZES)
    assert said.python == 'cw.learning(trials, "accuracy")'


def test_a_loss_along_sizes_is_answered_if_they_are_sizes():
    trials = curves(steps=[50, 100, 200, 400], metric="loss")
    said = cw.explain(trials).of("learning")
    assert said.can == "no"  # no page takes them for sizes unasked
    assert said.add == IF_SIZES
    assert ran(said.python, trials).rows()


def test_crossed_trials_answer_one_question_and_say_why_not_others():
    answer = cw.explain(crossed())
    assert answer.of("variance_shares").can == "yes"
    assert answer.of("variance_shares").command.startswith("curvewise report")
    for name in ("performance", "robustness", "difference", "learning", "confusion"):
        assert answer.of(name).can == "no"
    assert "(params x seed)" in answer.of("performance").why
    assert "6 x 3 draws" in answer.of("variance_shares").strength
    assert "very wide" in answer.of("variance_shares").strength


def test_many_trials_that_are_not_crossed_are_seen_at_once():
    """A look at a few of them is enough, and no table of all draws is laid out."""
    n = 20_000
    rng = np.random.default_rng(0)
    drawn = {"lr": rng.random(n), "accuracy": rng.random(n), "seed": np.arange(n)}
    table = {"model": np.repeat("a", n), **drawn}
    options = {"params": ["lr"], "algorithm": "model", "trial": "seed"}
    trials = cw.read(table, metrics=["accuracy"], **options)
    start = time.perf_counter()
    assert cw.explain(trials).of("variance_shares").can == "no"
    assert time.perf_counter() - start < 20
    with pytest.raises(CurvewiseError, match=r"400,000,000 cells"):
        cw.variance_shares(trials)


def test_failed_trials_are_told_and_scored():
    said = cw.explain(failed(good=3)).of("performance")
    assert "4 failed" in said.found
    assert said.command.endswith("--failed worst")
    none = cw.explain(failed(metric="return")).of("performance")
    assert none.can == "no"
    (fix,) = none.why.fixes
    assert fix.keys() == {"failed"}


def test_single_sizes_are_judged_at_the_largest():
    said = cw.explain(single_sizes()).of("performance")
    assert said.python == 'cw.performance(trials, "error", at=800.0)'
    assert "at step 800" in said.found
    assert said.command.split()[-4:] == ["--metric", "error", "--at", "800"]


def test_what_cannot_be_asked_of_all_is_asked_of_a_part():
    said = cw.explain(halves()).of("performance")
    assert said.can == "in part"
    assert 'trials.where(task="u")' in said.python
    assert said.command == ""  # a command cannot choose
    assert "Not on 't'." in said.why
    said = cw.explain(lonely()).of("difference")
    assert 'trials.where(algorithm=["a", "b"])' in said.python
    assert "Not of 'c'" in said.why


def test_several_metrics_are_named():
    said = cw.explain(two_metrics()).of("performance")
    assert "accuracy" in said.strength
    named = cw.explain(two_metrics(), "accuracy").of("performance")
    assert named.python == 'cw.performance(trials, "accuracy")'
    with pytest.raises(CurvewiseError) as problem:
        cw.explain(two_metrics(), "acuracy")
    assert (problem.value.argument, problem.value.value) == ("metric", "acuracy")


@pytest.mark.parametrize("trials", [cw.Trials(), "results.csv"])
def test_nothing_to_explain_is_refused(trials):
    with pytest.raises(CurvewiseError):
        cw.explain(trials)


def test_an_unknown_question_is_refused():
    answer = cw.explain(scored_trials())
    with pytest.raises(CurvewiseError) as problem:
        answer.of("perform")
    assert (problem.value.argument, problem.value.value) == ("question", "perform")


# --- to be copied ------------------------------------------------------------------------


def test_commands_are_quoted_for_a_shell():
    odd = cw.Trials(
        [cw.Trial("t", "a", i, {'my "own"; score': i}) for i in range(4)],
        [cw.Metric('my "own"; score', "higher")],
    )
    said = cw.explain(odd, source="my results; rm -rf.csv").of("performance")
    assert shlex.split(said.command) == [
        *("curvewise", "performance", "my results; rm -rf.csv"),
        *("--metric", 'my "own"; score'),
    ]
    assert isinstance(ran(said.python, odd), Answer)


def test_names_of_any_kind_are_chosen_by_the_line_that_is_given():
    names = ("a", 'q"uo\\te', "new\nline", "β", "\u202eright")
    whole = curves(names[:2]) + curves(names[2:], 1)
    said = cw.explain(whole).of("difference")
    assert isinstance(ran(said.python, whole), Answer)


def test_the_source_is_what_was_read_if_nobody_said():
    asked = cw.explain(cw.example("search")).of("performance")
    assert asked.command.startswith("curvewise performance search.csv ")
    made = cw.explain(scored_trials()).of("performance")
    assert made.command.startswith("curvewise performance results.csv ")


def test_a_password_is_not_printed():
    where = "postgresql://me:secret@host/results"
    assert "secret" not in str(cw.explain(scored_trials(), source=where))
    assert "secret" in str(cw.explain(scored_trials(), source="secret.csv"))


def test_python_is_printed_where_no_source_is_given():
    trials = cw.example("search")
    assert "cw.performance(trials" in str(cw.explain(trials))
    typed = str(cw.explain(trials, source="search.csv"))
    assert "cw.performance(trials" not in typed
    assert "curvewise performance search.csv" in typed


def test_a_part_is_chosen_task_by_task():
    whole = curves(tuple("abc"), 3) + curves(("a",), 3, tasks=("u",))
    whole += curves(("b", "c"), 1, tasks=("u",))
    part = with_enough(whole, 1).where(algorithm=["a", "b"])
    line = expression(part, whole)
    assert ran(line, whole) == part
    mixed = whole.where(task="t", algorithm="a") + whole.where(task="u", algorithm="b")
    assert ran(expression(mixed, whole), whole) == mixed


def test_lines_are_chosen_as_the_report_chooses_them():
    for kind in ("lonely", "two tasks, one alone", "curves", "one curve each"):
        trials = KINDS[kind]()
        assert with_enough(trials, 2) == with_lines(trials)[0]


# --- as an answer ------------------------------------------------------------------------


def test_it_prints_what_it_says_and_no_line_is_long_but_those_to_copy():
    text = str(cw.explain(cw.example("counts"), source="counts.csv"))
    for line in text.splitlines():
        assert len(line) <= 88 or line.startswith("  ask:")
    assert text.count("\nyes: ") + text.count("\nno: ") == 8
    assert repr(cw.explain(cw.example("counts"), source="counts.csv")) == text


def test_rows_tables_and_json_say_the_same():
    answer = cw.explain(cw.example("search"))
    rows = json.loads(answer.to_json())["rows"]
    assert rows == answer.rows()
    assert [row["can"] for row in rows] == [one.can for one in answer.questions]
    table = answer.table()
    assert [row["question"] for row in table] == [row["question"] for row in rows]
    assert all(re.match("yes|in part|no$", row["can it be answered?"]) for row in table)


def test_what_would_change_it_is_what_to_add():
    answer = cw.explain(cw.example("search"))
    told = answer.would_change()
    assert all(f"{one.clause}: {one.add}" in told for one in answer.those("no"))
    assert answer.those("yes")[0].clause not in told


def test_settled_says_nothing_of_failures_where_there_are_none():
    trials = scored_trials()
    assert Settled(trials, "accuracy", "raise").options == {}
    assert Settled(trials, "accuracy", "worst").options == {"failed": "worst"}
