"""The page itself: sections into one HTML file that needs no network."""

import json
import os
import tempfile
from importlib.resources import files
from pathlib import Path

from markupsafe import Markup

from curvewise._text import html_table
from curvewise._version import __version__
from curvewise.errors import CurvewiseError
from curvewise.figures.series import Chart
from curvewise.report.charts import plotly_figure
from curvewise.report.sections import SECTIONS, Settings, chosen_metrics
from curvewise.trials import Trials, must_be_trials
from curvewise.trials.doors import At
from curvewise.trials.failures import Failed


def write(
    trials: Trials,
    path: str | Path,
    *,
    metric: str | None = None,
    at: At = "last",
    failed: Failed = "raise",
    audit: int = 0,
) -> Path:
    """Write a report about trials as one HTML file, and return its path.

    Parameters
    ----------
    trials : Trials
    path : str or Path
        Its folder is made if it is not there.
    metric : str, optional
        The metric to report; all of them if left out.
    at : {"last", "mean", "best"} or float
        Which value of a curve is its score.
    failed : {"raise", "worst"} or float
        What a failed trial scores.
    audit : int
        How often the same pipeline is tried on shuffled labels and on simulated trials,
        so that the page says how often it errs; 0 for never. See `curvewise.audit`.

    Examples
    --------
    >>> import curvewise as cw
    >>> folder = getfixture("tmp_path")
    >>> write(cw.example("search"), folder / "report.html", failed="worst").name
    'report.html'
    """
    target = Path(path)
    must_be_trials(trials)
    if target.is_dir():
        raise CurvewiseError(f"{target} is a folder. Pass the path of an HTML file.")
    _refuse_to_replace(target)
    text = render(trials, metric=metric, at=at, failed=failed, audit=audit)
    target.parent.mkdir(parents=True, exist_ok=True)
    _write_whole(target, text)
    return target


def render(
    trials: Trials,
    *,
    metric: str | None = None,
    at: At = "last",
    failed: Failed = "raise",
    audit: int = 0,
) -> str:
    """Return the report as the text of an HTML file."""
    from jinja2 import Environment, PackageLoader

    if len(trials) == 0:
        raise CurvewiseError("There are no trials to report. Check what was read.")
    settings = Settings(chosen_metrics(trials, metric), at, failed, audit)
    sections = [section for make in SECTIONS for section in make(trials, settings)]
    blocks = [b for s in sections for group in s.groups for b in group.blocks]
    charts = [b.chart for b in blocks if b.chart is not None]
    environment = Environment(
        loader=PackageLoader("curvewise.report"), autoescape=True, trim_blocks=True
    )
    page = environment.get_template("page.html")
    return page.render(
        title="curvewise report",
        trials=trials,
        facts=Markup(trials._repr_html_()),  # noqa: S704  escaped where it is made
        sections=sections,
        place=charts.index,
        figures=Markup(_script_json([plotly_figure(c) for c in charts])),  # noqa: S704
        table=lambda rows, caption: Markup(html_table(rows, caption)),  # noqa: S704
        label=_label,
        plotly=Markup(_plotly()) if charts else "",  # noqa: S704  our dependency's own script
        version=__version__,
    )


def _refuse_to_replace(path: Path) -> None:
    """Raise if a file is there that is no page: it may be somebody's results."""
    if not path.exists():
        return
    with path.open("rb") as file:
        begin = file.read(64).lstrip().lower()
    if begin and not begin.startswith((b"<!doctype html", b"<html")):
        raise CurvewiseError(
            f"{path} is there already and is no HTML page. Pass another path."
        )


def _label(chart: Chart) -> str:
    names = ", ".join(s.name for s in chart.series if not s.is_faint)
    return f"{chart.title}: {chart.y_label} of {names}. The numbers are in the table below."


def _plotly() -> str:
    return (files("plotly") / "package_data" / "plotly.min.js").read_text("utf-8")


def _script_json(value: object) -> str:
    # A name such as "</script>" must not end the script that holds it.
    text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old one or the new one, never a half."""
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
