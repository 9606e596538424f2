"""Experiments of Ray Tune that were resumed, torn or damaged."""

import json

import pytest
from logged_curves import curves
from ray_files import add_state, found, make, report, rows, told_of

# --- what happens to experiments ---------------------------------------------------------


def test_failed_trials_that_were_run_again_do_not_count_twice(tmp_path):
    old, kept, new = "net_0a1b2_00000_0", "net_0a1b2_00001_1", "net_99ff99aa_0"
    for name in (old, kept, new):
        make(tmp_path, name, reports=[report(1)])
    add_state(tmp_path, told_of(old, "ERROR", "0"), told_of(kept, "ERROR", "1"))
    again = told_of(new, "TERMINATED", "0"), told_of(kept, "ERROR", "1")
    add_state(tmp_path, *again, name="experiment_state-2.json", resumed=True)
    runs = found(tmp_path)
    assert set(rows(runs)) == {kept, new}
    (left,) = runs.left_out
    assert (left.n, left.what, left.examples) == (1, "run", (old,))


@pytest.mark.parametrize(
    ("status", "tag"), [("TERMINATED", "0"), ("ERROR", "5"), ("ERROR", "")]
)
def test_an_older_trial_stays_unless_it_failed_and_was_replaced(tmp_path, status, tag):
    old, new = "net_0a1b2_00000_0", "net_99ff99aa_0"
    for name in (old, new):
        make(tmp_path, name, reports=[report(1)])
    add_state(tmp_path, told_of(old, status, tag))
    again = told_of(new, "TERMINATED", "0")
    add_state(tmp_path, again, name="experiment_state-2.json", resumed=True)
    runs = found(tmp_path)
    assert set(rows(runs)) == {old, new}
    assert runs.left_out == ()


def test_a_second_experiment_of_the_same_name_replaces_nothing(tmp_path):
    for i, name in enumerate(("net_0a1b2_00000_0", "net_9f9f9_00000_0")):
        make(tmp_path, name, reports=[report(1)])
        state = f"experiment_state-{i}.json"
        add_state(tmp_path, told_of(name, "ERROR", "0"), name=state)
    assert len(rows(found(tmp_path))) == 2


def test_a_trial_is_replaced_only_within_its_experiment(tmp_path):
    for experiment, name in (("a", "net_0a1b2_00000_0"), ("b", "net_99ff99aa_0")):
        make(tmp_path / experiment, name, reports=[report(1)])
        told = told_of(name, "ERROR", "0")
        add_state(tmp_path / experiment, told, resumed=True)
    assert len(rows(found(tmp_path))) == 2


def test_params_that_change_on_the_way_are_said_to(tmp_path):
    lines = [report(i, config={"lr": 1 / i}) for i in (1, 2)]
    make(tmp_path, reports=lines, params={"lr": 0.5}, state="TERMINATED")
    assert "not independent" in found(tmp_path).remarks[0]
    make(tmp_path / "other", reports=[report(i, config={"lr": 1}) for i in (1, 2)])
    assert found(tmp_path / "other").remarks == ()


def test_what_was_raised_is_found_above_the_lines_of_its_message(tmp_path):
    text = (
        "Traceback (most recent call last):\n  x\nValueError: bad rate\nsee the log\n"
    )
    make(tmp_path, reports=[], state="ERROR", error=text)
    ((row),) = rows(found(tmp_path)).values()
    assert row["error_text"] == "ValueError: bad rate"


# --- damage ------------------------------------------------------------------------------


def test_a_state_that_cannot_be_read_is_told(tmp_path):
    make(tmp_path, reports=[report(1)])
    (tmp_path / "experiment_state-1.json").write_text("{")
    runs = found(tmp_path)
    assert "'experiment_state-1.json'" in runs.remarks[0]
    assert [row["status"] for row in rows(runs).values()] == ["running"]


def test_params_that_cannot_be_read_are_told_unless_reports_have_them(tmp_path):
    trial = make(tmp_path, reports=[report(1)])
    (trial / "params.json").write_text('{"lr": 0.')
    (remark,) = found(tmp_path).remarks
    assert f"'{trial.name}'" in remark
    line = json.dumps(report(1, config={"lr": 3}))
    (trial / "result.json").write_text(f"{line}\n")
    runs = found(tmp_path)
    assert runs.remarks == ()
    assert rows(runs)[trial.name]["params.lr"] == 3


def test_half_characters_are_no_crash(tmp_path):
    trial = make(tmp_path, reports=['{"training_iteration": 1, "\\ud800m": 1}'])
    (trial / "params.json").write_text(
        '{"\\ud800": "\\udfff", "fine": "\\ud83d\\ude00"}'
    )
    runs = found(tmp_path)
    row = rows(runs)[trial.name]
    assert (row["params.?"], row["params.fine"]) == ("?", "\U0001f600")
    assert runs.scalars.names == ("?m",)


@pytest.mark.parametrize("depth", [500, 970, 985, 5000])
def test_what_is_deep_is_no_crash(tmp_path, depth):
    deep = f'{{"a": {"[" * depth}{"]" * depth}, "b": {{"c": 1}}}}'
    deeper = '{"a": ' * depth + "1" + "}" * depth
    good = json.dumps(report(1))
    trial = make(tmp_path, reports=[good, deeper])
    (trial / "params.json").write_text(deep)
    runs = found(tmp_path)
    assert curves(runs)[trial.name]["acc"] == [(1.0, 0.1)]


def test_a_line_of_a_table_that_is_being_written_is_left_out(tmp_path):
    trial = make(tmp_path, reports=None)
    table = trial / "progress.csv"
    table.write_text("training_iteration,acc\r\n1,0.5\r\n2,0.6")
    runs = found(tmp_path)
    assert curves(runs)[trial.name]["acc"] == [(1.0, 0.5)]
    assert runs.remarks[0].startswith("Left out: 1 line")
    table.write_text("training_iteration,acc\r\n1,0.5\r\n2,0.66\r\n")
    assert curves(found(tmp_path))[trial.name]["acc"] == [(1.0, 0.5), (2.0, 0.66)]


def test_a_cell_without_an_end_costs_its_own_line_only(tmp_path):
    trial = make(tmp_path, reports=None)
    long = "x" * 200_000
    lines = ["training_iteration,acc,note", f"1,0.5,{long}", "2,0.6,b", ""]
    (trial / "progress.csv").write_text("\n".join(lines))
    runs = found(tmp_path)
    assert curves(runs)[trial.name]["acc"] == [(2.0, 0.6)]
    assert runs.remarks[0].startswith("Left out: 1 line")


@pytest.mark.parametrize(
    ("name", "trainable"),
    [
        ("my_net_0a1b2_00003_3_lr=1_2026-01-01", "my_net"),
        ("my_net_976ad84c_0_lr=1_2026-01-01", "my_net"),
        ("something else", None),
    ],
    ids=["first", "again", "other"],
)
def test_the_trainable_is_in_the_name_of_the_folder(tmp_path, name, trainable):
    make(tmp_path, name, reports=[report(1)])
    assert rows(found(tmp_path))[name]["trainable"] == trainable
