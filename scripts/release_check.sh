#!/bin/sh
# Build the wheel and the sdist, and test the wheel in an empty environment with the tests
# of the sdist, from which src/ was removed: what works is what a user would get.
set -eu
cd "$(dirname "$0")/.."

root=$PWD
python=$root/.venv/bin/python
work=$root/.venv/tmp/release
rm -rf dist "$work"
mkdir -p "$work/tmp"
export TMPDIR="$work/tmp"  # the builder's own environment, too

"$python" -m build --outdir dist .
"$python" -m twine check --strict dist/*

"$python" -m venv "$work/env"
env=$work/env/bin/python
tar -xzf dist/*.tar.gz -C "$work"
cd "$work"/curvewise-*
rm -rf src

"$env" -m pip install --quiet --no-compile --disable-pip-version-check --upgrade 'pip>=25.1'
"$env" -m pip install --quiet --no-compile --disable-pip-version-check \
    "$root"/dist/*.whl --group test

"$env" -c 'import curvewise; print(curvewise.__version__, "from", curvewise.__file__)
assert "site-packages" in curvewise.__file__'

# The doctests live in the package, wherever it is installed.
XDG_CONFIG_HOME="$work/config" "$env" -m pytest -n 2 --dist worksteal \
    --basetemp="$work/pytest" --pyargs tests curvewise

rm -rf "$work"  # 700 MB
