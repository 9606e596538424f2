"""Let tools that leave a folder per run write what the tests read, and say what is in it.

In a virtual environment of its own::

    python3 -m venv /tmp/venv_folders
    /tmp/venv_folders/bin/pip install torch==2.13.0 lightning keras transformers \
        accelerate hydra-core xgboost lightgbm scikit-learn dvclive pandas
    /tmp/venv_folders/bin/python scripts/foreign/make_folders.py tests/assets/foreign

For Hydra, Lightning, Keras, Hugging Face's Trainer, xgboost, LightGBM and dvclive a folder
of the tool's name: two models, two or three seeds, a few epochs on points of a line. Beside
them, in expected.json, stands what the tool itself handed over in memory. Ultralytics needs
a torchvision for this torch, which is not to be had where this was run: its files are laid
out by hand after its own, with its names of columns, padded as it pads them.
"""

import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

os.environ["KERAS_BACKEND"] = "torch"
EPOCHS = 3
MODELS = ("linear", "net")


def points(seed, n=32):
    """Return inputs and outputs of a line with noise, as float32."""
    import numpy as np

    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2)).astype("float32")
    y = (x @ [1.0, -2.0] + 0.1 * rng.normal(size=n)).astype("float32")
    return x, y[:, None]


def torch_model(name, seed):
    import torch

    torch.manual_seed(seed)
    linear = torch.nn.Linear
    if name == "linear":
        return linear(2, 1)
    return torch.nn.Sequential(linear(2, 4), torch.nn.Tanh(), linear(4, 1))


# --- Hydra -------------------------------------------------------------------------------

HYDRA_APP = """
import json
import hydra

@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg):
    from pathlib import Path
    from hydra.core.hydra_config import HydraConfig
    if cfg.model.name == "net" and cfg.seed == 2:
        raise RuntimeError("diverged")
    out = Path(HydraConfig.get().runtime.output_dir)
    level = {"linear": 0.7, "net": 0.8}[cfg.model.name] + cfg.seed / 100
    with (out / "metrics.jsonl").open("w") as file:
        for epoch in range(1, 5):
            acc = level - 0.3 / epoch
            file.write(json.dumps({"epoch": epoch, "acc": acc, "loss": 1 - acc}) + "\\n")

main()
"""


def hydra(out):
    import yaml

    work = out / "work"
    (work / "conf/model").mkdir(parents=True)
    (work / "app.py").write_text(HYDRA_APP)
    for name, width in (("linear", 0), ("net", 16)):
        text = yaml.safe_dump({"name": name, "width": width})
        (work / f"conf/model/{name}.yaml").write_text(text)
    (work / "conf/config.yaml").write_text(
        "defaults:\n  - model: linear\n  - _self_\nseed: 0\n"
        "dataset: rings\noptim:\n  lr: 0.1\n  betas: [0.9, 0.999]\n"
    )
    command = [sys.executable, "app.py", "--multirun", "model=linear,net", "seed=0,1,2"]
    command += ["hydra.sweep.dir=multirun/2026-11-18/12-00-00"]
    subprocess.run(command, cwd=work, check=False, capture_output=True)
    shutil.move(work / "multirun", out / "multirun")
    sweep = out / "multirun/2026-11-18/12-00-00/multirun.yaml"
    sweep.write_text(sweep.read_text().replace(str(work), "/app"))
    shutil.rmtree(work)
    found = {}
    for folder in sorted((out / "multirun/2026-11-18/12-00-00").glob("[0-9]*")):
        lines = folder / "metrics.jsonl"
        found[folder.name] = {
            "overrides": yaml.safe_load((folder / ".hydra/overrides.yaml").read_text()),
            "config": yaml.safe_load((folder / ".hydra/config.yaml").read_text()),
            "logged": [json.loads(x) for x in lines.read_text().splitlines()]
            if lines.exists()
            else [],
        }
        hydra_yaml = folder / ".hydra/hydra.yaml"  # 5 kB about this machine
        hydra_yaml.write_text("hydra:\n  mode: MULTIRUN\n")
        for log in folder.glob("*.log"):
            log.write_text("")
    return found, {"hydra-core": version("hydra-core")}


# --- Lightning ---------------------------------------------------------------------------


