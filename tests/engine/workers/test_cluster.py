"""Trials on a real Ray cluster of two nodes, one of which is killed on the way."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import curvewise as cw

HELPERS = Path(__file__).parents[2] / "helpers"


def test_a_cluster_gives_the_same_table_even_when_a_node_dies(tmp_path):
    pytest.importorskip("ray")
    environment = os.environ | {"PYTHONPATH": str(HELPERS)}
    done = subprocess.run(
        [sys.executable, str(HELPERS / "ray_two_nodes.py"), str(tmp_path / "runs.db")],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
        check=False,
    )
    said = done.stdout
    assert done.returncode == 0, done.stderr[-3000:]
    assert "'fine': ('ok', 2)" in said
    assert "'raises': ('failed', 1)" in said
    assert "'kills_itself': ('crashed', 1)" in said
    assert "'sleeps': ('timeout', 1)" in said
    assert "horrors equal: True" in said
    assert "node killed: True cores left: 1" in said
    assert "after the death equal: True" in said
    assert "serial equal: True" in said


def test_without_ray_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    experiment = cw.Experiment(
        [cw.Task("t", lambda rng: None)],
        [cw.Algorithm("a", {}, lambda params, data, rng: {"accuracy": 1.0})],
        trials=1,
        seed=1,
    )
    with pytest.raises(cw.CurvewiseError, match=r"pip install 'curvewise\[ray\]'"):
        cw.run(experiment, executor="ray")
