# Every recipe a person or CI needs. `make` lists them.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PACKAGES := pipeline collector aggregation sinks dashboards scheduler_core

.DEFAULT_GOAL := help
.PHONY: help setup run test test-cases lint types walls docs docs-check sql web web-check native bench chaos lock clean

help: ## list the recipes
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(READY): requirements/all.lock pyproject.toml
	@echo "Setting up $(VENV): about half a minute, 500 MB." >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m uv --version >/dev/null 2>&1 || $(BIN)/pip install --quiet uv || true
	@if $(BIN)/python -m uv --version >/dev/null 2>&1; then \
		$(BIN)/python -m uv pip sync --quiet --require-hashes --python $(BIN)/python requirements/all.lock; \
	else \
		$(BIN)/pip install --quiet --no-compile --require-hashes -r requirements/all.lock; \
	fi
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $(READY)

setup: $(READY) ## make the virtual environment from the lock file

run: $(READY) ## replay a recorded cluster through the whole pipeline; page on http://127.0.0.1:8080
	@exec $(BIN)/kube-collector demo

test: $(READY) ## set-up, walls, types, lint, generated files and all tests
	@PATH="$(CURDIR)/$(BIN):$$PATH" tests/run_all

test-cases: $(READY) ## only the runners of cases and recordings (folders from KC_CASES and KC_RECORDINGS)
	@$(BIN)/python -m pytest -q tests/answers $(ARGS)

lint: $(READY) ## ruff, and the format
	@$(BIN)/ruff check . && $(BIN)/ruff format --check --quiet .

types: $(READY) ## mypy --strict over all packages
	@$(BIN)/mypy

walls: $(READY) ## who may import whom
	@$(BIN)/lint-imports --no-cache

docs: $(READY) ## write the generated reference pages
	@$(BIN)/python -m pipeline.cli.docs

docs-check: $(READY) ## fail if a generated page is not what the code says
	@$(BIN)/python -m pipeline.cli.docs --check

sql: $(READY) ## write every statement that is shipped to build/sql
	@$(BIN)/python -m sinks.doris.sql build/sql

web: ## build the page into dashboards/static (needs Node)
	@cd dashboards/web && npm ci --no-audit --no-fund --silent && npm run --silent build

web-check: ## fail if a fresh build of the page differs from the committed files
	@tests/check_web

native: build/native/.ready ## compile the scheduler core into build/native, with a wheel (needs a C compiler, two minutes)

# A copy is built, so that no compiled module is left beside a file that somebody goes on editing.
build/native/.ready: $(READY) pyproject.toml $(wildcard scheduler_core/*.py scheduler_core/*/*.py)
	@echo "Compiling the scheduler core into build/native: about two minutes." >&2
	@rm -rf build/native build/native.tmp && mkdir -p build/native build/native.tmp
	@tar -c --exclude=node_modules --exclude=__pycache__ $(PACKAGES) pyproject.toml README.md LICENSE | tar -x -C build/native.tmp
	@cd build/native.tmp && PATH="$(CURDIR)/$(BIN):$$PATH" HATCH_BUILD_HOOKS_ENABLE=1 $(CURDIR)/$(BIN)/python -m hatchling build -t wheel >build.log 2>&1 \
		|| { tail -n 20 build.log >&2; exit 1; }
	@mv build/native.tmp/scheduler_core build/native.tmp/*__mypyc*.so build/native.tmp/dist/*.whl build/native/ && rm -rf build/native.tmp
	@touch $@

bench: $(READY) ## figures of speed, one JSON line each (NAME=… for one)
	@case "$(NAME)" in ""|scheduler*) $(MAKE) --silent native || echo "The scheduler core is measured interpreted." >&2;; esac
	@$(BIN)/python -m benchmarks $(NAME)

chaos: $(READY) ## the long trials: 50 kills of a replay, 24 of a live cluster under load, against the truth (an hour)
	@nice $(BIN)/python -m tests.chaos replay
	@nice $(BIN)/python -m tests.chaos live

lock: $(READY) ## resolve the lock files anew
	@for set in all distributed; do \
		$(BIN)/python -m uv pip compile --quiet --generate-hashes --no-header --no-annotate --python-version 3.11 \
			-o requirements/$$set.lock requirements/$$set.in; done

clean: ## remove the virtual environment, caches and the demo's data; a real cluster's data stays
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build data/demo
