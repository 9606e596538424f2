"""The one sentence about scores claims what the answer shows, and no more."""

import re

import numpy as np
import pytest
from support import assert_at_most

import curvewise as cw
from curvewise import Metric, Trial, Trials
from curvewise.questions.performance.text import leads
from curvewise.questions.robustness.text import kind_of
from curvewise.questions.sentences import some
from curvewise.text import short_names

# What nobody should need to know to read the first sentence of a page.
JARGON = re.compile(
    r"cvar|quantile|kolmogorov|bootstrap|anova|bonferroni|holm|asymptotic|p =|welch|"
    r"\bnull\b|percentile|\bnan\b|\binf\b",
    re.IGNORECASE,
)


def trials_of(scores, metrics=(), name="accuracy"):
    """Return trials from {(task, algorithm): scores}; a score of None is a failure."""
    return Trials(
        (
            Trial(task, algorithm, i, {name: z})
            if z is not None
            else Trial(task, algorithm, i, {}, status="failed", error="boom")
            for (task, algorithm), own in scores.items()
            for i, z in enumerate(own)
        ),
        metrics=metrics,
    )


def drawn(means, tasks=("t",), n=60, seed=0, spread=0.03):
    """Return scores of algorithms with these means; a dict of means is one per task."""
    rng = np.random.default_rng(seed)
    return {
        (task, name): np.clip(rng.normal(mean, spread, n), 0, 1).tolist()
        for task in tasks
        for name, mean in means.get(task, means).items()
    }


def winners(answer):
    """Return who is ahead of all others on each task, straight from the comparisons."""
    found = {}
    for task in answer.tasks:
        names = [d.algorithm for d in answer.of(task)]
        own = [c for c in answer.contrasts if c.task == task]
        for name in names:
            mine = [c for c in own if name in (c.one, c.other)]
            if mine and all(c.ahead == name for c in mine):
                found[task] = name
    return found


def must_be_one_plain_sentence(text):
    assert text.endswith(".")
    assert not JARGON.search(text), text
    assert "\n" not in text
    # One sentence: no full stop inside, but for those of numbers.
    assert not re.search(r"\.\s", text[:-1]), text


CLEAR = {"a": 0.95, "b": 0.6, "c": 0.2}
TIE = {"a": 0.8, "b": 0.8, "c": 0.8}


# --- performance -------------------------------------------------------------------------


def test_a_clear_winner_is_named_with_its_interval():
    answer = cw.performance(trials_of(drawn(CLEAR)))
    assert winners(answer) == {"t": "a"}
    told = answer.headline()
    must_be_one_plain_sentence(told)
    assert told.startswith("On t, a is ahead of both others")
    best = answer.one("a").best_interval
    assert f"{best.value:.3f}, between {best.lower:.3f} and {best.upper:.3f}" in told
    assert told.count("95 % confidence") == 1
    assert "probably" not in told


def test_of_a_tie_no_winner_is_claimed():
    answer = cw.performance(trials_of(drawn(TIE)))
    assert winners(answer) == {}
    told = answer.headline()
    must_be_one_plain_sentence(told)
    assert "no clear winner" in told
    assert "cannot be told apart yet from" in told
    (lead,) = leads(answer)
    for rival in lead.open:
        assert rival in told.split("cannot be told apart yet from")[1]
    assert "More trials may" in answer.would_change()


def test_scores_that_are_equal_are_level():
    same = [0.1, 0.5, 0.9]
    told = cw.performance(trials_of({("t", "a"): same, ("t", "b"): same})).headline()
    assert "there is no winner: a and b are level" in told


def test_where_all_failed_nobody_is_called_level():
    told = cw.performance(
        trials_of({("t", n): [np.nan] * 3 for n in "ab"}), failed="worst"
    )
    assert told.headline() == (
        "How good anybody is, cannot be told: all 6 trials failed, and count with score 0."
    )
    one_ended = trials_of({("t", "a"): [np.nan, 0.0], ("t", "b"): [np.nan, np.nan]})
    level = cw.performance(one_ended, failed="worst").headline()
    assert "a and b are level (mean accuracy of the best half of their trials" in level


def test_what_is_only_probable_is_called_so():
    answer = cw.performance(cw.example("search"), failed="worst")
    assert winners(answer) == {}
    assert {one.standing for one in leads(answer)} == {"probable"}
    told = answer.headline()
    must_be_one_plain_sentence(told)
    assert told.startswith("On rings and waves, net is probably ahead of both others")
    assert (
        "though forest has the better mean over all trials, which is not tested" in told
    )
    assert "9 failed trials of net count with score 0" in answer.would_change()


def test_one_algorithm_has_no_rivals():
    one = cw.performance(trials_of(drawn({"a": 0.7})))
    must_be_one_plain_sentence(one.headline())
    assert one.headline().startswith("The accuracy of a on t is 0.7")
    assert not re.search("ahead|winner|told apart", one.headline())
    several = cw.performance(trials_of(drawn({"a": 0.7}, tasks=[*"stuvw"])))
    must_be_one_plain_sentence(several.headline())
    assert "over 5 tasks" in several.headline()
    lonely = cw.performance(trials_of({("t", "a"): [0.5]}))
    assert "in its only trial" in lonely.headline()


