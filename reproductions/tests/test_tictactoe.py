"""Tic-tac-toe: the rules, the learner, and an independent player of the same games."""

import sys
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import curvewise as cw
from curvewise.errors import CurvewiseError
from curvewise_papers import tictactoe
from curvewise_papers.tictactoe import SCORE, TdLearner, td_learner, tictactoe_task

LUCK = tictactoe.CELLS + 1  # uniform numbers of a game


def rng(seed):
    return np.random.default_rng(seed)


# --- the rules ---------------------------------------------------------------------------


def test_as_many_boards_are_reachable_as_is_known():
    boards = tictactoe.reachable()
    assert len(boards) == 5478
    assert len(np.unique(tictactoe.classes()[boards])) == 765
    ends = tictactoe.ends()[boards]
    counts = [
        int((ends == how).sum())
        for how in (tictactoe.WON, tictactoe.LOST, tictactoe.DRAWN)
    ]
    assert counts == [626, 316, 16]


def test_moves_are_to_empty_cells_and_only_while_the_game_goes_on():
    for code in tictactoe.reachable().tolist():
        empty = [i for i, mark in enumerate(tictactoe.cells(code)) if mark == 0]
        is_over = tictactoe.ends()[code] != tictactoe.GOES_ON
        assert tictactoe.moves(code) == ([] if is_over else empty)


def test_turning_a_board_changes_neither_its_class_nor_who_has_won():
    every = np.arange(tictactoe.BOARDS)
    cells = tictactoe.cells(every)
    assert len({tuple(turn) for turn in tictactoe.turns().tolist()}) == 8
    for turn in tictactoe.turns():
        turned = tictactoe.code(cells[:, turn])
        np.testing.assert_array_equal(tictactoe.classes()[turned], tictactoe.classes())
        np.testing.assert_array_equal(tictactoe.ends()[turned], tictactoe.ends())
    np.testing.assert_array_equal(
        tictactoe.classes()[tictactoe.classes()], tictactoe.classes()
    )


def test_swapping_the_marks_swaps_won_and_lost():
    cells = tictactoe.cells(np.arange(tictactoe.BOARDS))
    swapped = tictactoe.code(np.choose(cells, [0, 2, 1]))
    one = np.isin(tictactoe.ends(), (tictactoe.GOES_ON, tictactoe.DRAWN))
    np.testing.assert_array_equal(tictactoe.ends()[swapped[one]], tictactoe.ends()[one])
    lines = [(cells[:, line] == 1).all(axis=1) for line in tictactoe.LINES]
    lost = (tictactoe.ends() == tictactoe.LOST) & ~np.any(lines, axis=0)
    assert (tictactoe.ends()[swapped[lost]] == tictactoe.WON).all()


@cache
def outcomes(code=0, mark=1):
    """Return exactly how random play goes on: won, lost or drawn by who began."""
    end = tictactoe.ends()[code]
    if end != tictactoe.GOES_ON:
        return tuple(
            Fraction(int(end == how))
            for how in (tictactoe.WON, tictactoe.LOST, tictactoe.DRAWN)
        )
    after = [
        outcomes(code + mark * 3**cell, 3 - mark) for cell in tictactoe.moves(code)
    ]
    return tuple(sum(one) / len(after) for one in zip(*after, strict=True))


def test_who_begins_wins_most_of_random_games():
    assert [round(float(p), 3) for p in outcomes()] == [0.585, 0.288, 0.127]


# --- games -------------------------------------------------------------------------------


def played(games, *, first=None, rate=0.0, explore=0.0, seed=1, learner=None):
    """Return games won less games lost per game, its error, and what was learned."""
    from curvewise_papers.tictactoe_games import BEGINS, play

    luck = rng(seed).random((games, LUCK))
    if first is not None:
        luck[:, BEGINS] = 0.0 if first else 0.9
    values = np.zeros(tictactoe.BOARDS)
    names = (learner or TdLearner(explore, False, True)).names
    score = play(values, names, tictactoe.ends(), luck, rate, explore, False)
    return score / games, games**-0.5, values


