"""Draw the pictures of the pages on curves, data and papers: run what the pages say.

The pictures are committed; run this after the pages or the figures have changed. Another
folder than that of the documentation may be named, to look before anything is replaced.
"""

import contextlib
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = (
    "docs/explanation/curves.md",
    "docs/tutorial/compare-curves.md",
    "docs/explanation/error-and-data.md",
    "docs/tutorial/more-data.md",
    "docs/explanation/rates-and-data.md",
    "docs/tutorial/precision-and-recall.md",
    "docs/how-to/write-a-paper.md",
)
IMAGES = ROOT / "docs" / "images"


def drawn_by(page: str, folder: Path) -> list[Path]:
    """Run the Python of a page in a folder, and return the pictures that it left."""
    text = (ROOT / page).read_text()
    names: dict[str, object] = {"__name__": "__main__"}
    with contextlib.chdir(folder):
        for block in re.findall(r"```python\n(.*?)```", text, re.S):
            exec(compile(block, page, "exec"), names)
    return sorted(folder.glob("*.png"))


def main() -> None:
    """Draw all of them."""
    os.environ["MPLBACKEND"] = "agg"
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES
    target.mkdir(parents=True, exist_ok=True)
    for page in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            for picture in drawn_by(page, Path(folder)):
                shutil.copy(picture, target / picture.name)
                print(target / picture.name)


if __name__ == "__main__":
    main()
