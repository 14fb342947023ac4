# `make demo` and `make test` do all set-up themselves; only Python 3.11 or newer must be there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Installed first and by number: a range would admit newer builds, which bring gigabytes of CUDA.
TORCH ?= torch==2.13.0

.PHONY: demo test fast lint types test-outside clean

demo: $(VENV)/.installed
	$(BIN)/headway demo

test: lint types $(VENV)/.installed
	$(BIN)/python -m pytest --durations=10

fast: $(VENV)/.installed
	$(BIN)/python -m pytest -m "not slow"

lint: $(VENV)/.installed
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/ruff check src tests benchmarks

types: $(VENV)/.installed
	$(BIN)/mypy

# Long campaigns: kills in the middle of training, a browser, a server under fire. MODEL is a model to serve;
# each file in tests/outside says at its top what it needs.
MODEL ?= runs/demo
test-outside: $(VENV)/.installed
	$(BIN)/python tests/crash.py --kills 20
	for name in bodies slow vanish restarts memory overload raw; do \
		$(BIN)/python tests/outside/serving_campaigns.py $$name $(MODEL) || exit 1; done

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "$(TORCH)"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info src/*.egg-info .mypy_cache .ruff_cache .pytest_cache
