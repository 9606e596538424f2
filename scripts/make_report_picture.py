"""Make docs/images/report.png: the top of the page that the first tutorial writes.

The picture is committed; run this after the page has changed. It needs what the tests of
the page need: Playwright and a browser.
"""

import sys
import tempfile
from pathlib import Path

import curvewise as cw

ROOT = Path(__file__).parent.parent
SIZE = {"width": 1180, "height": 1700}


def main():
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    from browser import chromium

    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        path = Path(folder) / "report.html"
        cw.report.write(cw.example("search"), path, failed="worst")
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto(path.as_uri())
        page.locator(".main-svg").first.wait_for(state="attached")
        page.screenshot(path=ROOT / "docs" / "images" / "report.png")


if __name__ == "__main__":
    main()
