# Everything works in .venv at the repository root and needs nothing but Python >= 3.11 and make.
#
#   make demo    install, train for a few minutes, show a learning curve and a video
#   make test    install what the tests need, run them, the page's too   (ARGS="-k name" goes to pytest alone)
#   make test-fast   the quick ones, in under three minutes
#   make test-long   what the others leave out: the longest tests, and further cases of some (tests/long.txt)
#   make check   ruff (format and lint), mypy, import-linter, the budget of lines
#   make bench   steps per second of the survival worlds on one core
#   make bench-viewer  what the page and its server cost, beside their bars; needs Node 20 and Chromium
#   make stories     the viewer's user stories walked through in a browser, with a picture of each; needs Node 20 and Chromium
#   make soak    10^8 agent-steps of the persistent world, its laws checked after every tick (4 to 8 minutes)
#   make trust   what docs/trust.md promises, tried: wild snapshots, damaged files, planted commands, failing disks, lost workers
#   make trust-long    a million rules of each state machine, a million ticks of determinism per family (hours)
#   make mutants       plant slips one at a time and ask the tests  (ARGS="--room core" goes to it)
#   make drawn-mutants   draw small changes of meaning at random and count those that a test notices  (ARGS="--seed 1 --count 40")
#   make integrations  other libraries' clients, in environments of their own
#   make docs    run every example in README.md and docs/
#   make site    build the site from docs/, the worlds and the docstrings, into build/site; needs no network
#   make page    build the viewer's page; needs Node 20
#   make test-page   its own tests, with a browser where Chromium is  (ARGS="tests/keys.test.ts" goes to vitest)
#   make wheel   build dist/*.whl, with the compiled kernels of every world and the page; needs Node 20
#   make first-use   what a fresh installation of that wheel waits for, world by world
#   make clean   remove what these targets made, runs/ excepted

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TESTS := $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder
# Byte code is made when it is first imported: to make that of all libraries at once doubles the wait. Where it may not be kept,
# as in some containers, each start of a process would compile jax anew (3.5 s instead of 1.3).
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip install --no-compile --quiet --disable-pip-version-check --constraint constraints.txt

DEMO := runs/demo-$(shell date +%Y%m%d-%H%M%S)
DEMO_WORLD := survival/1v1-heals-low
DEMO_STEPS := 1000000

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-fast test-long check bench bench-viewer stories soak trust trust-long mutants drawn-mutants integrations docs site page test-page wheel first-use clean

help:
	@sed -n 's/^#   //p' Makefile

# -- environments: a stamp file per set of extras, renewed when the dependencies change -----------------------------

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"interplay needs Python 3.11 or later, {sys.executable} is {v.major}.{v.minor}; use make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-demo: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing interplay with what the demo needs (once) ..."
	$(PIP) --editable '.[train,video,render,plot]'
	@touch $@

# torch by itself first: asked for by its number it can come from a CPU-only build where pip knows one.
$(VENV)/.installed-all: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing interplay with everything the tests need (once) ..."
	$(PIP) torch==2.13.0
	$(PIP) --editable '.[all]'
	@touch $@ $(VENV)/.installed-demo

# -- verbs ----------------------------------------------------------------------------------------------------------

demo: $(VENV)/.installed-demo
	$(BIN)/interplay train $(DEMO_WORLD) --steps $(DEMO_STEPS) --out $(DEMO)
	@echo; echo "== random play =="
	$(BIN)/interplay evaluate random --world $(DEMO_WORLD) --episodes 256
	@echo; echo "== after $(DEMO_STEPS) agent-steps =="
	$(BIN)/interplay evaluate $(DEMO) --episodes 256
	$(BIN)/interplay curves $(DEMO) --out $(DEMO)/curve.png
	$(BIN)/interplay record $(DEMO) --out $(DEMO)/episode.mp4
	@echo; echo "learning curve: $(DEMO)/curve.png"; echo "an episode:     $(DEMO)/episode.mp4"
	@$(BIN)/python .ci/page.py --if-possible > /dev/null
	@echo "watch it play:  $(BIN)/interplay view $(DEMO)"

