# All that a developer does, from nothing but Python and make. Set-up goes into .venv,
# and each part of it is redone only when a pyproject.toml or the version changes.

PYTHON ?= python3
ARGS ?=

PY := .venv/bin/python
CACHE := $(CURDIR)/.venv/cache

# Caches stay in .venv: a run leaves no trace in the working tree or the home directory.
USER_CONFIG := $(XDG_CONFIG_HOME)
export XDG_CACHE_HOME := $(CACHE)/xdg
export XDG_CONFIG_HOME := $(CACHE)/config
export MPLCONFIGDIR := $(CACHE)/matplotlib
export PYTHONPYCACHEPREFIX := $(CACHE)/pycache
export NUMBA_CACHE_DIR := $(CACHE)/numba
export PIP_CACHE_DIR := $(CACHE)/pip
export HYPOTHESIS_STORAGE_DIRECTORY := $(CACHE)/hypothesis
export IPYTHONDIR := $(CACHE)/ipython
export JUPYTER_CONFIG_DIR := $(CACHE)/jupyter
export JUPYTER_DATA_DIR := $(CACHE)/jupyter
unexport PYTHONDONTWRITEBYTECODE  # with the prefix above it would only make us slow

# pip still finds its user's configuration (an index, a proxy), and compiles in place.
PIP_ENV := XDG_CONFIG_HOME="$(USER_CONFIG)" PYTHONPYCACHEPREFIX=
INSTALL := $(PIP_ENV) $(PY) -m pip install --quiet --disable-pip-version-check

# Two at a time: most tests have one process. ARGS="-n 0 --pdb" looks into one that fails.
PYTEST_ARGS := --basetemp=.venv/tmp/pytest -n 2 --dist worksteal
PYTEST := $(PY) -m pytest $(PYTEST_ARGS)

.PHONY: help demo test test-all test-oldest approve lint bench docs services release-check clean
.NOTPARALLEL:  # two pips in one .venv would meet
.DELETE_ON_ERROR:

help: ## Say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' Makefile

demo: .venv/ready ## Run an experiment, two minutes at most, and leave runs/demo/report.html
	$(PY) examples/demo.py

test: .venv/ready-test ## Run the tests, a few minutes; ARGS="-k store" for some of them
	$(PYTEST) $(ARGS)

test-all: .venv/ready-test ## Run the slow tests too
	$(PYTEST) -m "" $(ARGS)

test-oldest: .venv/ready ## Run the tests with the oldest versions that we say we work with
	$(PY) scripts/oldest.py > .venv/tmp/oldest.txt
	$(PYTHON) -m venv --clear .venv/tmp/oldest
	$(PIP_ENV) .venv/tmp/oldest/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(PIP_ENV) .venv/tmp/oldest/bin/python -m pip install --quiet --no-compile \
	  --disable-pip-version-check --editable . --editable ./reproductions --group test \
	  --constraint .venv/tmp/oldest.txt
	.venv/tmp/oldest/bin/python -m pytest $(PYTEST_ARGS) -W default $(ARGS)

approve: .venv/ready-test ## Take the texts that come out now as they are to be; look at git diff
	$(PYTEST) tests/golden --approve $(ARGS)

lint: .venv/ready-lint ## Check style, types, imports between rooms, spelling
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m mypy
	.venv/bin/lint-imports --no-logo --cache-dir .venv/cache/import-linter
	$(PY) -m codespell_lib
	$(PY) -m validate_pyproject pyproject.toml reproductions/pyproject.toml

bench: .venv/ready-bench ## Measure speed as ratios to named peers and write benchmarks/RESULTS.md
	$(PY) benchmarks/run.py $(ARGS)

docs: .venv/ready-docs ## Build the documentation, without the network, in docs/_build/html
	$(PY) -m sphinx -W --keep-going -b html docs docs/_build/html

services: ## Install the system's programs that some tests need (a browser, LaTeX)
	sh scripts/services.sh

release-check: .venv/ready-release ## Build wheel and sdist, and test the wheel without src/
	@$(PIP_ENV) sh scripts/release_check.sh

clean: ## Remove all that the targets above have made, but benchmarks/RESULTS.md
	rm -rf .venv dist docs/_build docs/figures runs/demo

# Set-up. An empty file says when each part was last done.

.venv/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "curvewise needs Python 3.11 or newer, and '$(PYTHON)' is not."; \
	  echo "Name another one, for example: make $(MAKECMDGOALS) PYTHON=python3.12"; \
	  exit 1; } >&2
	@echo "Setting up .venv; the first time takes a minute or two."
	@$(PYTHON) -m venv --clear .venv
	@mkdir -p .venv/tmp
	@$(INSTALL) --upgrade 'pip>=25.1'  # 25.1: dependency groups
	@touch $@

.venv/ready: .venv/pip pyproject.toml reproductions/pyproject.toml src/curvewise/version.py
	@$(INSTALL) --editable . --editable ./reproductions
	@touch $@

.venv/ready-%: .venv/ready
	@$(INSTALL) --no-compile --group $*  # tools, compiled where they are first used
	@touch $@
