"""Let lm-evaluation-harness write results that the tests read.

In a virtual environment of its own::

    python3 -m venv /tmp/venv_lm_eval
    /tmp/venv_lm_eval/bin/pip install torch==2.13.0 lm-eval
    /tmp/venv_lm_eval/bin/python scripts/foreign/make_lm_eval.py tests/assets/foreign

Two models that answer at random, a group of two tasks of multiple choice and a task that is
scored by perplexity, a file of results for each model.
"""

import json
import os
import random
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

CHOICE = """
task: {name}
tag: made
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: multiple_choice
doc_to_text: question
doc_to_choice: choices
doc_to_target: answer
num_fewshot: 0
metric_list:
  - {{metric: acc, aggregation: mean, higher_is_better: true}}
  - {{metric: acc_norm, aggregation: mean, higher_is_better: true}}
"""
GROUP = """
group: sums
task: [sums_small, sums_large]
aggregate_metric_list:
  - {metric: acc, weight_by_size: true}
"""
ROLLING = """
task: lines
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: loglikelihood_rolling
doc_to_text: ""
doc_to_target: question
metric_list:
  - {{metric: word_perplexity, higher_is_better: false}}
  - {{metric: bits_per_byte, higher_is_better: false}}
"""


def tasks(folder):
    for name, most in (("sums_small", 9), ("sums_large", 99)):
        rng = random.Random(most)
        data = folder / f"{name}.json"
        with data.open("w") as file:
            for _ in range(20):
                a, b = rng.randint(0, most), rng.randint(0, most)
                choices = [str(a + b), str(a + b + 1), str(a + b + 10)]
                row = {"question": f"{a} + {b} =", "choices": choices, "answer": 0}
                file.write(json.dumps(row) + "\n")
        (folder / f"{name}.yaml").write_text(CHOICE.format(name=name, data=data))
    (folder / "sums.yaml").write_text(GROUP)
    (folder / "lines.yaml").write_text(ROLLING.format(data=folder / "sums_small.json"))


def main(out):
    from lm_eval import simple_evaluate
    from lm_eval.api.model import LM
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    class Guess(LM):
        def __init__(self, seed):
            super().__init__()
            self.rng = random.Random(seed)

        def loglikelihood(self, requests):
            return [(-self.rng.random(), False) for _ in requests]

        def loglikelihood_rolling(self, requests):
            return [-10 * self.rng.random() for _ in requests]

        def generate_until(self, requests):
            return ["" for _ in requests]

    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    told = {}
    with tempfile.TemporaryDirectory() as folder:
        tasks(Path(folder))
        manager = TaskManager(include_path=folder)
        for seed, name in enumerate(("made/guess-70m", "made/guess-160m")):
            tracker = EvaluationTracker(output_path=str(out))
            tracker.general_config_tracker.log_experiment_args(
                model_source="guess",
                model_args=f"pretrained={name}",
                system_instruction=None,
                chat_template=None,
                fewshot_as_multiturn=False,
            )
            results = simple_evaluate(
                Guess(seed),
                tasks=["sums", "lines"],
                task_manager=manager,
                bootstrap_iters=100,
            )
            results.pop("samples")
            tracker.save_results_aggregated(results=results, samples=None)
            told[name] = results["results"]
    for file in out.glob("*/results_*.json"):  # less what is of this machine
        content = json.loads(file.read_text().replace(folder, "tasks"))
        del content["pretty_env_info"]
        file.write_text(json.dumps(content, indent=1) + "\n")
        file.rename(file.with_name(f"results_{file.name[8:18]}T12-00-00.000000.json"))
    text = json.dumps(told, default=str)
    (out / "expected.json").write_text(text + "\n")
    (out / "VERSIONS.txt").write_text(f"lm-eval {version('lm-eval')}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) / "lm_eval")