def lightning(out):
    import logging

    import lightning
    import torch
    from lightning.pytorch.loggers import CSVLogger, Logger

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

    class Notes(Logger):
        """Keeps what was logged, by metric, as (step, value)."""

        def __init__(self):
            super().__init__()
            self.kept = {}

        name, version = "notes", 0

        def log_hyperparams(self, *args, **kwargs):
            pass

        def log_metrics(self, metrics, step=None):
            for key, value in metrics.items():
                self.kept.setdefault(key, []).append((step, float(value)))

    class Module(lightning.LightningModule):
        def __init__(self, model, seed, activation, lr=0.05):
            super().__init__()
            self.save_hyperparameters()
            self.net = torch_model(model, seed)

        def step(self, batch):
            x, y = batch
            return torch.nn.functional.mse_loss(self.net(x), y)

        def training_step(self, batch):
            loss = self.step(batch)
            self.log("train_loss", loss, on_step=True, on_epoch=True)
            return loss

        def validation_step(self, batch):
            self.log("val_loss", self.step(batch))

        def test_step(self, batch):
            self.log("test_loss", self.step(batch))

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=self.hparams.lr)

    def loader(seed):
        data = torch.utils.data.TensorDataset(*map(torch.tensor, points(seed)))
        return torch.utils.data.DataLoader(data, batch_size=8)

    found = {}
    for model in MODELS:
        for seed in range(2):
            notes = Notes()
            logger = CSVLogger(out, name="lightning_logs")
            trainer = lightning.Trainer(
                max_epochs=EPOCHS,
                logger=[logger, notes],
                log_every_n_steps=2,
                accelerator="cpu",
                enable_checkpointing=False,
                enable_progress_bar=False,
                enable_model_summary=False,
            )
            module = Module(
                model, seed, torch.nn.Tanh
            )  # a class: a tag of Python's in YAML
            trainer.fit(module, loader(seed), loader(100))
            trainer.test(module, loader(101), verbose=False)
            found[Path(logger.log_dir).name] = {
                "model": model,
                "seed": seed,
                "logged": notes.kept,
            }
    return found, {"lightning": lightning.__version__}


# --- Keras -------------------------------------------------------------------------------


def keras(out):
    import keras

    found = {}
    (out / "logs").mkdir(parents=True)
    for model in MODELS:
        for seed in range(2):
            keras.utils.set_random_seed(seed)
            hidden = [keras.layers.Dense(4, "tanh")] if model == "net" else []
            net = keras.Sequential([*hidden, keras.layers.Dense(1)])
            net.compile(keras.optimizers.SGD(0.05), "mse", metrics=["mae"])
            x, y = points(seed)
            name = f"{model}_seed{seed}"
            log = keras.callbacks.CSVLogger(out / "logs" / f"{name}.csv")
            history = net.fit(
                *(x, y),
                epochs=EPOCHS,
                validation_data=points(100),
                callbacks=[log],
                verbose=0,
            )
            found[name] = {"epoch": history.epoch, "history": history.history}
    return found, {"keras": keras.__version__}


# --- Hugging Face ------------------------------------------------------------------------


def huggingface(out):
    import torch
    from transformers import Trainer, TrainingArguments
    from transformers.trainer_callback import PrinterCallback, ProgressCallback

    class Net(torch.nn.Module):
        def __init__(self, name, seed):
            super().__init__()
            self.net = torch_model(name, seed)

        def forward(self, x=None, labels=None):
            y = self.net(x)
            return {"loss": torch.nn.functional.mse_loss(y, labels), "logits": y}

    def data(seed):
        pairs = zip(*points(seed), strict=True)
        return [{"x": torch.tensor(x), "labels": torch.tensor(y)} for x, y in pairs]

    found = {}
    for model in MODELS:
        for seed in range(2):
            folder = out / "outputs" / f"{model}-s{seed}"
            arguments = TrainingArguments(
                str(folder),
                num_train_epochs=EPOCHS,
                per_device_train_batch_size=8,
                learning_rate=0.05,
                logging_steps=2,
                eval_strategy="epoch",
                save_strategy="epoch",
                report_to=[],
                use_cpu=True,
                seed=seed,
                disable_tqdm=True,
            )
            trainer = Trainer(
                Net(model, seed),
                arguments,
                train_dataset=data(seed),
                eval_dataset=data(100),
                compute_metrics=lambda p: {
                    "mae": float(abs(p.predictions - p.label_ids).mean())
                },
            )
            trainer.remove_callback(PrinterCallback)
            trainer.remove_callback(ProgressCallback)
            trainer.train()
            if seed == 0:
                trainer.save_state()  # with the time that training took
            found[folder.name] = trainer.state.log_history
            for path in sorted(folder.rglob("*")):
                if path.is_file() and path.name != "trainer_state.json":
                    path.unlink()
    import transformers

    return found, {"transformers": transformers.__version__}


# --- xgboost and LightGBM ----------------------------------------------------------------


def split(seed):
    x, y = points(seed, 60)
    labels = (y[:, 0] > 0).astype(int)
    return (x[:40], labels[:40]), (x[40:], labels[40:])


