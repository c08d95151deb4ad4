# Two commands are enough on a fresh Linux machine with Python 3.11 or newer and make: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PLAY := $(VENV)/.installed-sandbox
DEV := $(VENV)/.installed-dev
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
DIR ?= .sandbox
SCENARIO ?= guide
SPEED ?= 60

.PHONY: help install tools check test demo sandbox screenshots control-plane test-control-plane clean
help: ## what there is
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 20

install: $(DEV) ## everything for development into .venv

tools: ## helm and kubectl into .tools/bin, once
	@$(PYTHON) tools/fetch_tools.py

check: $(DEV) ## style, types, rings, spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

test: $(DEV) tools ## all tests
	$(BIN)/pytest -n 4 --dist worksteal

demo: $(PLAY) tools ## both examples of the guide, played in a pretend Slack; ends by itself
	$(BIN)/python -m sandbox.demo --dir $(DIR)/demo

sandbox: $(PLAY) tools ## the same world, for you to type and click; stays until Ctrl-C
	$(BIN)/gpu-migrate-sandbox up --scenario $(SCENARIO) --dir $(DIR)/world --speed $(SPEED)

screenshots: $(DEV) tools ## the pictures in docs/images, of a run that is played for them (needs Chromium)
	$(BIN)/python -m tests.flows.screens docs/images

control-plane: ## a real control plane for the tests that want one; built from Go modules, takes long
	@$(PYTHON) tools/build_control_plane.py

test-control-plane: $(DEV) tools ## the tests that ask a real control plane; after `make control-plane`
	GPU_MIGRATE_CONTROL_PLANE=1 $(BIN)/pytest -m control_plane

clean: ## away with everything that was made here
	rm -rf $(VENV) .tools $(DIR) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; name one: make PYTHON=python3.13 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "Python's venv module does not work here; on Debian or Ubuntu: apt-get install python3-venv"; exit 1; }

$(PLAY): pyproject.toml | $(BIN)/python
	$(PIP) --editable '.[sandbox]'
	@touch $@

$(DEV): pyproject.toml | $(BIN)/python
	$(PIP) --editable '.[dev]'
	@touch $@ $(PLAY)
