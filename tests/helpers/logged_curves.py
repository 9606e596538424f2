"""Runs of another tool as plain dicts, to hold beside what the tool says."""


def curves(runs):
    """Return {run: {metric: [(step, value), ...]}} in order of writing."""
    names, scalars = runs.table.column("run").to_pylist(), runs.scalars
    out = {name: {} for name in names}
    columns = (scalars.run, scalars.metric, scalars.step, scalars.value)
    for run, metric, step, value in zip(*(c.tolist() for c in columns), strict=True):
        own = out[names[run]].setdefault(scalars.names[metric], [])
        own.append((step, value))
    return out