def xgboost(out):
    import xgboost

    found = {}
    for depth in (1, 3):
        for seed in range(2):
            train, test = (xgboost.DMatrix(*part) for part in split(seed))
            params = {
                "objective": "binary:logistic",
                "max_depth": depth,
                "seed": seed,
                "eval_metric": ["logloss", "error"],
            }
            kept = {}
            xgboost.train(
                *(params, train, 4),
                evals=[(train, "train"), (test, "test")],
                evals_result=kept,
                verbose_eval=False,
            )
            folder = out / f"depth{depth}_seed{seed}"
            folder.mkdir(parents=True)
            (folder / "evals_result.json").write_text(json.dumps(kept))
            (folder / "params.json").write_text(json.dumps(params))
            found[folder.name] = kept
    return found, {"xgboost": xgboost.__version__}


def lightgbm(out):
    import lightgbm

    found = {}
    for leaves in (2, 7):
        for seed in range(2):
            train, test = (lightgbm.Dataset(*part) for part in split(seed))
            params = {
                "objective": "binary",
                "num_leaves": leaves,
                "seed": seed,
                "metric": ["binary_logloss", "auc"],
                "min_data_in_leaf": 5,
                "verbose": -1,
            }
            kept = {}
            lightgbm.train(
                *(params, train, 4),
                valid_sets=[train, test],
                valid_names=["training", "valid_1"],
                callbacks=[lightgbm.record_evaluation(kept)],
            )
            (out / "logs").mkdir(exist_ok=True)
            name = f"leaves{leaves}_seed{seed}"
            (out / "logs" / f"{name}.json").write_text(json.dumps(kept))
            found[name] = kept
    return found, {"lightgbm": lightgbm.__version__}


# --- dvclive -----------------------------------------------------------------------------


def dvclive(out):
    import tempfile

    from dvclive import Live

    # Where there is a repository, it would make that one of DVC's.
    work, found = Path(tempfile.mkdtemp()), {}
    os.chdir(work)
    for model in MODELS:
        for seed in range(2):
            folder = work / f"{model}_{seed}"
            logged = []
            with Live(str(folder), save_dvc_exp=False, report=None) as live:
                live.log_params({"model": model, "seed": seed, "optim": {"lr": 0.1}})
                for step in range(EPOCHS):
                    loss = (1 + seed / 10) / (step + 1 + MODELS.index(model))
                    live.log_metric("train/loss", loss)
                    live.log_metric("acc", 1 - loss / 2)
                    logged.append({"train/loss": loss, "acc": 1 - loss / 2})
                    live.next_step()
            found[folder.name] = {"logged": logged, "summary": live.summary}
            shutil.copytree(folder, out / "runs" / folder.name)
            shutil.copy(work / "dvc.yaml", out / "runs")
    return found, {"dvclive": version("dvclive")}


# --- Ultralytics, by hand ----------------------------------------------------------------

COLUMNS = "epoch,time,train/box_loss,metrics/precision(B),metrics/mAP50-95(B),lr/pg0"


def ultralytics(out):
    found = {}
    for i, (model, seed) in enumerate(
        (m, s) for m in ("yolo11n", "yolo11s") for s in (0, 1)
    ):
        folder = out / "runs/detect" / f"train{i + 1 if i else ''}"
        folder.mkdir(parents=True)
        rows = [
            [e, 1.5 * e, 2.0 / e, 0.5 + e / 20, 0.3 + e / 20 + i / 100, 0.01 / e]
            for e in range(1, EPOCHS + 1)
        ]
        head = ",".join(f"{name:>23}" for name in COLUMNS.split(","))
        lines = [",".join(f"{cell:>23.5g}" for cell in row) for row in rows]
        (folder / "results.csv").write_text("\n".join([head, *lines, ""]))
        (folder / "args.yaml").write_text(
            f"task: detect\nmode: train\nmodel: {model}.pt\ndata: coco8.yaml\n"
            f"epochs: {EPOCHS}\nseed: {seed}\nlr0: 0.01\nname: {folder.name}\n"
        )
        found[folder.name] = {"model": f"{model}.pt", "seed": seed, "rows": rows}
    return found, {"ultralytics": "by hand, after version 8.3"}


TOOLS = (hydra, lightning, keras, huggingface, xgboost, lightgbm, dvclive, ultralytics)


def main() -> None:
    out = Path(sys.argv[1]).resolve()
    wanted = sys.argv[2:]
    for tool in TOOLS:
        if wanted and tool.__name__ not in wanted:
            continue
        room = out / tool.__name__
        shutil.rmtree(room, ignore_errors=True)
        room.mkdir(parents=True)
        found, versions = tool(room)
        (room / "expected.json").write_text(json.dumps(found) + "\n")
        lines = [f"{name} {number}\n" for name, number in versions.items()]
        (room / "VERSIONS.txt").write_text("".join(lines))


if __name__ == "__main__":
    main()
