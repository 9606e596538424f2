"""Make docs/images/live.png: the live page in the middle of a run.

Needs what the tests of the page need: the extra `live`, Playwright and a browser.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from curvewise import Trial, Trials, store

ROOT = Path(__file__).parent.parent
TRIALS = 400
LAWS = {"forest": (60, 9, 0.0), "network": (9, 3, 0.06), "svm": (40, 7, 0.01)}
TASKS = ("moons", "circles", "spirals")
ASKED = "cvar 0.5 +- 0.05 of accuracy failed worst"


def trial(rng, task, name, number):
    a, b, failing = LAWS[name]
    if rng.random() < failing:
        epoch = int(rng.integers(1, 4))
        error = f"FloatingPointError: loss is nan at epoch {epoch}"
        return Trial(task, name, number, {}, status="failed", error=error, seconds=0.4)
    score = float(rng.beta(a, b))
    return Trial(task, name, number, {"accuracy": score}, seconds=rng.exponential())


def main():
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    from browser import chromium
    from live import serving

    rng = np.random.default_rng(8)
    cells = [[task, name] for task in TASKS for name in LAWS]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "moons.db"
        with store.open(path) as s, s.driving(), serving(path) as server:
            plan = [[*cell, TRIALS] for cell in cells]
            asked = [ASKED, False, TRIALS, cells]
            s.note({"plan": json.dumps(plan), "asked": json.dumps(asked)})
            with chromium() as browser:
                page = browser.new_page(viewport={"width": 1000, "height": 1180})
                page.goto(server.url)
                for number in range(170):
                    trials = [trial(rng, *cell, number) for cell in cells]
                    s.write(Trials(trials))
                    page.wait_for_timeout(60)
                page.wait_for_function(
                    "document.getElementById('forecast').textContent.includes('probably')"
                )
                page.wait_for_timeout(1500)
                page.screenshot(path=ROOT / "docs" / "images" / "live.png")


if __name__ == "__main__":
    main()