@pytest.mark.parametrize("first", [True, False])
def test_random_play_scores_as_counted(first):
    # A game's score has a standard deviation below 1: at 4 errors, false alarm < 1e-4.
    won, lost, _ = (float(p) for p in outcomes())
    score, error, values = played(40_000, first=first)
    assert score == pytest.approx((1 if first else -1) * (won - lost), abs=4 * error)
    assert not values.any()


def test_exploring_with_every_move_is_random_play_too():
    score, error, _ = played(40_000, explore=1.0, first=True)
    won, lost, _ = (float(p) for p in outcomes())
    assert score == pytest.approx(won - lost, abs=4 * error)


class Plain:
    """The same learner in words of its own: boards are tuples, values a dict."""

    def __init__(self, rate, explore, learns, symmetric):
        self.rate, self.explore, self.learns = rate, explore, learns
        self.symmetric, self.values = symmetric, {}

    def key(self, cells):
        if not self.symmetric:
            return cells
        turned = []
        for _ in range(4):
            cells = tuple(cells[3 * (2 - j) + i] for i in range(3) for j in range(3))
            mirrored = (cells[3 * i + 2 - j] for i in range(3) for j in range(3))
            turned += [cells, tuple(mirrored)]
        return min(turned)

    def worth(self, cells):
        return self.values.get(self.key(cells), 0.0)

    def towards(self, key, target):
        old = self.values.get(key, 0.0)
        self.values[key] = old + self.rate * (target - old)

    def chosen(self, cells, free, u):
        """Return where to move, and whether that explores."""
        if u < self.explore:
            return free[int(u / self.explore * len(free))], True
        worth = [self.worth(put(cells, i, 1)) for i in free]
        best = [i for i, w in zip(free, worth, strict=True) if w == max(worth)]
        return best[int((u - self.explore) / (1 - self.explore) * len(best))], False

    def game(self, luck):
        cells, before, is_own = (0,) * 9, None, luck[9] < 0.5
        for u in luck[:9]:
            free = [i for i in range(9) if cells[i] == 0]
            if is_own:
                where, explores = self.chosen(cells, free, u)
                cells = put(cells, where, 1)
                if before is not None and (self.learns or not explores):
                    self.towards(before, self.worth(cells))
                before = self.key(cells)
            else:
                cells = put(cells, free[int(u * len(free))], 2)
            mark = 1 if is_own else 2
            is_won = any({cells[i] for i in line} == {mark} for line in tictactoe.LINES)
            if is_won or 0 not in cells:
                outcome = is_won * (1 if is_own else -1)
                self.towards(before, outcome)
                return outcome
            is_own = not is_own
        raise AssertionError("a game has nine moves at most")


def put(cells, where, mark):
    return (*cells[:where], mark, *cells[where + 1 :])


@pytest.mark.parametrize(
    ("explore", "learns", "symmetric"),
    [(0.1, False, True), (0.1, True, True), (0.3, False, False), (1.0, True, True)],
)
def test_an_independent_player_of_the_same_games_learns_the_same(
    explore, learns, symmetric
):
    from curvewise_papers.tictactoe_games import play

    luck = rng(3).random((300, LUCK))
    values = np.zeros(tictactoe.BOARDS)
    learner = TdLearner(explore, learns, symmetric)
    score = play(values, learner.names, tictactoe.ends(), luck, 0.3, explore, learns)
    plain = Plain(0.3, explore, learns, symmetric)
    assert score == sum(plain.game(row) for row in luck.tolist())
    for cells, value in plain.values.items():
        assert values[learner.names[tictactoe.code(np.array(cells))]] == value
    assert np.count_nonzero(values) == sum(v != 0 for v in plain.values.values())


