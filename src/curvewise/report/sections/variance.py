"""Where does the spread of scores come from?"""

from curvewise.analyses._asking import crossed_factors
from curvewise.analyses.variance import variance_shares
from curvewise.report.sections.parts import Block, Group, Section, Settings
from curvewise.trials import Trials


def variance_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return what the spread of scores is due to, where trials are crossed."""
    if not crossed_factors(trials):
        return []
    out: list[Section] = []
    for metric in settings.metrics:
        answer = variance_shares(trials, metric, at=settings.at, failed=settings.failed)
        out.append(
            Section(
                f"variance-{len(out)}",
                f"Where does the spread come from? ({metric})",
                "These trials are crossed: they share draws, so that each source of chance "
                "can be told from the others.",
                groups=[
                    Group(
                        "",
                        [
                            Block(
                                "Shares of the variance",
                                "",
                                None,
                                answer.rows(),
                                _SHARES,
                            )
                        ],
                    )
                ],
                notes=answer.notes(),
                provenance=str(answer.provenance),
            )
        )
    return out


_SHARES = "How much of the variance of the score each source explains"
