"""Who runs trials, by name."""

import contextlib
from collections.abc import Iterator
from typing import Literal, TypeAlias, get_args

from curvewise.engine.workers.queue import Executor
from curvewise.errors import unknown

Name: TypeAlias = Literal["local", "serial", "ray"]
EXECUTORS: tuple[str, ...] = get_args(Name)


@contextlib.contextmanager
def executor_of(
    executor: Name | Executor, workers: int | None = None
) -> Iterator[Executor]:
    """Give the executor that was asked for; one that was passed stays open.

    Parameters
    ----------
    executor : {"local", "serial", "ray"} or Executor
    workers : int, optional
        How many processes; one for each core if left out.
    """
    if not isinstance(executor, str):
        if not hasattr(executor, "run"):
            raise unknown("executor", executor, EXECUTORS)
        yield executor
        return
    with contextlib.closing(_made(executor, workers)) as made:
        yield made


def _made(name: str, workers: int | None) -> Executor:
    if name == "local":
        from curvewise.engine.workers.local import Local

        return Local(workers)
    if name == "serial":
        from curvewise.engine.workers.serial import Serial

        return Serial()
    if name == "ray":
        from curvewise.engine.workers.cluster import Cluster

        return Cluster(workers)
    raise unknown("executor", name, EXECUTORS)
