# Each target makes its own environment in .venv first, and does nothing twice.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-long test-browser notebooks check bench clean

demo: .venv/.ready
	$(BIN)/tradmem demo

test: .venv/.ready-dev
	$(BIN)/python -m pytest -n auto --maxprocesses=4

test-long: .venv/.ready-dev
	$(BIN)/python -m pytest -m long

test-browser: .venv/.ready-browser
	$(BIN)/python -m pytest -m browser tests/browser

notebooks: .venv/.ready-notebooks
	$(BIN)/python notebooks/execute.py $(ARGS)

check: .venv/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/.ready-dev
	$(BIN)/python -m tests.bench

clean:
	rm -rf .venv .bench build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

.venv/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("tradmem needs Python 3.11 or newer; this is %d.%d; name one with make PYTHON=..." % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	@if command -v uv >/dev/null; then \
	  uv venv -q --allow-existing --python $(PYTHON) .venv && \
	  uv pip install -q --python $(BIN)/python -c constraints.txt -e . ; \
	else \
	  $(PYTHON) -m venv .venv && $(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e . ; \
	fi
	@touch $@

.venv/.ready-dev .venv/.ready-browser .venv/.ready-notebooks: .venv/.ready-%: .venv/.ready
	@if command -v uv >/dev/null; then \
	  uv pip install -q --python $(BIN)/python -c constraints.txt -e '.[$*]' ; \
	else \
	  $(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[$*]' ; \
	fi
	@touch $@
