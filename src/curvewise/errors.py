"""What curvewise raises: one error, one warning, how they name the fix, and who asks."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from numbers import Integral
from shlex import quote
from typing import Any, Protocol, TypeAlias, TypeGuard, runtime_checkable


class Verbatim(str):
    """A value that is written as it is: ``<score>``, for a reader to fill in."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True)
class Keyword:
    """A keyword that a message names, with a value or without, and asks nobody to pass."""

    name: str
    value: Any = ...


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that differ from dialect to dialect by more than how a keyword is written.

    Where a dialect has no words of its own, those of Python stand.
    """

    python: str
    shell: str | None = None
    toml: str | None = None


# A mapping is a fix: keywords, and the values to pass; ``...`` stands for any value.
Part: TypeAlias = str | Mapping[str, Any] | Keyword | Phrase


def trials_where(**roles: Any) -> Phrase:
    """Return how to choose some of the trials; ``...`` stands for any name.

    >>> print(Message("Choose one with ", trials_where(task=...), "."))
    Choose one with trials.where(task=...).
    >>> Message(trials_where(task="a", algorithm=[...])).as_options()
    '--where task=a --where algorithm=NAME'
    """
    told = ", ".join(f"{role}={_literal(name)}" for role, name in roles.items())
    return Phrase(f"trials.where({told})", " ".join(as_words({"where": roles})))


class Message(str):
    """A text that names keywords, and can be read in Python, in a shell and in TOML.

    It is the text of Python, and remembers its parts.

    Parameters
    ----------
    *parts : str, mapping, Keyword or Phrase
        One after the other; a mapping is a fix, keywords that the reader can pass.

    Examples
    --------
    >>> text = Message("Leave ", Keyword("memory"), " out, or pass ",
    ...                {"executor": "local"}, ".")
    >>> print(text)
    Leave memory= out, or pass executor='local'.
    >>> print(text.as_options())
    Leave --memory out, or pass --executor local.
    >>> print(text.as_toml())
    Leave memory out, or pass executor = "local".
    >>> text.fixes
    ({'executor': 'local'},)
    """

    parts: tuple[Part, ...]

    def __new__(cls, *parts: Part) -> "Message":
        """Put parts, and those of messages among them, one after the other."""
        flat: list[Part] = []
        for part in parts:
            flat += part.parts if isinstance(part, Message) else [part]
        message = super().__new__(cls, "".join(map(_in_python, flat)))
        message.parts = tuple(flat)
        return message

    @property
    def fixes(self) -> tuple[Mapping[str, Any], ...]:
        """What the message says can be passed."""
        return tuple(part for part in self.parts if isinstance(part, Mapping))

    def as_options(self, names: Mapping[str, str] | None = None) -> str:
        """Return the message with its keywords as options of the command line.

        Parameters
        ----------
        names : mapping, optional
            What a command line calls each keyword that it knows; others stay Python's.
            By default every keyword is an option of the same name.
        """
        return "".join(_in_shell(part, names) for part in self.parts)

    def as_toml(self, keys: Container[str] | None = None) -> str:
        """Return the message with its keywords as keys of a TOML file.

        Parameters
        ----------
        keys : container of str, optional
            Those that the file may have; other keywords stay Python's. By default every
            keyword is a key.
        """
        return "".join(_in_toml(part, keys) for part in self.parts)

    def first_sentence(self) -> "Message":
        """Return the first sentence, without its full stop."""
        kept: list[Part] = []
        for part in self.parts:
            if isinstance(part, str) and ". " in part:
                kept.append(part.partition(". ")[0])
                break
            kept.append(part)
        return Message(*kept).rstrip(".")

    def rstrip(self, chars: str | None = None, /) -> "Message":
        """Return the message without some signs at its end, as of a text."""
        *first, last = self.parts or ("",)
        return Message(*first, last.rstrip(chars) if isinstance(last, str) else last)

    def __reduce__(self) -> tuple[Any, ...]:
        return Message, self.parts


class CurvewiseError(ValueError):
    """Raised when curvewise cannot do what was asked; the message says what to do.

    Parameters
    ----------
    *text : str, mapping, Keyword or Phrase
        What was asked and what came, in parts that `Message` puts together.
    fixes : iterable of mapping
        Each is a set of keyword arguments that answers the question when it is passed
        in addition to what was passed before. The message ends with them.
    argument : str, optional
        The name of the argument that was wrong.
    value : object
        What came for it.

    Examples
    --------
    >>> error = CurvewiseError("Which way is 'loss' better?",
    ...                        fixes=[{"metrics": {"loss": "lower"}}])
    >>> print(error)
    Which way is 'loss' better? Pass metrics={'loss': 'lower'}.
    >>> print(error.as_options())
    Which way is 'loss' better? Pass --metrics loss=lower.
    """

    def __init__(
        self,
        *text: Part,
        fixes: Iterable[Mapping[str, Any]] = (),
        argument: str | None = None,
        value: object = None,
    ) -> None:
        self.text = Message(*text)
        self.fixes = tuple(dict(fix) for fix in fixes)
        self.argument, self.value = argument, value
        remedy: list[Part] = [" Pass "] if self.fixes else []
        for fix in self.fixes:
            remedy += [fix, ", or "]
        self.message = Message(self.text, *remedy[:-1], "." if remedy else "")
        super().__init__(str(self.message))

    def as_options(self, names: Mapping[str, str] | None = None) -> str:
        """Return the message with its fixes as options of the command line.

        Parameters
        ----------
        names : mapping, optional
            What a command line calls each keyword that it knows; others stay Python's.
        """
        return self.message.as_options(names)

    def as_toml(self, keys: Container[str] | None = None) -> str:
        """Return the message with its fixes as keys of a TOML file.

        Parameters
        ----------
        keys : container of str, optional
            Those that the file may have; other keywords stay Python's.
        """
        return self.message.as_toml(keys)

    def __reduce__(self) -> tuple[Any, ...]:
        told = (self.fixes, self.argument, _sendable(self.value))
        return _again, (type(self), self.text.parts, *told)


def _again(
    kind: type[CurvewiseError],
    text: tuple[Part, ...],
    fixes: Any,
    argument: str | None,
    value: object,
) -> CurvewiseError:
    return kind(*text, fixes=fixes, argument=argument, value=value)


def _sendable(value: object) -> object:
    """Return a value, or what it looks like if it cannot leave this process."""
    import pickle

    try:
        pickle.dumps(value)
    except Exception:  # whatever a class of the user's own raises
        return shortened(repr(value))
    return value


# --- dialects --------------------------------------------------------------------------


def _in_python(part: Part) -> str:
    if isinstance(part, Keyword):
        return as_keywords({part.name: part.value})
    if isinstance(part, Phrase):
        return part.python
    return as_keywords(part) if isinstance(part, Mapping) else part


def _in_shell(part: Part, names: Mapping[str, str] | None) -> str:
    if isinstance(part, Phrase):
        return part.python if part.shell is None else part.shell
    fix = {part.name: part.value} if isinstance(part, Keyword) else part
    if isinstance(fix, str):
        return fix
    if names is not None and not names.keys() >= fix.keys():
        return as_keywords(fix)  # a command cannot be told this
    return " ".join(as_words(fix, names))


def _in_toml(part: Part, keys: Container[str] | None) -> str:
    if isinstance(part, Phrase):
        return part.python if part.toml is None else part.toml
    fix = {part.name: part.value} if isinstance(part, Keyword) else part
    if isinstance(fix, str):
        return fix
    if keys is not None and not all(name in keys for name in fix):
        return as_keywords(fix)  # an experiment is not described by this
    return ", ".join(map(_entry, fix, fix.values()))


def as_keywords(fix: Mapping[str, Any]) -> str:
    """Return a fix as keyword arguments of Python.

    >>> as_keywords({"trial": ["seed", "fold"], "unit": "percent"})
    "trial=['seed', 'fold'], unit='percent'"
    >>> as_keywords({"step": ..., "failed": Verbatim("<score>"), "metrics": [...]})
    'step=, failed=<score>, metrics=[...]'
    """
    return ", ".join(
        f"{name}={'' if value is ... else _literal(value)}"
        for name, value in fix.items()
    )


@runtime_checkable
class _Meaning(Protocol):
    """What can be said of a metric in a word, as `curvewise.read` takes it."""

    @property
    def as_text(self) -> str: ...


def _literal(value: Any) -> str:
    """Return a value as Python reads it; a metric as the text that means it."""
    if isinstance(value, Mapping):
        told = (f"{name!r}: {_literal(one)}" for name, one in value.items())
        return f"{{{', '.join(told)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if value is ...:
        return "..."
    return repr(value.as_text if isinstance(value, _Meaning) else value)


def as_words(
    fix: Mapping[str, Any], names: Mapping[str, str] | None = None
) -> list[str]:
    """Return a fix as words of a command line, quoted for a shell.

    >>> as_words({"trial": ["seed", "my fold"], "where": {"experiment": "cifar"}})
    ['--trial', 'seed', '--trial', "'my fold'", '--where', 'experiment=cifar']
    >>> as_words({"where": {"seed": ["0", "1"]}})
    ['--where', 'seed=0', '--where', 'seed=1']
    >>> as_words({"trial": [], "anyway": True})
    ['--trial', 'row', '--anyway']
    >>> as_words({"paired": False})
    ['--no-paired']

    >>> as_words({"step": ..., "failed": Verbatim("<score>"), "metrics": [...]})
    ['--step', '--failed', '<score>', '--metrics', 'NAME']
    >>> as_words({"pairs": {"svm": Verbatim("<its tuned one>")}}, {"pairs": "--pair"})
    ['--pair', '"svm=<its tuned one>"']
    """
    words = []
    for name, value in fix.items():
        option = (names or {}).get(name, f"--{name.replace('_', '-')}")
        if value is True or value is ...:
            words.append(option)
        elif value is False:
            words.append(option.replace("--", "--no-", 1))
        elif isinstance(value, Mapping):
            for key, one in value.items():
                for each in one if isinstance(one, list | tuple) else [one]:
                    words += [option, _entry_word(key, each)]
        elif isinstance(value, list | tuple):
            # A shell has no empty list: "row" says that every row is a run of its own.
            for one in value or ["row"]:
                words += [option, "NAME" if one is ... else _word(one)]
        elif option.startswith("-"):
            words += [option, _word(value)]
        else:  # a positional argument, said in words: "a file of a few trials"
            words += [option, str(value).strip("<>")]
    return words


def _word(value: object) -> str:
    text = str(value)
    # "<column>" is for a reader to fill in, and no text yet that a shell could misread.
    is_blank = isinstance(value, Verbatim) or (text[:1], text[-1:]) == ("<", ">")
    return text if is_blank else quote(text)


def _entry_word(key: str, value: Any) -> str:
    if isinstance(value, Verbatim):
        return f'"{key}={value}"'
    meant = value.as_text if isinstance(value, _Meaning) else value
    meant = "NAME" if meant is ... else meant
    return quote(f"{key}={meant}" if meant != "" else key)


def _entry(name: str, value: Any) -> str:
    """Return a key and its value as lines of a TOML file say it, in a sentence.

    >>> _entry("retries", 3), _entry("memory", ...), _entry("cross", {"seed": 5})
    ('retries = 3', 'memory', '[cross], and below it seed = 5')
    """
    import json

    if value is ...:
        return name
    if isinstance(value, Mapping):
        return f"[{name}], and below it {', '.join(map(_entry, value, value.values()))}"
    meant = value.as_text if isinstance(value, _Meaning) else value
    if not isinstance(meant, Verbatim):
        meant = json.dumps(meant, ensure_ascii=False, default=_unsaid)
    return f"{name} = {meant}"


def _unsaid(value: object) -> str:
    return "NAME" if value is ... else str(value)


class UnknownDirection(CurvewiseError):  # noqa: N818  a question, not a mistake
    """Raised where an answer depends on which way a metric is better, and none said."""


class NoStoreError(CurvewiseError):
    """Raised where a store was to be opened, and there is none."""


class Blocked(CurvewiseError):  # noqa: N818  an answer that is withheld is no mistake
    """Raised where an answer is withheld, for what `curvewise.check` objects to.

    Its fixes are keywords of `curvewise.read` that remove the cause, and ``anyway=True``
    of the analysis, which answers all the same.
    """


class CurvewiseWarning(UserWarning):
    """Issued when curvewise had to assume something that the caller can state."""

    @property
    def message(self) -> Message:
        """What it says, in every dialect."""
        return Message(*self.args[:1])


def unknown(kind: str, name: object, known: Iterable[object]) -> CurvewiseError:
    """Return the error for a name that is not among `known`, with the nearest one.

    >>> print(unknown("task", "Hoper", ["Hopper", "Walker"]))
    There is no task 'Hoper'. Did you mean 'Hopper'? There are: 'Hopper', 'Walker'.
    """
    names = [str(k) for k in known]
    folded = {n.casefold(): n for n in reversed(names)}
    asked = str(name).casefold()
    close = get_close_matches(asked, folded, n=1, cutoff=0.6)
    close = close or [n for n in folded if asked and (asked in n or (n and n in asked))]
    hint = f" Did you mean '{folded[close[0]]}'?" if close else ""
    have = f" There are: {listed(names)}." if names else " There are none."
    return CurvewiseError(
        f"There is no {kind} '{shortened(name)}'.{hint}{have}",
        argument=kind,
        value=name,
    )


def listed(names: Iterable[object], most: int = 12) -> str:
    """Return `names` quoted and joined, cut after `most` of them.

    >>> listed("abc", most=2)
    "'a', 'b' and 1 more"
    """
    quoted = [f"'{shortened(n)}'" for n in names]
    more = f" and {len(quoted) - most} more" if len(quoted) > most else ""
    return ", ".join(quoted[:most]) + more


def shortened(name: object, most: int = 60) -> str:
    """Return `name` as one line of at most `most` characters.

    >>> shortened("a" * 99, most=5)
    'aaaa…'
    """
    text = " ".join(str(name).split())
    if isinstance(name, Message) and text == name and len(text) <= most:
        return name  # with its parts
    return text if len(text) <= most else text[: most - 1] + "…"


# --------------------------------------------------------------------------------------
# Whether an argument is what it should be, asked in one place and refused in one
# style.


def is_whole(value: object, least: int = 1, most: int | None = None) -> TypeGuard[int]:
    """Return whether a value is a whole number in a range; True and 2.0 are not.

    >>> is_whole(3), is_whole(0), is_whole(True), is_whole(2.0), is_whole(9, most=8)
    (True, False, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        return False
    return least <= int(value) and (most is None or int(value) <= most)


def is_name(value: object) -> TypeGuard[str]:
    """Return whether a value is a text in valid Unicode that is not blank.

    >>> is_name("svm"), is_name("  "), is_name(3)
    (True, False, False)
    """
    if not isinstance(value, str) or not value.strip():
        return False
    try:
        value.encode()
    except UnicodeEncodeError:  # half a surrogate pair
        return False
    return True


def whole(
    value: object, what: str, least: int = 1, most: int | None = None, *, fact: str = ""
) -> int:
    """Return a whole number, whatever library it is of, as an int, or raise.

    Parameters
    ----------
    value : object
    what : str
        What it is called where it was passed.
    least, most : int
        The ends of the range, which belong to it.
    fact : str
        Where the range comes from, if that is not plain: "there are 9 examples".

    Examples
    --------
    >>> whole(3, "trials")
    3
    >>> whole(2.5, "trials")
    Traceback (most recent call last):
    curvewise.errors.CurvewiseError: trials is 2.5. Pass a whole number from 1 on.
    >>> whole(10, "folds", 2, 9, fact="there are 9 examples")
    Traceback (most recent call last):
    curvewise.errors.CurvewiseError: folds is 10, and there are 9 examples. Pass a whole \
number from 2 to 9.
    """
    if not is_whole(value, least, most):
        came = f"{what} is {shortened(repr(value))}{fact and f', and {fact}'}"
        end = "on" if most is None else f"to {most}"
        text = f"{came}. Pass a whole number from {least} {end}."
        raise CurvewiseError(text, argument=what, value=value)
    return int(value)
