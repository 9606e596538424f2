"""What replicates what: blocks, clusters, and how hyperparameters were chosen."""

import pickle

import numpy as np
import pytest
from facts import facts

import curvewise as cw
from curvewise.errors import CurvewiseError
from curvewise.metrics import Metric
from curvewise.trials import Trial, Trials
from curvewise.trials.design import Design, from_record, joined, of_engine

RETURN = Metric("return", "higher")


def repeated(settings=6, seeds=3, *, algorithms="ab", labels=None, shuffle=None):
    """Return drawn settings, each run with the same seeds."""
    rng = np.random.default_rng(0)
    runs = []
    for name in algorithms:
        drawn = [{"lr": float(x)} for x in rng.uniform(size=settings)]
        rows = [(params, seed) for params in drawn for seed in range(seeds)]
        if shuffle is not None:
            rows = [rows[i] for i in shuffle.permutation(len(rows))]
        runs += [
            Trial(
                *("t", name, i, {"return": rng.normal()}),
                params=params,
                labels={"seed": seed} if labels is None else labels(i, seed),
            )
            for i, (params, seed) in enumerate(rows)
        ]
    return Trials(runs, [RETURN])


def drawn(choices, n=40, *, algorithms="ab", labels=None, seed=0):
    """Return trials whose params are drawn from choices, one after another."""
    rng = np.random.default_rng(seed)
    return Trials(
        [
            Trial(
                *("t", name, i, {"return": rng.normal()}),
                params={
                    key: own[rng.integers(len(own))] for key, own in choices.items()
                },
                labels={} if labels is None else labels(i),
            )
            for name in algorithms
            for i in range(n)
        ],
        [RETURN],
    )


def folds(n=10, algorithms="ab", **more):
    return Trials(
        [
            Trial("t", name, i, {"return": i / 10}, labels={"fold": i, **more})
            for name in algorithms
            for i in range(n)
        ],
        [RETURN],
    )


# --- what is certain -------------------------------------------------------------------


def test_settings_with_the_same_seeds_are_clusters():
    design = repeated(20, 5).design
    assert design.cluster == ("params",)
    assert design.known["cluster"] == "inferred"
    assert (design.unit, design.units, design.repeats) == ("cluster", (20, 20), (5, 5))
    assert design.repeated_by == "seeds"
    assert facts(design) == [20, 5, 20]


def test_the_order_of_runs_does_not_matter():
    assert repeated(8, 4, shuffle=np.random.default_rng(3)).design.units == (8, 8)


def test_without_seeds_it_takes_settings_that_are_met_equally_often():
    plain = repeated(20, 5, labels=lambda i, seed: {})
    assert plain.design.units == (20, 20)
    # Two settings, twice each: draws of a coin do that in 6 of 16 cases.
    few = Trials(
        [
            Trial("t", "a", i, {"return": i}, params={"lr": lr}, labels={"seed": i})
            for i, lr in enumerate([0.1, 0.2, 0.2, 0.1])
        ],
        [RETURN],
    )
    assert few.design.cluster == ()
    assert few.design.suggested == (("cluster", "params"),)


def test_floats_of_many_digits_never_repeat_by_chance():
    whole = repeated(8, 4, labels=lambda i, seed: {})
    some = whole.take(np.flatnonzero(np.arange(len(whole)) % 7 != 0))
    fresh = Trials(list(some), [RETURN])  # without what the whole set tells
    assert fresh.design.cluster == ("params",)
    assert fresh.design.repeats == (3, 4)


def test_one_setting_only_is_independent_runs():
    trials = repeated(1, 8)
    assert (trials.design.unit, trials.design.cluster) == ("run", ())
    assert trials.design.runs == (8, 8)


def test_choices_that_coincide_are_no_clusters_and_it_is_noted():
    trials = drawn({"lr": [0.1, 0.01, 0.001], "width": [32, 64, 128]})
    assert trials.design.cluster == ()
    assert trials.design.suggested == (("cluster", "params"),)
    assert "settings may coincide" in str(trials.design)
    assert not [f for f in cw.check(trials) if f.rule == "clusters"]


