"""Which score curves are of: the one asked for, the first one, or what counts tell."""

from curvewise.metrics import FROM_COUNTS, Metric, find
from curvewise.store.news import News
from curvewise.trials.values import may_judge


def chosen(news: News, wanted: str | None) -> Metric | None:
    """Return what curves are of; None where these trials cannot tell."""
    name = wanted or _first(news)
    if name is not None and name in news.metrics:
        return news.metrics[name]
    if news.details is None or not news.details.classes.any():
        return None
    name = name or next(iter(FROM_COUNTS))
    return find(name) if name in FROM_COUNTS else None


def may_need_counts(news: News, wanted: str | None) -> bool:
    """Return whether only confusion counts, which were not read, could tell."""
    if news.details is not None or not len(news):
        return False
    if wanted is None:
        return _first(news) is None
    return wanted not in news.metrics and wanted in FROM_COUNTS


def _first(news: News) -> str | None:
    """Return the first metric to judge by; one of known direction goes before."""
    scores = [name for name, one in news.metrics.items() if may_judge(one)]
    known = (name for name in scores if news.metrics[name].direction is not None)
    return next(known, next(iter(scores), None))
