# Everything here needs Python 3.11 or newer and nothing else; `make` lists the targets.

PYTHON ?= python3
VENV   ?= .venv
ARGS   ?=
MINUTES ?= 1

BIN          := $(VENV)/bin
REQUIREMENTS := pyproject.toml constraints.txt
EMBEDDED     := $(VENV)/.installed-embedded
TESTING      := $(VENV)/.installed-test
BENCHING     := $(VENV)/.installed-bench
MUTATING     := $(VENV)/.installed-mutation
INSTALL      := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

# What is compiled once need not be compiled anew by each process; `make clean` removes it.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test lint format docs reference screenshots bench bench-quick deep trace plant mutate soak clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "  ARGS=...          is passed on:      make demo ARGS=--once   make test ARGS='-k merge -x'"
	@echo "  PYTHON=python3.12 picks the Python of a new virtual environment; VENV=DIR its place"

demo: $(EMBEDDED) ## run a compressed airport day on the embedded set (ARGS=--once: drain it and exit)
	@$(BIN)/python -m msgx_app.demo $(ARGS)

test: $(TESTING) ## run the tests, several at a time (ARGS='-n 0': one by one)
	@$(BIN)/python -m pytest -n auto $(ARGS)

deep: $(TESTING) ## run the tests, the long and random ones too
	@MSGX_PROFILE=deep $(BIN)/python -m pytest -n auto -v --timeout 1800 -m "deep or not deep" $(ARGS)

lint: $(TESTING) ## check style, types and import direction
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy --num-workers auto
	@$(BIN)/lint-imports

format: $(TESTING) ## put the code in its standard form
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

bench: $(BENCHING) ## run the benchmarks and write docs/bench (ARGS='--only floor pipeline')
	@$(BIN)/python -m bench $(ARGS)

bench-quick: $(BENCHING) ## run them in small, to see that they run
	@$(BIN)/python -m bench --quick $(ARGS)

docs: $(TESTING) ## build the documentation into build/site; a link that leads nowhere fails
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict $(ARGS)

reference: $(TESTING) ## write docs/reference from the code
	@cd tools && ../$(BIN)/python -m reference

screenshots: $(TESTING) ## take pictures of the console for docs/screenshots (needs chromium)
	@cd tools && ../$(BIN)/python -m screenshots $(ARGS)

trace: $(TESTING) ## write docs/requirements.md: each rule and the tests that show it
	@cd tools && ../$(BIN)/python -m traceability $(ARGS)

plant: $(TESTING) ## plant ten faults one at a time and tell which test finds each (ARGS='NAME --wide')
	@cd tools && ../$(BIN)/python -m planted_faults.plant $(ARGS)

mutate: $(MUTATING) ## change the rules in small ways and tell which changes no test notices
	@cd tools && ../$(BIN)/python -m mutation $(ARGS)

soak: $(TESTING) ## run it on real servers under random faults: make soak MINUTES=10 (ARGS='--seed 7')
	@cd tools && PYTHONPATH=../tests/support ../$(BIN)/python -m soak $(MINUTES) $(ARGS)

clean: ## remove the virtual environment, caches and build results
	rm -rf "$(VENV)" build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests tools bench -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "msgx needs Python 3.11 or newer; for example: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "Making a virtual environment in $(VENV)"
	@rm -f $(BIN)/python*
	@$(PYTHON) -m venv "$(VENV)"

$(EMBEDDED): $(REQUIREMENTS) | $(BIN)/python
	@echo "Installing msgx[embedded,http] into $(VENV)"
	@$(INSTALL) -e '.[embedded,http]'
	@touch $@

$(TESTING): $(REQUIREMENTS) | $(BIN)/python
	@echo "Installing msgx[test] into $(VENV)"
	@$(INSTALL) -e '.[test]'
	@touch $(EMBEDDED) $@

$(BENCHING): $(REQUIREMENTS) | $(BIN)/python
	@echo "Installing msgx[bench] into $(VENV)"
	@$(INSTALL) -e '.[bench]'
	@touch $@

$(MUTATING): $(TESTING)
	@echo "Installing msgx[mutation] into $(VENV)"
	@$(INSTALL) -e '.[mutation]'
	@touch $@
