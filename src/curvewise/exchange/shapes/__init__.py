"""Tables that are not one row per run or step: recognised, or asked about.

Each shape is one function from a table to a plain one. It acts only where names and
values leave no other reading; where they do, it raises with the option to type.
"""

import pyarrow as pa

from curvewise.exchange.shapes import cells, columns, counts, endings, joint, runs
from curvewise.exchange.shapes.base import EXAMPLES_AT, Shaped, Stated
from curvewise.exchange.shapes.cells import must_be_names, same_names

__all__ = ["EXAMPLES_AT", "Shaped", "must_be_names", "same_names"]

_SHAPES = (
    *(cells.numbers, joint.joint, runs.summaries, runs.summary_rows, columns.melted),
    *(counts.classes, counts.matrix, counts.examples, counts.items, counts.shares),
    *(columns.wide, endings.endings, runs.rows),
)


def in_shape(table: pa.Table, name: str, stated: Stated) -> Shaped:
    """Return a table with one row per run or step, whatever shape it came in."""
    shaped = Shaped(table, dict(stated))
    for recognise in _SHAPES:
        shaped = recognise(shaped, name) or shaped
    return shaped
