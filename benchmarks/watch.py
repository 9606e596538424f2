"""A store of one million trials that is watched while another process fills it."""

import http.client
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from ratio import Ratio
from store_read import make

MANY, BATCH, BATCHES, ROUNDS = 1_000_000, 100, 1200, 9

# Writes batches as a driver does, each with a commit of its own, and says how long that
# took; what is written is made before.
WRITER = f"""
import sys, time
import numpy as np
from curvewise import store
from curvewise.metrics import find
from curvewise.trials import Trials
from curvewise.trials.columns import Core, no_details

rng = np.random.default_rng(1)
def batch(first):
    n = {BATCH}
    core = Core(
        np.zeros(n, np.int32), np.zeros(n, np.int32), np.arange(first, first + n),
        np.zeros(n, np.int8), np.arange(n + 1), np.zeros(n),
        {{"return": rng.normal(size=n)}}, {{}},
    )
    meant = {{"return": find("return")}}
    return Trials.from_columns(["pendulum"], ["ac"], meant, core, no_details(n))

batches = [batch(10_000_000 + i * {BATCH}) for i in range(int(sys.argv[2]))]
with store.open(sys.argv[1]) as target:
    target.write(batches[0])
    begin = time.perf_counter()
    for one in batches[1:]:
        target.write(one)
    print(time.perf_counter() - begin)
"""


def written(path: Path, batches: int = BATCHES) -> float:
    """Return how long a process of its own takes to write."""
    done = subprocess.run(
        [sys.executable, "-c", WRITER, str(path), str(batches)],
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


class Watch:
    """``curvewise watch`` with one open tab: it listens, and asks for each new picture."""

    def __init__(self, store: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "curvewise", "watch", store, "--port", "0"],
            stdout=subprocess.PIPE,
            text=True,
        )
        self.port = urlsplit(self.process.stdout.readline().split()[0]).port
        self.moments: list[dict] = []
        self._tab = threading.Thread(target=self._look)
        self._tab.start()

    @contextmanager
    def _asked(self, path: str):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        with closing(connection):
            connection.request("GET", path)
            with connection.getresponse() as answer:
                yield answer

    def _look(self) -> None:
        # It ends when the server does.
        with (
            suppress(OSError, http.client.HTTPException),
            self._asked("/events") as lines,
        ):
            for line in lines:
                if line.startswith(b"data: "):
                    moment = json.loads(line.removeprefix(b"data: "))
                    self.moments.append(moment)
                    if moment["tasks"]:
                        with self._asked("/now?task=pendulum") as page:
                            page.read()

    def wait(self, trials: int) -> float:
        """Return how long it takes until so many trials are shown."""
        begin = time.perf_counter()
        while not self.moments or self.moments[-1]["done"] < trials:
            time.sleep(0.01)
            if time.perf_counter() - begin > 120:
                raise TimeoutError(self.moments[-1:])
        return time.perf_counter() - begin

    def gigabytes(self) -> float:
        """Return the peak memory of the process that watches."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1e6

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()
        self._tab.join()


@contextmanager
def watching(store: str):
    watch = Watch(store)
    try:
        yield watch
    finally:
        watch.close()


def slowdown(model: Path, rounds: int = ROUNDS, batches: int = BATCHES) -> dict:
    """Return how much longer a writer takes beside a watcher, in each of several rounds."""
    ratios, alone, beside, seen, memory = [], [], [], [], 0.0
    folder = model.parent
    for i in range(rounds):
        one, other = (shutil.copy(model, folder / f"{i}{c}.db") for c in "ab")
        alone.append(written(Path(one), batches))
        with watching(other) as watch:
            watch.wait(MANY)
            beside.append(written(Path(other), batches))
            seen.append(watch.wait(MANY + batches * BATCH))
            memory = max(memory, watch.gigabytes())
        ratios.append(beside[-1] / alone[-1])
        for path in (one, other):
            Path(path).unlink()
    return {
        "ratio": statistics.median(ratios),
        "ratios": ratios,
        "alone": statistics.median(alone),
        "beside": statistics.median(beside),
        "seen": max(seen),
        "memory": memory,
    }


def looks(path: Path) -> tuple[float, float]:
    """Return how long it takes to read a million trials, and then a hundred more."""
    from curvewise.flow.watch import Watcher

    watcher = Watcher(str(path))
    begin = time.perf_counter()
    while watcher.look().done < MANY:
        pass
    whole = time.perf_counter() - begin
    written(path, 2)
    begin = time.perf_counter()
    watcher.look()
    return whole, time.perf_counter() - begin


def measure() -> list[Ratio]:
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.db"
        make(model, MANY)
        found = slowdown(model)
        whole, more = looks(model)
    low, high = min(found["ratios"]), max(found["ratios"])
    return [
        Ratio(
            "a writer beside curvewise watch and one tab takes",
            found["ratio"],
            1.15,
            "at most",
            f"{BATCHES * BATCH:,} trials in batches of {BATCH} into a store of {MANY:,}: "
            f"alone {found['alone']:.2f} s, watched {found['beside']:.2f} s; median of "
            f"{ROUNDS} alternating runs, {low:.2f} to {high:.2f}",
        ),
        Ratio(
            "memory of watching a million trials",
            found["memory"],
            0.5,
            "at most",
            "the whole process, with its page",
            unit="GB",
        ),
        Ratio(
            "a look at 200 new trials beside a million costs of reading all",
            more / whole,
            0.05,
            "at most",
            f"{1000 * more:.1f} ms against {whole:.2f} s",
        ),
    ]
