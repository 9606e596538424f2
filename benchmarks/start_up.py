"""What it costs to start, against what everybody pays anyway."""

import subprocess
import sys
import tempfile
from pathlib import Path

from ratio import Ratio, best_of

from curvewise.examples import example_text

TIMED = (
    "import time; b = time.perf_counter(); import {}; print(time.perf_counter() - b)"
)


def imported(name: str) -> float:
    """Return the seconds that an import takes in a fresh Python, the best of many."""
    command = [sys.executable, "-c", TIMED.format(name)]
    runs = [subprocess.run(command, capture_output=True, check=True) for _ in range(15)]
    return min(float(run.stdout) for run in runs)


def measure() -> list[Ratio]:
    imported("curvewise")  # compiled once
    numpy, curvewise = imported("numpy"), imported("curvewise")
    trials = imported("curvewise.trials")  # what is behind the first name that is used
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.csv"
        lines = example_text("search").splitlines(keepends=True)
        path.write_text("".join(lines[:101]))  # a header and 100 rows
        command = [sys.executable, "-m", "curvewise", "performance", path]
        command += ["--failed", "worst"]
        peer = [sys.executable, "-c", "import numpy, scipy.stats"]
        mine, theirs = best_of(
            8,
            lambda: subprocess.run(command, capture_output=True, check=False),
            lambda: subprocess.run(peer, check=True),
        )
    return [
        Ratio(
            "import curvewise, slower than import numpy",
            curvewise / numpy,
            2.5,
            "at most",
            f"ours {1e3 * curvewise:.0f} ms, numpy {1e3 * numpy:.0f} ms",
        ),
        Ratio(
            "import curvewise.trials, numpy included, slower than import numpy",
            trials / numpy,
            2.5,
            "at most",
            f"ours {1e3 * trials:.0f} ms, numpy {1e3 * numpy:.0f} ms",
        ),
        Ratio(
            "curvewise performance on 100 rows, slower than importing scipy.stats",
            mine / theirs,
            2,
            "at most",
            f"ours {mine:.2f} s, python -c 'import numpy, scipy.stats' {theirs:.2f} s",
        ),
    ]
