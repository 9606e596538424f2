"""What names of runs say of who ran: by a pattern or a function, known, or proposed."""

import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from curvewise.errors import (
    CurvewiseError,
    CurvewiseWarning,
    Keyword,
    Message,
    listed,
    shortened,
)
from curvewise.exchange.runs import LeftOut, array_of, columns_of, left_out, utf8
from curvewise.trials import names
from curvewise.trials.names import first

SEEDS = (
    *names.TRIAL[1:6],
    *"fold cv_fold repeat repetition rep replicate".split(),
)


NamedRoles: TypeAlias = (
    str | Mapping[str, object] | Callable[[str], Mapping[str, object] | None]
)
RUN = ("run", "run_name", "name", "run_id", "experiment", "trial", "id")
_NUMBERED = ("seed", "trial", "number", "fold")
_JOINED = ("algorithm", "task")  # may be named twice: their parts are joined
_FIELD = re.compile(r"\{([^\W\d]\w*)(:d)?\}|\*")


def roles_of(
    runs: Sequence[str], roles: NamedRoles
) -> tuple[list[int], dict[str, list[Any]]]:
    """Return which runs to keep, and what their names say, as columns.

    >>> roles_of(["ppo-Hopper-s3"], "{algorithm}-{task}-s{seed}")
    ([0], {'algorithm': ['ppo'], 'task': ['Hopper'], 'seed': [3]})
    """
    roles_by_run: Sequence[Mapping[str, Any] | None]
    if isinstance(roles, str):
        roles_by_run = _by_pattern(runs, roles)
    elif isinstance(roles, Mapping):
        roles_by_run = [roles for _ in runs]
    elif callable(roles):
        roles_by_run = [_called(roles, run) for run in runs]
    else:
        raise CurvewiseError(
            f"roles is {shortened(repr(roles))}. Pass a pattern such as "
            f"'{{algorithm}}-{{task}}-s{{seed}}', a function from the name of a run to a "
            f"dict, or a dict of what all runs share.",
            argument="roles",
            value=roles,
        )
    by_place = {i: one for i, one in enumerate(roles_by_run) if one is not None}
    columns = columns_of(
        [{str(n): _cell(v) for n, v in r.items()} for r in by_place.values()]
    )
    return list(by_place), {n: _whole(cells) for n, cells in columns.items()}


def left_out_of(runs: Sequence[str], rows: Sequence[int]) -> tuple[LeftOut, ...]:
    """Return the runs that a function of roles did not want."""
    used = set(rows)
    names = [run for row, run in enumerate(runs) if row not in used]
    return left_out(names, Message("for which ", Keyword("roles"), " returned None"))


def with_columns(table: pa.Table, columns: Mapping[str, Any]) -> pa.Table:
    """Return a table with columns put in front, in place of those of the same name."""
    for name in columns:
        if name in table.column_names:
            table = table.drop_columns([name])
    ours = {name: array_of(cells) for name, cells in columns.items()}
    return pa.table(ours | {c: table.column(c) for c in table.column_names})


def rows_with_roles(table: pa.Table, roles: NamedRoles, name: str) -> pa.Table:
    """Return a table with what the names of its runs say, as columns of their own."""
    column = first(RUN, table.column_names)
    if column is None and not isinstance(roles, Mapping):
        raise CurvewiseError(
            Keyword("roles"),
            f" looks at names of runs, and {name} has no column of them; it has "
            f"{listed(table.column_names)}. Call one 'run'.",
            argument="roles",
            value=roles,
        )
    cells = (
        pa.array([""] * table.num_rows)
        if column is None
        else table.column(column).cast(pa.string()).combine_chunks().fill_null("")
    )
    encoded = cells.dictionary_encode()
    runs = encoded.dictionary.to_pylist()
    used, columns = roles_of(runs, roles)
    for part in left_out_of(runs, used):
        message = Message(f"{name}: Left out: ", part.text, ".")
        warnings.warn(message, CurvewiseWarning, stacklevel=5)
    place = np.full(len(runs), -1)
    place[used] = np.arange(len(used))
    where = place[encoded.indices.to_numpy()]
    rows = np.flatnonzero(where >= 0)
    cells_of = {
        n: array_of(cells).take(pa.array(where[rows])) for n, cells in columns.items()
    }
    return with_columns(table.take(pa.array(rows)), cells_of)


