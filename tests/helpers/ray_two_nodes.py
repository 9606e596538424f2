"""A real two-node Ray on this machine, one node of which dies; run by test_cluster.py."""

import sys
import threading
import time

import misbehaving as bad
from driver_to_kill import experiment

import curvewise as cw
from curvewise import store as stores
from curvewise.engine.workers.cluster import Cluster as RayWorkers


def main():
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    second = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    serial = cw.run(experiment(), executor="serial", progress=False)
    with_horrors = cw.Experiment(
        [cw.Task("nowhere", lambda rng: None)],
        [
            cw.Algorithm(name, {}, getattr(bad, name))
            for name in ("fine", "raises", "kills_itself", "sleeps")
        ],
        trials=1,
        seed=1,
    )
    workers = RayWorkers(address=cluster.address)
    assert workers.workers == 2
    on_ray = cw.run(with_horrors, executor=workers, timeout=2, progress=False)
    print({t.algorithm: (t.status, len(t.steps)) for t in on_ray})
    local = cw.run(with_horrors, workers=1, timeout=2, progress=False)
    print("horrors equal:", on_ray == local)

    started = threading.Event()
    seen = set()
    watched = experiment(400)

    def kill_a_node():
        started.wait()
        time.sleep(0.5)
        cluster.remove_node(second, allow_graceful=False)
        seen.add("killed")

    threading.Thread(target=kill_a_node, daemon=True).start()
    store = sys.argv[1]
    real = stores.open

    class Watching:
        def __init__(self, inner):
            self._inner = inner

        def __getattr__(self, name):
            return getattr(self._inner, name)

        def write(self, trials):
            self._inner.write(trials)
            started.set()
            while not seen and len(self._inner) > 600:
                time.sleep(0.1)  # not done before the node is dead

    stores.open = lambda where, **options: Watching(real(where, **options))
    trials = cw.run(watched, store=store, executor=workers, progress=False)
    stores.open = real
    for _ in range(100):  # the cluster takes a while to miss it
        if workers.workers == 1:
            break
        time.sleep(0.2)
    print("node killed:", bool(seen), "cores left:", workers.workers)
    whole = cw.run(watched, executor="serial", progress=False)
    print("after the death equal:", trials == whole)
    first = trials.where(number=range(150))
    print("serial equal:", first == serial)
    workers.close()
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main()
