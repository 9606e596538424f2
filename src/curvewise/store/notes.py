"""Small texts that a store keeps beside its trials: definitions, spaces, sources."""

import itertools
from collections.abc import Mapping

from curvewise.errors import CurvewiseError, shortened
from curvewise.store.database import Database

_NOTE = "note:"


def load(db: Database) -> dict[str, str]:
    """Return all notes."""
    rows = db.execute("SELECT key, value FROM curvewise ORDER BY key")
    return {
        key.removeprefix(_NOTE): value for key, value in rows if key.startswith(_NOTE)
    }


def put(db: Database, texts: Mapping[str, str]) -> None:
    """Keep texts; one that is there already is replaced."""
    keep = (
        "INSERT INTO curvewise VALUES (?, ?) "
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value"
    )
    with db.alone():
        for key, text in texts.items():
            db.execute(keep, (_NOTE + key, text))


def define(db: Database, texts: Mapping[str, str]) -> dict[str, str]:
    """Keep texts that are new, unless one contradicts; return what there is."""
    with db.alone():
        there = load(db)
        known = {key: there[key] for key in texts if key in there}
        if known.items() <= texts.items():
            for key in texts.keys() - known.keys():
                new = "INSERT INTO curvewise VALUES (?, ?)"
                db.execute(new, (_NOTE + key, texts[key]))
            known = dict(texts)
    return known


def checked(texts: Mapping[str, str]) -> dict[str, str]:
    """Return texts that every store can keep, or say which it cannot."""
    for text in itertools.chain.from_iterable(texts.items()):
        # PostgreSQL cannot keep a zero byte in a text, and stores should be alike.
        if not isinstance(text, str) or "\0" in text:
            raise CurvewiseError(
                f"A note is {shortened(repr(text))}. Pass texts without zero bytes."
            )
    return dict(texts)
