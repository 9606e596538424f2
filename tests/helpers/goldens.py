"""Goldens: what came out when somebody last looked, in numbers and in words.

Each case has up to two files in tests/golden, and they are treated unlike:

- ``numbers/CASE.json``: compared bit for bit where arithmetic is that of the machine that
  wrote them, and to nine digits elsewhere; `canary` tells which. No command rewrites one.
  ``CURVEWISE_ADD_NUMBERS=1`` writes those of cases that have none; to replace one, delete
  the file first, and say in the commit why the number changed.
- ``texts/CASE.txt``: what people read. ``make approve`` rewrites them; look at the diff.

A sentence inside a table of numbers counts as text: it stands in the text file.
"""

import difflib
import functools
import hashlib
import html
import json
import math
import os
import platform
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from curvewise import __version__

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests/golden"
ADD_NUMBERS = "CURVEWISE_ADD_NUMBERS"
WORDS = "<words>"  # stands in the numbers where a sentence was
SOFTWARE = ("Python", "numpy", "scipy", "scikit-learn", "matplotlib")
LONG = 16  # values of a list that are shown each
_ABSOLUTE = 1e-12
_HASH = re.compile(r"[0-9a-f]{12,64}")


@dataclass(frozen=True)
class Shown:
    """What a case shows: sections of text by their headings, and numbers, if any."""

    texts: Mapping[str, str] = field(default_factory=dict)
    numbers: Any = None


@dataclass(frozen=True)
class Case:
    """A thing that is held to its goldens.

    It is made in an empty folder. Its name is that of its files.
    """

    name: str
    make: Callable[[], Shown]
    has_numbers: bool = True
    relative: float = 1e-9  # how close numbers are where arithmetic is another


# --- which machine -----------------------------------------------------------------------


@functools.cache
def canary() -> str:
    """Return a hash of all that the last bit of a result hangs on; threads are one."""
    import scipy.linalg
    import scipy.special
    import threadpoolctl

    simd = np.show_config(mode="dicts")["SIMD Extensions"]
    blas = sorted(
        f"{pool['internal_api']} {pool['version']} {pool.get('architecture')}"
        for pool in threadpoolctl.threadpool_info()
        if re.search(r"(numpy|scipy)\.libs", pool["filepath"])
    )
    rng = np.random.default_rng(0)
    x, square = rng.normal(size=1000), rng.normal(size=(200, 200))
    probes = [
        *(np.exp(x), np.log(np.abs(x)), np.sin(x), np.cumsum(x), np.abs(x) ** 3.3),
        *(square @ square, np.linalg.svd(square)[1], scipy.linalg.inv(square)),
        *(scipy.special.betainc(2.5, 3.5, np.abs(np.tanh(x))), rng.beta(2, 3, 100)),
        np.array([math.lgamma(v * v + 1) + math.expm1(v) for v in x]),
    ]
    bits = hashlib.sha256(b"".join(np.ascontiguousarray(p).tobytes() for p in probes))
    versions = [metadata.version(n) for n in ("numpy", "scipy", "scikit-learn")]
    place = [platform.system(), platform.machine(), *platform.libc_ver()]
    python = platform.python_implementation(), platform.python_version_tuple()[:2]
    told = [simd, blas, versions, place, python, bits.hexdigest()]
    return hashlib.sha256(repr(told).encode()).hexdigest()[:16]


# --- numbers -----------------------------------------------------------------------------


def split(value: Any, path: str = "") -> tuple[Any, list[str]]:
    """Return a value with `WORDS` for its sentences, and these with where they stood."""
    if isinstance(value, str):
        value = plain(value)
        if value.count(" ") < 3:
            return value, []
        return WORDS, [f"{path}: {value}"]
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        pairs = [(str(k), *split(v, f"{path}.{k}")) for k, v in value.items()]
        return {k: own for k, own, _ in pairs}, [s for *_, said in pairs for s in said]
    if isinstance(value, list | tuple):
        parts = [split(v, f"{path}[{i}]") for i, v in enumerate(value)]
        return [own for own, _ in parts], [s for _, said in parts for s in said]
    return value, []


