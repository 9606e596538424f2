"""The live view's eyes: what is new in a store, how far it is, when it will be known."""

from curvewise.flow.watching.forecast import forecast
from curvewise.flow.watching.moment import Moment
from curvewise.flow.watching.watcher import Watcher

__all__ = ["Moment", "Watcher", "forecast"]
