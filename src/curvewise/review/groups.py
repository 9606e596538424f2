"""The rule about names: is each trial filed under its own task and algorithm?"""

from collections import Counter
from collections.abc import Iterator

from curvewise.errors import Message, shortened
from curvewise.review.finding import Finding
from curvewise.trials import Trials, names
from curvewise.trials.cells import Parsed, numbers_a_run, parsed, words
from curvewise.trials.trial import ONLY

# Usual names of a task or an algorithm that may as well describe the machine.
_OF_MACHINES = ("system", "arch", "architecture", "environment")


def pooled_groups(trials: Trials) -> Iterator[Finding]:
    """Yield labels that look like a task or an algorithm that nobody declared."""
    # What makes blocks or clusters was named for that, and is neither.
    seen = {*trials.design.block, *trials.design.cluster}
    for own in parsed(trials, "labels"):
        unnamed = ONLY in (own.cell.task, own.cell.algorithm)
        for label in {name: None for labels in own.dicts for name in labels}:
            usual = bool(names.every((*names.TASK, *names.ALGORITHM), [label]))
            if label not in seen and (unnamed or usual) and _splits(own, label):
                seen.add(label)
                # Of a machine, where the task or algorithm that it would be is named.
                machine = bool(names.every(_OF_MACHINES, [label]))
                is_sure = not machine or any(True for _ in _roles(own, label))
                yield _finding(own, label, usual and is_sure)


def _splits(own: Parsed, label: str) -> bool:
    """Return whether a label cuts the trials of a cell into a few groups of texts."""
    if numbers_a_run(label) or names.every(names.STATUS, [label]):
        return False  # how a run ended says nothing of what it ran
    if _is_circumstance(label):
        return False
    values = [labels.get(label) for labels in own.dicts]
    if not all(isinstance(value, str) for value in values):
        return False
    groups = Counter(values)
    return len(groups) > 1 and len(values) >= 2 * len(groups)


def _is_circumstance(label: str) -> bool:
    """Return whether a label says where, when, by whom or with what something ran.

    >>> [_is_circumstance(n) for n in ("gpu_type", "Start Time", "version", "tags")]
    [True, True, False, True]
    >>> [_is_circumstance(n) for n in ("env_name", "dataset", "git_branch", "model")]
    [False, False, True, False]
    """
    return bool(words(label) & names.CIRCUMSTANCES)


def _finding(own: Parsed, label: str, is_sure: bool) -> Finding:
    groups = Counter(str(labels.get(label)) for labels in own.dicts)
    most = ", ".join(f"{shortened(v, 20)!r} {n}" for v, n in groups.most_common(4))
    pools = "pools" if is_sure else "may pool"
    return Finding(
        "pooled-groups",
        # Of a label that is not called like one, this is a guess.
        "blocks" if is_sure else "tempers",
        f"The trials of one algorithm on one task have {len(groups)} values of label "
        f"{shortened(label)!r}: {most}.",
        f"algorithm {shortened(own.cell.algorithm)!r}, task {shortened(own.cell.task)!r}",
        "If they are different tasks or algorithms, their scores were pooled into one "
        "distribution, which describes neither.",
        Message(
            "Read the results again with ",
            {"task": label},
            " or ",
            {"algorithm": label},
            ". If the label says nothing about either, nothing is wrong.",
        ),
        f"one distribution {pools} {len(groups)} values of {shortened(label, 30)!r}",
        # Shares of the variance are told by labels: several values are what they need.
        concerns=("performance", "robustness", "plan"),
        fixes=tuple(_roles(own, label)) if is_sure else (),
    )


def _roles(own: Parsed, label: str) -> Iterator[dict[str, str]]:
    """Yield how to read a label as what it is called like, if that is not taken."""
    for role, taken, usual in (
        ("task", own.cell.task, names.TASK),
        ("algorithm", own.cell.algorithm, names.ALGORITHM),
    ):
        if taken == ONLY and names.every(usual, [label]):
            yield {role: label}