def test_many_tasks_are_counted_as_the_comparisons_say():
    means = {f"t{i}": CLEAR for i in range(4)}
    means |= {f"t{i}": {"a": 0.5, "b": 0.9, "c": 0.6} for i in range(4, 7)}
    means |= {f"t{i}": TIE for i in range(7, 12)}
    answer = cw.performance(trials_of(drawn(means, tasks=list(means), n=150)))
    won = list(winners(answer).values())
    assert won.count("a") == 4
    assert won.count("b") == 3
    told = answer.headline()
    must_be_one_plain_sentence(told)
    assert "Of 12 tasks, 7 have a clear winner (a 4 and b 3)" in told
    assert "on 5 nobody can be told apart from all others yet" in told
    table = answer.lead_table()
    assert [row["task"] for row in table] == list(answer.tasks)
    sure = [row["in front"] for row in table if row["told apart from"] == 2]
    assert sure == won
    assert all(
        row["told apart from"] + row["probably from"] + row["not yet from"] == 2
        for row in table
    )


def test_of_two_tasks_each_has_its_clause():
    means = {"s": CLEAR, "t": {"a": 0.5, "b": 0.9, "c": 0.6}}
    told = cw.performance(trials_of(drawn(means, tasks=["s", "t"]))).headline()
    must_be_one_plain_sentence(told)
    assert "On s, a is ahead of both others" in told
    assert "; on t, b is ahead of both others" in told


def test_where_lower_is_better_the_lowest_wins():
    answer = cw.performance(trials_of(drawn(CLEAR), name="error"))
    assert winners(answer) == {"t": "c"}
    assert answer.headline().startswith(
        "On t, c is ahead of both others (mean error of"
    )


def test_an_algorithm_that_fails_is_not_flattered():
    """Where it does not fail it is best; counted with 0, it is not."""
    scores = drawn({"a": 0.9, "b": 0.8}, n=100)
    scores["t", "a"] = [z if i % 4 else None for i, z in enumerate(scores["t", "a"])]
    answer = cw.performance(trials_of(scores), failed="worst", alpha=0.05)
    assert winners(answer) == {"t": "b"}
    assert answer.headline().startswith("On t, b is ahead of a")
    assert "25 failed trials of a count with score 0" in answer.would_change()


def test_what_has_no_bound_is_told_with_less_confidence_where_trials_are_few():
    loss = Metric("loss", "lower")
    few = trials_of(drawn({"a": 0.2, "b": 0.8}, n=8), [loss], "loss")
    told = cw.performance(few).headline()
    assert "probably between" in told
    assert "with less than 95 % confidence, as trials are few" in told
    many = trials_of(drawn({"a": 0.2, "b": 0.8}, n=100), [loss], "loss")
    assert "with about 95 % confidence" in cw.performance(many).headline()
    one = trials_of({("t", "a"): [1.0], ("t", "b"): [2.0]}, [loss], "loss")
    assert "how far off that is, these results cannot tell" in (
        cw.performance(one).headline()
    )


@pytest.mark.parametrize(
    ("name", "algorithms", "tasks", "n"),
    [
        ("accuracy", 2, 1, 20),
        pytest.param("loss", 2, 1, 20, marks=pytest.mark.slow),
        pytest.param("accuracy", 4, 5, 20, marks=pytest.mark.slow),
    ],
)
def test_equal_algorithms_seldom_have_a_winner(name, algorithms, tasks, n):
    """At most one time in twenty, over all tasks and pairs; here 8, 7 and 0 of 200."""
    rng = np.random.default_rng(20_26)
    metrics = [Metric("loss", "lower")] if name == "loss" else []
    claimed = 0
    for _ in range(200):
        scores = {
            (f"t{t}", f"a{a}"): rng.beta(5, 2, n).tolist()
            for t in range(tasks)
            for a in range(algorithms)
        }
        told = cw.performance(trials_of(scores, metrics, name)).headline()
        claimed += bool(
            re.search("is (probably )?ahead|(clear|probable) winner \\(", told)
        )
    assert_at_most(claimed, 200, 0.05)


def test_the_claim_would_be_seen():
    """The negative control: algorithms that do differ have a winner."""
    told = cw.performance(trials_of(drawn(CLEAR, tasks=[*"stuvw"], n=150))).headline()
    assert re.search("clear winner \\(", told)


def test_long_names_are_cut_and_told_apart():
    names = [
        f"a network that has a long name and ends with version {i}" for i in (1, 2)
    ]
    scores = drawn(dict(zip(names, (0.9, 0.5), strict=True)), tasks=["x" * 10_000])
    told = cw.performance(trials_of(scores)).headline()
    assert len(told) < 400
    assert "version 1 is ahead of" in told


def test_short_names_are_never_alike():
    rng = np.random.default_rng(0)
    for _ in range(50):
        letters = rng.choice([*"ab "], size=(20, 30))
        names = ["".join(row).strip() for row in letters]
        names = [n for n in dict.fromkeys(names) if n and " ".join(n.split()) == n]
        assert len(set(short_names(names, 8).values())) == len(names)
    assert some([f"n{i}" for i in range(50)]) == "n0, n1 and 48 more"


