# zxml: `make` alone prints what there is to do.

PYTHON ?= python3
MODEL  ?=
VENV   := .venv
RUN    := $(VENV)/bin/python
NAME   := $(or $(MODEL),mnist)
SHIPPED := $(wildcard models/*.npz)
PYTEST := $(RUN) -m pytest -n auto

.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

help: ## print this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

tap: $(VENV)/zxml ## train the default net, make its tape and prove it; MODEL=NAME: from the shipped integers
ifeq ($(MODEL),)
	$(MAKE) build/$(NAME)/trained
	$(RUN) -m zxml tape $(NAME)
else
	rm -f build/$(NAME)/trained
	$(RUN) -m zxml tape models/$(MODEL).npz
endif
	$(RUN) -m zxml verify $(NAME)

build/%/trained: models/%.toml | $(VENV)/zxml
	$(RUN) -m zxml.train mnist --spec $<
	touch $@

learn: $(VENV)/zxml ## make the tape that learns, and prove it: build/learn/
	$(RUN) -m zxml.learn

train: $(VENV)/zxml ## train the default net anew
	$(RUN) -m zxml.train mnist

verify: $(VENV)/zxml ## prove the tape in build/ once more
	$(RUN) -m zxml verify $(NAME)

verify-all: $(SHIPPED:models/%.npz=verify-%) ## make the tape of every shipped net and prove it

verify-%: models/%.npz | $(VENV)/zxml
	rm -f build/$*/trained
	$(RUN) -m zxml tape $<
	$(RUN) -m zxml verify $<

bench: $(VENV)/zxml ## compare the shipped nets, and what others have published
	$(RUN) -m zxml bench

plots: $(VENV)/dev build/learn/evidence.json ## draw docs/accuracy.svg and docs/learning_time.svg
	$(RUN) -m zxml bench --plot docs

docs: plots ## write all generated documentation: docs/kernels.md and the plots
	$(RUN) -m zxml.z80gen.kernels_page

build/learn/evidence.json: | $(VENV)/zxml
	$(RUN) -m zxml.learn

report: $(VENV)/zxml ## print what was proved, the costs and the memory map
	$(RUN) -m zxml report $(NAME)

run: $(VENV)/zxml ## open the tape in the Fuse emulator
	$(RUN) -m zxml run $(NAME)

test: $(VENV)/dev ## run the fast tests
	$(PYTEST) -m "not slow"

test-slow: $(VENV)/dev ## run the slow tests, which need pasmo and take minutes
	$(PYTEST) -m slow

check: $(VENV)/dev ## lint, format and types
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

golden: $(VENV)/dev ## write the golden assembly and screens of the tests anew
	ZXML_WRITE_GOLDEN=1 $(RUN) -m pytest tests/test_emit.py tests/test_app_screens.py -k golden

clean: ## remove build/
	rm -rf build

$(VENV)/zxml: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "zxml: Python 3.11 or newer is wanted, got " + sys.version)'
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --editable .
	touch $@

$(VENV)/dev: $(VENV)/zxml
	$(RUN) -m pip install --quiet --editable '.[dev]'
	touch $@

.PHONY: help tap learn train verify verify-all bench plots docs report run test test-slow check golden clean
