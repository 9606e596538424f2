"""What the state of an experiment of Ray's says of its trials."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from curvewise.exchange.cells import parsed
from curvewise.exchange.tools.ray_tune.files import loaded


class Stated(NamedTuple):
    """What the state of an experiment says of a trial.

    The tag names its place in the experiment and what was drawn for it.
    """

    status: str
    trainable: str | None
    tag: str = ""


@dataclass(slots=True)
class States:
    """What all states of all experiments of a folder say.

    Parameters
    ----------
    trials : dict of str to Stated
        By the name of a trial's folder.
    again : set of str
        Trials that failed, and that Ray ran again under another name.
    unread : list of str
        Names of states that cannot be read.
    """

    trials: dict[str, Stated] = field(default_factory=dict)
    again: set[str] = field(default_factory=set)
    unread: list[str] = field(default_factory=list)


def states_in(paths: Sequence[Path]) -> States:
    """Return what states of experiments say.

    A resumed experiment has several states; the name holds the time, and the last counts.
    """
    out = States()
    before: dict[Path, dict[str, Stated]] = {}
    for path in sorted(paths):
        try:
            state = loaded(path)
        except OSError:
            state = None
        if state is None:
            out.unread.append(path.name)
            continue
        now = dict(map(_stated, _entries(state)))
        if _is_resumed(state):
            out.again |= _run_again(before.get(path.parent, {}), now)
        before[path.parent] = before.get(path.parent, {}) | now
        out.trials |= now
    return out


def _is_resumed(state: dict[str, Any]) -> bool:
    """Return whether it goes on with what was there, not a new one of the same name."""
    runner = state.get("runner_data")
    return isinstance(runner, dict) and runner.get("_resumed") is True


def _run_again(before: dict[str, Stated], now: dict[str, Stated]) -> set[str]:
    """Return trials that failed, and have left their place to another one."""
    places = {one.tag for one in now.values() if one.tag}
    return {
        name
        for name, one in before.items()
        if name not in now and one.status == "ERROR" and one.tag in places
    }


def _stated(trial: dict[str, Any]) -> tuple[str, Stated]:
    folder = trial.get("relative_logdir") or trial.get("logdir")
    name = Path(str(folder)).name if folder else str(trial.get("trial_id"))
    trainable = trial.get("trainable_name")
    return name, Stated(
        str(trial.get("status") or ""),
        trainable if isinstance(trainable, str) else None,
        str(trial.get("experiment_tag") or ""),
    )


def _entries(state: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the trials of a state: pairs in a newer Ray, ``checkpoints`` before 2.7."""
    entries = state.get("trial_data") or state.get("checkpoints") or []
    for entry in entries if isinstance(entries, list) else []:
        one = entry[0] if isinstance(entry, list) and entry else entry
        if isinstance(one, str):
            try:
                one = parsed(one)
            except ValueError:
                continue
        if isinstance(one, dict):
            yield one
