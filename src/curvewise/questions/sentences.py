"""Numbers and names as sentences and tables say them: an estimate, from where to where."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from curvewise.stats.interval import Interval
from curvewise.text import count, joined, percent, shown, step
from curvewise.trials.trial import ONLY

_MOST_DIGITS = 6
_NOTHING = 1e-12  # what is below is a rounding error


def digits_for(*numbers: float) -> int:
    """Return how many digits it takes to tell these numbers apart, three at least.

    >>> digits_for(0.933, 0.97), digits_for(0.87031, 0.87034)
    (3, 5)
    """
    finite = {x for x in numbers if math.isfinite(x)}
    for digits in range(3, _MOST_DIGITS):
        if len({shown(x, digits) for x in finite}) == len(finite):
            return digits
    return _MOST_DIGITS


def digits_of(interval: Interval) -> int:
    """Return how many digits it takes to tell an estimate from its ends."""
    return digits_for(interval.lower, interval.value, interval.upper)


def said(value: float, digits: int = 3) -> str:
    """Return a number of a sentence; next to nothing is 0.

    >>> said(0.94881), said(1234.8), said(-1e-17)
    ('0.949', '1,235', '0')
    """
    if abs(value) < _NOTHING:
        return "0"
    text = shown(float(value), digits)
    whole = abs(value) >= 1000 and text.lstrip("-").isdigit()
    return f"{round(float(value)):,}" if whole else text


def is_known(interval: Interval) -> bool:
    """Return whether an interval has an end at all."""
    return math.isfinite(interval.lower) or math.isfinite(interval.upper)


def span(interval: Interval, *, sure: bool = True) -> str:
    """Return from where to where an interval goes, in words.

    Examples
    --------
    >>> span(Interval(0.933, 0.97, "", ""))
    'between 0.933 and 0.970'
    >>> span(Interval(-math.inf, 2.0, "", ""), sure=False)
    'probably at most 2.00'
    """
    low, high = interval.lower, interval.upper
    digits = digits_of(interval)
    word = "" if sure else "probably "
    if not is_known(interval):
        return "how far off that is, these results cannot tell"
    if math.isinf(low):
        return f"{word}at most {said(high, digits)}"
    if math.isinf(high):
        return f"{word}at least {said(low, digits)}"
    if low == high:
        return f"{word}exactly that"
    return f"{word}between {said(low, digits)} and {said(high, digits)}"


def estimate(interval: Interval) -> str:
    """Return the estimate of an interval with as many digits as its ends are told with.

    >>> estimate(Interval(0.933, 0.97, "", "", value=0.94881))
    '0.949'
    """
    return said(interval.value, digits_of(interval))


def confidently(confidence: float, *, sure: bool = True) -> str:
    """Return how surely something is said; what is for many trials is so about.

    >>> confidently(0.95), confidently(0.95, sure=False)
    ('with 95 % confidence', 'with about 95 % confidence')
    """
    return f"with {'' if sure else 'about '}{percent(confidence)} confidence"


def share_of_trials(alpha: float) -> str:
    """Return which trials are the best ``1 - alpha``, in words.

    >>> share_of_trials(0.5), share_of_trials(0.9)
    ('the best half of its trials', 'the best 10 % of its trials')
    """
    share = "half" if alpha == 0.5 else percent(1 - alpha)
    return f"the best {share} of its trials"


def from_to(low: float, high: float) -> str:
    """Return from where to where something is, with three digits.

    >>> from_to(0.25, 12.345)
    '0.250 to 12.3'
    """
    return f"{shown(low, 3)} to {shown(high, 3)}"


def with_ends(interval: Interval) -> str:
    """Return an estimate with from where to where it may be.

    >>> with_ends(Interval(0.1, 0.25, "", "", value=0.2))
    '0.2000 (0.1000 to 0.2500)'
    """
    low, middle, high = (
        number_cell(x, interval.upper)
        for x in (interval.lower, interval.value, interval.upper)
    )
    return f"{middle} ({low} to {high})"


Gain: TypeAlias = Literal["gain", "perhaps", "none"]


def would_bring(data: str, then: Interval, gain: Gain) -> str:
    """Return what more data would probably bring, and whether that is a gain.

    >>> would_bring("twice the data", Interval(0.1, 0.25, "", "", value=0.2), "perhaps")
    'twice the data would probably bring it to 0.200 (between 0.100 and 0.250), which may \
be no gain at all'
    """
    doubt = {
        "gain": "",
        "perhaps": ", which may be no gain at all",
        "none": ", no gain as far as these runs can tell",
    }[gain]
    return f"{data} would probably bring it to {estimate(then)} ({span(then)}){doubt}"


def failures(
    n: int,
    score: str,
    moves: str,
    *,
    noun: str = "failed trial",
    of: str = "",
    where: str = "",
) -> str:
    """Return what failures count with, and that another score would move something.

    >>> failures(1, "0", "the curves", noun="failed run")
    '1 failed run counts with score 0; another score would move the curves.'
    """
    verb = "counts" if n == 1 else "count"
    whose = f" of {of}" if of else ""
    return (
        f"{count(n, noun)}{whose} {verb} with score {score}{where}; another score would "
        f"move {moves}."
    )


def failed_notes(n: int, score: str) -> list[str]:
    """Return the note on what failures counted with; none where nothing failed."""
    return [f"{count(n, 'failed trial')} counted with score {score}."] if n else []


def capital(text: str) -> str:
    """Return a text that begins with a capital letter."""
    return f"{text[:1].upper()}{text[1:]}"


def sentence(text: str) -> str:
    """Return a sentence with a capital letter, unless a name begins it.

    >>> sentence("on moons, svm is ahead."), sentence("svm is ahead.")
    ('On moons, svm is ahead.', 'svm is ahead.')
    """
    return capital(text) if text.startswith(_OURS) else text


_OURS = ("on ", "there ", "over ", "of ", "the ", "at ", "by ", "how ")  # never a name


# --- Names as a sentence can carry them: a few of many, and what stands for all --------


_MOST = 3  # names in a sentence; of more, how many more
MOST_NAMED = 6  # the same, where a sentence begins with those who share a concern


def some(names: Sequence[str], *, most: int = _MOST) -> str:
    """Return names in a row, the first of them and how many more if there are many.

    >>> some(["a"]), some(list("abc")), some(list("abcde"))
    ('a', 'a, b and c', 'a, b and 3 more')
    """
    if len(names) <= most:
        return joined(names)
    return joined([*names[: most - 1], f"{len(names) - most + 1} more"])


def some_pairs(pairs: Sequence[str]) -> str:
    """Return pairs of names in a row, the first of them and how many more.

    >>> some_pairs(["a and b"]), some_pairs(["a and b", "a and c"])
    ('a and b', 'a and b, and a and c')
    >>> some_pairs([f"a and {x}" for x in "bcdef"])
    'a and b, a and c, and 3 more pairs'
    """
    parts = list(pairs)
    if len(parts) > _MOST:
        parts = [*parts[: _MOST - 1], f"{len(parts) - _MOST + 1} more pairs"]
    *first, last = parts
    return f"{', '.join(first)}, and {last}" if first else last


def on(task: str) -> str:
    """Return where something is so; nothing for the one task of a table that names none.

    >>> on("rings"), on("all")
    (' on rings', '')
    """
    return "" if task == ONLY else f" on {task}"


def titled(name: str) -> str:
    """Return what a task is called above its numbers.

    >>> titled("rings"), titled("task 7")
    ('task rings', 'task 7')
    """
    return name if name.lower().startswith("task") else f"task {name}"


def all_tasks(n: int) -> str:
    """Return what so many tasks are called together.

    >>> all_tasks(2), all_tasks(5)
    ('both tasks', 'all 5 tasks')
    """
    return "both tasks" if n == 2 else f"all {n} tasks"


def at_tasks(tasks: Sequence[str], names: Mapping[str, str]) -> str:
    """Return on which tasks a clause is so, before it; nothing for an only, unnamed task.

    >>> at_tasks(["rings"], {"rings": "rings"}), at_tasks(["all"], {"all": "all"})
    ('on rings, ', '')
    """
    if tuple(names) == (ONLY,):
        return ""
    return f"on {joined([names[task] for task in tasks])}, "


# --- Numbers in cells of tables, and beside each other in sentences --------------------


def number_cell(value: float, beside: float = 0.0) -> str:
    """Return a number of a sentence, beside one next to which it may be noise.

    >>> number_cell(0.00012345), number_cell(0.00012345, beside=0.02), number_cell(1e-18)
    ('0.0001234', '0.0001', '0.0000')
    """
    is_noise = abs(value) < (1e-3 if abs(beside) >= 1e-3 else _NOTHING)
    return f"{value:.4f}" if is_noise else shown(float(value))


def chance_cell(p: float) -> str:
    """Return a probability, never rounded to certainty.

    >>> chance_cell(0.5), chance_cell(0.9999), chance_cell(0.0001)
    ('50 %', 'over 99 %', 'under 1 %')
    """
    if p > 0.99:
        return "over 99 %"
    return "under 1 %" if p < 0.01 else f"{100 * p:.0f} %"


def size_cell(n: float) -> str:
    """Return a size that was computed, with three digits that matter.

    >>> size_cell(12345.6), size_cell(math.inf)
    ('12,300', 'never')
    """
    return step(float(f"{n:.3g}")) if math.isfinite(n) else "never"


def interval_cell(interval: Interval, *, sign: bool = False, value: bool = True) -> str:
    """Return an estimate and its interval in one cell of a table.

    >>> interval_cell(Interval(0.1, 0.25, "", "", value=0.2))
    '0.2000 [0.100, 0.250]'
    >>> interval_cell(Interval(-math.inf, 0.25, "", "", value=0.2), sign=True)
    '+0.2000 [?, +0.250]'
    """
    ends = (interval.lower, interval.upper)
    # Beside an end of 0.02 nobody needs the fifth digit of 0.0009167.
    size = max((abs(e) for e in ends if math.isfinite(e)), default=0.0)
    is_narrow = interval.half_width < 0.005  # three digits would show no width
    digits = 4 if is_narrow else 3
    span = ", ".join(_signed(e, digits, sign, size) for e in ends)
    number = f"{_signed(interval.value, 4, sign, size)} " if value else ""
    return f"{number}[{span}]"


def signed_cell(interval: Interval, *, value: bool = True) -> str:
    """Return a difference and its interval in one cell of a table.

    >>> signed_cell(Interval(-math.inf, 0.25, "", "", value=0.2))
    '+0.2000 [?, +0.250]'
    """
    return interval_cell(interval, sign=True, value=value)


def _signed(value: float, digits: int, sign: bool, size: float) -> str:
    if not math.isfinite(value):
        return "?"
    is_noise = abs(value) < 1e-3 <= size
    text = f"{value:.{digits}f}" if is_noise else shown(value, digits)
    return ("+" if sign and value > 0 else "") + text