def brief(values: Any) -> Any:
    """Return a list as it is, or, of a long one, its length, its ends and its hash."""
    values = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if len(values) <= LONG:
        return values
    bits = hashlib.sha256(json.dumps(values).encode()).hexdigest()[:16]
    return {"n": len(values), "ends": [*values[:3], *values[-3:]], "sha256": bits}


def differences(
    golden: Any, now: Any, *, relative: float = 0, path: str = ""
) -> Iterator[str]:
    """Yield where numbers differ: in any bit, or by more than a share of them."""
    if isinstance(golden, dict) and isinstance(now, dict):
        if list(golden) != list(now):
            yield f"{path}: {list(golden)} became {list(now)}"
        pairs = [(f".{k}", golden[k], now[k]) for k in golden if k in now]
    elif isinstance(golden, list) and isinstance(now, list):
        if len(golden) != len(now):
            yield f"{path}: {len(golden)} values became {len(now)}"
        pairs = [
            (f"[{i}]", *both) for i, both in enumerate(zip(golden, now, strict=False))
        ]
    else:
        pairs = []
        if repr(golden) != repr(now) and not _near(golden, now, relative):
            yield f"{path}: {golden!r} became {now!r}"
    for step, was, became in pairs:
        yield from differences(was, became, relative=relative, path=path + step)


def _near(golden: Any, now: Any, relative: float) -> bool:
    if not relative or type(golden) is not type(now):
        return False
    if isinstance(golden, str):  # hashes of what is only close
        return bool(_HASH.fullmatch(golden) and _HASH.fullmatch(now))
    return isinstance(golden, float) and math.isclose(
        golden, now, rel_tol=relative, abs_tol=_ABSOLUTE
    )


def written(numbers: Any, made_on: str) -> str:
    """Return numbers as JSON, with a row on each line."""

    def lines(value: Any, deep: int) -> str:
        if deep < 2 and isinstance(value, dict) and value:
            inside = (
                f"{json.dumps(k)}: {lines(v, deep + 1)}" for k, v in value.items()
            )
            return "{\n" + ",\n".join(inside) + "\n}"
        if isinstance(value, list) and any(isinstance(v, dict | list) for v in value):
            return "[\n" + ",\n".join(lines(v, 2) for v in value) + "\n]"
        return json.dumps(value, ensure_ascii=False)

    return lines({"canary": made_on, "numbers": numbers}, 0) + "\n"


# --- texts -------------------------------------------------------------------------------


def plain(text: str) -> str:
    """Return a text without what hangs on where and when it was made."""
    for folder, name in ((Path.cwd(), "HERE"), (ROOT, "ROOT"), (Path.home(), "HOME")):
        if folder != Path(folder.anchor):
            text = text.replace(str(folder), name)
    text = re.sub(rf"(?<![\d.]){re.escape(__version__)}(?!\.?\d)", "VERSION", text)
    text = re.sub(r"\b(data )[0-9a-f]{12}\b|\b[0-9a-f]{64}\b", r"\1HASH", text)
    text = re.sub(rf"\b({'|'.join(SOFTWARE)}) \d[\w.]*\d", r"\1 VERSION", text)
    text = re.sub(r"(?m)^(! )?Try '.*' for help\.\n", "", text)  # as click words it
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def joined(texts: Mapping[str, str]) -> str:
    """Return sections as one text, each below its heading."""
    sections = (f"======== {head}\n{plain(text)}\n" for head, text in texts.items())
    return "\n".join(sections)


INSIDE = "a|abbr|b|code|em|i|small|span|strong|sub|sup"  # tags that break no line
SPOKEN = "aria-label|alt|title|placeholder"
MARKS = {"h1": "# ", "h2": "## ", "h3": "### ", "li": "- ", "summary": "> "}


