"""The rule about names: is each trial filed under its own task and algorithm?"""

from collections import Counter
from collections.abc import Iterator

from curvewise.errors import shortened
from curvewise.exchange import names
from curvewise.exchange.finding import Finding
from curvewise.exchange.looking import Parsed, numbers_a_run, parsed
from curvewise.trials import Trials
from curvewise.trials.trial import ONLY


def pooled_groups(trials: Trials) -> Iterator[Finding]:
    """Yield labels that look like a task or an algorithm that nobody declared."""
    seen: set[str] = set()
    for own in parsed(trials, "labels"):
        unnamed = ONLY in (own.cell.task, own.cell.algorithm)
        for label in {name for labels in own.dicts for name in labels}:
            usual = bool(names.every((*names.TASK, *names.ALGORITHM), [label]))
            if label not in seen and (unnamed or usual) and _splits(own, label):
                seen.add(label)
                yield _finding(own, label)


def _splits(own: Parsed, label: str) -> bool:
    """Return whether a label cuts the trials of a cell into a few groups of texts."""
    if numbers_a_run(label) or names.every(names.STATUS, [label]):
        return False  # how a run ended says nothing of what it ran
    values = [labels.get(label) for labels in own.dicts]
    if not all(isinstance(value, str) for value in values):
        return False
    groups = Counter(values)
    return len(groups) > 1 and len(values) >= 2 * len(groups)


def _finding(own: Parsed, label: str) -> Finding:
    groups = Counter(str(labels.get(label)) for labels in own.dicts)
    most = ", ".join(f"{shortened(v, 20)!r} {n}" for v, n in groups.most_common(4))
    return Finding(
        "pooled-groups",
        "warning",
        f"The trials of one algorithm on one task have {len(groups)} values of label "
        f"{shortened(label)!r}: {most}.",
        f"algorithm {shortened(own.cell.algorithm)!r}, task {shortened(own.cell.task)!r}",
        "If they are different tasks or algorithms, their scores were pooled into one "
        "distribution, which describes neither.",
        f"Read the results again with task={label!r} or algorithm={label!r}. If the label "
        f"says nothing about either, nothing is wrong.",
    )