def _by_pattern(runs: Sequence[str], pattern: str) -> list[dict[str, Any]]:
    # Seeds are digits wherever that fits: in "ppo-s-s-s3" the seed is 3, not "-s3".
    strict, loose = _compiled(pattern, digits=True), _compiled(pattern, digits=False)
    matches = [strict.fullmatch(run) or loose.fullmatch(run) for run in runs]
    strangers = [run for run, match in zip(runs, matches, strict=True) if not match]
    if strangers:
        raise CurvewiseError(
            f"{len(strangers)} of {len(runs)} names of runs do not fit the pattern "
            f"'{shortened(pattern)}', such as {listed(strangers, most=3)}. Change the "
            f"pattern. In Python, a function of names of runs may return None for one to "
            f"leave out.",
            argument="roles",
            value=pattern,
        )
    return [_joined(match.groupdict()) for match in matches if match]


def _joined(fields: dict[str, Any]) -> dict[str, Any]:
    """Return what a pattern found; parts of one name are joined, as in "ppo/tuned"."""
    parts: dict[str, list[str]] = {}
    for name, text in fields.items():
        bare = name.rstrip("_")
        parts.setdefault(bare if bare in _JOINED else name, []).append(text)
    return {name: "/".join(texts) for name, texts in parts.items()}


def _compiled(pattern: str, *, digits: bool) -> re.Pattern[str]:
    parts, end, fields = [], 0, []
    for match in _FIELD.finditer(pattern):
        parts.append(re.escape(pattern[end : match.start()]))
        end, name = match.end(), match[1]
        if name is None:
            parts.append(".*?")
            continue
        fields.append(name)
        is_whole = match[2] or (digits and name in _NUMBERED)
        times = fields.count(name) - 1 if name in _JOINED else 0
        fits = r"\d+" if is_whole else "[^/]+?"
        parts.append(f"(?P<{name}{times * '_'}>{fits})")
    if not fields:
        raise CurvewiseError(
            f"The pattern '{shortened(pattern)}' names no role. Write it as names of runs "
            f"look, with roles in braces: '{{algorithm}}-{{task}}-s{{seed}}'.",
            argument="roles",
            value=pattern,
        )
    others = [field for field in fields if field not in _JOINED]
    if len(set(others)) < len(others):
        raise CurvewiseError(
            f"The pattern '{shortened(pattern)}' names a role twice. Name each once, and "
            f"write * for what may be anything.",
            argument="roles",
            value=pattern,
        )
    parts.append(re.escape(pattern[end:]))
    return re.compile("".join(parts), re.DOTALL)


def _called(
    roles: Callable[[str], Mapping[str, object] | None], run: str
) -> dict[str, Any] | None:
    try:
        answer = roles(run)
    except Exception as problem:
        raise CurvewiseError(
            "The function of ",
            Keyword("roles"),
            f" raised {type(problem).__name__} for run '{shortened(run)}': "
            f"{shortened(problem)}. Return None for a run to leave out.",
            argument="roles",
            value=roles,
        ) from problem
    if answer is None or isinstance(answer, Mapping):
        return None if answer is None else dict(answer)
    raise CurvewiseError(
        "The function of ",
        Keyword("roles"),
        f" returned {shortened(repr(answer))} for run '{shortened(run)}'. Return a "
        "dict such as {'algorithm': 'ppo', 'seed': 3}.",
        argument="roles",
        value=roles,
    )


