# `make docs`: the site, in target/docs/site, to be read offline. Included by the Makefile at the root.

DOCS := target/docs
DOCS_PYTHON := $(DOCS)/venv/bin/python
COMMAND := $(or $(CARGO_TARGET_DIR),target)/release

.PHONY: docs docs-site docs-output test-docs

docs: reliability-wheel
	cargo doc --release --no-deps -p upoe -p upoe-table -p upoe-file
	$(MAKE) docs-site

# Every code block of the pages runs and prints what its page says; links, anchors and spelling are right. The
# environment is the one that test-python makes.
test-docs: test-python
	$(MAKE) docs-site
	$(DOCS_PYTHON) docs/site/check.py

# Puts what the blocks of the pages print into the pages; see what `git diff` says then.
docs-output: reliability-wheel
	cargo build --release -p upoe-cli
	$(VENV)/bin/python -W ignore docs/site/blocks.py --upoe $(COMMAND) --write

docs-site: $(DOCS)/venv/installed
	cargo build --release -p upoe-cli
	$(DOCS)/venv/bin/pip install --quiet --force-reinstall --no-deps $(WHEELS)/upoe-*.whl
	rm -rf $(DOCS)/kept
	$(VENV)/bin/python -W ignore docs/site/blocks.py --upoe $(COMMAND) --keep $(DOCS)/kept
	$(DOCS_PYTHON) docs/site/build.py --upoe $(COMMAND) --rust $(or $(CARGO_TARGET_DIR),target)/doc

$(DOCS)/venv/installed: docs/requirements.txt
	$(PYTHON) -m venv $(DOCS)/venv
	$(DOCS)/venv/bin/pip install --quiet --requirement docs/requirements.txt
	touch $@
