# From a fresh clone: `make run`, `make test`. Needed: python3 (3.11 to 3.13), make and git.

PY := .venv/bin/python
PYTEST := $(PY) -m pytest
# One worker takes all Spark tests, which share a session; the other one takes the rest meanwhile.
PARALLEL := -n 2 --dist loadgroup
FAST := not (slow or pipeline or spark or browser or postgres or mariadb or cluster or soak or oracle)

# Hundreds of processes start here, and each would compile the same modules anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup run serve ui test check lint soak fuzz faults audit oracle accept freeze frozen witness bench peers format lock clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' Makefile

setup: ## make .venv from requirements.lock (with a certain Python: make setup PYTHON=python3.12)
	@python=$$(command -v "$(PYTHON)" || command -v python3 || command -v python3.13 || command -v python3.12 || \
		command -v python3.11) || { echo "setup: Python 3.11, 3.12 or 3.13 is needed, none was found" >&2; exit 1; }; \
	PYTHON="$(PYTHON)" "$$python" scripts/bootstrap.py

run: setup ## analyze the example warehouses, end to end
	@$(PY) -m lineage_pipeline.cli example

serve: setup ## open the explorer on what `make run` made
	@$(PY) -m lineage_pipeline.cli serve

ui: setup ## open the Dagster UI on what `make run` made
	@$(PY) -m lineage_pipeline.cli ui

test: lint ## everything that must pass: static checks, then all tests but the long ones
	$(PYTEST) $(PARALLEL) -m "not (soak or oracle)"

check: lint ## the quick part of `make test`, in about a minute
	$(PYTEST) $(PARALLEL) -m "$(FAST)"

lint: setup
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m mypy
	.venv/bin/lint-imports --no-logo
	@test ! -d dbt_project/models || $(PY) -m sqlfluff lint dbt_project/models

soak: setup ## the tests that take many minutes
	$(PYTEST) -m soak

fuzz: setup ## two hundred thousand mutated fixtures (fewer, or others: make fuzz COUNT=5000 FIRST=200000)
	$(PY) -m lineage_pipeline_tests.support.fuzzing --count $(or $(COUNT),200000) --first $(or $(FIRST),0)

faults: setup ## kill writers at counted points, a hundred of them and five whole runs at moments drawn by chance
	$(PY) -m lineage_pipeline_tests.support.fault_injection points $(or $(STEP),20)
	$(PY) -m lineage_pipeline_tests.support.fault_injection kill $(or $(ROUNDS),100)
	$(PY) -m lineage_pipeline_tests.support.fault_injection runs $(or $(RUNS),5)

audit: setup ## look every pinned dependency up in the list of known vulnerabilities (needs the network)
	@$(PY) scripts/audit.py

oracle: setup ## ten thousand generated queries for each real engine, and the grid of what they cover
	$(PYTEST) -m oracle

accept: setup ## rewrite the expected lines of the fixtures; read the diff before you commit it
	$(PYTEST) -m "$(FAST)" --accept

freeze: setup ## write the hashes of all results that a change without new behavior must keep (and the results: make freeze OUT=folder)
	$(PY) -m lineage_pipeline_tests.support.freeze write $(OUT)

frozen: setup ## compare the results with those hashes (and keep the results: make frozen OUT=folder)
	$(PY) -m lineage_pipeline_tests.support.freeze compare $(OUT)

witness: setup ## run generated programs on real engines with changed rows, and compare with our lineage (ENGINES="sqlite" COUNT=1000)
	$(PY) -m benchmarks.witness --engines $(or $(ENGINES),duckdb sqlite postgres spark) --count $(or $(COUNT),0) --keep .lineage/witness --record

bench: setup ## measure all that we owe into .lineage/bench (other files: make bench FILES="folder=dialect …")
	@$(PY) -m benchmarks --parts all --out .lineage/bench $(FILES)

peers: setup ## install the tools that `make bench` compares us with, each for itself, into .lineage/peers
	@$(PY) -m benchmarks --install-peers

.PHONY: pictures
pictures: setup ## take the pictures of the explorer anew
	$(PY) -m lineage_pipeline_tests.support.explorer_browser

format: setup ## put the code into shape
	$(PY) -m ruff check --fix
	$(PY) -m ruff format

lock: setup ## write requirements.lock anew from pyproject.toml (newest versions: make lock UPGRADE=--upgrade)
	.venv/bin/uv pip compile pyproject.toml -o requirements.lock --quiet --all-extras --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-annotate --custom-compile-command "make lock" $(UPGRADE)

clean: ## remove what runs and tools left behind; .venv stays
	rm -rf .lineage .dagster_home build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	rm -rf spark-warehouse metastore_db derby.log dbt_project/target dbt_project/logs
	find . -path ./.venv -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +
