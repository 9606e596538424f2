"""Which files of a folder are scores, which are configuration, and of which run."""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from curvewise.errors import CurvewiseError, shortened
from curvewise.exchange.runs import LeftOut, flattened, left_out, parsed
from curvewise.exchange.tools.files import Listing
from curvewise.exchange.tools.folders.logs import CONFIG_KEYS, HISTORIES, SPLITS

TRAINER = "trainer_state.json"
TABLES = (".csv", ".tsv", ".csv.gz")
LINES = (".jsonl", ".ndjson")
NESTED = (".json", ".yaml", ".yml")
_YAML = (".yaml", ".yml")
_CONFIG_STEMS = (
    *CONFIG_KEYS,
    *"run_config train_config experiment_config training_args adapter_config".split(),
    "variant",
)
_CONFIG = re.compile(rf"({'|'.join(_CONFIG_STEMS)})\.(ya?ml|json)", re.IGNORECASE)
_CONTENT = SPLITS | HISTORIES
_CONTENT |= set(
    "metric histories logger progress result score loss losses final summary stats epoch "
    "epochs returns rewards performance evals all best last monitor report data csv json"
    "".split()
)
_IGNORED = re.compile(
    r"dvc\.(ya?ml|json|lock)|dvclive\.json|multirun\.yaml|environment\.ya?ml|meta\.ya?ml|"
    r"package(-lock)?\.json|tokenizer.*\.json|special_tokens_map\.json|vocab\.json|"
    r"(system|git|env|machine|hardware|host|gpu)([_-]?(info|state|status))?\.json|"
    r"added_tokens\.json|.*\.index\.json|.*_config\.json|mkdocs\.yml|.*metadata\.json",
    re.IGNORECASE,
)
_SKIPPED = "__pycache__ node_modules wandb checkpoints plots weights".split()
_CHECKPOINT = re.compile(r"checkpoint-(\d+)")
# Folders inside a run, with what it kept on its way; folders of figures.
_COPY = re.compile(
    r"best|last|latest|final|backups?|bak|old|archive|copy|snapshots?|checkpoint|ckpt",
    re.IGNORECASE,
)
_STATE = re.compile(r"(?:checkpoint|ckpt)[-_]?(\d+)", re.IGNORECASE)
_FIGURES = re.compile(r"figures?|figs?|images?|imgs?|tables", re.IGNORECASE)
# Files that a run leaves beside its scores, whatever else they are called.
_DERIVED = re.compile(
    r"(.*[_.-])?(predictions?|preds?|confusion|matrix|outputs?|prob(s|abilities)?|logits|"
    r"embeddings?|importances?|labels|targets)([_.-].*)?|pred\d*",
    re.IGNORECASE,
)
_BESIDE = "beside the scores of a run"
_CURVES_OF_DVC = "/plots/metrics/"


@dataclass(frozen=True, slots=True)
class Source:
    """A file with scores."""

    file: str
    prefix: str = ""  # of its metrics
    config: str | None = None  # its own configuration
    metric: str | None = None  # the only one, where the place of the file says it
    step: int | None = None  # of its scores, where its folder says it


@dataclass(slots=True)
class Layout:
    """The runs of a folder, by name, with their sources; and what is no run."""

    runs: dict[str, list[Source]] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    kinds: set[str] = field(default_factory=set)
    others: dict[str, list[str]] = field(default_factory=dict)

    def add(self, run: str, folder: str, *sources: Source) -> None:
        """Note sources of a run, whose configuration is in a folder or above it."""
        if self.folders.get(run, folder) != folder:
            raise _same_name(run, self.runs[run][0].file, sources[0].file)
        self.runs.setdefault(run, []).extend(sources)
        self.folders[run] = folder

    def remove(self, run: str) -> list[str]:
        """Take a run out, and return its files."""
        del self.folders[run]
        return [source.file for source in self.runs.pop(run)]

    def leave_out(self, files: list[str], why: str) -> None:
        """Note files that are not read."""
        self.others.setdefault(why, []).extend(files)

    def count_left_out(self) -> None:
        """Count the files that are not read, by the reason."""
        for why, files in self.others.items():
            self.left_out += left_out(files, why, "file")


def _same_name(run: str, one: str, other: str) -> CurvewiseError:
    return CurvewiseError(
        f"'{shortened(one)}' and '{shortened(other)}' are both called "
        f"'{shortened(run)}': it is unclear whether they are one run. Rename one, or pass "
        f"a list of the files that are runs."
    )


