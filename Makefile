# Everything here needs Python 3.11 or newer and nothing else; `make` lists the targets.

PYTHON ?= python3
VENV   ?= .venv
ARGS   ?=

BIN          := $(VENV)/bin
REQUIREMENTS := pyproject.toml constraints.txt
EMBEDDED     := $(VENV)/.installed-embedded
TESTING      := $(VENV)/.installed-test
INSTALL      := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test lint format bench deep clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "  ARGS=...          is passed on:      make demo ARGS=--once   make test ARGS='-k merge -x'"
	@echo "  PYTHON=python3.12 picks the Python of a new virtual environment; VENV=DIR its place"

demo: $(EMBEDDED) ## run a compressed airport day on the embedded set (ARGS=--once: drain it and exit)
	@$(BIN)/python -m msgx_app.demo $(ARGS)

test: $(TESTING) ## run the tests
	@$(BIN)/python -m pytest $(ARGS)

deep: $(TESTING) ## run the tests, the long and random ones too
	@MSGX_PROFILE=deep $(BIN)/python -m pytest -m "deep or not deep" $(ARGS)

lint: $(TESTING) ## check style, types and import direction
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(TESTING) ## put the code in its standard form
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

bench: $(EMBEDDED) ## run the benchmarks (bench/)
	@set -- bench/bench_*.py; \
	if [ ! -e "$$1" ]; then echo "There is no bench/bench_*.py yet: the benchmarks come with a later version." >&2; exit 1; fi; \
	for script in "$$@"; do echo "== $$script"; $(BIN)/python "$$script" $(ARGS) || exit; done

clean: ## remove the virtual environment, caches and build results
	rm -rf "$(VENV)" build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "msgx needs Python 3.11 or newer; for example: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "Making a virtual environment in $(VENV)"
	@rm -f $(BIN)/python*
	@$(PYTHON) -m venv "$(VENV)"

$(EMBEDDED): $(REQUIREMENTS) | $(BIN)/python
	@echo "Installing msgx[embedded] into $(VENV)"
	@$(INSTALL) -e '.[embedded]'
	@touch $@

$(TESTING): $(REQUIREMENTS) | $(BIN)/python
	@echo "Installing msgx[test] into $(VENV)"
	@$(INSTALL) -e '.[test]'
	@touch $(EMBEDDED) $@