# First the page's own tests, where Node is (and Chromium, for those that need a browser); with ARGS, or once they were run, without.
test: $(VENV)/.installed-all
	$(if $(ARGS)$(PAGE_TESTED),,$(MAKE) test-page)
	$(TESTS) -m "not long" $(ARGS)

# What takes longest, and cases beside those that stand for them: each night, and by hand before a release (tests/long.txt).
test-long: $(VENV)/.installed-all
	XLA_FLAGS="$$XLA_FLAGS" $(TESTS) -m long $(ARGS)

# What is quick: without the modules that are marked slow.
test-fast: $(VENV)/.installed-all
	$(TESTS) -m "not slow and not long" $(ARGS)

check: $(VENV)/.installed-all
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python .ci/budget.py

bench: $(VENV)/.installed-demo
	$(BIN)/interplay bench survival/1v1-heals-low survival/2v2-all-low --num-worlds 256

bench-viewer: $(VENV)/.installed-demo
	$(BIN)/python .ci/page.py
	$(BIN)/python -m bench.viewer $(ARGS)

stories: $(VENV)/.installed-all
	$(BIN)/python .ci/page.py
	PYTHON=$(abspath $(BIN))/python node bench/stories.mjs $(ARGS)

soak: $(VENV)/.installed-demo
	$(BIN)/python -m bench.mmo_soak $(ARGS)

trust: $(VENV)/.installed-all
	$(BIN)/python -m bench.trust_wild_snapshots --count 100000
	$(BIN)/python -m bench.trust_damaged_files --count 20000
	$(BIN)/python -m bench.trust_commands
	$(BIN)/python -m bench.trust_configurations --count 500
	$(BIN)/python -m bench.trust_disk --cuts 200
	$(BIN)/python -m bench.trust_workers --kills 30 --freezes 30
	$(BIN)/python -m bench.trust_shapes --count 500
	$(BIN)/python -m bench.trust_losses
	$(BIN)/python -m bench.ledger --matches 2000 --kills 10 --coordinators 2

trust-long: $(VENV)/.installed-all
	$(BIN)/python -m bench.trust_machines --rules 1000000
	$(BIN)/python -m bench.trust_determinism --ticks 1000000

mutants: $(VENV)/.installed-all
	$(BIN)/python -m tests.mutants.run --out runs/mutants.jsonl $(ARGS)

drawn-mutants: $(VENV)/.installed-all
	$(BIN)/python -m tests.mutants.draw --out runs/drawn-mutants.jsonl $(ARGS)

# Their own environment: these clients pin what others want newer. EPYMARL=folder of a checkout adds EPyMARL.
.venv-integrations/.installed: tests/integrations/requirements.txt
	$(PYTHON) -m venv .venv-integrations
	.venv-integrations/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	.venv-integrations/bin/python -m pip install --quiet --disable-pip-version-check --requirement $< --editable .
	@touch $@

integrations: .venv-integrations/.installed
	.venv-integrations/bin/python -m tests.integrations.run $(ARGS)

docs: $(VENV)/.installed-all
	$(BIN)/python -m pytest tests/test_docs.py

site: $(VENV)/.installed-all
	$(BIN)/python website/build.py

page:
	$(PYTHON) .ci/page.py

test-page: $(VENV)/.installed-all
	$(BIN)/python .ci/page.py --if-possible
	$(BIN)/python -m tests.page.run $(ARGS)

wheel: $(VENV)/.installed-all
	@rm -rf dist
	$(BIN)/python .ci/page.py
	$(BIN)/python .ci/compile.py
	PAGE_REQUIRED=1 $(BIN)/python -m build --wheel --outdir dist

first-use: wheel
	$(BIN)/python -m bench.first_use $(ARGS)

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