def is_scores(file: str) -> bool:
    """Return whether a file's name and place allow scores in it."""
    *folders, name = file.split("/")
    if any(f in _SKIPPED or f.startswith(".") for f in folders) or name.startswith("."):
        return f"/{file}".find(_CURVES_OF_DVC) >= 0 and name.endswith(".tsv")
    if _IGNORED.fullmatch(name) or _CONFIG.fullmatch(name):
        return False
    stem, end = _split(name)
    return end.lower() in (*TABLES, *LINES, ".json") or (
        end.lower() in _YAML and is_content(stem)
    )


def is_config(file: str) -> bool:
    """Return whether a file is called like the configuration of a run."""
    return _CONFIG.fullmatch(file.rpartition("/")[2]) is not None


def is_content(stem: str) -> bool:
    """Return whether a name says what is in a file, and not whose it is."""
    words = re.split(r"[\s._-]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", stem).casefold())
    return all(word in _CONTENT for word in words)


def layout_of(listing: Listing, files: list[str]) -> Layout:
    """Return which of the files with scores are of which run."""
    layout = Layout()
    inside: dict[str, set[str]] = defaultdict(set)
    for file in listing.files:
        inside[_parent(file)].add(file.rpartition("/")[2])
    rest = _of_trainers(listing, files, layout)
    rest = _of_dvclive(rest, layout)
    homes = _homes_of_trainers(layout)
    rest = [file for file in rest if _parent(file) not in homes]
    by_folder: dict[str, list[str]] = defaultdict(list)
    for file in rest:
        by_folder[_parent(file)].append(file)
    times = Counter(file.rpartition("/")[2] for file in rest)
    for folder, some in by_folder.items():
        _of_folder(listing, folder, some, times, inside, layout)
    _drop_bystanders(layout)
    # Leave out what is in folders of figures, unless there is nothing else.
    figures = [
        run
        for run, home in layout.folders.items()
        if any(_FIGURES.fullmatch(part) for part in home.split("/"))
    ]
    if len(figures) < len(layout.runs):
        for run in figures:
            layout.leave_out(layout.remove(run), "in folders of figures")
    # Leave out run/best and run/backup: states and copies of a run.
    copies = [
        run
        for run, home in layout.folders.items()
        if run == home
        and _COPY.fullmatch(run.rpartition("/")[2])
        and "/" in run
        and _parent(run) in layout.runs
    ]
    for run in copies:
        layout.leave_out(layout.remove(run), "in folders of a run's states or copies")
    _merge_checkpoints(layout)
    _merge_parts(layout, inside)
    _drop_sums(layout)
    if not any(len({s.prefix for s in parts}) > 1 for parts in layout.runs.values()):
        for run, parts in layout.runs.items():  # one part of the data is all there is
            layout.runs[run] = [replace(source, prefix="") for source in parts]
    layout.failed += _without_scores(listing, layout)
    layout.count_left_out()
    # Folders without scores that are called like those of runs beside them.
    runs = [run for run, home in layout.folders.items() if run == home and run]
    paths = {*layout.folders, *layout.folders.values(), *layout.failed}
    used = {a for run in paths for a in (run, *_ancestors(run))}
    shapes = {_shape(run) for run in runs if "#" in _shape(run)}
    folders = {_parent(file) for file in listing.files} | set(listing.hollow)
    every = {a for folder in folders for a in (folder, *_ancestors(folder))} - used
    hollow = sorted(folder for folder in every if _shape(folder) in shapes)
    why = "without scores beside runs of the like name"
    layout.left_out += left_out(hollow, why, "folder")
    return layout


def _split(name: str) -> tuple[str, str]:
    path = PurePosixPath(name)
    if path.suffix == ".gz":
        return PurePosixPath(path.stem).stem, f"{PurePosixPath(path.stem).suffix}.gz"
    return path.stem, path.suffix


def _parent(file: str) -> str:
    return file.rpartition("/")[0]


def _ancestors(folder: str) -> Iterator[str]:
    while folder:
        folder = _parent(folder)
        yield folder


# --- tools with a place of their own for scores ------------------------------------------


def _of_trainers(listing: Listing, files: list[str], layout: Layout) -> list[str]:
    """Take states of Hugging Face's trainer: each checkpoint repeats those before it."""
    last: dict[str, tuple[int, bool, str]] = {}
    rest = []
    for file in files:
        folder, _, name = file.rpartition("/")
        if name != TRAINER:
            rest.append(file)
            continue
        checkpoint = _CHECKPOINT.fullmatch(folder.rpartition("/")[2])
        run = _parent(folder) if checkpoint else folder
        step = int(checkpoint[1]) if checkpoint else _global_step(listing.place(file))
        # At the same step the run's own state has the end of training, too.
        state = (step, checkpoint is None, file)
        last[run] = max(last.get(run, state), state)
    for run, (*_, file) in last.items():
        layout.add(run, _parent(file), Source(file))
        layout.kinds.add("huggingface")
    return rest


