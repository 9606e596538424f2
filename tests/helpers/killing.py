"""A run in a process of its own, for tests that kill it or its workers."""

import os
import subprocess
import sys
from pathlib import Path

HELPERS = Path(__file__).parent


class Driver:
    """A run in a process of its own, and what it said was safe."""

    def __init__(self, store, *options):
        environment = os.environ | {"PYTHONPATH": str(HELPERS)}
        command = [
            sys.executable,
            str(HELPERS / "driver_to_kill.py"),
            str(store),
            *options,
        ]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, env=environment, text=True
        )

    def kill_after(self, acknowledged):
        """Kill it when it has said so many, and return all that it said."""
        said = [self.process.stdout.readline() for _ in range(acknowledged)]
        self.process.kill()
        said += self.process.communicate()[0].splitlines(keepends=True)
        whole = [line.split() for line in said if line.endswith("\n")]
        return {(task, name, int(number)) for task, name, number in whole}

    def workers(self):
        return [
            int(p.name)
            for p in Path("/proc").iterdir()
            if p.name.isdigit() and _parent(p) == self.process.pid and _works(p)
        ]


def _parent(process):
    try:
        return int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
    except (OSError, IndexError):
        return -1


def _works(process):
    try:
        return b"spawn_main" in (process / "cmdline").read_bytes()
    except OSError:
        return False
