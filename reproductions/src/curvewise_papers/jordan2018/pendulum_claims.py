"""What our trials on the pendulum say about Table 2 and Appendix C."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from curvewise.papers.claim import Claim
from curvewise.papers.jordan2018.pendulum_numbers import (
    HALVES,
    LABELS,
    Number,
    beats,
    by_episodes,
    fallen,
    of,
    our_numbers,
    printed_number,
    printed_trials,
    reruns,
    scores,
    table2,
)
from curvewise.papers.results import Results

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
    torques = of(results.tables["torques"], algorithm=name)
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
        speed = of(results.tables["speed"], algorithm=name)
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
    found = fallen(results)
    told = (
        f"{found.value:.0%} of the quantiles of the 99th percentile's reruns are below "
        f"those of the 95th's."
    )
    # With a spread like this there is no share that would contradict the print.
    is_any = _SURE * found.between > 1
    yield Claim(
        "Appendix C",
        "share of the 99th percentile's reruns that fall behind",
        "",
        0.1,
        None if is_any else found.value,
        error=math.hypot(found.error, found.between),
        printed_error=found.between,
        gap=0.05,
        reason=f"standard error {found.error:.2f}; which trial sits at the percentile is "
        f"chance, here and in print: over trials around it the share has an sd of "
        f"{found.between:.2f}; 'around 10 %' is rounded to a tenth",
        why=f"{told} Which hyperparameters sit there is chance: over trials around the "
        f"percentile the share has a standard deviation of {found.between:.2f}, here and "
        f"in print.",
        digits=2,
    )
