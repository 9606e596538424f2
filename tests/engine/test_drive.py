"""The queue: every trial once, cells in turn, batches of about 0.2 seconds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curvewise import Algorithm, CurvewiseError, Experiment, Task
from curvewise.engine.drive import SECONDS, Batch, Payload, Queue


def queue(*sizes, workers=1, claim=None):
    return Queue({i: np.arange(n) for i, n in enumerate(sizes)}, workers, claim)


def handed_out(queue, seconds=lambda cell: 0.001):
    """Take all batches, each as long as its trials take together."""
    batches = []
    while (batch := queue.next()) is not None:
        queue.learn(batch, seconds(batch.cell) * len(batch.numbers))
        batches.append(batch)
    return batches


def sizes(batches):
    return [len(batch.numbers) for batch in batches]


# --- every trial once ----------------------------------------------------------------


@given(
    st.dictionaries(
        st.integers(0, 5), st.lists(st.integers(0, 10_000), unique=True, max_size=300)
    ),
    st.integers(0, 64),
    st.lists(st.sampled_from(["return", "alone", "fine"]), max_size=30),
    st.sampled_from([1e-9, 1e-4, 0.01, 1.0]),
)
def test_every_trial_is_handed_out_exactly_once(todo, workers, mishaps, seconds):
    """Also if batches come back, whole or trial by trial."""
    line = Queue({c: np.array(n, np.int64) for c, n in todo.items()}, workers)
    done, mishaps = [], iter(mishaps)
    while (batch := line.next()) is not None:
        match next(mishaps, "fine"):
            case "return":
                line.give_back(batch)
            case "alone":
                for number in np.split(batch.numbers, len(batch.numbers)):
                    line.give_back(Batch(batch.cell, number, alone=True))
            case "fine":
                done += [(batch.cell, n) for n in batch.numbers.tolist()]
                line.learn(batch, seconds * len(batch.numbers))
    assert sorted(done) == sorted((c, n) for c, all_ in todo.items() for n in all_)


def test_numbers_come_in_the_order_in_which_they_were_given():
    batches = handed_out(Queue({0: np.array([5, 3, 9, 1])}, 1))
    assert np.concatenate([b.numbers for b in batches]).tolist() == [5, 3, 9, 1]


def test_a_range_does_as_well_and_is_never_spelt_out():
    line = Queue({0: range(10**12), 1: range(3)}, 2)
    first = [line.next() for _ in range(6)]
    assert [(b.cell, *b.numbers.tolist()) for b in first] == [
        *((0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2))
    ]
    assert all(b.numbers.dtype == np.int64 for b in first)


@pytest.mark.parametrize("todo", [{}, {0: np.empty(0, np.int64)}])
def test_there_may_be_nothing_to_do(todo):
    assert Queue(todo, 2).next() is None


def test_a_queue_that_was_empty_goes_on_with_what_comes_back():
    line = queue(1)
    batch = line.next()
    assert line.next() is None
    line.give_back(batch)
    assert line.next() is batch
    assert line.next() is None


# --- cells in turn -------------------------------------------------------------------


def test_cells_take_turns():
    """Whoever looks half-way sees as much of each algorithm."""
    batches = handed_out(queue(4, 4, 4), seconds=lambda cell: 10)
    assert [b.cell for b in batches] == [0, 1, 2] * 4


def test_a_slow_algorithm_is_not_left_behind_by_more_than_its_batches():
    """Turns are of batches: the slow one has had as many as the quick one."""
    slow, quick = 0, 1
    batches = handed_out(queue(8, 8_000), lambda cell: 0.1 if cell == slow else 1e-4)
    while_both = batches[: max(i for i, b in enumerate(batches) if b.cell == slow)]
    turns = [b.cell for b in while_both]
    assert abs(turns.count(slow) - turns.count(quick)) <= 1


def test_a_cell_that_has_come_to_its_end_is_skipped():
    batches = handed_out(queue(1, 3), seconds=lambda cell: 10)
    assert [b.cell for b in batches] == [0, 1, 1, 1]


# --- sizes of batches ----------------------------------------------------------------


def test_the_first_batch_is_one_trial():
    """Nobody knows yet how long it takes."""
    assert len(queue(1_000_000).next().numbers) == 1


def test_batches_grow_by_eight_at_a_time_and_no_further_than_two_thousand():
    """One lucky trial says little; and a batch has to be held in memory."""
    grown = sizes(handed_out(queue(20_000), lambda cell: 1e-6))
    assert grown[:6] == [1, 8, 64, 512, 2_000, 2_000]


@pytest.mark.parametrize("each", [0.001, 0.004, 0.05])
def test_batches_come_to_take_a_fifth_of_a_second(each):
    found = sizes(handed_out(queue(20_000), lambda cell: each))
    middle = found[len(found) // 2]
    assert middle * each == pytest.approx(SECONDS, rel=0.02)
    assert max(found) * each <= SECONDS * 1.0001


def test_slow_trials_go_one_by_one():
    assert set(sizes(handed_out(queue(50), lambda cell: 3.0))) == {1}


def test_batches_shrink_towards_the_end():
    """So that no worker waits long for another: half a fair share at most."""
    line, left, workers = queue(1_000, workers=4), 1_000, 4
    found = []
    while (batch := line.next()) is not None:
        size = len(batch.numbers)
        assert size <= max(1, -(-left // (2 * workers)))
        line.learn(batch, 1e-5 * size)
        left -= size
        found.append(size)
    assert found[-3:] == [1, 1, 1]
    assert found.index(max(found)) < len(found) // 2


def test_a_batch_that_took_long_makes_the_next_ones_small_at_once():
    line = queue(100_000)
    for _ in range(6):
        batch = line.next()
        line.learn(batch, 1e-4 * len(batch.numbers))
    assert len(line.next().numbers) == SECONDS / 1e-4
    line.learn(Batch(0, np.arange(2_000)), 200.0)
    assert len(line.next().numbers) == 2  # 0.1 s each


def test_they_recover_slowly():
    line = queue(100_000)
    line.learn(Batch(0, np.arange(2_000)), 200.0)
    found = []
    for _ in range(12):
        batch = line.next()
        line.learn(batch, 1e-4 * len(batch.numbers))
        found.append(len(batch.numbers))
    assert found == sorted(found)
    assert found[0] == 2
    assert 500 < found[-1] <= SECONDS / 1e-4


def test_cells_have_sizes_of_their_own():
    batches = handed_out(queue(500, 500), lambda cell: [1e-4, 10.0][cell])
    assert max(len(b.numbers) for b in batches if b.cell == 0) > 50
    assert max(len(b.numbers) for b in batches if b.cell == 1) == 1


def test_a_clock_that_stands_still_is_no_problem():
    assert sum(sizes(handed_out(queue(1_000), lambda cell: 0.0))) == 1_000


# --- what comes back -----------------------------------------------------------------


def test_what_comes_back_is_next():
    line = queue(5)
    batch = line.next()
    line.next()
    line.give_back(batch)
    assert line.next() is batch


def test_an_empty_batch_does_not_come_back():
    line = queue(0)
    line.give_back(Batch(0, np.empty(0, np.int64)))
    assert line.next() is None


def test_nobody_is_given_a_second_batch_of_long_trials():
    """A trial of an hour that waits behind another could run elsewhere."""
    line = Queue({0: range(100)}, 2)
    assert line.next(quick=True) is None  # nobody knows yet
    batch = line.next()
    line.learn(batch, 5.0)
    assert line.next(quick=True) is None
    assert line.next() is not None
    line = Queue({0: range(100)}, 2)
    line.learn(line.next(), 0.01)
    assert line.next(quick=True) is not None
    line.give_back(Batch(0, np.array([0]), alone=True))
    assert line.next(quick=True) is None


def test_other_batches_are_not_alone():
    assert not queue(1).next().alone


# --- claims --------------------------------------------------------------------------


def test_only_what_was_granted_is_handed_out():
    asked = []

    def even(cell, numbers):
        asked.append((cell, numbers.tolist()))
        return numbers[numbers % 2 == 0]

    batches = handed_out(queue(10, 3, claim=even), seconds=lambda cell: 10)
    found = sorted((b.cell, *b.numbers.tolist()) for b in batches)
    assert found == [(0, n) for n in range(0, 10, 2)] + [(1, 0), (1, 2)]
    assert sum(len(numbers) for _, numbers in asked) == 13


def test_where_nothing_is_granted_there_is_nothing_to_do():
    assert queue(10, 10, claim=lambda cell, numbers: numbers[:0]).next() is None


def test_nothing_is_claimed_before_it_is_wanted():
    """What one run claims, another cannot do."""
    asked = []

    def claim(cell, numbers):
        asked.append(len(numbers))
        return numbers

    line = queue(100, claim=claim)
    assert asked == []
    line.next()
    assert asked == [1]


def test_what_comes_back_is_claimed_already():
    asked = []

    def claim(cell, numbers):
        asked.append(numbers.tolist())
        return numbers

    line = queue(1, claim=claim)
    line.give_back(line.next())
    line.next()
    assert asked == [[0]]


# --- payloads ------------------------------------------------------------------------


def experiment(run, sample=lambda rng: 0):
    algorithms = [Algorithm("fine", {}, lambda *_: None), Algorithm("net", {}, run)]
    return Experiment([Task("t", sample)], algorithms, 2)


def unpicklable():
    import threading

    lock = threading.Lock()

    def uses_it(*_):
        return lock

    return uses_it


def test_an_experiment_travels_with_the_functions_of_a_script():
    import pickle

    payload = Payload(experiment(lambda params, data, rng: {"loss": 2}))
    arrived = pickle.loads(payload.data)
    assert arrived.algorithm("net").run({}, None, None) == {"loss": 2}
    assert Payload.received(payload.data, payload.digest).data == payload.data


def test_what_cannot_travel_is_named():
    message = (
        r"cannot be sent to worker processes: .*lock.*\. Make what it needs inside the "
        r"function, or pass executor='serial'\."
    )
    with pytest.raises(CurvewiseError, match=rf"^Algorithm 'net' {message}"):
        _ = Payload(experiment(unpicklable())).data
    uses_it = unpicklable()
    with pytest.raises(CurvewiseError, match=rf"^Task 't' {message}"):
        _ = Payload(experiment(lambda *_: None, lambda rng: (uses_it, rng))).data
