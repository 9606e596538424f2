"""Messages of the Python API as somebody at a terminal reads them."""

import re
from shlex import quote

from curvewise.errors import CurvewiseError

_KEYWORDS = (
    "failed|at|metrics?|params|unit|trials?|step|status|on|runs|algorithm|task"
    "|executor|timeout|memory|workers|retries|experiment|force|alpha|confidence|band"
    "|margin|threshold|tail|family|of|seed|half_width|over_tasks|grid|fill|windows|level"
    "|null|noise|shuffles|power|effect|shift|stretch|size|method|target"
    "|test_size|average|positive|classes|paired|looks|tool|block|cluster|where|anyway|names"
)
# What a command cannot be told stays Python; it is set aside by this sign meanwhile.
_ASIDE = "\0"
_PYTHON = re.compile(r"metrics=\{'[^']*': Metric\([^}]*\)\}")
_MEANING = re.compile(
    r"with read\(\.\.\., metrics=\.\.\.\), such as \{'([^']*)': '(\w+)'\}"
)
_OF_TOML = re.compile(r"with metrics=, such as \[Metric\('(.+)', 'lower'\)\]")
_PAIRS = re.compile(r"pairs=\{'(.*)': (<.*?>)\}")
_MAPPING = re.compile(r"\bmetrics=\{((?:'[^']*': '[\w:.+-]+'(?:, )?)+)\}")
_ROLES = re.compile(r"\broles=('[^']*'|\{'([^']*)': '([^']*)'\})?")
_LIST = re.compile(rf"\b({_KEYWORDS})=\[((?:'[^']*'(?:, )?)+)\]")
# A keyword stands by itself; in "net_lr=1,seed=3" it is part of the name of a run.
_OPTION = re.compile(rf"(?<![^\s(])({_KEYWORDS})=(?:'([^']*)'|True\b|\.\.\.)?(?!=)")


def as_typed(message: str) -> str:
    """Return a message of the Python API with its keywords as options.

    >>> as_typed("Pass failed='worst' or failed=<score>.")
    'Pass --failed worst or --failed <score>.'
    >>> as_typed("Leave memory= out, or pass executor='local'. Name it with step=; or not.")
    'Leave --memory out, or pass --executor local. Name it with --step; or not.'
    >>> as_typed("Pass force=True to replace it.")
    'Pass --force to replace it.'
    >>> as_typed("Pass half_width=, of='mean' or pilot=<a few trials>.")
    'Pass --half-width, --of mean or a file of a few trials.'
    >>> as_typed("Say trial=['seed', 'fold'], or metrics={'loss': 'lower'}.")
    'Say --trial seed --trial fold, or --metrics loss=lower.'
    >>> as_typed("Pass metrics={'a': 'higher', 'b': 'lower:0:'}.")
    'Pass --metrics a=higher --metrics b=lower:0:.'
    >>> as_typed("Found run 'net_lr=1,seed=3'. Pass metrics=['my loss'].")
    "Found run 'net_lr=1,seed=3'. Pass --metrics 'my loss'."
    >>> as_typed("Pass pairs={'svm': <its tuned one>}.")
    'Pass --pair "svm=<its tuned one>".'
    >>> as_typed("Pass roles='{algorithm}-s{seed}', or roles={'algorithm': 'mine'}.")
    "Pass --roles '{algorithm}-s{seed}', or --roles algorithm=mine."
    >>> as_typed("Say metrics={'r': Metric('r', 'lower', (0, 1))}.")
    "Say read(..., metrics={'r': Metric('r', 'lower', (0, 1))}) in Python."
    """
    kept = [f"read(..., {found}) in Python" for found in _PYTHON.findall(message)]
    message = _PYTHON.sub(_ASIDE, message)
    message = message.replace("pilot=<a few trials>", "a file of a few trials")
    message = message.replace("metrics=[...]", "--metrics NAME")
    message = _PAIRS.sub(r'--pair "\1=\2"', message)
    message = _MEANING.sub(r"with --metrics, such as --metrics \1=\2", message)
    message = _MAPPING.sub(_meanings, message)
    message = message.replace("trial=[...]", "--trial NAME --trial NAME")
    message = _LIST.sub(_repeated, message)
    message = _OPTION.sub(_option, message)
    message = _ROLES.sub(_roles, message)
    for text in kept:
        message = message.replace(_ASIDE, text, 1)
    return message


def typed_error(problem: Exception) -> str:
    """Return what an exception says, its keywords and fixes as options."""
    if isinstance(problem, CurvewiseError):
        typed = CurvewiseError(as_typed(problem.text), fixes=problem.fixes)
        return typed.as_options()
    return as_typed(str(problem))


def _meanings(found: re.Match[str]) -> str:
    pairs = re.findall(r"'([^']*)': '([\w:.+-]+)'", found[1])
    return " ".join(f"--metrics {quote(f'{name}={way}')}" for name, way in pairs)


def _roles(found: re.Match[str]) -> str:
    if found[2]:
        return f"--roles {found[2]}={found[3]}"
    return f"--roles {found[1]}" if found[1] else "--roles"


def _repeated(found: re.Match[str]) -> str:
    names = re.findall("'([^']*)'", found[2])
    return " ".join(f"--{found[1]} {quote(one)}" for one in names)


def _option(found: re.Match[str]) -> str:
    name = f"--{found[1].replace('_', '-')}"
    if found[2]:
        stands_for_one = found[2].startswith("<")  # "<column>" is for people to fill in
        return f"{name} {found[2] if stands_for_one else quote(found[2])}"
    value_follows = found.string[found.end() :][:1] not in ("", *" ,;.:)")
    return f"{name} " if value_follows else name


def in_toml(message: str) -> str:
    """Return a message of the Python API as it is meant for a TOML file.

    >>> in_toml("State it with metrics=, such as [Metric('f', 'lower')].")
    'State it in the file: [metrics], and below it f = "lower".'
    """
    return _OF_TOML.sub(r'in the file: [metrics], and below it \1 = "lower"', message)
