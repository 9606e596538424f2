"""The page of a paper: its tables beside ours, its figures, its errata."""

from collections.abc import Sequence
from pathlib import Path

from curvewise._text import Row, joined
from curvewise.papers.claims import Claims
from curvewise.papers.reproducing import Reproduction
from curvewise.papers.study import Figure, Paper, Study
from curvewise.report.names import Names
from curvewise.report.page import bound, refuse_to_replace, save
from curvewise.report.sections import Block, Group, Method, Section


def write(paper: Paper, found: Sequence[Reproduction], path: str | Path) -> Path:
    """Write the page of a paper as one HTML file, and return its path.

    Parameters
    ----------
    paper : Paper
    found : sequence of Reproduction
    path : str or Path
    """
    target = refuse_to_replace(path)
    save(render(paper, found), target)
    return target


def render(paper: Paper, found: Sequence[Reproduction]) -> str:
    """Return the page as the text of an HTML file."""
    sections = [section for one in found for section in _of_study(one)]
    sections.append(_errata(paper))
    return bound(
        sections,
        Names.among([]),
        title=f"{joined([_last(a) for a in paper.printed.authors])} "
        f"{paper.printed.year}, reproduced",
        read=f"{paper.printed.citation} {paper.about}",
        facts=_facts(found),
        caption="What was run, and with what",
    )


def _of_study(one: Reproduction) -> list[Section]:
    study = one.study
    if one.claims is None or one.results is None:
        asked = f"This needs {one.missing}."
        return [Section(study.name, study.title, asked, in_summary=False)]
    tables = [
        Section(
            f"{study.name}-{place}",
            f"{table} ({study.name})",
            study.about,
            one.claims.headline(table),
            groups=[Group("", [_table(one.claims, table)])],
            notes=one.claims.explanations(table),
            method=_method(one.claims, table) if place == 0 else None,
        )
        for place, table in enumerate(one.claims.tables)
    ]
    figures = [_figure(study, figure) for figure in study.figures(one.results)]
    return [*tables, *figures, _settled(study)]


def _table(claims: Claims, table: str) -> Block:
    return Block("", "", None, claims.beside(table), f"{table}: printed | ours")


def _method(claims: Claims, table: str) -> Method:
    own = claims.of(table)
    reasons = list(dict.fromkeys(claim.reason for claim in own if claim.reason))
    first = claims.notes()[0]
    return Method("printed | ours ± standard error", first, " ".join(reasons))


def _figure(study: Study, figure: Figure) -> Section:
    blocks = [Block(c.title, "", c, (), c.caption) for c in figure.charts]
    return Section(
        f"{study.name}-{figure.name}",
        figure.title,
        figure.says,
        groups=[Group("", blocks)],
        in_summary=False,
    )


def _settled(study: Study) -> Section:
    return Section(
        f"{study.name}-settled",
        f"What the paper leaves open ({study.name})",
        "What is not printed has to be chosen, and here is how.",
        notes=study.settled,
        in_summary=False,
    )


def _errata(paper: Paper) -> Section:
    rows = [erratum.row() for erratum in paper.printed.errata]
    block = Block("", "", None, rows, "Errata, with proof")
    return Section(
        "errata",
        "What does the paper print wrongly?",
        "What does not follow, cannot be, or contradicts what is printed elsewhere.",
        groups=[Group("", [block])],
        in_summary=False,
    )


def _facts(found: Sequence[Reproduction]) -> list[Row]:
    return [
        {"study": one.study.name, "fact": fact, "value": value}
        for one in found
        if one.results is not None
        for fact, value in one.results.made.items()
    ] or [{"study": "none", "fact": "", "value": ""}]


def _last(name: str) -> str:
    return name.rsplit(maxsplit=1)[-1]