def cut(digits):
    """Return a draw of a learning rate that was written with so many digits."""
    return lambda rng: {"lr": float(f"{10 ** rng.uniform(-4, -1):.{digits}g}")}


def whole(rng):
    return {"width": int(rng.integers(1, 1000))}


def seeds_of(draw, n=20, *, least=2, most=7, shuffled=False, name="a", seed=0):
    """Return drawn settings, each with another number of seeds, and scores of both."""
    rng = np.random.default_rng(seed)
    rows = [
        (params, i, level + 0.5 * rng.normal())
        for params, level in ((draw(rng), rng.normal()) for _ in range(n))
        for i in range(int(rng.integers(least, most + 1)))
    ]
    if shuffled:
        rows = [rows[i] for i in rng.permutation(len(rows))]
    return [
        Trial("t", name, i, {"return": x}, params=params, labels={"seed": seed})
        for i, (params, seed, x) in enumerate(rows)
    ]


@pytest.mark.parametrize(
    ("draw", "shuffled"),
    [(cut(3), False), (cut(3), True), (whole, False), (whole, True), (cut(2), False)],
    ids=["3 digits", "3, shuffled", "whole", "whole, shuffled", "2 digits"],
)
def test_drawn_numbers_with_unequal_seeds_are_clusters(draw, shuffled):
    for seed in range(12):
        trials = Trials(seeds_of(draw, shuffled=shuffled, seed=seed), [RETURN])
        assert trials.design.unit == "cluster", seed
        assert trials.design.search != "sequence"


def test_settings_one_after_another_are_clusters_unless_they_were_sorted():
    """Text of no order: 12 settings stand in one place each, and nobody sorted them."""
    names = np.random.default_rng(5).permutation(list("abcdefghijkl")).tolist()
    for order, cluster in ((names, ("params",)), (sorted(names), ())):
        rows = [(name, i) for name in order for i in range(2 + ord(name) % 3)]
        trials = Trials(
            [
                Trial("t", "a", i, {"return": i % 7}, params={"kind": kind})
                for i, (kind, _) in enumerate(rows)
            ],
            [RETURN],
        )
        assert trials.design.cluster == cluster
        found = [f.severity for f in cw.check(trials) if f.rule == "clusters"]
        assert found == (["notes"] if cluster else ["tempers"])


def test_settings_that_likely_come_again_by_design_temper_and_no_choice_does():
    """Two digits, shuffled: seeds come again, and never twice in a setting."""
    trials = Trials(seeds_of(cut(2), shuffled=True), [RETURN])
    assert trials.design.suggested == (("cluster", "params"),)
    (finding,) = [f for f in cw.check(trials) if f.rule == "clusters"]
    assert finding.severity == "tempers"
    assert "cluster='params'" in finding.brief
    assert "cluster=[]" in finding.brief
    assert cw.performance(trials).cautions == (f"Caution: {finding.brief}.",)
    for stated in ("params", []):
        told = trials.with_design(cluster=stated)
        assert not [f for f in cw.check(told) if f.severity == "tempers"]


LISTS = {
    "sizes": [16, 32, 64, 128],
    "rates": [1e-4, 3e-4, 1e-3, 3e-3, 1e-2],
    "widths": [128, 192, 256, 384, 512, 768, 1024, 1536],
    "even": np.linspace(0.001, 0.1, 20).tolist(),
    "even logs": np.geomspace(1e-4, 0.1, 8).tolist(),
    "rounded": [float(f"{x:.3g}") for x in np.logspace(-4, -1, 10)],
    "single": [float(np.float32(x)) for x in (0.1, 0.01, 0.001, 0.05)],
    "whole": [*range(100, 150)],
}


