"""Measure every claim of speed in one run, and write RESULTS.md.

A claim is a ratio against a named peer, both measured here and now; names of files on
the command line measure only those.
"""

import datetime as dt
import importlib
import platform
import sqlite3
import sys
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
NOT_MEASURED = ("run", "ratio", "peers")


def main(names: list[str]) -> int:
    every = sorted(p.stem for p in HERE.glob("*.py") if p.stem not in NOT_MEASURED)
    sections, missed = [], 0
    for name in names or every:
        module = importlib.import_module(name)
        print(f"{name}: {module.__doc__.splitlines()[0]}", flush=True)
        ratios = module.measure()
        for ratio in ratios:
            print(f"  {ratio}", flush=True)
            missed += not ratio.holds
        sections.append((module.__doc__.splitlines()[0], ratios))
    if not names:
        (HERE / "RESULTS.md").write_text(page(sections), encoding="utf-8")
    return 1 if missed else 0


def page(sections: list) -> str:
    versions = ", ".join(
        f"{n} {version(n)}" for n in ("curvewise", "numpy", "scipy", "pyarrow")
    )
    lines = [
        "# Results",
        "",
        f"Measured on {dt.datetime.now(dt.UTC):%Y-%m-%d} with "
        f"Python {platform.python_version()}, {versions}, SQLite {sqlite3.sqlite_version}, "
        f"on {platform.system()} {platform.machine()}. `make bench` measures it again.",
    ]
    for title, ratios in sections:
        lines += ["", f"## {title}", "", "| what | measured | asserted | detail |"]
        lines += ["|---|---:|---|---|"]
        lines += [
            f"| {r.name} | {r.value:.2f} {r.unit} | {r.must} {r.bound:g} | {r.detail} |"
            for r in ratios
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
