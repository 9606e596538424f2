"""The live view's eyes: what is new in a store, how far it is, when it will be known."""

from curvewise.flow.watch.moment import Moment, forecast
from curvewise.flow.watch.watcher import Watcher

__all__ = [
    "Moment",
    "Watcher",
    "forecast",
]
