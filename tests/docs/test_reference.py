"""Every public name has its place in the reference.

The directives of the pages are read as autodoc reads them; Sphinx is not needed.
"""

import inspect
import re
from dataclasses import dataclass, field
from importlib import import_module

import pytest
from pages import ROOT

import curvewise as cw

REFERENCE = ROOT / "docs" / "reference"
NAMES = ROOT / "tests" / "assets" / "public_names.txt"
DIRECTIVE = re.compile(r"^\.\. (?:auto|py:)(\w+):: (\S+)\n((?:   .*\n)*)", re.M)


@dataclass
class Documented:
    """What the directives of pages cover: objects, and members of classes."""

    objects: list[object] = field(default_factory=list)
    members: set[tuple[str, str]] = field(default_factory=set)
    names: set[str] = field(default_factory=set)

    def add(self, kind, path, options):
        """Add what one directive documents."""
        value = resolved(path)
        asked = option(options, "members")
        if kind == "module":
            for name in own_names(value) if asked == "" else listed(asked):
                self.add_value(f"{path}.{name}", getattr(value, name))
        else:
            self.add_value(path, value, asked)

    def add_value(self, path, value, asked=""):
        """Add an object; autodoc leaves out what has no docstring, but for data."""
        self.objects.append(value)
        self.names.add(path)
        if inspect.isclass(value) and asked is not None:
            own = vars(value) if asked == "" else listed(asked)
            self.members |= {(value.__qualname__, name) for name in own}

    def has(self, name):
        """Say whether a public name is documented."""
        owner, _, member = name.rpartition(".")
        value = resolved(name)
        if any(value is one for one in self.objects if is_object(one)):
            return True
        parent = resolved(owner) if owner else None
        if not inspect.isclass(parent):
            return f"curvewise.{name}" in self.names
        homes = [home for home in parent.__mro__ if member in vars(home)] or [parent]
        covered = any((home.__qualname__, member) in self.members for home in homes)
        return covered or is_described(member, parent)


def is_object(value):
    """Say whether a value is itself wherever it is: numbers and texts are not."""
    return inspect.isroutine(value) or inspect.isclass(value)


def is_described(member, owner):
    """Say whether a class says in its docstring what a field is."""
    texts = [inspect.getdoc(home) or "" for home in owner.__mro__ if home is not object]
    return any(re.search(rf"^(?:\w+, )*{member}\b.*:", text, re.M) for text in texts)


def option(options, name):
    """Return what an option says, "" if it says nothing, and None if it is not there."""
    found = re.search(rf"^ +:{name}:(.*)$", options, re.M)
    return None if found is None else found[1].strip()


def listed(names):
    return [name.strip() for name in (names or "").split(",") if name.strip()]


def own_names(module):
    """Return what `:members:` means for a module: `__all__`, or what it defines."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return [
        name
        for name, value in vars(module).items()
        if name[0] != "_" and getattr(value, "__module__", "") == module.__name__
    ]


def resolved(name):
    """Return what a dotted name stands for, inside or outside of the package's front."""
    front, path = "curvewise", name.removeprefix("curvewise.").split(".")
    if path[0] == "curvewise_papers":
        front, *path = path
    for split in range(len(path), -1, -1):
        try:
            value = import_module(".".join([front, *path[:split]]))
            for part in path[split:]:
                value = getattr(value, part)
        except (ImportError, AttributeError):
            continue
        return value
    raise LookupError(name)


def documented(text):
    found = Documented()
    for kind, path, options in DIRECTIVE.findall(text):
        found.add(kind, path, options)
    return found


def public_names():
    """Return every public name: those of the front door, of rooms, and of classes."""
    kept = {line.partition("(")[0] for line in NAMES.read_text().splitlines()}
    rooms = {name for name in cw.__all__ if inspect.ismodule(getattr(cw, name))}
    return sorted(kept | set(cw.__all__) - rooms)


@pytest.fixture(scope="module")
def reference():
    pages = sorted(REFERENCE.glob("*.md"))
    return documented("\n".join(page.read_text() for page in pages))


def test_every_public_name_is_in_the_reference(reference):
    names = public_names()
    assert len(names) > 500
    missing = [name for name in names if not reference.has(name)]
    assert missing == ["__version__"]


def test_every_directive_leads_to_something(reference):
    """Sphinx would say so too, but later."""
    assert len(reference.objects) > 300
    with pytest.raises(LookupError):
        documented(".. autofunction:: curvewise.reed\n")


@pytest.mark.parametrize(
    ("text", "covers", "not_so"),
    [
        (".. autofunction:: curvewise.read\n", ["read"], ["run"]),
        (
            ".. automodule:: curvewise.figures\n   :members: plot_best\n",
            ["figures.plot_best"],
            ["figures.plot_null"],
        ),
        (
            ".. automodule:: curvewise.figures\n   :members:\n",
            ["figures.plot_best", "figures.plot_null"],
            ["Trials"],
        ),
        (".. autoclass:: curvewise.Trials\n", ["Trials"], ["Trials.where"]),
        (
            ".. autoclass:: curvewise.Trials\n   :members: scores\n",
            ["Trials.scores"],
            ["Trials.where"],
        ),
        (
            ".. autoclass:: curvewise.answer.Answer\n   :members:\n",
            ["Performance.to_frame"],
            ["Performance", "Performance.shift"],
        ),
        (".. py:data:: curvewise.zoo.TASKS\n", ["zoo.TASKS"], ["zoo.ALGORITHMS"]),
    ],
    ids=["function", "some", "all", "class", "method", "inherited", "data"],
)
def test_a_name_that_is_left_out_would_be_noticed(text, covers, not_so):
    """The negative controls."""
    found = documented(text)
    assert [name for name in covers if not found.has(name)] == []
    assert [name for name in not_so if found.has(name)] == []


def test_every_page_of_the_reference_is_in_its_contents():
    contents = (REFERENCE / "index.md").read_text()
    pages = {page.stem for page in REFERENCE.glob("*.md")} - {"index"}
    assert pages <= set(re.findall(r"^[\w-]+$", contents, re.M))


def test_the_page_on_speed_follows_what_was_measured():
    page = (REFERENCE / "benchmarks.md").read_text()
    results = (ROOT / "benchmarks" / "RESULTS.md").read_text()
    assert "```{include} ../../benchmarks/RESULTS.md" in page
    assert not set(re.findall(r"[\d.]+ times", results)) & set(page.splitlines())
    peers = re.findall(r"\[(\w+)\]\(http", page)
    sources = "".join(p.read_text() for p in (ROOT / "benchmarks").glob("*.py"))
    assert len(peers) > 8
    assert [peer for peer in peers if peer.lower() not in sources.lower()] == []