def _cell(value: Any) -> Any:
    """Return a plain value: what is neither a number nor text is written out."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and math.isnan(value):  # as pandas says "nothing"
        return None
    if value is None or isinstance(value, bool | int | float):
        return value
    return utf8(str(value))


def _whole(cells: list[Any]) -> list[Any]:
    """Return texts of digits as numbers: seeds, most of the time."""
    digits = all(isinstance(c, str) and re.fullmatch(r"\d{1,18}", c) for c in cells)
    # "07" and "7" in one place are two names.
    if not digits or len({int(c) for c in cells}) < len(set(cells)):
        return cells
    return [int(c) for c in cells]


# --------------------------------------------------------------------------------------
# What names of runs and keys of configurations say of who ran: known, or proposed.


_PAIR = re.compile(
    r"(?:^|[/,&+ _-])([A-Za-z][A-Za-z_.]*?)=((?:(?![,/&+ ]|[_-][A-Za-z][A-Za-z_.]*=).)+)"
)
# Words before the number of a replicate; in names of runs the seed has short ones, too.
REPLICATE = "seed|run|trial|rep|repeat|repetition|replicate|fold|cv|split"
_SEED_WORDS = f"{REPLICATE}|seeds|s|sd|rs"
_CERTAIN = re.compile(
    r"(?:^|[/_.,-])(seed|fold|rep|repeat)[_.-]?(\d+)(?=$|[/_.,-])", re.I
)
_SUFFIX = re.compile(
    rf"(?:(.*?)([_.=@ -]+[(\[]?|[(\[]))??(?:({_SEED_WORDS})([_.=-]?| (?=\d)))?"
    r"(\d+)([)\]]?)",
    re.I | re.DOTALL,
)
_PREFIX = re.compile(rf"({_SEED_WORDS})?([_.=-]?)(\d+)([_.=@ -])(.+)", re.I | re.DOTALL)
# A hyperparameter and its value: lr1e-3, width_64.
_SETTING = re.compile(
    r"([A-Za-z]+(?:_[A-Za-z]+)*)([_=-]?)(\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
)
_WHOLE = re.compile(r"(^|[^A-Za-z0-9])\d+$")  # of a decimal number
_TIME = re.compile(r"\d{8,}")
_DATE = re.compile(r"(?<!\d)(19|20)\d\d-?[01]\d-?[0-3]\d(?!\d)")
# Days, times, ids and counters of tools: they tell runs apart and say nothing of them.
_NOISE = re.compile(
    r"\d{4}-?\d\d-?\d\d([T_ -]?\d\d[-:_.]?\d\d([-:_.]?\d\d)?)?|\d\d[-:_]\d\d[-:_]\d\d|"
    r"\d{10,}|(?=[^g-z]*\d)[0-9a-f-]{8,}|version_\d+|\d+|(train|exp|predict|val)\d*",
    re.IGNORECASE,
)
_NAMERS = ("name", "type", "_target_", "kind", "id", "class_name", "cls", "class_path")
_TASKS = re.compile(
    r"hopper|walker|cheetah|ant$|ant-|humanoid|swimmer|pendulum|cart-?pole|acrobot|"
    r"mountain|lunar|atari|breakout|pong|mnist|cifar|imagenet|svhn|coco|glue|squad|sst|"
    r"cola|mnli|qqp|iris|adult|wine|maze|-v\d+$|dataset|env",
    re.IGNORECASE,
)


class _Part(NamedTuple):
    """A level of names: what is written before, the varying text, what is behind it."""

    before: str
    texts: list[str]
    after: str
    has_seed: bool


# --- what is certain ---------------------------------------------------------------------


def said_in_names(runs: Sequence[str]) -> dict[str, list[Any]]:
    """Return what names like ``lr=0.1,seed=2`` and ``seed_3`` say, as columns.

    >>> said_in_names(["net/lr=0.1,seed=2", "net/lr=0.2,seed=3"])
    {'params.lr': [0.1, 0.2], 'seed': [2, 3]}
    """
    columns: dict[str, list[Any]] = {}
    for row, run in enumerate(runs):
        for key, text in _PAIR.findall(run):
            cells = columns.setdefault(_column(key), [None] * len(runs))
            cells[row] = _value(text)
        certain = {w.casefold(): int(digits) for w, digits in _CERTAIN.findall(run)}
        for word, number in certain.items():
            cells = columns.setdefault(word, [None] * len(runs))
            cells[row] = number if cells[row] is None else cells[row]
    return {c: cells for c, cells in columns.items() if None not in cells}


def _column(key: str) -> str:
    bare = key.casefold()
    for role, words in (("algorithm", names.ALGORITHM), ("task", names.TASK)):
        if bare in words:
            return role
    return bare if bare in SEEDS else f"params.{key}"


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def keys_of(words: Iterable[str], params: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return the settings that name a role, best first: ``model``, then ``model.name``."""
    ranked = []
    order = {word: i for i, word in enumerate(words)}
    for key, cells in params.items():
        if any(cell is None or isinstance(cell, bool) for cell in cells):
            continue
        texts = list(map(str, cells))
        if len(set(texts)) == len(texts) > 1 and any(
            re.search(r"[/\\]", t) for t in texts
        ):
            continue  # where each run keeps its own files
        *above, last = [p.casefold() for p in key.split(".")]
        stem = re.sub(r"_(name|id|type)$", "", last)
        if last in order or stem in order:
            place = order[last] if last in order else order[stem] + 0.5
            ranked.append((min(len(above), 1), place, key))
        elif above and last in _NAMERS and above[-1] in order:
            ranked.append((2, order[above[-1]], key))
    return [key for _, _, key in sorted(ranked)]


