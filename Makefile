# Aldebaran: `make` lists what can be done.
.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c

ALDEBARAN_TOOLS ?= .tools
ALDEBARAN_HOME ?= .aldebaran
export ALDEBARAN_TOOLS ALDEBARAN_HOME
VENV := $(ALDEBARAN_TOOLS)/venv
PYTHON := $(VENV)/bin/python
VENV_STAMP := $(VENV)/.requirements-dev.lock

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Check

.PHONY: check
check: $(VENV_STAMP) ## Lint, format, types, import laws, tidy test
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	PYTHONPATH=.:spark-apps $(VENV)/bin/lint-imports
	$(VENV)/bin/pytest -q tests/tidy

.PHONY: format
format: $(VENV_STAMP) ## Rewrite code in the project's format
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

##@ Set up

.PHONY: lock
lock: $(VENV_STAMP) ## Pin Python packages again (versions and hashes) after a change of *.in
	for name in requirements requirements-dev; do \
	  $(VENV)/bin/uv pip compile -q --generate-hashes --no-emit-index-url --no-emit-find-links \
	    --no-header --universal --python-version 3.11 $$name.in -o $$name.lock; \
	done

$(VENV_STAMP): requirements-dev.lock
	test -x $(PYTHON) || python3 -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	cp requirements-dev.lock $@
