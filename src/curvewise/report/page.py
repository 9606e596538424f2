"""The page itself: sections into one HTML file that needs no network."""

import base64
import hashlib
import os
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, PackageLoader
from markupsafe import Markup

from curvewise.errors import CurvewiseError
from curvewise.metrics import Metric
from curvewise.questions.needs import usual_at
from curvewise.questions.section import Section, Settings
from curvewise.report.layout import LONG, MANY, Desk, contents, script_json
from curvewise.report.names import Names, visible
from curvewise.report.sections import page_sections
from curvewise.text import Row, count, joined
from curvewise.trials import Trials, must_be_trials
from curvewise.trials.doors import At, Failed
from curvewise.trials.table import understood
from curvewise.trials.trial import ONLY
from curvewise.version import __version__

_IN_TITLE = 60  # letters of names that a title may hold


def write(
    trials: Trials,
    path: str | Path,
    *,
    metric: str | None = None,
    at: At = "last",
    failed: Failed = "raise",
    audit: int = 0,
    anyway: bool = False,
) -> Path:
    """Write a report about trials as one HTML file, and return its path.

    Examples
    --------
    >>> import curvewise as cw
    >>> folder = getfixture("tmp_path")
    >>> write(cw.example("search"), folder / "report.html", failed="worst").name
    'report.html'
    """
    must_be_trials(trials)
    target = refuse_to_replace(path)
    text = render(
        trials, metric=metric, at=at, failed=failed, audit=audit, anyway=anyway
    )
    save(text, target)
    return target


def render(
    trials: Trials,
    *,
    metric: str | None = None,
    at: At = "last",
    failed: Failed = "raise",
    audit: int = 0,
    anyway: bool = False,
) -> str:
    """Return the report as the text of an HTML file; the same for the same trials."""
    if len(trials) == 0:
        raise CurvewiseError("There are no trials to report. Check what was read.")
    if at == "last":  # of single sizes the largest
        at = usual_at(trials)
    settings = Settings.of(trials, metric, at, failed, audit=audit, anyway=anyway)
    sections = page_sections(trials, settings)
    read = [
        {"fact": fact, "what was understood": text} for fact, text in understood(trials)
    ]
    return bound(
        sections,
        Names.of(trials),
        title=_title(trials),
        read=_read(trials, settings),
        facts=read,
        caption="What was read, and how it was understood",
    )


def bound(
    sections: Sequence[Section],
    names: Names,
    *,
    title: str,
    read: str,
    facts: Sequence[Row],
    caption: str,
) -> str:
    """Return sections as the text of an HTML file."""
    desk = Desk(names)
    chapters = desk.chapters(sections)
    data = desk.table(facts, caption)
    scripts = (
        [_plotly(), _template("page.js")] if desk.has_charts else [_template("page.js")]
    )
    return (
        _environment()
        .get_template("page.html")
        .render(
            said=names.said,
            told=names.told,
            key=desk.key,
            title=title,
            read=read,
            chapters=chapters,
            contents=contents(chapters),
            answered=[c for c in chapters if c.section.answer and c.section.in_summary],
            data=data,
            names=names,
            known=script_json({"cut": list(names.short), "groups": list(desk.groups)}),
            looks=desk.looks,
            many=MANY,
            long=LONG,
            style=Markup(_template("style.css")),  # noqa: S704  our own
            scripts=[Markup(script) for script in scripts],  # noqa: S704  ours and Plotly's
            hashes=[_hash(script) for script in scripts],
            version=__version__,
        )
    )


@cache
def _environment() -> Environment:
    """Return what pages are made by; it takes a while to read a template."""
    made = Environment(
        loader=PackageLoader("curvewise.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["visible"] = visible
    return made


def _title(trials: Trials) -> str:
    """Return who met on what; a table that names nobody has no names to tell."""
    who, where = joined(trials.algorithms), joined(trials.tasks)
    if len(trials.algorithms) > 4 or len(who) > _IN_TITLE:
        who = count(len(trials.algorithms), "algorithm")
    if len(trials.tasks) > 1 or len(where) > _IN_TITLE:
        where = count(len(trials.tasks), "task")
    if trials.algorithms == (ONLY,):
        who = count(len(trials), "trial")
    return who if trials.tasks == (ONLY,) else f"{who} on {where}"


def _read(trials: Trials, settings: Settings) -> str:
    """Return in a line what was read."""
    broken = int((trials.core.status != 0).sum())
    failed = f" ({broken:,} failed)" if broken else ""
    metrics = [trials.metric(name) for name in settings.every]
    if not metrics:
        judged = "no score"
    elif len(metrics) > 4:
        judged = count(len(metrics), "metric")
    else:
        judged = joined([f"{m.label} ({_better(m)})" for m in metrics])
    return (
        f"{count(len(trials), 'trial')}{failed} of "
        f"{count(len(trials.algorithms), 'algorithm')} on "
        f"{count(len(trials.tasks), 'task')}: {judged}."
    )


def _better(metric: Metric) -> str:
    """Return which way is better, and whether no more than the name says so."""
    if metric.direction is None:
        unsaid = "is not known" if not metric.is_directed else "differs by task"
        return f"which way is better {unsaid}"
    return (
        f"{metric.direction} is better{', from its name' if metric.assumption else ''}"
    )


def _template(name: str) -> str:
    # Read as it is: a script or a style may hold what means something to Jinja.
    return (files("curvewise.report") / "templates" / name).read_text("utf-8")


def _plotly() -> str:
    return (files("plotly") / "package_data" / "plotly.min.js").read_text("utf-8")


def _hash(script: str) -> str:
    """Return what allows this script on the page, and no other."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def refuse_to_replace(path: str | Path) -> Path:
    """Return where a page may be; raise if what is there may be somebody's results."""
    target = Path(path)
    if target.is_dir():
        raise CurvewiseError(f"{target} is a folder. Pass the path of an HTML file.")
    if not target.exists():
        return target
    with target.open("rb") as file:
        begin = file.read(64).lstrip().lower()
    if begin and not begin.startswith((b"<!doctype html", b"<html")):
        raise CurvewiseError(
            f"{target} is there already and is no HTML page. Pass another path."
        )
    return target


def save(text: str, path: Path) -> None:
    """Write a file so that a reader sees the old one or the new one, never a half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
