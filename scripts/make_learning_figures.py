"""Draw the pictures of the pages on error and data: run the pages, keep what they save.

The pictures are committed; run this after the pages or the figures have changed. Another
folder than that of the documentation may be named, to look before anything is replaced.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from make_curve_figures import IMAGES, drawn_by

PAGES = ("docs/tutorial/more-data.md", "docs/explanation/error-and-data.md")


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
