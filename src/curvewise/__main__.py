"""``python -m curvewise``."""

from curvewise.cli import main

if __name__ == "__main__":
    main(prog_name="curvewise")
