# Every target does its whole set-up from a fresh clone: a virtual environment in .venv, the
# install, then the job. Nothing else needs to be there but Python 3.11 or later; `make js` and
# `make check`, which look at the pages' JavaScript, need Node.js 18.18 or later with npm, too.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --retries 10 --timeout 60 --constraint constraints.txt
TESTS := $(BIN)/python -m pytest -n auto --maxprocesses 8 --dist loadgroup

.PHONY: help arena play test test-all check lint js node fix bench crosscheck attack strength pages picture docs floors clean

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 18

arena: $(VENV)/base  ## a short tournament of every game: a minute, three or four the first time
	$(BIN)/cardlab tournament crazy_eights random heuristic guided:300 monte_carlo:1000 uct_open:1000 --games 200
	$(BIN)/cardlab tournament uno random heuristic monte_carlo:100 -o seats=3 --games 300
	$(BIN)/cardlab tournament koi_koi random heuristic monte_carlo:100 --games 100
	$(BIN)/cardlab tournament cribbage random heuristic cribbage_expert:30 --games 100
	$(BIN)/cardlab tournament birds_of_a_feather solver search_dfs search_lr search_evolved heuristic --games 60

play: $(VENV)/base  ## play all games in the browser
	$(BIN)/cardlab serve --open

test: $(VENV)/dev  ## the quick tests: a few minutes
	$(TESTS) --dist loadfile -m "not slow"

test-all: test  ## all tests: trainings, kills, browsers, databases, documented commands, too
	$(TESTS) -m slow

check: lint js test  ## lint, types, layers, JavaScript, quick tests: before every commit

lint: $(VENV)/dev  ## format, lint, types and layers of the Python
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

js: node_modules/ready  ## lint, types and tests of the pages' JavaScript
	node_modules/.bin/eslint --max-warnings 0
	node_modules/.bin/tsc --project tsconfig.json
	node --test --test-reporter=spec tests/javascript/*.test.js

fix: $(VENV)/dev  ## let the formatter and the linter fix what they can
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: $(VENV)/bench  ## speed beside OpenSpiel and RLCard, and of the solvers
	$(BIN)/python benchmarks/bench.py
	$(BIN)/python benchmarks/birds.py
	$(BIN)/python benchmarks/cribbage.py
	$(BIN)/python benchmarks/arena.py
	$(BIN)/python benchmarks/web.py
	$(BIN)/python benchmarks/cost.py
	$(BIN)/python benchmarks/start.py --only cold --repeat 1
	$(BIN)/python benchmarks/coordinator.py --quick

crosscheck: $(VENV)/bench  ## the rules beside other programs, move by move
	$(BIN)/python crosscheck/uno_rlcard.py
	$(BIN)/python crosscheck/cribbage_open_spiel.py
	$(BIN)/python crosscheck/birds_unsolvable.py

attack: $(VENV)/dev  ## attack a real server and real tournaments: ten minutes; nothing may be lost
	$(BIN)/python -m attacks.attack

strength: $(VENV)/base  ## measure every agent against heuristic, and ratings (two hours of one core)
	$(BIN)/python benchmarks/strength.py --ship

pages: $(VENV)/docs  ## write what the documentation says about the code from the code
	$(BIN)/python website/pages.py

picture: $(VENV)/dev  ## draw the picture of the README in a real browser (needs Chromium)
	$(BIN)/python -m website.picture

docs: pages  ## build this documentation as a site: build/site/index.html
	$(BIN)/mkdocs build --strict --quiet

floors:  ## quick tests with the lowest versions that pyproject.toml allows (Python 3.11, an hour)
	$(PYTHON) tests/floors.py

clean:  ## remove the virtual environment and all caches of this folder
	rm -rf $(VENV) node_modules build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/python:
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/base: $(VENV)/python pyproject.toml constraints.txt
	$(PIP) --editable .
	@touch $@

$(VENV)/docs: $(VENV)/python pyproject.toml constraints.txt
	$(PIP) --editable '.[docs]'
	@touch $(VENV)/base $@

$(VENV)/dev: $(VENV)/python pyproject.toml constraints.txt
	$(PIP) --editable '.[dev,docs,papers,train,postgres,cluster,ladder,bench,examples]'
	@touch $(VENV)/base $(VENV)/docs $@

$(VENV)/bench: $(VENV)/python pyproject.toml constraints.txt
	$(PIP) --editable '.[bench]'
	@touch $(VENV)/base $@

node:
	@command -v node >/dev/null && command -v npm >/dev/null || { \
	    echo "To check the JavaScript of the pages, install Node.js 18.18 or later with npm (Debian and Ubuntu: apt install nodejs npm)." >&2; \
	    exit 1; }

node_modules/ready: package.json package-lock.json | node
	npm ci --loglevel error --no-audit --no-fund --fetch-retries 10 >/dev/null
	@touch $@
