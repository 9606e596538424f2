#!/bin/sh
# Build wheel and sdist of both packages, and test the wheels in an empty environment with the
# tests of the sdists, from which src/ was removed: what works is what a user would get.
set -eu
cd "$(dirname "$0")/.."

root=$PWD
python=$root/.venv/bin/python
work=$root/.venv/tmp/release
rm -rf dist "$work"
mkdir -p "$work/tmp"
export TMPDIR="$work/tmp"  # the builder's own environment, too

"$python" -m build --outdir dist .
"$python" -m build --outdir dist reproductions
"$python" -m twine check --strict dist/*

"$python" -m venv "$work/env"
env=$work/env/bin/python
tar -xzf dist/curvewise-[0-9]*.tar.gz -C "$work"
cd "$work"/curvewise-*
test ! -e reproductions  # a package of its own
mkdir reproductions
tar -xzf "$root"/dist/curvewise_papers-*.tar.gz -C reproductions --strip-components=1
rm -rf src reproductions/src

"$env" -m pip install --quiet --no-compile --disable-pip-version-check --upgrade 'pip>=25.1'
"$env" -m pip install --quiet --no-compile --disable-pip-version-check \
    "$root"/dist/*.whl --group test

"$env" -c 'import curvewise, curvewise_papers
for package in (curvewise, curvewise_papers):
    print(package.__name__, curvewise.__version__, "from", package.__file__)
    assert "site-packages" in package.__file__'

# The doctests live in the packages, wherever they are installed.
XDG_CONFIG_HOME="$work/config" "$env" -m pytest -n 2 --dist worksteal \
    --basetemp="$work/pytest" --pyargs tests reproductions/tests curvewise curvewise_papers

rm -rf "$work"  # 700 MB
