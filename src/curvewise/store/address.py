"""Where a store in PostgreSQL is: a URL, the schema in it, and what may be shown."""

import re
from dataclasses import dataclass, field
from urllib.parse import unquote

from curvewise.errors import CurvewiseError

_BEGINNINGS = ("postgresql://", "postgres://")
_HIDDEN = "***"


def is_url(source: object) -> bool:
    """Return whether a source is the URL of a database.

    >>> is_url("postgresql://localhost/runs"), is_url("runs.db")
    (True, False)
    """
    return isinstance(source, str) and source.startswith(_BEGINNINGS)


@dataclass(frozen=True, slots=True)
class Address:
    """A URL taken apart."""

    url: str = field(repr=False)
    schema: str
    shown: str
    _secrets: tuple[str, ...] = field(repr=False)

    def cleaned(self, text: str) -> str:
        """Return a message without passwords, whoever wrote it."""
        text = text.replace(self.url, self.shown)
        for secret in self._secrets:
            text = text.replace(secret, _HIDDEN)
        return text


def address(url: str) -> Address:
    """Return a URL taken apart; ``?schema=`` says where in the database, if given.

    >>> where = address("postgresql://ann:secret@host/runs?schema=moons&sslmode=require")
    >>> where.schema, where.url == "postgresql://ann:secret@host/runs?sslmode=require"
    ('moons', True)
    >>> where.shown
    'postgresql://ann:***@host/runs?schema=moons&sslmode=require'
    """
    base, _, query = url.partition("?")
    if "@" not in base and "@" in query:  # a question mark in the password
        cut = url.find("?", url.rindex("@"))
        base, query = (url, "") if cut < 0 else (url[:cut], url[cut + 1 :])
    words = [word.partition("=") for word in query.split("&") if word]
    schema = [unquote(value) for key, _, value in words if key == "schema"]
    secrets = [value for key, _, value in words if key.endswith("password")]
    # As far as the last "@": a password may hold one that nobody has written as %40.
    if inside := re.match(r"\w+://[^:/@]*:(.*)@", base, re.DOTALL):
        secrets.append(inside[1])
        begin, end = inside.span(1)
    else:
        begin = end = 0
    safe = base[:begin] + (_HIDDEN if secrets and end else "") + base[end:]
    rest = "&".join("=".join((k, v)) for k, _, v in words if k != "schema")
    safe_query = "&".join(
        f"{k}={_HIDDEN if k.endswith('password') else v}" for k, _, v in words
    )
    return Address(
        base + ("?" + rest if rest else ""),
        _allowed(schema[-1] if schema else "curvewise"),
        safe + ("?" + safe_query if safe_query else ""),
        tuple(part for secret in secrets for part in _parts(secret)),
    )


def _parts(secret: str) -> list[str]:
    # Where somebody has not written %40 for "@", what follows is taken for the host, and
    # messages name that.
    whole = [secret, unquote(secret)]
    parts = [part for one in whole for part in re.split("[@/?:#]", one)]
    return [*filter(None, whole), *(part for part in parts if len(part) > 3)]


def _allowed(schema: str) -> str:
    # PostgreSQL cuts longer names silently, and two experiments would meet.
    if not schema or "\0" in schema or len(schema.encode()) > 63:
        raise CurvewiseError(
            f"The schema is {schema!r}. Pass ?schema= with a name of 1 to 63 bytes.",
            argument="schema",
            value=schema,
        )
    return schema


def shown_store(where: str) -> str:
    """Return a store's address for people, without a password."""
    return address(where).shown if is_url(where) else where