# --- robustness --------------------------------------------------------------------------


def tuned(gain, tasks=("t",), n=150, seed=0):
    rng = np.random.default_rng(seed)
    scores = {}
    for task in tasks:
        for name, more in gain.items():
            data = rng.uniform(0.5, 0.7, n)
            scores[task, name] = (data + 0.02 * rng.random(n)).tolist()
            scores[task, f"{name} tuned"] = (
                data + more + 0.02 * rng.random(n)
            ).tolist()
    return trials_of(scores)


def test_tuning_helps_exactly_those_of_whom_the_answer_says_so():
    answer = cw.robustness(tuned({"svm": 0.2, "knn": 0.0, "tree": -0.2}))
    kinds = {g.algorithm: kind_of(g, None)[0] for g in answer.gaps}
    assert kinds == {"svm": "gains", "knn": "open", "tree": "loses"}
    told = answer.headline()
    must_be_one_plain_sentence(told)
    assert told.startswith("Tuning helps svm on t (mean accuracy 0.2")
    assert "it harms tree on t (mean accuracy 0.2" in told
    assert "it is not shown to help knn on t" in told
    assert told.count("95 % confidence") == 1
    assert "knn on t the gain is not sure" in answer.would_change()


def test_many_pairs_of_algorithm_and_task_are_counted():
    answer = cw.robustness(tuned({"svm": 0.2, "knn": 0.0}, tasks=[*"stuv"]))
    kinds = [kind_of(g, None)[0] for g in answer.gaps]
    told = answer.headline()
    must_be_one_plain_sentence(told)
    assert f"helps in {kinds.count('gains')} of 8 pairs of algorithm and task" in told
    assert f"it is not shown to help in {kinds.count('open')}, with" in told


def test_what_is_not_worth_the_trouble_is_said_with_its_margin():
    answer = cw.robustness(tuned({"knn": 0.0}), margin=0.1)
    assert kind_of(answer.gaps[0], 0.1)[0] == "easy"
    assert "gains too little to matter for knn on t (less than 0.1" in answer.headline()
    one = cw.robustness(trials_of({("t", "a"): [0.5], ("t", "a tuned"): [0.6]}))
    assert "cannot be judged from one trial of a" in one.headline()


def test_tuning_that_does_nothing_is_seldom_said_to_help():
    rng = np.random.default_rng(20_26)
    claimed = 0
    for _ in range(100):
        scores = {("t", name): rng.beta(5, 2, 20).tolist() for name in ("a", "a tuned")}
        told = cw.robustness(trials_of(scores)).headline()
        claimed += bool(re.search("(helps|harms) a", told))
    assert_at_most(claimed, 100, 0.05)


# --- variance shares and plans -----------------------------------------------------------


def crossed(scale, levels=(20, 8), seed=0):
    """Return crossed trials in which hyperparameters make so much of the spread."""
    rng = np.random.default_rng(seed)
    params, seeds = scale * rng.normal(size=levels[0]), rng.normal(size=levels[1])
    return Trials(
        (
            Trial(
                "t", "net", i * levels[1] + j,
                {"loss": p + s + 0.1 * rng.normal()},
                labels={"params": i, "seed": j},
            )
            for i, p in enumerate(params)
            for j, s in enumerate(seeds)
        ),
        metrics=[Metric("loss", "lower")],
    )  # fmt: skip


def test_most_of_the_spread_is_claimed_only_where_it_is_sure():
    sure = cw.variance_shares(crossed(8.0))
    assert sure.decompositions[0].largest.interval.lower > 0.5
    must_be_one_plain_sentence(sure.headline())
    assert "most of the variation of loss comes from the hyperparameters" in (
        sure.headline()
    )
    open_one = cw.variance_shares(crossed(1.0, levels=(4, 4)))
    must_be_one_plain_sentence(open_one.headline())
    assert "which of these is larger cannot be told yet" in open_one.headline()
    assert "4 of the hyperparameters" in open_one.would_change()


def test_a_plan_says_how_many_trials_and_what_that_rests_on():
    pilot = cw.example("search")
    asked = {"of": "cvar", "pilot": pilot, "metric": "accuracy", "failed": "worst"}
    answer = cw.plan.trials(0.02, **asked)
    most = max(answer.rows(), key=lambda row: row["guaranteed"])
    told = answer.headline()
    must_be_one_plain_sentence(told)
    assert f"takes up to {most['guaranteed']} trials of an algorithm" in told
    assert (
        f"({most['algorithm']} on {most['task']} takes most; there are 60 now" in told
    )
    enough = cw.plan.trials(0.4, **asked).headline()
    assert "there are enough trials already" in enough
    blind = cw.plan.trials(0.1, of="mean", metric="accuracy").headline()
    assert "takes 181 trials" in blind
    unbounded = cw.plan.trials(10, of="cvar", pilot=cw.example("curves"))
    assert "probably takes up to" in unbounded.headline()
