# tabwb: `make demo` opens the workbench, `make test` runs every test, `make test-fast` those that
# take little time, `make check` is what CI runs.

PYTHON ?= python3
VENV ?= .venv
# CPU builds of PyTorch for Linux are found only at PyTorch's own index. Where it does not answer,
# the ordinary index is used with constraints.txt. Elsewhere the ordinary builds are CPU builds.
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
BIN = $(VENV)/bin
# Hundreds of tests start the program anew: without cached bytecode each start compiles it again.
PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --dist worksteal -q
# One worker more than there are cores, because many tests wait for a process or a server.
WORKERS = $$($(BIN)/python -c "import os; print(os.cpu_count() + 1)")
FAST = not (torch or audio or terminal or workbench or packaging or crash)
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test test-fast torture coverage check format lint types contracts docs docstrings sizes install install-dev system bench clean

demo: $(VENV)/.installed
	@$(BIN)/tabwb --demo

# What fails runs once more, alone: what passes then is listed as unstable.
test: $(VENV)/.installed-dev system
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python tests/run.py

# Without torch, sound, terminals (the workbench is one), wheels and repeated crashes. The doctests of
# plugins import torch.
test-fast: $(VENV)/.installed-dev
	@$(PYTEST) -n $(WORKERS) --hypothesis-profile=fast \
	  -m "$(FAST)" tests tabwb

# Commands whose n-th write, sync, open or rename fails, TABWB_TORTURE_FAULTS of each command (0: all
# there are), random events in the workbench, 200 times as many as make test, processes killed while
# they write, TABWB_TORTURE_KILLS of each, and 500 examples of each property. TABWB_TORTURE_SEED gives
# others.
torture: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.faults.trials --seed $${TABWB_TORTURE_SEED:-0} \
	  --count $${TABWB_TORTURE_FAULTS:-100}
	@TABWB_TORTURE_EVENTS=$${TABWB_TORTURE_EVENTS:-100000} $(PYTEST) -n $(WORKERS) \
	  tests/workbench/test_random_events.py
	@TABWB_TORTURE_TRAINING=1 $(PYTEST) tests/plugins/test_psst_train.py -k its_clips
	@TABWB_TORTURE_KILLS=$${TABWB_TORTURE_KILLS:-50} $(PYTEST) -n $(WORKERS) \
	  --hypothesis-profile=torture tests/store tests/analysis tests/scoring tests/agreement \
	  tests/lesion tests/phonology tests/cli/test_killed_voices.py tests/administer/test_kill.py \
	  tests/administer/rating/test_killed.py tests/cli/test_hanging_plugins.py

# Twice as slow as the tests alone, so not a part of them.
coverage: $(VENV)/.installed-dev system
	@$(PYTEST) -n auto --cov --cov-report=term:skip-covered

check: $(VENV)/.installed-dev
	@$(MAKE) --no-print-directory -j2 format lint types contracts docs docstrings sizes

format:
	@$(BIN)/ruff format --check .

lint:
	@$(BIN)/ruff check .

types:
	@$(BIN)/mypy

contracts:
	@$(BIN)/lint-imports

docs:
	@$(BIN)/python docs/generate.py --check
	@$(BIN)/python docs/rules_judge.py --check
	@$(BIN)/python docs/naming_rules.py --check

docstrings:
	@$(BIN)/python docs/check_docstrings.py

sizes:
	@$(BIN)/python -m benchmarks sizes --check

bench: $(VENV)/.installed-dev
	@$(BIN)/python -m benchmarks

install: $(VENV)/.installed

install-dev: $(VENV)/.installed-dev

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "tabwb needs Python 3.11 or later; say which: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "making $(VENV)"
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "no venv module here; on Debian or Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@$(PIP) --upgrade "pip>=25.1"

$(VENV)/.torch: constraints.txt | $(VENV)/bin/python
	@echo "installing PyTorch (CPU build); this is the large one"
	@if [ "$$(uname -s)" = Linux ] && \
	  $(BIN)/python -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1] + "/torch/", timeout=10)' \
	    $(TORCH_INDEX) >/dev/null 2>&1; \
	then $(PIP) --index-url $(TORCH_INDEX) torch; \
	else \
	  [ "$$(uname -s)" != Linux ] || echo "warning: $(TORCH_INDEX) does not answer; taking torch from your default index" >&2; \
	  $(PIP) torch; \
	fi
	@touch $@

$(VENV)/.installed: pyproject.toml constraints.txt $(VENV)/.torch
	@echo "installing tabwb"
	@PYTHONWARNINGS=ignore $(PIP) -e ".[local,audio]"
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	@echo "installing what tests and checks need"
	@PYTHONWARNINGS=ignore $(PIP) -e ".[all]" --group dev
	@touch $@

# Tests drive the program in a real terminal; tmux is used where it can be had.
# What tests drive from outside: a terminal, a sound server whose null sink is the microphone, a
# database server, a browser. Tests are skipped where these are not installed.
SYSTEM_PACKAGES = tmux pulseaudio pulseaudio-utils libasound2-plugins libportaudio2
SERVER_PACKAGES = postgresql chromium
LACKING = for program in tmux pulseaudio chromium; do \
    command -v $$program >/dev/null 2>&1 || echo $$program; done; \
  ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null 2>&1 || echo postgresql

system:
	@if [ -n "$$($(LACKING))" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	    export DEBIAN_FRONTEND=noninteractive; \
	    apt-get update -qq >/dev/null 2>&1; \
	    apt-get install -y -qq $(SYSTEM_PACKAGES) >/dev/null 2>&1 || true; \
	    apt-get install -y -qq --no-install-recommends $(SERVER_PACKAGES) >/dev/null 2>&1 || true; \
	  fi; \
	  for program in $$($(LACKING)); do \
	    echo "$$program is not installed: the tests that use it will be skipped"; \
	  done

clean:
	@rm -rf $(VENV) build dist *.egg-info
