"""What does tuning gain?"""

from curvewise.analyses._asking import crossed_factors
from curvewise.analyses.robustness import robustness, tuned_pairs
from curvewise.figures.robustness import gain_chart
from curvewise.report.sections.parts import Block, Group, Section, Settings
from curvewise.trials import Trials


def robustness_sections(trials: Trials, settings: Settings) -> list[Section]:
    """Return what tuning gains, where algorithms have tuned ones: "svm", "svm tuned"."""
    if not tuned_pairs(trials.algorithms) or crossed_factors(trials):
        return []
    out: list[Section] = []
    for metric in settings.metrics:
        answer = robustness(trials, metric, at=settings.at, failed=settings.failed)
        blocks = [
            Block(
                f"Tuning on {task}",
                answer.verdict(task),
                gain_chart(answer, task),
                answer.table(task),
                f"What tuning gains in {answer.metric.label} on {task}",
            )
            for task in answer.tasks
        ]
        out.append(
            Section(
                f"robustness-{len(out)}",
                f"What does tuning gain? ({answer.metric.label})",
                "An algorithm that gains little by tuning is good as it comes: it is "
                "robust to its hyperparameters.",
                groups=[Group("", blocks)],
                notes=answer.notes(),
                provenance=str(answer.provenance),
            )
        )
    return out
