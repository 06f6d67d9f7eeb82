# Everything runs in a virtual environment of the project's own; `make demo` and `make test` create it.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.PHONY: help demo serve test prove lint bench clean

help:
	@echo "make demo    set up, then play a generated stream and show what a few labels buy (about a minute)"
	@echo "make serve   set up, then serve a live stream of made-up messages, with pages to label and watch"
	@echo "make test    set up, then run the whole test suite"
	@echo "make prove   the long proofs: large files, and whatever else takes minutes"
	@echo "make lint    ruff and mypy"
	@echo "make bench   measure beside Vowpal Wabbit, river and scikit-learn; writes benchmarks/RESULTS.md"
	@echo "make clean   remove the virtual environment and caches"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "askance needs Python 3.11 or newer; $(PYTHON) is older. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e .
	@touch $@

$(VENV)/.installed-live: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet -e '.[live]'
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet -e '.[test,lint]'
	@touch $@

$(VENV)/.installed-bench: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet -e '.[bench]'
	@touch $@

demo: $(VENV)/.installed
	@$(BIN)/askance demo

serve: $(VENV)/.installed-live
	@$(BIN)/askance demo --live

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile

prove: $(VENV)/.installed-test
	$(BIN)/python -m pytest -q -m prove

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
