# Everything runs in a virtual environment of the project's own; `make demo` and `make test` create it.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# One more than two cores: tests wait for services, browsers and the clock, and another may work meanwhile.
WORKERS ?= 3
LOWEST ?= .venv-lowest
LIVE := -e packages/askance -e packages/askance-live
ALL := -e packages/askance-papers -e 'packages/askance-live[postgres,oidc]'
# With what the tests use of other libraries; peers are what the adapters are tested against.
TESTED := $(ALL) -e 'packages/askance[drift,river,dask,onnx,redis,nats,kafka]'
PEERS := $(ALL) -e 'packages/askance[drift,river,dask,onnx,redis,nats,kafka,mlflow,skactiveml]'
# Modules are compiled once, not by every process that a test starts, wherever somebody has asked for no compiled files.
unexport PYTHONDONTWRITEBYTECODE
PROJECTS := pyproject.toml $(wildcard packages/*/pyproject.toml)
# Tests that use each package as users do, and compile every family of kernels. A name after :: is one test.
LOWEST_TESTS ?= $(addprefix packages/askance/tests/,data/datasets data/encoding evaluate/metrics evaluate/quality \
	data/formats/test_generators.py data/formats/test_missing.py data/formats/test_parquet.py \
	learner/test_inputs.py learner/test_one_event.py learner/test_trace.py \
	$(addprefix learner/test_budgets.py::,test_a_rate_is_held_by_every_rule test_dates_are_times_whatever_their_unit \
		test_calls_of_any_size_and_asking_one_by_one_decide_the_same) \
	learner/test_sklearn_contract.py::test_estimator_passes_the_checks_with_an_intercept_normalised_and_on_a_budget \
	brokers/test_contract.py compare/test_plots.py \
	evaluate/test_drift_signal.py::test_unscaled_it_is_rivers_detector \
	evaluate/test_drift_signal.py::test_a_river_detector_can_take_its_place \
	adapters/test_wrap.py::test_late_answers_are_learned_as_they_come_with_their_own_events \
	adapters/test_river.py::test_rivers_short_checks_pass adapters/test_onnx.py::test_labels_are_of_their_own_kind \
	compare/test_sweep.py::test_the_seed_decides_everything_whatever_the_number_of_workers \
	compare/test_sweep.py::test_scikit_learn_can_work_side_by_side_after_a_sweep_did \
	cli/test_run.py::test_on_a_terminal_there_is_a_bar_with_speed_labels_and_accuracy) \
	$(addprefix packages/askance-live/tests/live/,test_smoke.py \
	test_company_login.py::test_somebody_comes_back_with_a_role_of_their_group \
	test_webhooks.py::test_questions_and_answers_are_told_signed_and_in_order) \
	packages/askance-papers/tests/cli/test_reproduce_screen.py
# Whoever is done takes over tests that wait for the other, so that none is alone at the end with a long file.
SHARE := -n $(WORKERS) --dist worksteal

.PHONY: help demo serve test test-lowest hostile prove lint vulnerabilities versions bench docs dist clean

help:
	@echo "make demo    set up, then play a generated stream and show what a few labels buy (about a minute)"
	@echo "make serve   set up, then serve a live stream of made-up messages, with pages to label and watch"
	@echo "make test    set up, then run the whole test suite"
	@echo "make test-lowest   a part of the tests with the lowest versions that pyproject.toml admits"
	@echo "make hostile   those of the tests that send the service what is to harm it, or whoever looks at its pages"
	@echo "make prove   the long proofs: large files, and whatever else takes minutes"
	@echo "make lint    ruff and mypy"
	@echo "make vulnerabilities   look for known vulnerabilities in the installed packages"
	@echo "make versions   what is installed, newest and lowest"
	@echo "make bench   measure beside Vowpal Wabbit, river and scikit-learn; writes benchmarks/RESULTS.md"
	@echo "make docs    build the documentation site, every example executed, into docs/_build/html"
	@echo "make dist    build wheel and source archive, and try them in an empty environment with each Python at hand"
	@echo "make clean   remove the virtual environment and caches"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "askance needs Python 3.11 or newer; $(PYTHON) is older. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.installed: $(PROJECTS) | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e packages/askance
	@touch $@

$(VENV)/.installed-live: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet $(LIVE)
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet $(PEERS) --group test --group lint --group peers
	@touch $@

# Ray is large, and has no wheel for the newest Python at once: without it its proofs are skipped.
$(VENV)/.installed-prove: $(VENV)/.installed-test
	$(BIN)/python -m pip install --quiet -e 'packages/askance[ray]' || echo "Ray could not be installed; its proofs are skipped"
	@touch $@

$(VENV)/.installed-tools: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group tools
	@touch $@

# A folder of its own for machine code, too: that of one version of numba is of no use to another.
$(LOWEST)/.installed: $(PROJECTS) $(VENV)/.installed-tools
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(LOWEST)
	$(BIN)/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct $(TESTED) --group test
	@touch $@

$(VENV)/.installed-bench: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet $(ALL) -e packages/askance --group bench
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet $(ALL) -e 'packages/askance[river,skactiveml]' --group docs
	@touch $@

demo: $(VENV)/.installed
	@$(BIN)/askance demo

serve: $(VENV)/.installed-live
	@$(BIN)/askance demo --live

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest -q $(SHARE)

test-lowest: $(LOWEST)/.installed
	ASKANCE_CACHE_DIR=$(abspath $(LOWEST))/cache $(LOWEST)/bin/python -m pytest -q $(SHARE) $(LOWEST_TESTS)

hostile: $(VENV)/.installed-test
	$(BIN)/python -m pytest -q $(SHARE) -m 'hostile and not prove' packages/askance-live

prove: $(VENV)/.installed-prove
	$(BIN)/python -m pytest -q --durations 10 -m 'prove and not alone' -n 2 --dist worksteal
	$(BIN)/python -m pytest -q --durations 10 -m 'prove and alone'

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

vulnerabilities: $(VENV)/.installed-tools
	$(BIN)/python .ci/vulnerabilities.py $(BIN)/pip-audit --local

versions: $(VENV)/.installed-test $(LOWEST)/.installed
	@echo "newest: $$($(BIN)/python -V), $$($(BIN)/uv pip freeze --quiet --python $(BIN)/python --exclude-editable | paste -sd ' ')"
	@echo "lowest: $$($(LOWEST)/bin/python -V), $$($(BIN)/uv pip freeze --quiet --python $(LOWEST)/bin/python --exclude-editable | paste -sd ' ')"

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks

docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going docs docs/_build/html
	$(BIN)/python docs/site_parts/links.py docs/_build/html

dist: $(VENV)/.installed-tools
	rm -rf dist
	for project in packages/*; do $(BIN)/uv build --quiet --out-dir dist $$project; done
	$(BIN)/python .ci/try_install.py $(BIN)/uv dist

clean:
	rm -rf $(VENV) $(LOWEST) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist docs/_build docs/generated
	find packages tests benchmarks docs -name __pycache__ -prune -exec rm -r {} +
