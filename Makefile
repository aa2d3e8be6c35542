# make demo    set up, run the main job on the shipped example
# make test    set up, run the tests (the long ones left out)
# make papers  recompute the tables of the papers, write docs/papers
# make fuzz    damage files and try random calls for half an hour
# make docs    build the site of the documentation in site/
# make package build wheel and source archive in dist/, and try them in an empty environment
# make test-all, make lint, make bench
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PEERS := $(VENV)/peers/.ready
# One more than there are cores: many tests wait for a cluster, a browser or a child.
TOGETHER := --numprocesses $$(($$(nproc) + 1)) --dist loadscope

# Python's compiled files lie in one place, also where others are told to write none: each process would compile all.
export PYTHONDONTWRITEBYTECODE :=
export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/pycache

.PHONY: demo test test-all lint format bench papers fuzz docs package clean

demo: $(READY)
	@$(BIN)/taxomask demo

test: $(READY)
	@tools/install-debian postgresql chromium
	$(BIN)/python -m pytest $(TOGETHER) -m "not slow"

test-all: $(READY)
	@tools/install-debian postgresql chromium
	$(BIN)/python -m pytest $(TOGETHER) --hypothesis-seed=$$(date +%s)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY) $(PEERS)
	for script in benchmarks/*.py; do $(BIN)/python $$script || exit 1; done

# What benchmarks/peers.py compares with has an environment of its own: pycanon wants an older numpy.
$(PEERS): tools/make-venv
	tools/make-venv $(PYTHON) $(VENV)/peers
	$(VENV)/peers/bin/python -m pip install --quiet --disable-pip-version-check microagg1d pycanon scikit-learn
	@touch $@

papers: $(READY)
	$(BIN)/python -m papers

docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "site/index.html"

package: $(READY)
	tools/try-package $(BIN)/python

FUZZ_SECONDS ?= 1800
FUZZ_SEED ?= $(shell date +%s)
FUZZ_PROCESSES ?= $(shell cores=$$(nproc); echo $$((cores > 2 ? cores - 1 : 1)))
fuzz: $(READY)
	$(BIN)/python tests/fuzz/files.py --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED) --processes $(FUZZ_PROCESSES) & files=$$!; \
	$(BIN)/python tests/fuzz/calls.py --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED); calls=$$?; \
	wait $$files && exit $$calls

# Kernels are compiled here, once, so that no user waits for it later.
$(READY): pyproject.toml tools/make-venv $(shell find src -name '_*kernels.py')
	tools/make-venv $(PYTHON) $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[all,dev,docs]"
	$(BIN)/python -c "from taxomask._support.compiling import compile_all; compile_all()"
	@touch $@

clean:
	rm -rf $(VENV) .pytest_cache .hypothesis .mypy_cache .ruff_cache site dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
