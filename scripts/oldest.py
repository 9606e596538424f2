"""Print the oldest versions that pyproject.toml admits, as constraints for pip.

The reproductions of papers ask for the same libraries, and leave their versions to it.
"""

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def main() -> None:
    """Print one line per dependency of a plain install."""
    declared = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    for requirement in declared["dependencies"]:
        name, least = re.fullmatch(r"([\w-]+)>=([\d.]+)", requirement).groups()
        print(f"{name}=={least}.0.*" if "." not in least else f"{name}=={least}.*")


if __name__ == "__main__":
    main()