@pytest.mark.parametrize("name", LISTS)
def test_choices_from_a_list_are_no_clusters_sorted_or_not(name):
    alarms, tempered = 0, 0
    for is_sorted in (False, True):
        for n in (20, 60, 200):
            for seed in range(10):
                rng = np.random.default_rng(seed)
                values = rng.choice(LISTS[name], n).tolist()
                values = sorted(values) if is_sorted else values
                trials = Trials(
                    [
                        Trial("t", "a", i, {"return": rng.normal()}, params={"p": p})
                        for i, p in enumerate(values)
                    ],
                    [RETURN],
                )
                alarms += trials.design.unit == "cluster"
                if not is_sorted and seed < 4:
                    found = cw.check(trials)
                    tempered += any(f.rule == "clusters" for f in found)
    assert alarms == 0
    assert tempered <= 1


def test_many_draws_of_few_digits_coincide_by_chance():
    rng = np.random.default_rng(0)
    for high in (1, 0.2):
        trials = Trials(
            [
                Trial("t", "a", i, {"return": x}, params={"lr": float(f"{x:.3g}")})
                for i, x in enumerate(rng.permutation(rng.uniform(0, high, 2500)))
            ],
            [RETURN],
        )
        assert trials.design.cluster == ()


def lost(rows, which):
    """Return rows of which some failed, and lost their params."""
    return [
        Trial("t", t.algorithm, t.number, {}, status="failed", labels={"seed": 0})
        if i in which
        else t
        for i, t in enumerate(rows)
    ]


def test_runs_that_lost_their_params_are_no_setting():
    rows = seeds_of(cut(9), least=5, most=5)
    trials = Trials(lost(rows, {3, 40, 77}), [RETURN])
    design = trials.design
    assert (design.cluster, design.units, design.repeats) == (
        ("params",),
        (20, 20),
        (4, 5),
    )
    assert design.unnamed == 3
    assert facts(design) == [20, 4, 5, 20, 3]
    assert facts(design.caution) == [4, 5, 20, 3]
    assert len(np.unique(design.clusters(trials))) == 23
    assert trials.with_design(cluster="params").design.unnamed == 3
    by_name = trials.with_design(cluster="lr").design
    assert by_name.unnamed == 3
    assert (by_name.units, by_name.repeats) == ((20, 20), (4, 5))
    assert cw.performance(trials, failed=0).rows()[0]["trials"] == 23


def test_a_sure_cluster_of_one_algorithm_leaves_the_draws_of_another_alone():
    rng = np.random.default_rng(0)
    one = seeds_of(cut(9), least=5, most=5)
    two = [
        Trial("t", "b", i, {"return": rng.normal()}, params={"bs": int(bs)})
        for i, bs in enumerate(rng.choice([16, 32, 64, 128], 20))
    ]
    a, b = Trials(one, [RETURN]), Trials(two, [RETURN])
    together = Trials([*one, *two], [RETURN])
    assert b.design.cluster == ()
    for trials in (together, a + b, b + a):
        design = trials.design
        assert (design.cluster, design.clustered) == (("params",), ("a",))
        assert (design.units, design.repeats) == ((20, 20), (5, 5))
        assert design.averaged == ("a",)
        assert facts(design.caution) == [5, 20, "a"]
        codes = design.clusters(trials)
        sizes = {
            trials.algorithms[i]: len(np.unique(codes[trials.core.algorithm == i]))
            for i in range(2)
        }
        assert sizes == {"a": 20, "b": 20}
        assert trials.where(algorithm="a").design.units == (20, 20)
        assert trials.where(algorithm="b").design.unit == "run"
        assert from_record(design.record()).clustered == ("a",)
        assert [row["trials"] for row in cw.performance(trials).rows()] == [20, 20]
    half = [b.take(np.arange(10)), a, b.take(np.arange(10, 20))]
    assert Trials.concat(half).design.clustered == ("a",)


