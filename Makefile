# Two commands: `make demo` shows the main job, `make test` proves it. Each sets up .venv on a fresh machine.
# `make test PYTHON=python3.13 VENV=.venv-3.13` tries another Python in an environment of its own.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
export JAX_PLATFORMS ?= cpu

.PHONY: setup demo test test-oldest test-part test-papers snapshots test-clusters test-browser test-torch docs notebooks lint bench clean

setup: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml papers/pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' -e ./papers
	touch $@

demo: setup
	$(BIN)/kleene demo

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

test: lint
	$(BIN)/python -m pytest

# A part of the tests that takes two or three minutes: every command, every error at the door, files, threads and pages.
PART := tests/snapshots/test_commands.py tests/cli/test_door.py tests/machines/test_files.py tests/test_threads.py tests/watching/live

# The lowest versions that pyproject.toml allows, all together.
test-oldest: .venv-oldest/.installed
	.venv-oldest/bin/python -m pytest -n 2 $(PART)
	.venv-oldest/bin/kleene doctor
	.venv-oldest/bin/kleene demo

.venv-oldest/.installed: pyproject.toml papers/pyproject.toml
	$(PYTHON) -m venv --clear .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check uv
	.venv-oldest/bin/uv pip install --quiet --python .venv-oldest/bin/python --resolution lowest-direct -e '.[dev]' -e ./papers
	touch $@

# The same part with today's versions: `make test-part PYTHON=python3.13 VENV=.venv-3.13`.
test-part: setup
	$(BIN)/python -m pytest -n 2 $(PART)

# Snapshots taken again where answers changed on purpose; the reason goes into the commit. `make snapshots K=rules` takes
# those whose names have the words.
snapshots: setup
	$(BIN)/python -m tests.snapshots -q $(if $(K),-k "$(K)")

# The package kleene-papers and the pages of results.
test-papers: setup
	$(BIN)/python -m pytest -m "papers and not slow"

# Workers and clusters that are started and killed: a minute of its own.
test-clusters: setup
	$(BIN)/python -m pytest -m "cluster and not slow"

# Pages in a headless Chromium; skipped, with the reason, where there is none.
test-browser: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[browser]'
	$(BIN)/python -m pytest -n 0 -m browser -rs tests/browser

# The notebooks of docs/notebooks: every cell runs, and so do the solutions of the exercises.
notebooks: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[notebook]'
	$(BIN)/python -m pytest -n 2 --dist load -m notebook tests/notebooks

# Networks in PyTorch and TransformerLens, which are extras. `make test-torch TORCH=torch==2.13.0` names a version.
TORCH ?= torch
test-torch: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check '$(TORCH)' -e '.[torch,transformer-lens]'
	$(BIN)/python -m pytest -n 0 -rs tests/exporting tests/machines/lstm/test_pytorch.py

# The documentation as a site, in the folder `site`: broken links, missing anchors and pages without a place are errors.
docs: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	$(BIN)/zensical build --clean --strict
	$(BIN)/python -m pytest -n 0 -m site tests/site

bench: setup
	$(BIN)/kleene bench

clean:
	rm -rf .venv .venv-* .pytest_cache .ruff_cache .hypothesis .cache site
