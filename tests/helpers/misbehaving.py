"""Algorithms that do what other people's code does; workers import them from here."""

import os
import signal
import sys
import time

import numpy as np

FIRST = {"accuracy": 0.5}


def fine(params, data, rng):
    yield 0, {"accuracy": float(rng.random())}
    yield 1, {"accuracy": float(rng.random())}


def raises(params, data, rng):
    yield 0, FIRST
    raise ZeroDivisionError("the learning rate was too high")


def not_a_number(params, data, rng):
    yield 0, {"accuracy": float("nan")}


def infinite(params, data, rng):
    yield 0, {"loss": float("inf")}


def nothing(params, data, rng):
    return
    yield


def none(params, data, rng):
    return None


def huge(params, data, rng):
    yield 0, FIRST
    yield 1, {"accuracy": np.zeros(20_000_000)}


def unpicklable(params, data, rng):
    yield 0, FIRST
    yield 1, {"accuracy": (x for x in "abc")}


def sleeps(params, data, rng):
    yield 0, FIRST
    time.sleep(10_000)


def sleeps_deaf(params, data, rng):
    """Ignores every signal that can be ignored, and has a child that sleeps on."""
    yield 0, FIRST
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        time.sleep(10_000)
    while True:
        time.sleep(10)


def kills_itself(params, data, rng):
    yield 0, FIRST
    os.kill(os.getpid(), signal.SIGKILL)


def segfaults(params, data, rng):
    yield 0, FIRST
    os.kill(os.getpid(), signal.SIGSEGV)


def leaves_quietly(params, data, rng):
    yield 0, FIRST
    os._exit(0)


def exits(params, data, rng):
    yield 0, FIRST
    sys.exit(7)


def eats(params, data, rng):
    yield 0, FIRST
    food = []
    while True:
        food.append(np.empty(10_000_000))  # asked for, never touched: quick


def forks(params, data, rng):
    """Its child goes on as if it were the trial; only one of them may answer."""
    child = os.fork()
    yield 0, {"accuracy": 0.1 if child else 0.9}
    if child:
        os.waitpid(child, 0)


def prints(params, data, rng):
    for _ in range(50):
        sys.stdout.write("x" * 100_000)
        sys.stderr.write("y" * 100_000)
        os.write(1, b"z" * 1000)
    yield 0, FIRST


def backwards(params, data, rng):
    yield 5, FIRST
    yield 3, {"accuracy": 0.6}


def closes_everything(params, data, rng):
    yield 0, FIRST
    os.closerange(3, 100)
    time.sleep(0.05)
    yield 1, FIRST


def interrupts(params, data, rng):
    yield 0, FIRST
    raise KeyboardInterrupt


def dies_once(params, data, rng):
    """Dies in its first attempt only."""
    yield 0, FIRST
    mark = os.path.join(data, f"{int(rng.integers(2**62))}")
    if not os.path.exists(mark):
        open(mark, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    yield 1, {"accuracy": float(rng.random())}


def takes_a_while(params, data, rng):
    """A few milliseconds, a curve, and params: what kill tests run."""
    for step in range(3):
        time.sleep(params["pause"])
        yield step, {"accuracy": float(rng.random()), "loss": float(data[step])}


def dies_before_it_yields(params, data, rng):
    os.kill(os.getpid(), signal.SIGKILL)
    yield 0, FIRST


def sleeps_before_it_yields(params, data, rng):
    time.sleep(10_000)
    yield 0, FIRST


def naps(params, data, rng):
    time.sleep(1)
    yield 0, FIRST
