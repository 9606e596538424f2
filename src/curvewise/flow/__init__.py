"""Where engine, store, exchange and analyses meet: read results, or run for them."""

from curvewise.flow.reading import read
from curvewise.flow.replaying import replay
from curvewise.flow.running import run

__all__ = ["read", "replay", "run"]
