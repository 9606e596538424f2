"""Until when to run: what to find out, the looks on the way, what was reached."""

from curvewise.flow.until.criterion import Until, until

__all__ = ["Until", "until"]