def chosen_key(
    words: Iterable[str], params: Mapping[str, Sequence[Any]]
) -> tuple[str | None, list[str]]:
    """Return the setting that names a role, and those that could where several differ."""
    keys = keys_of(words, params)
    varying = [key for key in keys if len(set(map(str, params[key]))) > 1]
    if not varying:
        return (keys[0] if keys else None), []
    first = list(map(str, params[varying[0]]))
    n = len(set(first))
    others = [k for k in varying if len(set(zip(first, params[k], strict=True))) > n]
    return (None, varying) if others else (varying[0], [])


def unexplained(
    runs: Sequence[str], known: Iterable[Sequence[Any]]
) -> tuple[bool, bool]:
    """Return whether names differ in words that no setting repeats, and runs share such.

    A word that only one run has may be anything; one that several have groups them.
    """
    known_of = [{str(v).casefold() for v in row} for row in zip(*known, strict=True)]
    known_of = known_of or [set() for _ in runs]
    runs = [re.sub(r"[\w.+~-]*=", "", run) for run in runs]  # keys are no words
    parts = _parts(runs)
    if parts is not None:
        columns = [part.texts for part in parts]
    else:  # of uneven names the last level, without a seed behind it
        columns = [_part([run.rpartition("/")[2] for run in runs]).texts]
    is_open = shared = False
    for texts in columns:
        if len(set(texts)) < 2 or all(map(_NOISE.fullmatch, texts)):
            continue
        rows = zip(texts, known_of, strict=True)
        if not all(_is_explained(text.casefold(), values) for text, values in rows):
            is_open = True
            shared |= len(set(texts)) < len(texts)
    return is_open, shared


def _is_explained(text: str, values: set[str]) -> bool:
    """Return whether settings have the words of a text, or lr0.1 a value behind one."""
    for word in (w for w in re.split(r"[_.,@ =-]+", text) if w and not w.isdigit()):
        pair = re.fullmatch(r"[a-z]+(\d.*)", word)
        is_pair = pair is not None and pair[1] in values
        if not is_pair and not any(word in value for value in values):
            return text in values
    return True


def shared_name(runs: Sequence[str]) -> str | None:
    """Return what names have in common that differ in nothing but their seed."""
    names_without = {_CERTAIN.sub("", run).strip("/_.,-") for run in runs}
    return names_without.pop() if len(names_without) == 1 else None


# --- what is proposed --------------------------------------------------------------------


