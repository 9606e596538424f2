"""The meta.yaml of MLflow's runs and experiments: one name and one value per line."""

import json
import re
from typing import TypeAlias

Meta: TypeAlias = dict[str, str]
_LINE = re.compile(r"([a-z_]+):(?: (.*))?")


def meta_of(text: str) -> Meta:
    r"""Return what a meta.yaml says; what it says to be null is left out.

    This is as much of YAML as MLflow writes. A line that is none of it ends the reading:
    the file is damaged from there on.

    >>> meta_of("end_time: null\nname: 'it''s: one'\nstatus: 3\n")
    {'name': "it's: one", 'status': '3'}
    """
    raw: Meta = {}
    last = None
    for line in text.splitlines():
        if last is not None and (not line or line.startswith((" ", "-"))):
            raw[last] = f"{raw[last]} {line.strip()}".strip()  # a long text goes on
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            break
        last = found[1]
        raw[last] = (found[2] or "").strip()
    return {name: _plain(value) for name, value in raw.items() if value != "null"}


def _plain(value: str) -> str:
    quote = value[:1]
    if len(value) < 2 or quote not in "'\"" or value[-1] != quote:
        return value
    if quote == "'":
        return value[1:-1].replace("''", "'")
    try:
        return str(json.loads(value))
    except json.JSONDecodeError:
        return value[1:-1]
