"""Section 5.2 and Appendix C: actor-critic and PPO on the pendulum."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from curvewise.figures.chart import Chart, Mark, Series, finite
from curvewise.metrics import Floats
from curvewise.stats.bands import Kind, cdf_band
from curvewise.stats.distribution import cvar, quantile
from curvewise_papers.claims import Claim
from curvewise_papers.jordan2018.pendulum_numbers import (
    HALVES,
    LABELS,
    PERCENTILES,
    STEPS,
    Number,
    beats,
    behind,
    by_episodes,
    fallen,
    our_numbers,
    printed_number,
    printed_trials,
    reruns,
    run,
    scores,
    table2,
)
from curvewise_papers.study import Figure, Results, Study, lacks_numba, line, part

_ROUNDING = {"mean": 0.05, "best": 0.05, "worst": 0.15}  # worst: 2 mean - best


def claims(results: Results) -> Sequence[Claim]:
    """Return the printed numbers beside ours."""
    ours = {name: our_numbers(results, name) for name in LABELS}
    return (
        *_table(results, ours),
        *_identity(ours),
        *_words(results, ours),
        *_trials(results),
        *_slices(results),
    )


def _table(
    results: Results, ours: Mapping[str, Mapping[str, Number]]
) -> Iterator[Claim]:
    for name, numbers in ours.items():
        trials, theirs = len(scores(results, name)), printed_trials(name)
        moved = ", ".join(f"{HALVES[h]} {n.moved:.1f}" for h, n in numbers.items())
        for half, number in numbers.items():
            yield Claim(
                "Table 2",
                LABELS[name],
                HALVES[half],
                printed_number(name, half),
                number.value,
                error=number.error,
                printed_error=number.error * math.sqrt(trials / theirs),
                gap=_ROUNDING[half] + number.moved,
                reason=f"{LABELS[name]}: standard errors of {trials:,} trials here and "
                f"{theirs:,} in print, rounding, and what the last 50 of the 250 episodes "
                f"move ({moved}): the paper does not say how many there are, and 50, 150 "
                f"and 250 were tried",
                why=_why(results, name, half),
                digits=1,
            )


def _why(results: Results, name: str, half: str) -> str:
    """Return how far settings that the paper leaves out move a number."""
    fewer = by_episodes(results, name)
    wanted = printed_number(name, half)
    place = int(np.argmin(np.abs(fewer[half] - wanted)))
    torques = part(results.tables["torques"], algorithm=name)
    moved = " and ".join(
        f"{value:.0f} ± {error:.0f} with a torque of {torque:g}"
        for torque, value, error in zip(
            torques["torque"], torques[half], torques[f"{half}_error"], strict=True
        )
    )
    apart = printed_number(name, "best") - printed_number(name, "worst")
    ours = fewer["best"][-1] - fewer["worst"][-1]
    return (
        f"How long a trial is and how strong the motor is are not in the paper. Ours is "
        f"nearest after {fewer['episodes'][place]} of {fewer['episodes'][-1]} episodes, "
        f"with {fewer[half][place]:.1f}; and it is {moved}, instead of 5. The two halves "
        f"are {apart:.0f} apart in print, {ours:.0f} here."
    )


def _identity(ours: Mapping[str, Mapping[str, Number]]) -> Iterator[Claim]:
    for name, numbers in ours.items():
        halves = (numbers["best"].value + numbers["worst"].value) / 2
        yield Claim(
            "Section 3: both halves",
            "mean of the two CVaR .5 less the mean of all",
            LABELS[name],
            0.0,
            abs(halves - numbers["mean"].value),
            gap=1e-9,
            reason="an identity; the rounding of sums",
            digits=1,
        )


def _words(
    results: Results, ours: Mapping[str, Mapping[str, Number]]
) -> Iterator[Claim]:
    leads, doubt, sizes = 0, 0.0, []
    for half in ("mean", "best"):
        one, other = ours["actor-critic"][half], ours["ppo"][half]
        lead, error = one.value - other.value, math.hypot(one.error, other.error)
        leads += lead > 0
        wrong = 0.5 * math.erfc(abs(lead) / error / math.sqrt(2))
        doubt += wrong * (1 - wrong)
        sizes.append(f"{lead:.0f} ± {error:.0f}")
    title = "Section 5.2, in words"
    yield Claim(
        title,
        "numbers of Table 2 by which Actor-Critic leads PPO",
        "",
        2,
        leads,
        error=math.sqrt(doubt),
        reason=f"leads of {sizes[0]} and {sizes[1]} have the wrong sign by chance so often",
        why=f"It leads by {sizes[0]} (mean) and {sizes[1]} (CVaR .5).",
        digits=0,
    )
    one_top, other_top = (float(scores(results, name).max()) for name in LABELS)
    yield Claim(
        title,
        "best trial of PPO, as a share of Actor-Critic's",
        "",
        None,
        other_top / one_top,
        why=f"Both can be 'near optimal', says the paper, without a number. Our best "
        f"trials have {one_top:.0f} (Actor-Critic) and {other_top:.0f} (PPO) of the 2,000 "
        f"that nothing could exceed.",
        digits=2,
    )


def _trials(results: Results) -> Iterator[Claim]:
    for name, label in LABELS.items():
        speed = part(results.tables["speed"], algorithm=name)
        wanted, seconds = printed_trials(name), float(speed["seconds"][0])
        theirs = table2()["hours"] * 3600 * table2()["cpus"] / wanted
        ours = len(scores(results, name))
        wide = math.sqrt(wanted / ours)
        yield Claim(
            "Appendix B",
            "trials",
            label,
            wanted,
            ours if ours >= wanted else None,
            why=f"We ran {ours:,}, with standard errors {wide:.1f} times as wide; --scale "
            f"full runs as many. A trial took {seconds:.2f} s here, on busy cores; theirs, "
            f"of unknown length, took {theirs:,.0f} s.",
            digits=0,
        )
    one, other = (printed_trials(name) for name in LABELS)
    yield Claim(
        "Section 3",
        "trials of Actor-Critic for one of PPO",
        "",
        1,
        one / other,
        why="Section 3 says that all algorithms are run for the same number of trials; "
        f"Appendix B has {one:,} and {other:,}. Equal was the time.",
        digits=0,
    )


_SURE = 3  # standard deviations


def _slices(results: Results) -> Iterator[Claim]:
    top, lower = reruns(results, "ppo", 99), reruns(results, "ppo", 95)
    share, wanted = beats(top, lower), table2()["reruns"]
    yield Claim(
        "Appendix C",
        "reruns of each percentile",
        "",
        wanted,
        len(top) if len(top) >= wanted else None,
        why=f"At this scale there are {len(top)}.",
        digits=0,
    )
    yield Claim(
        "Appendix C",
        "the 99th percentile beats the 95th in most reruns (1 if so)",
        "",
        1,
        float(share > 0.5),
        why=f"It does in {share:.0%} of the pairs of reruns, with means of "
        f"{top.mean():.0f} and {lower.mean():.0f}.",
        digits=0,
    )
    lag = fallen(results)
    text = (
        f"{lag.value:.0%} of the quantiles of the 99th percentile's reruns are below "
        f"those of the 95th's."
    )
    # With a spread like this there is no share that would contradict the print.
    is_any = _SURE * lag.between > 1
    yield Claim(
        "Appendix C",
        "share of the 99th percentile's reruns that fall behind",
        "",
        0.1,
        None if is_any else lag.value,
        error=math.hypot(lag.error, lag.between),
        printed_error=lag.between,
        gap=0.05,
        reason=f"standard error {lag.error:.2f}; which trial sits at the percentile is "
        f"chance, here and in print: over trials around it the share has an sd of "
        f"{lag.between:.2f}; 'around 10 %' is rounded to a tenth",
        why=f"{text} Which hyperparameters sit there is chance: over trials around the "
        f"percentile the share has a standard deviation of {lag.between:.2f}, here and "
        f"in print.",
        digits=2,
    )


# --- Figures 2 and 3, and Table 2 over the length of a trial -----------------------------


_GRID = np.linspace(0, 1, 513)
_SUPPORT = -float(STEPS), float(STEPS)
_RETURN = "mean return of an episode (higher is better)"
_SAME_COLOUR = 7  # looks further on a curve has the same colour, and is dashed
_BAND = (
    "Inverse CDF: a share x of the trials scores y or less. Shaded: 95 % band, all "
    "quantiles of one curve at once."
)


def figures(results: Results) -> Sequence[Figure]:
    """Return Figure 2, Figure 3 of both algorithms, and what episodes do."""
    one, other = (scores(results, name) for name in LABELS)
    # Bands of many trials are dear: once for all panels.
    every = tuple(
        _inverse(label, z, "kolmogorov")
        for label, z in zip(LABELS.values(), (one, other), strict=True)
    )
    return (
        Figure(
            "figure-2",
            "Figure 2: mean return of the trials, inverse CDF",
            (_all(every, "Scores on the pendulum"),),
            f"Actor-Critic lies above PPO at {1 - behind(one, other):.0%} of the "
            f"quantiles, by far among the better trials: its upper quartile is "
            f"{quantile(one, 0.75):.0f}, PPO's {quantile(other, 0.75):.0f}. Its worse half "
            f"has a mean of {_worst(one):.0f}, PPO's {_worst(other):.0f}; in print, where "
            f"Actor-Critic leads in both halves, they have {_printed_worst()}.",
            columns=1,
        ),
        _third(
            results,
            every,
            "ppo",
            "figure-3",
            "Figure 3: PPO at four percentiles, run again",
        ),
        _third(
            results,
            every,
            "actor-critic",
            "figure-3-actor-critic",
            "The same for Actor-Critic, which the paper does not show",
        ),
        Figure(
            "pendulum-episodes",
            "Table 2, had a trial had fewer episodes",
            tuple(_episodes(results, name) for name in LABELS),
            "Dashed: as printed. Not in the paper, which does not say how long a trial is. "
            "Where a curve meets its dashed line, that number of episodes would give the "
            f"printed value: {_nearest(results)}.",
            columns=2,
        ),
    )


def _worst(z: Floats) -> float:
    return cvar(z, 0.5, tail="lower")


def _printed_worst() -> str:
    return " and ".join(f"{printed_number(name, 'worst'):.0f}" for name in LABELS)


def _nearest(results: Results) -> str:
    """Return after how many episodes our means are nearest to the printed ones."""
    out = []
    for name, label in LABELS.items():
        table = by_episodes(results, name)
        away = np.abs(table["mean"] - printed_number(name, "mean"))
        out.append(f"for the mean of {label} {table['episodes'][np.argmin(away)]}")
    return " and ".join(out)


def _third(
    results: Results, every: tuple[Series, ...], name: str, file: str, title: str
) -> Figure:
    charts = [_all(every, "All trials", marks=True), _learning(results, name)]
    again = {p: reruns(results, name, p) for p in PERCENTILES}
    text = ", ".join(f"{z.mean():.0f} ± {z.std():.0f} (p{p})" for p, z in again.items())
    says = (
        f"Left: the distribution that hyperparameters were taken from. Middle: their mean "
        f"learning curves. Right: the distributions of their reruns, with means and "
        f"standard deviations of {text}. The middle hides what the right one shows: how "
        f"much one set of hyperparameters owes to chance, and where curves cross. At "
        f"{behind(again[99], again[95]):.0%} of the quantiles p99 is below p95."
    )
    return Figure(file, title, (*charts, _again(results, name)), says, columns=3)


def _all(every: tuple[Series, ...], title: str, *, marks: bool = False) -> Chart:
    caption = f"{_BAND} Dashed: where hyperparameters were taken to be run again."
    return Chart(
        title=title,
        x_label="share of trials",
        y_label=_RETURN,
        series=every,
        caption=caption if marks else _BAND,
        marks=tuple(Mark(p / 100, f"p{p}") for p in PERCENTILES if marks),
    )


def _inverse(name: str, z: Floats, kind: Kind) -> Series:
    band = cdf_band(z, kind=kind, support=_SUPPORT)
    lower, upper = map(finite, band.quantile(_GRID))
    return Series(name, _GRID, quantile(z, _GRID), lower, upper)


def _learning(results: Results, name: str) -> Chart:
    series = []
    for percentile in PERCENTILES:
        curve = part(results.tables["curves"], algorithm=name, percentile=percentile)
        ends = curve["mean"] - curve["sd"], curve["mean"] + curve["sd"]
        x = curve["episode"].astype(np.float64)
        series.append(Series(_named(name, percentile), x, curve["mean"], *ends))
    return Chart(
        title="Learning curves, run again",
        x_label="episode",
        y_label="return (higher is better)",
        series=tuple(series),
        caption="Mean over the reruns. Shaded: one standard deviation from rerun to rerun "
        "to either side, which is no doubt about the mean.",
        axis="linear",
        shape="line",
    )


def _again(results: Results, name: str) -> Chart:
    return Chart(
        title="Scores, run again",
        x_label="share of reruns",
        y_label=_RETURN,
        series=tuple(
            _inverse(_named(name, p), reruns(results, name, p), "equal_local_levels")
            for p in PERCENTILES
        ),
        caption=_BAND,
    )


def _named(name: str, percentile: int) -> str:
    return f"{LABELS[name]} p{percentile}"


def _episodes(results: Results, name: str) -> Chart:
    table = by_episodes(results, name)
    x = table["episodes"].astype(np.float64)
    series = []
    for look, (half, words) in enumerate(HALVES.items()):
        wide = 3 * table[f"{half}_error"]
        ends = table[half] - wide, table[half] + wide
        series.append(Series(words, x, table[half], *ends, look))
        flat = np.full(len(x), printed_number(name, half))
        dashed = look + _SAME_COLOUR
        series.append(line(f"{words}, printed", x, flat, dashed))
    return Chart(
        title=LABELS[name],
        x_label="episodes in a trial",
        y_label=_RETURN,
        series=tuple(series),
        caption="Of the trials' mean returns. Shaded: three standard errors.",
        axis="linear",
        shape="line",
    )


# --- the study ---------------------------------------------------------------------------


__all__ = ["STUDY"]


STUDY = Study(
    name="pendulum",
    title="Table 2, Figures 2 and 3: Actor-Critic and PPO on the pendulum",
    about="Two learners swing up a pendulum with a motor too weak to lift it, with "
    "hyperparameters drawn at random from the ranges of Appendix B; a trial's score is "
    "its mean return over 250 episodes. Then the hyperparameters at the 1st, 50th, 95th "
    "and 99th percentile are run again, as in Appendix C, 250 times each where the paper "
    "has 1,000 (as `full` does). Both learners are compiled: [the "
    "pendulum](../reference/pendulum.md).",
    settled=(
        "The pendulum: mass and length 1, gravity 9.8, friction .01, torque 5 times the "
        "action, which is cut at -1 and 1, speed up to 4 pi; semi-implicit steps of .02 s. "
        "The paper names the task and no number of it.",
        "The reward is the cosine of the angle; an episode has 2,000 steps and starts at "
        "rest, at an angle drawn uniformly; a trial has 250 episodes. Of 50, 150 and 250, "
        "the last gives the printed mean of Actor-Critic; the claims allow for half a step "
        "of that.",
        "Actor-Critic: actions have sd 1 around the mean, traces accumulate, weights begin "
        "at 0, and an episode out of time is no end. A trial that diverges learns no more, "
        "plays on, and counts with what it gets.",
        "PPO: the logarithm of the sd is learned, from 0 on; policy and value are linear "
        "in the same features as Actor-Critic's; Adam, advantages and the loss are those "
        "of OpenAI Baselines, with a constant step size and without entropy.",
        "A batch that is drawn larger than the steps to learn from has all of them: "
        "Baselines would never learn from such a draw.",
        "Orders of the critic's basis, steps, epochs and batch sizes are whole numbers, "
        "both ends included.",
    ),
    cost={
        "quick": "3 minutes on 2 cores",
        "kept": "more than an hour of one core: .2 s for a trial of Actor-Critic, .7 s for "
        "one of PPO",
        "full": "a week of one core, nearly all of it for Actor-Critic",
    },
    run=run,
    claims=claims,
    figures=figures,
    missing=lacks_numba,
)
