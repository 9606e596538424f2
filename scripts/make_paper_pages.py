"""Write docs/papers/ and docs/images/papers/ from docs/results/; nothing is run."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt

from curvewise_papers import PAPERS, find
from curvewise_papers.page import drawings, page
from curvewise_papers.study import kept

DOCS = Path(__file__).resolve().parents[1] / "docs"
RESULTS, PAGES, IMAGES = DOCS / "results", DOCS / "papers", DOCS / "images" / "papers"


def main() -> None:
    PAGES.mkdir(exist_ok=True)
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or PAPERS:
        paper = find(name)
        found = list(kept(paper, paper.studies, RESULTS))
        (PAGES / f"{name}.md").write_text(page(paper, found), "utf-8")
        for one in found:
            for file, ax in drawings(paper, one).items():
                ax.figure.savefig(IMAGES / f"{file}.png", dpi=100)
                plt.close(ax.figure)
        print(f"{name}: {', '.join(one.claims.headline() for one in found)}")


if __name__ == "__main__":
    main()