def proposals(
    runs: Sequence[str], home: str, *, seeded: bool = False, most: int = 3
) -> list[dict[str, Any]]:
    """Return patterns that fit all names and tell all runs apart, best first.

    Where runs are known to differ in their seeds, an algorithm has more than one run.

    >>> runs = ["ppo-Hopper-s1", "ppo-Walker-s1", "sac-Hopper-s1", "sac-Walker-s1"]
    >>> proposals(runs, "logs")[0]
    {'roles': '{algorithm}-{task}-s{seed}'}
    """
    out: list[dict[str, Any]] = []
    # A setting among the parts, such as lr0.1, would be taken for half of a task.
    signs = sorted(_SIGNS, key=lambda sign: not _has_setting(sign, runs))
    for pattern in (p for sign in signs for p in _cut_at(sign, runs)):
        # After a pattern that groups runs, one with an algorithm per run says nothing.
        if {"roles": pattern} not in out and _fits(pattern, runs, seeded or bool(out)):
            out.append({"roles": pattern})
        if len(out) == most:
            break
    whole = not out and not seeded and all("/" not in run for run in runs)
    if whole and "{" in _part(list(runs)).before and _fits("{algorithm}", runs, seeded):
        return [{"roles": "{algorithm}"}]  # names of settings: lr_0.1, lr_0.01
    if not out and len(runs) > 1:
        return [{"roles": {"algorithm": home}, "trial": "run"}]
    return out


# Between the parts of a name: a double sign goes before all others.
_SIGNS = ("__", "--", "/", "_", "-")


def _has_setting(sign: str, runs: Sequence[str]) -> bool:
    parts = _parts([run.replace(sign, "/") for run in runs])
    return parts is not None and any("{" in part.before for part in parts[1:])


def _cut_at(sign: str, runs: Sequence[str]) -> Iterator[str]:
    """Yield the patterns of names whose parts are between signs of one kind."""
    if sign == "/":
        yield from _patterns(runs)
    elif all(sign in run and "/" not in run for run in runs):
        levels = [run.replace(sign, "/") for run in runs]
        if _parts(levels) is not None:
            yield from (p.replace("/", sign) for p in _patterns(levels))


def _fits(pattern: str, runs: Sequence[str], seeded: bool) -> bool:
    try:
        _, columns = roles_of(runs, pattern)
    except CurvewiseError:
        return False
    algorithms = set(columns.get("algorithm", ()))
    if not algorithms or (seeded and len(algorithms) == len(runs) > 1):
        return False
    texts = [t for some in columns.values() for t in some if isinstance(t, str)]
    if any(text.strip("_-. ") != text for text in texts):
        return False  # cut in the middle of a separator such as "__"
    who = [str(t) for c in ("algorithm", "task") for t in columns.get(c, ())]
    if any(map(_DATE.search, who)):
        return False
    keys = zip(*columns.values(), strict=True)
    # Names that only noise tells apart are told apart by the reader's own count.
    return len(set(keys)) == len(runs) or ("*" in pattern and "seed" not in columns)


def _parts(runs: Sequence[str]) -> list[_Part] | None:
    """Return names by level, each with its seed cut off; None for uneven ones."""
    levels = [run.split("/") for run in runs]
    if len({len(level) for level in levels}) != 1:
        return None
    return [_part(list(texts)) for texts in zip(*levels, strict=True)]