def _global_step(path: Path) -> int:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    match = re.search(r'"global_step"\s*:\s*(\d+)', text)
    return int(match[1]) if match else 0


def _homes_of_trainers(layout: Layout) -> set[str]:
    if "huggingface" not in layout.kinds:
        return set()
    return {
        folder
        for run, sources in layout.runs.items()
        for source in sources
        if source.file.endswith(TRAINER)
        for folder in (run, _parent(source.file))
    }


def _of_dvclive(files: list[str], layout: Layout) -> list[str]:
    """Take the curves that dvclive keeps one metric per file, with the last ones."""
    homes: set[str] = set()
    rest = []
    for file in files:
        before, folder, after = f"/{file}".partition(_CURVES_OF_DVC)
        if not folder:
            rest.append(file)
            continue
        run = before[1:]
        homes.add(run)
        layout.add(run, run, Source(file, metric=after.removesuffix(".tsv")))
    if not homes:
        return files
    layout.kinds.add("dvclive")
    others = []
    for file in rest:
        if _parent(file) in homes and file.endswith("metrics.json"):
            layout.add(_parent(file), _parent(file), Source(file))
        else:
            others.append(file)
    return others


# --- any folder --------------------------------------------------------------------------


def _of_folder(
    listing: Listing,
    folder: str,
    files: list[str],
    times: Counter[str],
    inside: dict[str, set[str]],
    layout: Layout,
) -> None:
    """Say whether the files of a folder are one run or one each."""
    stems = {file: _split(file)[0] for file in files}
    tables = {stem for file, stem in stems.items() if not file.endswith(NESTED)}
    beside = {  # a.csv and a.json: the second is the first one's configuration
        stems[file]: file
        for file in files
        if file.endswith(".json")
        and stems[file] in tables
        and not is_content(stems[file])
    }
    for name in inside[folder]:
        stem, end = _split(name)
        if end in _YAML and stem in tables and not is_content(stem):
            beside[stem] = f"{folder}/{name}" if folder else name
    files = [file for file in files if file not in beside.values()]
    content = [file for file in files if is_content(stems[file])]
    others = [file for file in files if file not in content]
    if content:
        layout.leave_out([f for f in others if _DERIVED.fullmatch(stems[f])], _BESIDE)
        others = [file for file in others if not _DERIVED.fullmatch(stems[file])]
    unique = [file for file in others if times[file.rpartition("/")[2]] == 1]
    usual = any(times[file.rpartition("/")[2]] > 1 for file in content) and folder
    if content and (len(unique) < 2 or usual):
        layout.leave_out(others, _BESIDE)
        others = []
    elif content:
        layout.leave_out(content, "beside runs that have a file each")
        content = []
    # The same name in every folder says what is in a file, unless it may be a seed's, has
    # a configuration of its own, or stands beside others with the same columns.
    shared = all(
        times[file.rpartition("/")[2]] > 1
        and not re.search(r"\d|=", stems[file])
        and stems[file] not in beside
        for file in others
    )
    if shared and others and (len(others) == 1 or _differ(listing, others)):
        content, others = content + others, []
    if content:
        names = inside[folder]
        if "results.csv" in names and "args.yaml" in names:
            layout.kinds.add("ultralytics")
        elif "metrics.csv" in names and "hparams.yaml" in names:
            layout.kinds.add("lightning")
        sources = [Source(file, _prefix(stems[file])) for file in content]
        layout.add(folder, folder, *sources)
    for file in others:
        stem = stems[file]
        run = f"{folder}/{stem}" if folder else stem
        if run in layout.runs:
            raise _same_name(run, layout.runs[run][0].file, file)
        layout.add(run, folder, Source(file, config=beside.get(stem)))


def _prefix(stem: str) -> str:
    """Return the part of the data that a file's name tells, such as ``train/``."""
    words = re.split(r"[\s._-]+", stem.casefold())
    return next((f"{word}/" for word in words if word in SPLITS), "")


def _differ(listing: Listing, files: list[str]) -> bool:
    """Return whether tables of a folder have columns of their own."""
    heads = set()
    for file in files:
        if not file.endswith(TABLES):
            return False
        try:
            with listing.place(file).open("rb") as lines:
                heads.add(lines.readline(65_536))
        except OSError:
            return False
    return len(heads) == len(files)


