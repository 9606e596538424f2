"""The repetitions of an audit: dealt and drawn, one after another, counted as they come."""

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import TypeAlias

import numpy as np

from curvewise.analyses._asking import quietly
from curvewise.analyses._audit.checks import Check, Seen, begun, counted, refused
from curvewise.analyses._audit.dealing import Dealing
from curvewise.analyses._audit.subject import Asked, Subject
from curvewise.errors import CurvewiseError
from curvewise.review.gate import ungated
from curvewise.trials import Trials

Progress: TypeAlias = Callable[[int, int], object]

# A new analysis adds its line here. They are tried with the tools of this folder, and so
# imported after it.
_SUBJECTS = {
    "performance": "curvewise.analyses._audit.of_performance.of_performance",
    "robustness": "curvewise.analyses._audit.of_robustness.of_robustness",
    "difference": "curvewise.analyses._audit.of_difference.of_difference",
    "learning": "curvewise.analyses._audit.of_learning.of_learning",
    "confusion": "curvewise.analyses._audit.of_confusion.of_confusion",
}


def _maker(place: str) -> Callable[[Trials, Asked], Subject | None]:
    module, _, name = place.rpartition(".")
    make: Callable[[Trials, Asked], Subject | None] = getattr(
        import_module(module), name
    )
    return make


def subjects_of(
    trials: Trials, asked: Asked
) -> tuple[list[Subject], dict[str, CurvewiseError]]:
    """Return the analyses that these trials can carry, and why others refuse them."""
    found, problems = [], {}
    for name, place in _SUBJECTS.items():
        try:
            with quietly(), ungated():
                subject = _maker(place)(trials, asked)
        except CurvewiseError as problem:
            problems[name] = problem
            continue
        if subject is not None:
            found.append(subject)
    return found, problems


def audited(
    subjects: Sequence[Subject],
    dealing: Dealing,
    repetitions: int,
    seed: int,
    progress: Progress | None,
) -> list[Check]:
    """Return every check of every analysis."""
    dealt = [s for s in subjects if dealing.is_possible and s.claims(s.found)]
    rounds = _rounds(repetitions * (len(dealt) + len(subjects)), progress)
    sources = iter(np.random.SeedSequence(seed).spawn(len(dealt) + len(subjects)))
    out = []
    with quietly(), ungated():
        for subject in dealt:
            found = subject.claims(subject.found)
            tally = begun(subject.name, "shuffled", found)
            for one in next(sources).spawn(repetitions):
                seen = _claims(subject, dealing, np.random.default_rng(one))
                tally = _counted(tally, found, seen, is_wrong=False)
                next(rounds)
            out += tally
        for subject in subjects:
            found = subject.misses(subject.found)
            tally = begun(subject.name, "simulated", found)
            for one in next(sources).spawn(repetitions):
                seen = _misses(subject, np.random.default_rng(one))
                tally = _counted(tally, found, seen, is_wrong=True)
                next(rounds)
            out += tally
    return out


def _claims(
    subject: Subject, dealing: Dealing, rng: np.random.Generator
) -> list[Seen] | None:
    """Return what an analysis claims of a deal; None where it refuses to answer."""
    dealt = dealing.deal(rng, within_numbers=subject.pairs)
    try:
        return subject.claims(subject.ask(dealt, int(rng.integers(2**31))))
    except CurvewiseError:
        return None


def _misses(subject: Subject, rng: np.random.Generator) -> list[Seen] | None:
    """Return what an analysis misses of a draw; None where it refuses to answer."""
    try:
        drawn = subject.draw(rng)
        return subject.misses(subject.ask_drawn(drawn, int(rng.integers(2**31))))
    except CurvewiseError:
        return None


def _counted(
    tally: list[Check], usual: list[Seen], seen: list[Seen] | None, *, is_wrong: bool
) -> list[Check]:
    if seen is None:
        return refused(tally, usual, is_wrong=is_wrong)
    return counted(tally, seen)


def _rounds(total: int, progress: Progress | None) -> Iterator[None]:
    """Tell how far it is, once for each answer."""
    for done in range(1, total + 1):
        if progress is not None:
            progress(done, total)
        yield
    yield