def _part(texts: list[str]) -> _Part:
    is_constant = len(set(texts)) == 1
    settings = [_SETTING.fullmatch(text) for text in texts]
    words = {(m[1], m[2]) for m in settings if m}
    if len(words) == 1 and all(settings) and names.is_param(next(iter(words))[0]):
        word, joint = words.pop()
        return _Part(f"{word}{joint}{{{word}}}", [""] * len(texts), "", False)
    for pattern, rest in ((_SUFFIX, 1), (_PREFIX, 5)):
        tries = [pattern.fullmatch(text) for text in texts]
        if not all(tries):
            continue
        matches = [m for m in tries if m]
        if rest == 1:
            forms = {(m[2] or "", m[3] or "", m[4] or "", m[6]) for m in matches}
            glue, word, joint, end = next(iter(forms))
            if not word and not _may_be_seeds(matches):
                continue
            if len(forms) == 1:
                before = [m[1] or "" for m in matches]
                after = f"{glue}{word}{joint}{_field(word)}{end}"
                return _Part("", before, after, True)
        else:
            heads = {(m[1] or "", m[2], m[4]) for m in matches}
            word, joint, glue = next(iter(heads))
            if len(heads) == 1 and not is_constant:
                head = f"{word}{joint}{_field(word)}{glue}"
                return _Part(head, [m[5] for m in matches], "", True)
    return _Part("", texts, "", False)


def _may_be_seeds(matches: Sequence[re.Match[str]]) -> bool:
    """Return whether bare numbers may be seeds: no dates, decimals or sizes of models.

    Seeds of one name count from 0 or 1; several names have the same ones.
    """
    seeds: dict[str, set[int]] = {}
    for m in matches:
        if _TIME.fullmatch(m[5]) or (m[2] == "." and _WHOLE.search(m[1] or "")):
            return False
        seeds.setdefault(m[1] or "", set()).add(int(m[5]))
    sets = list(seeds.values())
    if len(matches) > 1 and len(set.union(*sets)) == 1:
        return False  # a number that all share may be anything
    if len(sets) > 1 or not sets[0] or "" in seeds:
        return True
    return min(sets[0]) in (0, 1) and max(sets[0]) <= len(sets[0])


def _field(word: str) -> str:
    return "{fold}" if word.casefold() in ("fold", "cv", "split") else "{seed}"


def _patterns(runs: Sequence[str]) -> Iterator[str]:
    parts = _parts(runs)
    if parts is None:
        yield from ("*/{algorithm}/*", "{algorithm}/*")
        return
    seeded = [i for i, part in enumerate(parts) if part.has_seed]
    # A time behind the seed, as CleanRL writes it, is none.
    levels = [run.split("/") for run in runs]
    timed = [i for i in seeded if all(_TIME.fullmatch(level[i]) for level in levels)]
    seeded = [i for i in seeded if i not in timed] or seeded
    worded = [i for i in seeded if _is_worded(parts[i])]
    choices = ([seeded[-1]], seeded) if seeded else ([],)
    for choice in (worded, *choices) if len(worded) > 1 else choices:
        forms = []
        for i, part in enumerate(parts):
            if part.has_seed and i not in choice:
                texts = [run.split("/")[i] for run in runs]
                forms.append(_Part("", texts, "", False))
            elif part.has_seed and i != choice[0] and len(choice) > 1:
                forms.append(_again(part))
            else:
                forms.append(part)
        yield from _arranged(_without_repeats(forms))


def _is_worded(part: _Part) -> bool:
    return (
        re.search(_SEED_WORDS, f"{part.before}{part.after}".partition("{")[0])
        is not None
    )


def _again(part: _Part) -> _Part:
    """Return a second level of replicates under a role of its own."""
    return part._replace(
        before=part.before.replace("{seed}", "{rep}"),
        after=part.after.replace("{seed}", "{rep}"),
    )


def _without_repeats(parts: Sequence[_Part]) -> list[_Part]:
    """Return levels in which one whose text the next repeats may be anything."""
    out = list(parts)
    for i, (upper, lower) in enumerate(pairwise(parts)):
        pairs = list(zip(upper.texts, lower.texts, strict=True))
        plain = not upper.has_seed and len(set(upper.texts)) > 1
        if plain and all(
            a and (b == a or b.startswith((f"{a}_", f"{a}-"))) for a, b in pairs
        ):
            out[i] = _Part("*", [""] * len(pairs), "", False)
    return out


