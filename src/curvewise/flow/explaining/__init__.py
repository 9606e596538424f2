"""What can these trials answer, and what can they not? Every question, asked of them."""

from curvewise.flow.explaining.answer import Can, Explanation, Question
from curvewise.flow.explaining.everything import explain
from curvewise.flow.explaining.scores import may_be_crossed, usual_at, worth_planning

__all__ = [
    "Can",
    "Explanation",
    "Question",
    "explain",
    "may_be_crossed",
    "usual_at",
    "worth_planning",
]
