"""Whose results these are: another tool's, or a table of the caller's own."""

from pathlib import Path

from curvewise.errors import CurvewiseError, Keyword
from curvewise.exchange import tools
from curvewise.exchange.head import head_of, meanings_beside, meant_in
from curvewise.exchange.runs import Asked, Runs, Sheet
from curvewise.exchange.tables import existing, load, without_head

_SQLITE = "sqlite:///"


def found_in(source: object, asked: Asked, tool: str | None) -> Runs | Sheet:
    """Return the runs that another tool kept, or a table as it stands."""
    tools.must_be_tool(tool)
    if (paths := tools.several_paths(source)) is not None:
        found = tools.from_paths(paths, asked, tool)
    elif isinstance(source, str | Path):
        path = existing(str(source).removeprefix(_SQLITE), folder=True)
        found = tools.from_path(path, asked, tool)
        source = path
    else:
        found = tools.from_object(source, asked, tool)
    if found is None:
        table, name = load(source, asked.names)
        head = head_of(table)
        if tool is None and head is not None:
            if isinstance(source, Path) or not _is_pandas(source):
                return Sheet(name, table)
            # pandas has one word for "not recorded" and "not a number": read as usual.
            known = meant_in(head)
            return Sheet(name, without_head(table, name), {"known": known})
        found = tools.from_table(table, name, asked, tool)
        if found is None and tool is not None:
            raise CurvewiseError(
                f"{name} does not look like results of {tool}. Leave out ",
                Keyword("tool"),
                f", or pass what {tool} wrote.",
            )
        found = found or Sheet(name, table, {"known": meanings_beside(source)})
    return found


def _is_pandas(source: object) -> bool:
    return type(source).__module__.partition(".")[0] == "pandas"