def _arranged(parts: Sequence[_Part]) -> Iterator[str]:
    """Yield patterns with the roles in every order that makes sense."""
    text = [
        i
        for i, part in enumerate(parts)
        if len(set(part.texts)) > 1 and not all(map(_NOISE.fullmatch, part.texts))
    ]
    forms: list[list[list[str]]] = []
    for i, part in enumerate(parts):
        if i in text:
            forms.append(list(_fields(part.texts)))
        elif len(set(part.texts)) == 1:
            forms.append([[_literal(part.texts[0])]])
        else:
            forms.append([["*"]])
    for choice in product(*forms):
        n = sum(len(form) // 2 + 1 for i, form in enumerate(choice) if i in text)
        for roles in _orders(n, parts, text, choice):
            yield _written(parts, choice, text, roles)
    constant = [
        (i, part.texts[0])
        for i, part in enumerate(parts)
        if i not in text and len(set(part.texts)) == 1 and part.texts[0]
    ]
    for i, word in constant[::-1] if len(text) <= 1 else []:
        if _NOISE.fullmatch(word) or "{" in word:
            continue
        whole = [form[0] if j != i else [""] for j, form in enumerate(forms)]
        if len(text) == 1:
            whole[text[0]] = [""]
        orders = (
            [["algorithm", "task"], ["task", "algorithm"]] if text else [["algorithm"]]
        )
        for roles in orders if not _TASKS.search(word) or not text else orders[::-1]:
            yield _written(parts, whole, sorted([i, *text]), roles)


def _orders(
    n: int, parts: Sequence[_Part], text: Sequence[int], choice: Sequence[Sequence[str]]
) -> list[list[str]]:
    if n == 1:
        return [["algorithm"]]
    if n == 3 and len(text) == 3:  # one of them is a variant of the algorithm
        halves = list(zip(*(parts[i].texts for i in text), strict=True))
        counts = [sum(bool(_TASKS.search(h[k])) for h in halves) for k in range(3)]
        task = counts.index(max(counts)) if any(counts) else 1
        roles = ["algorithm"] * 3
        roles[task] = "task"
        return [roles]
    if n != 2:
        return []
    orders = [["algorithm", "task"], ["task", "algorithm"]]
    first = parts[text[0]].texts
    if len(choice[text[0]]) > 1:
        glue = choice[text[0]][1]
        halves = [t.partition(glue)[::2] for t in first]
    else:
        halves = list(zip(first, parts[text[-1]].texts, strict=True))
    tasks = [sum(bool(_TASKS.search(h[k])) for h in halves) for k in (0, 1)]
    return orders[::-1] if tasks[0] > tasks[1] else orders


def _fields(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield how a text may be cut: in two at a sign that all have, or not at all."""
    n, later = len(set(texts)), []
    decimals = any(re.search(r"\d\.\d", text) for text in texts)
    for glue in "-_ @+" if decimals else ".-_ @+":
        halves = [text.partition(glue) for text in texts]
        if not all(a and sign and b for a, sign, b in halves):
            continue
        first, second = {h[0] for h in halves}, {h[2] for h in halves}
        crossed = 1 < len(first) < n and 1 < len(second) < n
        if all(re.match(r"v\d+\b|v\d+_", text) for text in second):
            later.append(["", glue, ""])  # of a name such as Hopper-v4
        elif (
            crossed or all(map(_TASKS.search, second)) or all(map(_TASKS.search, first))
        ):
            yield ["", glue, ""]
        else:
            later.append(["", glue, ""])
    yield [""]
    yield from later


def _written(
    parts: Sequence[_Part],
    choice: Sequence[Sequence[str]],
    text: Sequence[int],
    roles: Sequence[str],
) -> str:
    rest = iter(roles)
    levels = []
    for i, (part, form) in enumerate(zip(parts, choice, strict=True)):
        if i in text:
            field = "".join(
                sign or f"{{{next(rest)}}}" if k % 2 == 0 else sign
                for k, sign in enumerate(form)
            )
        else:
            field = "".join(form)
        levels.append(f"{part.before}{field}{part.after}")
    return "/".join(levels)


def _literal(text: str) -> str:
    return text if not re.search(r"[{}*]", text) else "*"