def _drop_bystanders(layout: Layout) -> None:
    """Leave out what lies beside the scores of other runs also where it is alone."""
    beside = {file.rpartition("/")[2] for file in layout.others.get(_BESIDE, ())}
    alone = [
        run
        for run, sources in layout.runs.items()
        if run == layout.folders[run]
        and run
        and all(source.file.rpartition("/")[2] in beside for source in sources)
    ]
    if len(alone) < len(layout.runs):
        for run in alone:
            layout.leave_out(layout.remove(run), _BESIDE)
            layout.failed.append(run)


def _merge_checkpoints(layout: Layout) -> None:
    """Take last scores of ``run/checkpoint-500`` for those of the run at that step."""
    for run in list(layout.runs):
        match = _STATE.fullmatch(run.rpartition("/")[2])
        if match is None or run != layout.folders[run] or "/" not in run:
            continue
        sources = layout.runs[run]
        if not all(source.file.endswith(NESTED) for source in sources):
            continue
        layout.remove(run)
        step = int(match[1])
        parent = _parent(run)
        layout.add(parent, parent, *(replace(s, step=step) for s in sources))


def _merge_parts(layout: Layout, inside: dict[str, set[str]]) -> None:
    """Count ``run/train`` and ``run/eval`` as parts of one run."""
    by_parent: dict[str, list[str]] = defaultdict(list)
    for run, folder in layout.folders.items():
        last = run.rpartition("/")[2]
        if run == folder and last in _CONTENT and "/" in run:
            by_parent[_parent(run)].append(run)
    for parent, parts in by_parent.items():
        words = {part.rpartition("/")[2] for part in parts}
        has_own = parent in layout.runs or any(map(_CONFIG.fullmatch, inside[parent]))
        if not (has_own or len(words & SPLITS) > 1):
            continue
        for part in parts:
            word = part.rpartition("/")[2]
            prefix = f"{word}/" if word in SPLITS or _COPY.fullmatch(word) else ""
            sources = layout.runs.pop(part)
            del layout.folders[part]
            layout.add(
                parent, parent, *(Source(s.file, prefix or s.prefix) for s in sources)
            )


def _drop_sums(layout: Layout) -> None:
    """Leave out scores of a folder that holds runs: of whom they are, nobody says."""
    above = {a for run in layout.runs for a in _ancestors(run)}
    sums = [run for run in layout.runs if run in above and run == layout.folders[run]]
    files = [source.file for run in sums for source in layout.runs[run]]
    for run in sums:
        layout.remove(run)
    layout.leave_out(files, "of folders that hold runs")
    whole = [run for run in layout.runs if run == layout.folders[run]]
    holders = {a for run in whole for a in _ancestors(run)}
    lone = [
        run for run, home in layout.folders.items() if run != home and home in holders
    ]
    if 2 * len(lone) < len(whole):
        files = [source.file for run in lone for source in layout.runs[run]]
        for run in lone:
            layout.remove(run)
        layout.leave_out(files, "beside folders of runs")


def _without_scores(listing: Listing, layout: Layout) -> Iterator[str]:
    """Yield folders with a configuration where others like them have scores too."""
    homes = set()
    for file in listing.files:
        folder, _, name = file.rpartition("/")
        if _CONFIG.fullmatch(name):
            hidden = folder.rpartition("/")[2] == ".hydra"
            homes.add(_parent(folder) if hidden else folder)
    used = {a for f in layout.folders.values() for a in (f, *_ancestors(f))}
    alike = {_parent(home) for home in homes if home in used and home}
    read = {_parent(s.file) for some in layout.runs.values() for s in some}
    idle = {home for home in homes if home and home not in used and home not in read}
    # What is inside a run, such as an earlier state of it, is no other run.
    idle = {home for home in idle if layout.runs.keys().isdisjoint(_ancestors(home))}
    idle -= set(layout.failed)
    for home in sorted(idle):
        if _parent(home) in alike and idle.isdisjoint(_ancestors(home)):
            yield home


def _shape(folder: str) -> str:
    """Return how deep a folder is, and its name with a sign in place of numbers."""
    return f"{folder.count('/')}{re.sub('[0-9]+', '#', folder.rpartition('/')[2])}"


# --- configuration -----------------------------------------------------------------------


