"""Let Ray Tune write the experiments that tests read, and say itself what is in them.

    python3 -m venv new && new/bin/pip install "ray[tune]==2.60.0"
    python3 -m venv old
    old/bin/pip install "ray[tune]==2.6.3" "pyarrow<13" "numpy<2" "pandas<2.2" "pydantic<2"
    new/bin/python scripts/foreign/make_ray_tune.py tests/assets/foreign/ray_tune
    old/bin/python scripts/foreign/make_ray_tune.py tests/assets/foreign/ray_tune

Each leaves a folder of its version with an experiment: two learning rates, two seeds, and
a trial that fails after two reports. `expected.json` is what Ray's `ResultGrid` returns.
Pickles are not kept.
"""

import json
import math
import shutil
import sys
import tempfile
from pathlib import Path

import ray
from ray import tune

IS_OLD = tuple(map(int, ray.__version__.split(".")[:2])) < (2, 40)
if IS_OLD:
    from ray.air import RunConfig, session

    report = session.report
else:
    from ray.tune import RunConfig

    report = tune.report


def net(config: dict) -> None:
    """Learn a little; learning rate 9 is too much."""
    rate, seed = config["lr"], config["seed"]
    for i in range(5):
        if rate > 1 and i == 2:
            raise RuntimeError(f"diverged with lr={rate}")
        value = 1 - math.exp(-rate * (i + 1)) + 0.01 * seed
        report(
            {
                "accuracy": value,
                "eval": {"return": 100 * value, "parts": {"a": i}},
                "loss": float("nan") if i == 4 and seed else 1 - value,
                "note": "fine",
                "is_best": i == 4,
                "samples": 32 * (i + 1),
            }
        )


def run(folder: Path) -> dict[str, object]:
    """Run an experiment in a folder, and return what Ray says of it."""
    space = {
        "lr": tune.grid_search([0.1, 0.5]),
        "seed": tune.grid_search([0, 1]),
        "model": {"units": 64, "layers": [8, 8]},
    }
    found = {}
    for name, chosen in (("good", space), ("bad", {"lr": 9.0, "seed": 0})):
        tuner = tune.Tuner(
            net,
            param_space=chosen,
            run_config=RunConfig(name=name, storage_path=str(folder)),
        )
        for result in tuner.fit():
            frame = result.metrics_dataframe
            columns = {} if frame is None else frame.to_dict("list")
            found[f"{name}/{Path(result.path).name}"] = {
                "config": result.config,
                "error": None if result.error is None else str(result.error),
                "columns": columns,
            }
    return found


def without_paths(text: str, storage: Path) -> str:
    """Return a text without the paths of this machine."""
    here = str(Path(__file__).resolve().parent)
    for own, other in (
        (str(storage), "storage"),
        (sys.prefix, "venv"),
        (here, "scripts"),
    ):
        text = text.replace(own, other)
    return text


def kept(source: Path, target: Path) -> None:
    """Copy what is no pickle."""
    for path in source.rglob("*"):
        if not path.is_file() or path.read_bytes().startswith(b"\x80"):
            continue
        place = target / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)
        if path.suffix in (".txt", ".json"):
            place.write_text(without_paths(path.read_text(), source))


def main(target: Path) -> None:
    target = target.resolve() / ray.__version__
    shutil.rmtree(target, ignore_errors=True)
    ray.init(num_cpus=1, include_dashboard=False)
    with tempfile.TemporaryDirectory() as folder:
        found = run(Path(folder))
        kept(Path(folder), target)
        told = without_paths(json.dumps(found), Path(folder))
    (target / "expected.json").write_text(told + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