def test_finished_boards_are_worth_what_they_brought():
    # With a rate of 1 a value is the last target, and that of a won board always is 1.
    _, _, values = played(3000, rate=1.0, explore=0.2)
    ends = tictactoe.ends()
    assert set(values[ends == tictactoe.WON]) == {0.0, 1.0}
    assert set(values[ends == tictactoe.DRAWN]) == {0.0}
    assert set(values) == {-1.0, 0.0, 1.0}
    # Those that the opponent finishes are no boards after a move of one's own.
    lost_only = (ends == tictactoe.LOST) & ~(ends == tictactoe.WON)
    assert not values[lost_only].any()


def test_only_one_board_of_a_class_has_a_value():
    _, _, values = played(2000, rate=0.5, explore=0.2)
    (seen,) = np.nonzero(values)
    np.testing.assert_array_equal(tictactoe.classes()[seen], seen)
    alone = TdLearner(0.2, False, symmetric=False)
    _, _, own = played(2000, rate=0.5, explore=0.2, learner=alone)
    (seen,) = np.nonzero(own)
    assert (tictactoe.classes()[seen] != seen).any()


# --- as task and algorithm ---------------------------------------------------------------


def curves(*learners, trials=12, levels=(0, 500, 3000), seed=0):
    experiment = cw.Experiment(
        [tictactoe_task(levels)], learners, trials, seed, metrics=[SCORE]
    )
    trials = cw.run(experiment, executor="serial", progress=False)
    assert trials.count_failed("score") == 0
    lines = trials.lines("score")
    np.testing.assert_array_equal(lines.steps, levels)
    return {name: lines[name] for name in lines}


def test_a_learner_learns_and_one_with_rate_0_does_not():
    # Twelve curves: a mean of random play has an error of 9.3 / sqrt(12) = 2.7, and 4 of
    # these are exceeded one time in 16,000.
    found = curves(td_learner(0.1, name="learns"), td_learner(0, name="does not"))
    assert found["learns"].mean(axis=0)[0] == pytest.approx(0, abs=11)
    assert found["learns"].mean(axis=0)[1] > 60
    assert found["learns"].mean(axis=0)[2] > 80
    assert np.abs(found["does not"].mean(axis=0)).max() < 11


def test_algorithms_share_no_luck():
    found = curves(td_learner(0, name="a"), td_learner(0, name="b"), levels=(0, 10))
    assert (found["a"] != found["b"]).any()
    again = curves(td_learner(0, name="a"), trials=5, levels=(0, 10))
    np.testing.assert_array_equal(again["a"], found["a"][:5])


def test_variants_are_other_learners():
    given = {
        "usual": {},
        "random": {"play": "random"},
        "from exploring": {"learns_from_exploring": True},
        "not symmetric": {"symmetric": False},
    }
    found = {
        name: curves(td_learner(0.1, name="one", **options), trials=6, levels=(0, 500))
        for name, options in given.items()
    }
    means = {name: own["one"].mean(axis=0) for name, own in found.items()}
    # Without symmetry there is eight times as much to learn.
    assert means["not symmetric"][1] < 45 < means["usual"][1]
    assert len({tuple(mean) for mean in means.values()}) == 4


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: td_learner(1.5), "rate is 1.5. Pass a number from 0 to 1"),
        (lambda: td_learner("fast"), "rate is"),
        (lambda: td_learner(0.1, explore=-1), "explore is -1"),
        (lambda: td_learner(0.1, play="well"), "play is 'well'"),
        (lambda: tictactoe_task([0, 5, 5]), "each larger than the one before"),
        (lambda: tictactoe_task([]), "levels is"),
        (lambda: tictactoe_task([-1]), "a level"),
        (lambda: tictactoe_task(tests=0), "tests"),
    ],
)
def test_what_cannot_be_is_refused(make, said):
    with pytest.raises(CurvewiseError, match=said):
        make()


def test_without_numba_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "curvewise_papers.tictactoe_games", raising=False)
    with pytest.raises(CurvewiseError, match=r"pip install '\./reproductions\[rl\]'"):
        TdLearner(0.1, False, True).warm_up()
