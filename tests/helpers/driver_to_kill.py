"""A run that says which trials are safe, to be killed by test_kills.py at any moment.

    python driver_to_kill.py STORE [early]

With "early" its store says so before they are: the negative control.
"""

import sys

import misbehaving as bad

import curvewise as cw
from curvewise import store as stores

PAUSES = [0.0, 0.001, 0.003]


def experiment(trials=150):
    task = cw.Task("numbers", lambda rng: rng.random(3))
    algorithms = [
        cw.Algorithm(name, {"pause": PAUSES}, bad.takes_a_while) for name in "ab"
    ]
    return cw.Experiment([task], algorithms, trials, seed=7)


class Honest:
    """Says what is safe after it is."""

    def __init__(self, inner):
        self._inner = inner

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def write(self, trials):
        self._inner.write(trials)
        self.acknowledge(trials)

    def acknowledge(self, trials):
        for row in range(len(trials)):
            print(*trials.key(row), flush=True)


class Early(Honest):
    """Says what is safe, and writes it later."""

    def __init__(self, inner):
        super().__init__(inner)
        self._waiting = []

    def write(self, trials):
        self.acknowledge(trials)
        self._waiting.append(trials)
        if len(self._waiting) > 20:
            self._flush()

    def _flush(self):
        for trials in self._waiting:
            self._inner.write(trials)
        self._waiting.clear()

    def close(self):
        self._flush()
        self._inner.close()


if __name__ == "__main__":
    kind = Early if "early" in sys.argv else Honest
    real = stores.open
    stores.open = lambda where, **options: kind(real(where, **options))
    cw.run(experiment(), store=sys.argv[1], workers=2, retries=9, progress=False)
