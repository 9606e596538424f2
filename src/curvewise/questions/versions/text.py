"""Whether a new version is worse, in a line, in notes and as a comment in Markdown."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from curvewise.errors import Message, Verbatim
from curvewise.questions.base import Column, Columns
from curvewise.questions.sentences import (
    digits_for,
    digits_of,
    failed_notes,
    on,
    said,
    signed_cell,
    some,
)
from curvewise.questions.versions.fit import MOST, POWER, Change, Verdict
from curvewise.stats.interval import Interval
from curvewise.text import (
    Cell,
    count,
    in_markdown,
    joined,
    markdown,
    percent,
    short_names,
)

if TYPE_CHECKING:
    from curvewise.questions.versions import Versions


# What Markdown would not show as it stands; an underscore inside a word it does.
_SIGN = re.compile(r"[`*\[\]<&~]|(?<![^\W_])_|_(?![^\W_])")
_FEW = 10  # trials, with fewer of which skewed scores were measured to mislead


def headline(answer: "Versions") -> str:
    """Return the verdict in one line, with how sure it is."""
    clause = _of_one(answer) if len(answer.changes) == 1 else _of_all(answer)
    if answer.removed:
        clause += f"; not compared, since NEW lacks it: {some(answer.removed)}"
    return f"{answer.verdict}: {clause}"


def _of_one(answer: "Versions") -> str:
    (change,) = answer.changes
    parts = [
        f"{_gain(change, answer)}, margin {answer.margin.said(change.base.mean)}, "
        f"{percent(answer.confidence)} one-sided",
        _trials(change, answer.unit),
        *_than_before(change),
        *_more(answer.changes, answer.unit),
    ]
    return f"{named(change)}: {'; '.join(parts)}"


def _of_all(answer: "Versions") -> str:
    n = Counter(change.verdict for change in answer.changes)
    many = len(answer.changes)
    all_of_them = count(many, "comparison")
    if answer.verdict == "no worse":
        within = f"are within the margin of {_margin(answer)}"
        each = "both comparisons" if many == 2 else f"all {all_of_them}"
        return f"{each} {within}, {percent(answer.confidence)} one-sided"
    if answer.verdict == "worse":
        kinds = [f"{n[kind]} {word}" for kind, word in _KINDS.items() if n[kind]]
        rest = f" ({joined(kinds)})" if kinds else ""
        who = some([named(c) for c in answer.of("worse")])
        return f"{n['worse']} of {all_of_them}: {who}{rest}, margin {_margin(answer)}"
    who = some([named(c) for c in answer.of("cannot tell")])
    summary = f"{n['cannot tell']} of {all_of_them} open, none is worse: {who}"
    return "; ".join([summary, *_more(answer.of("cannot tell"), answer.unit)])


_KINDS: dict[Verdict, str] = {"no worse": "no worse", "cannot tell": "open"}


def named(change: Change) -> str:
    """Return which algorithm on which task, and both names where they differ."""
    names = short_names([change.base.algorithm, change.new.algorithm])
    one, other = names[change.base.algorithm], names[change.new.algorithm]
    who = one if change.base.algorithm == change.new.algorithm else f"{other} for {one}"
    return f"{who}{on(short_names([change.task])[change.task])}"


def _gain(change: Change, answer: "Versions") -> str:
    up = " (+ is better)" if answer.metric.direction == "lower" else ""
    return f"gain in {answer.metric.label}{up} {_with_limits(change.interval)}"


def _with_limits(interval: Interval) -> str:
    if interval.lower == interval.upper:
        return f"{signed(interval.value)} (exact: it does not vary)"
    digits = digits_of(interval)
    value, low, high = (
        signed(x, digits) for x in (interval.value, interval.lower, interval.upper)
    )
    if math.isinf(interval.lower):
        return f"{value} (one trial says nothing of how trials differ)"
    return f"{value} ({low} to {high})"


def signed(value: float, digits: int | None = None) -> str:
    """Return a difference with its sign.

    >>> signed(12.34), signed(-0.012), signed(0.0)
    ('+12.3', '-0.012', '0')
    """
    text = said(value, digits_for(value) if digits is None else digits)
    return text if text.startswith("-") or text == "0" else f"+{text}"


def _margin(answer: "Versions") -> str:
    if answer.margin.is_share:
        return answer.margin.words
    return answer.margin.said(1.0)


def _trials(change: Change, unit: str) -> str:
    sizes = f"{change.base.trials:,} and {change.new.trials:,} {unit}s"
    if change.paired:
        sizes = count(change.new.trials, "pair")
    failed = change.base.failed, change.new.failed
    runs = "" if unit == "trial" else " runs"  # of which a setting has several
    lost = f"{failed[0]:,} and {failed[1]:,}{runs} failed"
    lost = lost if any(failed) else "none failed"
    return f"{sizes}, {lost}"


def _than_before(change: Change) -> list[str]:
    if change.is_same:
        return ["all scores are the same as before"]
    if change.than_before == "better":
        return ["surely better than before"]
    if change.than_before == "worse" and change.verdict == "no worse":
        return ["surely worse than before, within the margin"]
    if change.than_before == "worse" and change.verdict == "cannot tell":
        return ["surely worse than before, perhaps within the margin"]
    return []


def _more(changes: Sequence[Change], unit: str) -> list[str]:
    """Return how many more trials, or settings, would tell, if anything is open."""
    unsure = [c for c in changes if c.verdict == "cannot tell"]
    if not unsure:
        return []
    if any(c.is_one_trial for c in unsure):
        return [f"run 5 {unit}s of each version or more"]
    noun = f" more {unit}s"
    if any(c.margin == 0 for c in unsure):
        as_seen = [c.more_if_as_seen for c in unsure]
        return [
            f"with a margin of 0, equals are never told; {_number(as_seen, noun)} of each "
            f"would tell if the difference is as seen"
        ]
    equal = [c.more_if_equal for c in unsure]
    alone = [c.more_of_new for c in unsure]
    clause = f"{_number(equal, noun)} of each would tell if they are equally good"
    if None not in alone and None not in equal:
        clause += f", or {_most(alone):,} of NEW alone"
    as_seen = [c.more_if_as_seen for c in unsure]
    if len(changes) == 1 and None not in as_seen:
        clause += f", {_number(as_seen, '')} if the difference is as seen"
    return [clause]


def _number(numbers: Sequence[int | None], noun: str) -> str:
    if None in numbers:
        return f"more than {MOST:,}{noun}"
    most = _most(numbers)
    return f"about {most:,}{noun[:-1] if most == 1 else noun}"


def _most(numbers: Sequence[int | None]) -> int:
    return max(n for n in numbers if n is not None)


def columns(answer: "Versions") -> Columns:
    """Return what is known of a change."""
    is_open = "cannot tell" in (change.verdict for change in answer.changes)
    return (
        Column("task"),
        Column("algorithm", "", lambda change: change.base.algorithm),
        Column("new_algorithm", "", lambda change: change.new.algorithm),
        Column("", "algorithm", _algorithms),
        Column("", "task", lambda change: change.task),
        Column("verdict"),
        Column("than_before"),
        Column("base", "base", lambda change: change.base.mean),
        Column("new", "new", lambda change: change.new.mean),
        Column("base_sd", "", lambda change: change.base.sd),
        Column("new_sd", "", lambda change: change.new.sd),
        Column("gain", "gain", lambda change: change.interval, signed_cell),
        Column("margin", "margin"),
        Column("room", "", lambda change: change.room.interval),
        Column("p_worse"),
        Column("trials", "", lambda change: change.base.trials),
        Column("new_trials", "", lambda change: change.new.trials),
        Column("", f"{answer.unit}s", _both("trials")),
        Column("failed", "", lambda change: change.base.failed),
        Column("new_failed", "", lambda change: change.new.failed),
        Column("", "failed", _both("failed")),
        Column("left_out", "", lambda c: c.base.left_out + c.new.left_out),
        Column("paired"),
        Column("exact", "", lambda change: change.difference.is_exact),
        Column("", "verdict", _verdict),
        Column("more_if_equal"),
        Column("more_if_as_seen"),
        Column("more_of_new"),
        Column("", f"more {answer.unit}s" if is_open else "", _more_cell),
    )


def _algorithms(change: Change) -> str:
    base, new = change.base.algorithm, change.new.algorithm
    return base if base == new else f"{new} for {base}"


def _both(name: str) -> Callable[[Change], str]:
    """Return what shows a number of the base beside that of the new version."""
    return lambda c: f"{getattr(c.base, name):,}, {getattr(c.new, name):,}"


def _verdict(change: Change) -> str:
    if change.verdict == "no worse" and change.than_before == "better":
        return "no worse, better"
    return change.verdict


def _more_cell(change: Change) -> str:
    if change.verdict != "cannot tell":
        return ""
    if change.more_if_equal is None:
        return "?" if change.is_one_trial or change.margin == 0 else f"> {MOST:,}"
    return f"{change.more_if_equal:,}"


def notes(answer: "Versions") -> list[str]:
    """Return what a reader must know to read the verdict."""
    return [*_reading(answer), *_warnings(answer), *_left_out(answer)]


def _reading(answer: "Versions") -> list[str]:
    turned = ", its sign turned" if answer.metric.direction == "lower" else ""
    each = percent(answer.each)
    notes = [
        f"gain: the new mean less that of the base{turned}, so that above 0 the new "
        f"version is better. Each limit for itself holds with {each} confidence. No worse: "
        f"the lower limit is within the margin; worse: the upper one is beyond it."
    ]
    if answer.looks > 1:
        notes.append(
            f"{percent(1 - answer.confidence)} are shared between {answer.looks} looks."
        )
    if answer.margin.is_share:
        notes.append(
            f"The margin is {percent(answer.margin.size)} of the base's mean, which is "
            f"uncertain too: verdicts rest on the new mean less "
            f"{percent(1 - answer.margin.size)} of the base's (more than all of it, where "
            f"that is below 0), so that a limit next to the margin may count either way."
        )
    if answer.margin.is_default:
        notes.append(f"Nobody stated a margin: it is {answer.margin.words}.")
    if len(answer.changes) > 1:
        notes.append(
            f"The verdict is no worse if all {len(answer.changes)} comparisons are, which "
            f"needs no correction, and worse if one is, which is corrected for their "
            f"number (Holm)."
        )
    notes.append(_pairs(answer.changes, answer.unit.capitalize()))
    return notes


def _pairs(changes: Sequence[Change], unit: str) -> str:
    apart = [named(c) for c in changes if not c.paired]
    if not apart:
        return f"{unit}s with the same number (seed) in both versions are pairs."
    whose = f"{unit}s" if len(apart) == len(changes) else f"{unit}s of {some(apart)}"
    return f"{whose} are compared as independent ones, not in pairs."


def _warnings(answer: "Versions") -> list[str]:
    notes = []
    if answer.is_same:
        notes.append("BASE and NEW hold the same trials. Is that what was meant?")
    if exact := [named(c) for c in answer.changes if c.difference.is_exact]:
        notes.append(
            f"The difference does not vary from trial to trial, and is taken as exact: "
            f"{some(exact)}."
        )
    if zero := [named(c) for c in answer.changes if _may_be_nothing(c, answer)]:
        notes.append(
            Message(
                "The base's mean is so close to 0 that a share of it is next to no "
                f"margin: {some(zero)}. Pass ",
                {"margin": Verbatim("<a number>")},
                f" in units of {answer.metric.name}.",
            )
        )
    least = min(min(c.base.trials, c.new.trials) for c in answer.changes)
    if least > 1:
        hidden = 1 - (1 - answer.confidence) ** (1 / least)
        few = (
            f"With fewer than {_FEW} {answer.unit}s limits hold less often than they say "
            f"where one version is far more skewed than the other. "
        )
        notes.append(
            f"{few if least < _FEW else ''}What strikes fewer than "
            f"{percent(round(hidden, 2))} of {answer.unit}s may be missing from {least} of "
            f"them."
        )
    if answer.ends:
        notes.append(
            Message(
                "Curves end at different steps, and so do their scores: "
                f"{some(answer.ends)}. Pass ",
                {"at": Verbatim("<step>")},
                " to compare at one.",
            )
        )
    if answer.verdict == "cannot tell":
        notes.append(
            Message(
                f"More {answer.unit}s are counted for a power of {percent(POWER)}. To "
                "ask again with more of them is a second look: state ",
                {"looks": 2},
                " from the start to pay for it.",
            )
        )
    return notes


def _may_be_nothing(change: Change, answer: "Versions") -> bool:
    """Return whether the margin is a share of a mean that is next to 0."""
    if not answer.margin.is_share or answer.margin.size == 0:
        return False
    error = change.base.sd / math.sqrt(change.base.trials)
    return abs(change.base.mean) < 2 * error


def _left_out(answer: "Versions") -> list[str]:
    notes = []
    if lost := sum(c.base.left_out + c.new.left_out for c in answer.changes):
        notes.append(f"{count(lost, 'trial')} without a partner left out.")
    failed = sum(c.base.failed + c.new.failed for c in answer.changes)
    notes += failed_notes(failed, answer.failed_score)
    if answer.removed:
        notes.append(f"In BASE only, not compared: {_many(answer.removed)}.")
    if answer.added:
        notes.append(f"In NEW only, not compared: {_many(answer.added)}.")
    return notes


def _many(names: Sequence[str]) -> str:
    return some(names, most=12)


def comment(answer: "Versions") -> str:
    """Return the verdict, the table and the method as Markdown for a pull request."""
    lines = [
        f"### curvewise: {answer.verdict}",
        "",
        *(f"> {in_markdown(line)}\n" for line in answer.cautions),
        in_markdown(answer.headline()),
        "",
        markdown([_literal_cells(row) for row in answer.table()]),
        "",
        "<details><summary>Method and settings</summary>",
        "",
        *(f"- {in_markdown(note)}" for note in answer.notes()),
        f"- {in_markdown(str(answer.provenance))}",
        "",
        "</details>",
    ]
    return "\n".join(lines)


def _literal_cells(row: dict[str, Cell]) -> dict[str, Cell]:
    """Return a row whose names mean nothing to Markdown; pipes are the table's own care."""
    names = {k: row[k] for k in ("algorithm", "task") if isinstance(row[k], str)}
    return row | {k: _SIGN.sub(_by_number, str(name)) for k, name in names.items()}


def _by_number(sign: re.Match[str]) -> str:
    return f"&#{ord(sign[0])};"
