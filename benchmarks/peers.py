"""Peers that need other versions than we do: each in an environment of its own.

    python = environment("opda", ["opda==0.8.0"])
    found = run(python, SCRIPT, n=100)

SCRIPT finds ``n`` in the JSON object ``sys.argv[1]``, warms up by itself, and prints a
JSON object as its last line.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ratio import best_of

ROOM = Path(__file__).parents[1] / ".venv" / "tmp" / "peers"


def environment(name: str, requirements: list[str], python: str | None = None) -> Path:
    """Return the Python of a virtual environment that holds the requirements.

    It is made on first use, and again when the requirements change; `python` is what to
    make it with, ours unless told.
    """
    folder, made_with = ROOM / name, python or f"our Python {sys.version}"
    wanted = "\n".join([made_with, *requirements])
    ready, peer = folder / "ready", folder / "bin" / "python"
    if ready.exists() and ready.read_text(encoding="utf-8") == wanted:
        return peer
    print(f"  setting up {name}: {', '.join(requirements)}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    _call([python or sys.executable, "-m", "venv", str(folder)])
    install = [str(peer), "-m", "pip", "install", "--quiet"]
    install += ["--disable-pip-version-check"]
    _call([*install, "--upgrade", "pip"])
    _call([*install, *requirements])
    ready.write_text(wanted, encoding="utf-8")
    return peer


def run(python: Path, script: str | Path, **args: Any) -> dict[str, Any]:
    """Return what a script (its text, or its file) prints in another environment."""
    with tempfile.TemporaryDirectory() as folder:
        path = script
        if isinstance(script, str):
            path = Path(folder) / "peer.py"
            path.write_text(script, encoding="utf-8")
        done = subprocess.run(
            [str(python), str(path), json.dumps(args)],
            env=_untouched(),
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"The peer in {python} failed.\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def taking_turns(
    rounds: int, ours: Callable[[], object], theirs: Callable[[], dict[str, Any]]
) -> tuple[float, float]:
    """Return our shortest time, and the shortest that the peer reports as "seconds".

    The two take turns, so that a busy machine is busy for both; ours is warm after a
    first call, the peer warms up by itself.
    """
    ours()
    mine, peers = [], []
    for _ in range(rounds):
        peers.append(float(theirs()["seconds"]))
        mine += best_of(3, ours, warm=False)
    return min(mine), min(peers)


def _call(command: list[str]) -> None:
    subprocess.run(command, env=_untouched(), check=True)


def _untouched() -> dict[str, str]:
    """Return our environment without what make points into .venv.

    pip then finds its user's configuration (an index, a proxy), and compiles in place.
    """
    ours = ("XDG_CONFIG_HOME", "PYTHONPYCACHEPREFIX")
    inside = str(ROOM.parents[1])
    return {
        name: value
        for name, value in os.environ.items()
        if name != "PYTHONPATH" and not (name in ours and value.startswith(inside))
    }
