# Every target makes its own environment and installs what it needs; the second call is instant.
# Another interpreter: make test PYTHON=python3.12

PYTHON ?= python3
MINUTES ?= 30
WORKERS ?= 2
VENV := .venv
BENCH_VENV := .venv-bench
MPICH_VENV := .venv-mpich
INSTALLED := $(VENV)/.installed
MPICH_INSTALLED := $(MPICH_VENV)/.installed
BENCH_INSTALLED := $(BENCH_VENV)/.installed
comma := ,
SHARED := --numprocesses $(WORKERS) --dist loadfile  # one file's tests stay together: they share a pilot
ALONE := tests/pilot tests/mpi tests/shuffle tests/train tests/test_examples.py tests/test_readme.py \
	tests/tree/test_interrupt.py tests/tree/test_pipeline.py tests/tree/test_task.py  # ranks that want both cores
RANK_TESTS := tests/pilot/test_tasks.py tests/pilot/test_resident.py tests/pilot/test_restart.py tests/mpi \
	tests/train/test_fit_ranks.py

# install VENV EXTRAS: an environment with argosy (editable) and these extras.
define install
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "argosy needs Python 3.11 or newer; '$(PYTHON)' is not there or is older."; \
		echo "Name another one: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@echo "installing argosy[$(2)] into $(1) (once, a minute or two)"
	@$(PYTHON) -m venv $(1)
	@$(1)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[$(2)]'
	@touch $(1)/.installed
endef

.DEFAULT_GOAL := help
.PHONY: help demo test soak check format bench clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | \
		awk -F '\t' '{ printf "  make %-8s %s\n", $$1, $$2 }'

demo: $(INSTALLED)  ## a tour: what argosy does, on this machine
	@$(VENV)/bin/argosy demo

test: $(INSTALLED) $(MPICH_INSTALLED)  ## all tests with Open MPI, and those of ranks also with MPICH
	$(VENV)/bin/python -m pytest $(SHARED) $(ALONE:%=--ignore=%)
	$(VENV)/bin/python -m pytest $(ALONE)
	$(MPICH_VENV)/bin/python -m pytest $(RANK_TESTS)

soak: $(INSTALLED)  ## look for trouble with fresh seeds: make soak MINUTES=60
	$(VENV)/bin/python tests/soak --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--only $(ONLY))

check: $(INSTALLED)  ## lint, format, types and layers
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

format: $(INSTALLED)  ## rewrite the source in the house format
	$(VENV)/bin/ruff check --fix
	$(VENV)/bin/ruff format

bench: $(BENCH_INSTALLED)  ## the pilot, the frame, training, shuffling, the tree and memory, both sides in one run
	failed=0; for part in pilot frame train shuffle tree memory; do $(BENCH_VENV)/bin/python benchmarks/$$part.py || failed=1; done; \
		exit $$failed

clean:  ## remove the environments and the caches
	rm -rf $(VENV) $(MPICH_VENV) $(BENCH_VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

$(INSTALLED): pyproject.toml constraints.txt
	$(call install,$(VENV),mpi$(comma)train$(comma)dev)

$(MPICH_INSTALLED): pyproject.toml constraints.txt
	$(call install,$(MPICH_VENV),mpich$(comma)train$(comma)test)

$(BENCH_INSTALLED): pyproject.toml constraints.txt
	$(call install,$(BENCH_VENV),mpi$(comma)bench)
