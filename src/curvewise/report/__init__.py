"""One self-contained page from trials: asks the analyses, computes nothing itself."""

from curvewise.report.page import write

__all__ = ["write"]
