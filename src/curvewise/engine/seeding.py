"""Random streams that hang on names, not on order.

Every stream is a pure function of one seed that a person chose, a role, names and a
replicate. Adding an algorithm, resuming a run or using 64 workers changes no other
stream, and any of them can be had alone.
"""

import functools
import hashlib

import numpy as np
from numpy.typing import NDArray

# The roles of jordan2018: hyperparameters X, data D_train and D_test, and S, the
# algorithm's own chance. "data" is for tasks that draw both sets from one stream. The
# numbers are part of every result: never change one, only add.
ROLES = {"params": 1, "data": 2, "train": 3, "test": 4, "seed": 5}


def stream(seed: int, role: str, *names: str, replicate: int) -> np.random.Generator:
    """Return the generator that a role and names own under `seed`.

    It is ``SeedSequence(seed, spawn_key=(role, four words for each name, replicate))``,
    the replicate as two words: every key has the same length, so no two spell the same.

    Jordan et al. (2018), Algorithm 1, hand one seed to sampler, data and algorithm. If
    each of them starts its generator from it, hyperparameters and data are functions of
    the same first numbers; hence a stream for each role.

    Examples
    --------
    >>> a, b = (stream(1, "seed", "moons", "svm", replicate=i) for i in (0, 1))
    >>> a.random() == b.random()
    False
    """
    words = _prefix(seed, role, names).copy()
    words[-2:] = replicate & 0xFFFFFFFF, replicate >> 32
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(words)))


@functools.lru_cache(maxsize=4096)
def _prefix(seed: int, role: str, names: tuple[str, ...]) -> NDArray[np.uint32]:
    # The words that SeedSequence makes of (seed, spawn_key): the seed's padded to four,
    # then the key's. Spelt out here they cost a third of the time.
    words = [seed >> shift & 0xFFFFFFFF for shift in (0, 32, 64, 96)] + [ROLES[role]]
    for name in names:
        digest = hashlib.sha256(name.encode()).digest()[:16]
        words += np.frombuffer(digest, "<u4").tolist()
    return np.array([*words, 0, 0], np.uint32)