def read_page(page: str) -> str:
    """Return what a page says to a person, who sees no script, no style and no id."""
    page = re.sub(r"(?s)<(script|style|template)\b.*?</\1>", "", page)
    page = re.sub(r"\s+", " ", page)
    page = re.sub(rf'<[^>]*? (?:{SPOKEN})="([^"]+)"[^>]*>', r"\n[\1] ", page)
    page = re.sub(r"</t[dh]>\s*<t[dh]\b[^>]*>", " | ", page)
    page = re.sub(rf"</?(?:{INSIDE})\b[^>]*>", "", page)
    page = re.sub(r"<(\w*)[^>]*>", lambda tag: f"\n{MARKS.get(tag[1], '')}", page)
    lines = (" ".join(line.split()) for line in html.unescape(page).split("\n"))
    return shortened([line for line in lines if line.strip("#->| ")])


def shortened(lines: list[str], most: int = 12) -> str:
    """Return lines, and of a long table only its first rows."""
    kept, rows = [], 0
    for line in [*lines, ""]:
        rows = rows + 1 if " | " in line else 0
        if rows <= most:
            kept.append(line)
        elif rows == most + 1:
            kept.append("(and more rows)")
    return "\n".join(kept[:-1])


# --- holding one against the other -------------------------------------------------------


@dataclass(frozen=True)
class Goldens:
    """The files in a folder, and whether some of them are written now."""

    folder: Path = FOLDER
    is_approving: bool = False
    is_adding: bool = field(default_factory=lambda: bool(os.environ.get(ADD_NUMBERS)))

    def check(self, case: Case, shown: Shown) -> None:
        """Fail if a case shows anything else than its files say."""
        numbers, sentences = split(shown.numbers)
        texts = dict(shown.texts)
        if sentences:
            texts["words among the numbers"] = "\n".join(sentences)
        assert (shown.numbers is not None) == case.has_numbers, case.name
        said = self.check_text(case.name, joined(texts))
        if case.has_numbers:
            said += self.check_numbers(case.name, numbers, relative=case.relative)
        assert not said, f"{case.name}:\n" + "\n".join(said[:200])

    def check_text(self, name: str, now: str) -> list[str]:
        """Return how a text differs from its golden; write it, if that is asked for."""
        path = self.folder / f"texts/{name}.txt"
        if self.is_approving:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(now, encoding="utf-8")
        if not path.exists():
            return [f"There is no {path}. Read the text, then: make approve"]
        golden = path.read_text("utf-8")
        labels = str(path), "now; if it is better: make approve"
        lines = difflib.unified_diff(
            golden.splitlines(), now.splitlines(), *labels, n=1, lineterm=""
        )
        return list(lines) if golden != now else []

    def check_numbers(
        self, name: str, now: Any, *, relative: float = 1e-9
    ) -> list[str]:
        """Return how numbers differ from their golden; write them if there is none."""
        path = self.folder / f"numbers/{name}.json"
        if self.is_adding and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(written(now, canary()), encoding="utf-8")
        if not path.exists():
            return [f"There is no {path}. Check the numbers, then: {ADD_NUMBERS}=1"]
        golden = json.loads(path.read_text("utf-8"))
        allowed = 0 if golden["canary"] == canary() else relative
        now = json.loads(written(now, ""))["numbers"]
        return list(differences(golden["numbers"], now, relative=allowed))

    def orphans(self, cases: Sequence[Case]) -> list[Path]:
        """Return files of no case, less the texts that approval removes."""
        expected = {self.folder / f"texts/{case.name}.txt" for case in cases}
        expected |= {
            self.folder / f"numbers/{case.name}.json"
            for case in cases
            if case.has_numbers
        }
        kinds = ("texts", "numbers")
        files = {p for k in kinds for p in (self.folder / k).rglob("*") if p.is_file()}
        found = sorted(files - expected)
        if self.is_approving:
            for path in [p for p in found if p.is_relative_to(self.folder / "texts")]:
                path.unlink()
                found.remove(path)
        return found
