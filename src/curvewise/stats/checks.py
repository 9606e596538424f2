"""Checks of what statistics are asked with, for those who ask: refuse early."""

from curvewise.stats._sample import (
    checked_alpha,
    checked_confidence,
    checked_half_width,
    checked_level,
    is_number,
    one_of,
)

__all__ = [
    "checked_alpha",
    "checked_confidence",
    "checked_half_width",
    "checked_level",
    "is_number",
    "one_of",
]