def sites(a, b, runs=12):
    rng = np.random.default_rng(0)
    levels = {name: 0.1 * rng.normal(size=n) for name, n in (("a", a), ("b", b))}
    return Trials(
        [
            Trial(
                *("t", name, i, {"return": own[i % len(own)] + 0.01 * rng.normal()}),
                labels={"site": f"s{i % len(own)}", "seed": i // len(own)},
            )
            for name, own in levels.items()
            for i in range(len(own) * runs)
        ],
        [RETURN],
    ).with_design(cluster="site")


def test_one_stated_cluster_is_one_unit():
    design = (trials := sites(1, 6)).design
    assert (design.units, design.repeats) == ((1, 6), (12, 12))
    assert facts(design.caution) == [12, 1, 6]
    assert len(np.unique(design.clusters(trials)[:12])) == 1
    one = sites(1, 1).design
    assert (one.noun, one.repeated_by, one.cluster) == ("cluster", "seeds", ("site",))
    assert facts(one) == [1, 12, 1]
    alone = sites(6, 6).where(labels={"site": "s0"})
    assert "independent runs" not in str(alone.design)
    found = [f for f in cw.check(trials) if f.rule == "one-run"]
    assert [facts(f.brief) for f in found] == [["a", "t"]]
    # A setting was not drawn: with one, runs are independent.
    same = [Trial("t", "a", i, {"return": i}, labels={"config": 1}) for i in range(8)]
    stated = Trials(same, [RETURN]).with_design(cluster="config")
    assert stated.design.unit == "run"


def test_random_search_over_choices_is_hardly_ever_taken_for_repeated_settings():
    """The false alarms: finite choices in search spaces of several sizes."""
    spaces = [
        {"lr": [0.1, 0.01, 0.001]},
        {"lr": np.logspace(-4, -1, 7).tolist()},
        {"lr": [0.1, 0.01], "width": [32, 64], "depth": [1, 2, 3]},
        {"lr": np.logspace(-4, -1, 7).tolist(), "dropout": [0.0, 0.1, 0.2, 0.5]},
    ]
    alarms = sum(
        drawn(space, n, algorithms="a", labels=lambda i: {"seed": i}, seed=seed)
        .design.unit == "cluster"
        for space in spaces
        for n in (4, 6, 10, 30)
        for seed in range(40)
    )  # fmt: skip
    assert alarms <= 8  # of 640


def test_equal_seeds_alone_are_no_block():
    trials = repeated(1, 8)
    assert trials.design.block == ()
    assert trials.design.suggested == ()


def test_folds_are_suggested_and_not_assumed():
    design = folds().design
    assert (design.block, design.suggested) == ((), (("block", "fold"),))
    assert [f.rule for f in cw.check(folds()) if f.rule == "blocks"] == ["blocks"]
    assert folds(algorithms="a").design.suggested == ()


def test_a_label_called_config_is_suggested():
    trials = Trials(
        [
            Trial("t", a, i, {"return": i}, labels={"config": i // 3, "seed": i % 3})
            for a in "ab"
            for i in range(12)
        ],
        [RETURN],
    )
    assert trials.design.cluster == ()
    assert ("cluster", "config") in trials.design.suggested
    stated = trials.with_design(cluster="config")
    assert stated.design.units == (4, 4)
    assert (stated.design.noun, stated.design.repeats) == ("setting", (3, 3))


def test_one_run_and_unequal_runs_say_so():
    one = Trials([Trial("t", a, 0, {"return": 1}) for a in "ab"], [RETURN])
    assert (one.design.unit, one.design.runs) == ("single", (1, 1))
    many = Trials(
        [
            Trial("t", a, i, {"return": 1})
            for a, n in (("a", 5), ("b", 10))
            for i in range(n)
        ],
        [RETURN],
    )
    assert (many.design.unit, many.design.runs) == ("run", (5, 10))
    assert Trials().design == Design()


def test_grids_and_sequences_are_named():
    rng = np.random.default_rng(0)
    grid = Trials(
        [
            Trial(
                "t", "a", 4 * i + j, {"return": rng.normal()}, params={"p": i, "q": j}
            )
            for i in range(3)
            for j in range(4)
        ],
        [RETURN],
    )
    assert (grid.design.search, grid.design.grid) == ("grid", (3, 4))
    assert facts(grid.design) == [12, 3, 4]
    sequence = Trials(
        [
            Trial("t", "a", i, {"return": i + z}, params={"p": z / (i + 1)})
            for i, z in enumerate(rng.normal(size=60).tolist())
        ],
        [RETURN],
    )  # fmt: skip
    assert sequence.design.search == "sequence"
    assert facts(sequence.design) == [60, 60]


def test_repeated_settings_are_no_drift():
    """20 settings in blocks of five rise or fall by chance far more than 100 draws."""
    rng = np.random.default_rng(1)
    drifting = 0
    for _ in range(60):
        settings = rng.uniform(size=40)
        scores = rng.normal(size=(40, 5)) * 0.01 + settings[:, None]
        trials = Trials(
            [
                Trial("t", "a", 5 * i + j, {"return": scores[i, j]},
                      params={"lr": float(settings[i])}, labels={"seed": j})
                for i in range(40)
                for j in range(5)
            ],
            [RETURN],
        )  # fmt: skip
        drifting += trials.design.search == "sequence"
    assert drifting == 0


# --- what is stated --------------------------------------------------------------------


def test_a_stated_design_goes_before_what_is_inferred():
    trials = repeated(6, 3).with_design(cluster=[])
    assert (trials.design.cluster, trials.design.known["cluster"]) == ((), "stated")
    assert trials.design.unit == "run"
    both = folds().with_design(block="fold")
    assert both.design.block == ("fold",)
    assert both.design.blocks_met == (10, 10)
    assert facts(both.design) == [10, 10]


def test_codes_are_the_same_for_the_same_block_and_cluster():
    trials = folds(4).with_design(block="fold", cluster="fold")
    blocks = trials.design.blocks(trials)
    assert blocks[:4].tolist() == blocks[4:].tolist()
    assert len(set(blocks[:4].tolist())) == 4
    assert folds().design.blocks(folds()).tolist() == [-1] * 20
    own = repeated(5, 2)
    clusters = own.design.clusters(own)
    assert len(np.unique(clusters)) == 10
    assert (clusters[0::2] == clusters[1::2]).all()


def test_clusters_by_several_names_and_by_a_param():
    trials = Trials(
        [
            Trial("t", "a", i, {"return": i}, params={"lr": i % 2, "w": i // 4, "seed": i})
            for i in range(8)
        ],
        [RETURN],
    )  # fmt: skip
    for names in (["lr", "w"], "params"):  # a param called seed numbers a run
        codes = trials.with_design(cluster=names).design.clusters(trials)
        assert len(np.unique(codes)) == 4, names
    assert trials.with_design(cluster="lr").design.units == (2, 2)


def test_an_algorithm_of_one_setting_keeps_its_runs():
    tuned = repeated(6, 3, algorithms="a")
    default = Trials(
        [
            Trial("t", "b", i, {"return": i}, params={"lr": 0.5}, labels={"seed": i})
            for i in range(4)
        ],
        [RETURN],
    )
    both = tuned + default
    assert both.design.units == (6, 6)
    codes = both.design.clusters(both)
    assert len(np.unique(codes[both.core.algorithm == 0])) == 6
    assert len(np.unique(codes[both.core.algorithm == 1])) == 4


def test_a_run_without_the_label_stands_alone():
    rows = [
        Trial("t", "a", i, {"return": i}, labels={"config": i // 2} if i < 4 else {})
        for i in range(6)
    ]
    trials = Trials(rows, [RETURN]).with_design(cluster="config", block="config")
    assert len(np.unique(trials.design.clusters(trials))) == 4
    assert (trials.design.blocks(trials) == -1).tolist() == [False] * 4 + [True] * 2


def test_names_that_are_not_there_are_refused_with_those_that_are():
    with pytest.raises(CurvewiseError, match="'fold'"):
        folds().with_design(block="fodl")
    with pytest.raises(CurvewiseError, match="block is 3"):
        folds().with_design(block=3)


def test_a_block_that_nobody_shares_is_refused_with_those_that_are_shared():
    trials = Trials(
        [
            Trial("t", a, i, {"return": i}, labels={"fold": i, "host": f"{a}{i}"})
            for a in "ab"
            for i in range(5)
        ],
        [RETURN],
    )
    with pytest.raises(CurvewiseError) as told:
        trials.with_design(block="host")
    assert told.value.fixes == ({"block": "fold"}, {"block": []})
    for fix in told.value.fixes:
        assert trials.with_design(**({"block": "host"} | fix))
    # One algorithm has nobody to share with; another version of it may.
    assert trials.where(algorithm="a").with_design(block="host").design.block == (
        "host",
    )


def test_a_block_that_holds_two_runs_that_nothing_tells_apart_is_refused():
    rows = [
        Trial("t", a, i, {"return": i}, labels={"fold": i % 3})
        for a in "ab"
        for i in range(6)
    ]
    trials = Trials(rows, [RETURN])
    with pytest.raises(CurvewiseError) as told:
        trials.with_design(block="fold")
    assert told.value.fixes == ({"cluster": ["fold"]}, {"block": []})
    for fix in told.value.fixes:
        assert trials.with_design(**({"block": "fold"} | fix))
    apart = [
        Trial("t", a, i, {"return": i}, labels={"fold": i % 3, "seed": i // 3})
        for a in "ab"
        for i in range(6)
    ]
    assert Trials(apart, [RETURN]).with_design(block="fold").design.block == ("fold",)


# --- what is kept ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "trials",
    [
        repeated(),
        repeated().with_design(cluster="params"),
        folds().with_design(block="fold"),
    ],
    ids=["inferred", "clusters", "blocks"],
)
def test_choosing_combining_and_pickling_keep_the_design(trials):
    record = trials.design.record()
    assert record
    some = trials[::2], trials.where(algorithm="a"), trials.take(np.arange(5))
    again = trials.where(algorithm="a") + trials.where(algorithm="b")
    for other in (*some, again, pickle.loads(pickle.dumps(trials))):
        assert other.design.record() == record
    assert again.design == trials.design
    assert from_record(record).record() == record


def test_a_part_in_which_nothing_repeats_is_still_of_repeated_settings():
    whole = repeated(6, 3)
    part = whole.where(labels={"seed": 0})
    assert part.design.cluster == ("params",)
    assert (part.design.unit, part.design.runs) == ("run", (6, 6))


def test_seeds_in_several_files_are_found_together():
    whole = repeated(6, 3)
    parts = [Trials(list(whole.where(labels={"seed": s})), [RETURN]) for s in range(3)]
    assert [part.design.cluster for part in parts] == [()] * 3
    assert Trials.concat(parts).design.units == (6, 6)


def test_contradictory_statements_are_refused():
    trials = folds(labels=1)
    one, other = trials.where(algorithm="a"), trials.where(algorithm="b")
    with pytest.raises(CurvewiseError, match="Read them alike"):
        one.with_design(block="fold") + other.with_design(block=[])
    assert (one.with_design(block="fold") + other).design.block == ("fold",)


def test_stated_clusters_are_not_joined_with_others_that_trials_show():
    def made(name, label):
        rows = seeds_of(cut(9), least=4, most=4, name=name)
        return Trials(
            [
                Trial(
                    *("t", name, t.number, t.metrics),
                    params=t.params,
                    labels={label: t.number // 4, "seed": t.number % 4},
                )
                for t in rows
            ],
            [RETURN],
        )

    stated, shown = (
        made("a", "config").with_design(cluster="config"),
        made("b", "other"),
    )
    with pytest.raises(CurvewiseError, match="Read them alike"):
        stated + shown
    with pytest.raises(CurvewiseError, match="Read them alike"):
        Trials.concat([shown, made("a", "config").with_design(cluster=[])])
    alike = made("a", "config").with_design(cluster="params") + shown
    assert alike.design.units == (20, 20)


def test_of_no_trials_nothing_is_said():
    none = repeated().where(algorithm="b").take(np.arange(0))
    assert str(none.design) == "no runs"
    assert (none.design.unit, none.design.repeats) == ("run", (1, 1))


def test_only_a_stated_design_is_part_of_the_hash():
    trials = repeated()
    fresh = Trials(list(trials), [RETURN])
    assert trials.design.cluster  # inferred by now
    assert trials.digest() == fresh.digest()
    stated = trials.with_design(cluster="params")
    assert stated.digest() != trials.digest()
    assert stated.digest() == fresh.with_design(cluster=["params"]).digest()


def test_records_that_are_none_are_no_design():
    for record in (
        None,
        3,
        {},
        {"known": 3},
        {"known": {"block": "stated"}, "block": 3},
    ):
        assert from_record(record) == Design()
    plain = Trials([Trial("t", "a", i, {"return": i}) for i in range(3)], [RETURN])
    assert plain.design_record() == {}


# --- experiments -----------------------------------------------------------------------


def experiment(seed=0, **more):
    return cw.Experiment(
        cw.Task("t", lambda rng: rng.random()),
        [
            cw.Algorithm(
                name, {"p": [0.1, 0.2]}, lambda params, data, rng: {"loss": data}
            )
            for name in "ab"
        ],
        seed=seed,
        **more,
    )


def test_an_experiment_knows_its_design():
    plan = experiment(trials=8)
    design = cw.run(plan, executor="serial", progress=False).design
    assert (design.block, design.cluster, design.search) == (("number",), (), "random")
    assert set(design.known.values()) == {"engine"}
    frozen = experiment(trials=8, vary=["seed"])
    design = cw.run(frozen, executor="serial", progress=False).design
    assert (design.block, design.search) == ((), None)


def test_of_an_experiment_nothing_is_inferred_from_params():
    """Choices coincide; three million params are not read."""
    trials = cw.run(experiment(trials=40), executor="serial", progress=False)

    def unreadable():
        raise AssertionError("details were read")

    columns = trials.tasks, trials.algorithms, trials.metrics, trials.core
    lazy = Trials.from_columns(
        *columns, unreadable, design=experiment(trials=1).design()
    )
    assert lazy.design.unit == "run"
    assert lazy.where(algorithm="a").design.block == ("number",)


def test_a_crossed_experiment_is_crossed_until_clusters_are_stated():
    plan = experiment(cross={"params": 5, "seed": 3})
    trials = cw.run(plan, executor="serial", progress=False)
    assert trials.design.unit == "crossed"
    assert trials.design.crossed == ("params", "seed")
    with pytest.raises(CurvewiseError, match="crossed"):
        cw.performance(trials)
    stated = trials.with_design(cluster="params")
    assert stated.design.unit == "cluster"
    assert cw.performance(stated, failed="worst").cautions


def test_trials_of_two_experiments_are_no_pairs():
    one, other = (
        cw.run(experiment(seed, trials=4), executor="serial", progress=False)
        for seed in (0, 1)
    )
    both = one.where(algorithm="a") + other.where(algorithm="b")
    assert both.design.block == ()
    same = one.where(algorithm="a") + one.where(algorithm="b")
    assert same.design.block == ("number",)
    assert joined([of_engine(0, ["train"], [], has_params=False)]).block == ("number",)


def test_seeds_among_the_params_of_some_are_no_settings():
    """Whose params stand first, with a seed or without, must not matter."""
    rng = np.random.default_rng(0)
    plain = [{"lr": float(x)} for x in rng.uniform(size=40)]
    repeated = [
        {"lr": float(x), "seed": s} for x in rng.uniform(size=10) for s in range(4)
    ]
    trials = Trials(
        Trial("t", name, i, {"return": 0.1 * i}, params=params)
        for name, own in (("a", plain), ("b", repeated))
        for i, params in enumerate(own)
    )
    codes = trials.with_design(cluster="params").design.clusters(
        trials.with_design(cluster="params")
    )
    assert len(np.unique(codes[:40])) == 40
    assert len(np.unique(codes[40:])) == 10