class Configurations:
    """Configuration files of folders, each read once."""

    def __init__(self, top: Path) -> None:
        self._top = top
        self._known: dict[str, dict[str, Any]] = {}
        self.unread: list[tuple[str, str]] = []

    def of(self, folder: str, single: str | None) -> dict[str, Any]:
        """Return what holds in a folder: its own settings go before those above."""
        settings: dict[str, Any] = {}
        for one in [*list(_ancestors(folder))[::-1], folder]:
            settings |= self._in(one)
        return settings | (self._read(single) if single else {})

    def _in(self, folder: str) -> dict[str, Any]:
        if folder in self._known:
            return self._known[folder]
        settings: dict[str, Any] = {}
        overrides: dict[str, Any] = {}
        for place in (folder, f"{folder}/.hydra".lstrip("/")):
            names = _names_in(self._top / place)
            for name in sorted(filter(_CONFIG.fullmatch, names), key=_rank):
                settings |= self._read(f"{place}/{name}".lstrip("/"))
            if place.endswith(".hydra") and "overrides.yaml" in names:
                overrides = self._overrides(f"{place}/overrides.yaml".lstrip("/"))
        # model=net chooses a whole group of settings: its name is nowhere else.
        settings |= {k: v for k, v in overrides.items() if k not in settings}
        self._known[folder] = settings
        return settings

    def _overrides(self, file: str) -> dict[str, Any]:
        try:
            text = (self._top / file).read_text(encoding="utf-8", errors="replace")
            lines = yaml_of(text, file)
        except (OSError, CurvewiseError):
            return {}
        pairs = [str(x).lstrip("+~").partition("=") for x in lines or []]
        return {key.replace("/", "."): value for key, sign, value in pairs if sign}

    def _read(self, file: str) -> dict[str, Any]:
        try:
            text = (self._top / file).read_text(encoding="utf-8-sig", errors="replace")
            values = parsed(text) if file.endswith(".json") else yaml_of(text, file)
        except (OSError, ValueError) as problem:
            self.unread.append((file, str(problem)))
            return {}
        if not isinstance(values, dict):
            return {}
        if all(isinstance(v, dict) and set(v) >= {"value"} for v in values.values()):
            values = {k: v["value"] for k, v in values.items()}  # as wandb writes it
        few = {k: v for k, v in values.items() if k not in ("id2label", "label2id")}
        flat = flattened(few, ".")
        if len(few) == 1 and str(next(iter(few))).casefold() in CONFIG_KEYS:
            flat = {key.partition(".")[2] or key: value for key, value in flat.items()}
        return flat


def _rank(name: str) -> int:
    return -_CONFIG_STEMS.index(_split(name.lower())[0])


def _names_in(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries)
    except OSError:
        return []


_EXPONENT = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$")


def yaml_of(text: str, name: str) -> Any:
    """Return what a text of YAML says; objects of Python are read as texts."""
    import yaml

    base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loader: Any = type("_Plain", (base,), {})
    loader.add_multi_constructor("", _tagged)
    # 1e-3 is a number to everybody but YAML 1.1.
    loader.add_implicit_resolver(
        "tag:yaml.org,2002:float", _EXPONENT, list("-+0123456789.")
    )
    try:
        _refuse_depth(text, base)
        value = yaml.load(text, Loader=loader)  # noqa: S506 a safe one, without objects
        _ = _size(value, {})
    except (yaml.YAMLError, RecursionError, ValueError) as problem:
        reason = shortened(getattr(problem, "problem", None) or problem, 200)
        raise CurvewiseError(f"{name} is no YAML: {reason}.") from None
    return value


_DEEPEST = 200
_MOST_VALUES = 100_000


def _refuse_depth(text: str, loader: Any) -> None:
    """Raise for a text that is nested so deep that building it would end the process."""
    import yaml

    if sum(map(text.count, ("[", "{", "- ", "\n "))) < _DEEPEST:
        return
    depth = 0
    for event in yaml.parse(text, Loader=loader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise ValueError(f"it is nested more than {_DEEPEST} deep")


def _size(value: Any, sizes: dict[int, int]) -> int:
    """Return how many values there are, those of an alias each time; raise for too many."""
    if not isinstance(value, Mapping | list):
        return 1
    if id(value) not in sizes:
        sizes[id(value)] = 0  # one that holds itself ends here
        inner = value.values() if isinstance(value, Mapping) else value
        sizes[id(value)] = sum(_size(one, sizes) for one in inner)
    if sizes[id(value)] > _MOST_VALUES:
        raise ValueError(f"it has more than {_MOST_VALUES:,} values")
    return sizes[id(value)]


def _tagged(loader: Any, suffix: str, node: Any) -> Any:
    """Return what stands behind a tag, as plain values; never an object."""
    kind = type(node).__name__
    if kind == "MappingNode":
        return loader.construct_mapping(node, deep=True)
    if kind == "SequenceNode":
        return loader.construct_sequence(node, deep=True)
    return node.value or suffix.rpartition(":")[2]
