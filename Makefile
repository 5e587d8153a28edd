# Two commands: `make demo` shows the main job, `make test` proves it. Each sets up .venv on a fresh machine.
PYTHON ?= python3
BIN := .venv/bin
export JAX_PLATFORMS ?= cpu

.PHONY: setup demo test snapshots test-clusters test-browser test-torch docs notebooks lint bench clean

setup: .venv/.installed

.venv/.installed: pyproject.toml papers/pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' -e ./papers
	touch $@

demo: setup
	$(BIN)/kleene demo

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

test: lint
	$(BIN)/python -m pytest

# Snapshots taken again where answers changed on purpose; the reason goes into the commit. `make snapshots K=rules` takes
# those whose names have the words.
snapshots: setup
	$(BIN)/python -m tests.snapshots -q $(if $(K),-k "$(K)")

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
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis .cache site
