# `make reliability`: every section in full, or some with SECTION=dirty,faults; `make test-reliability`:
# the quick form of each. Included by the Makefile at the root.

RELIABILITY := fuzz inputs dirty faults precision truth discoveries layers alarms changes endurance supply
RELIABILITY_PYTHON := $(VENV)/bin/python

.PHONY: reliability reliability-wheel test-reliability fuzz

# Figures go to reliability/results, tables to docs/reliability.md; several hours.
reliability: reliability-wheel
	cargo build --release
	for section in $(or $(subst $(comma), ,$(SECTION)),$(RELIABILITY)); do $(RELIABILITY_PYTHON) reliability/$$section.py; done
	$(RELIABILITY_PYTHON) reliability/report.py

# The wheel of the code as it is, in the virtual environment.
reliability-wheel: wheel
	$(VENV)/bin/pip install --quiet --force-reinstall --no-deps $(WHEELS)/upoe-*.whl

# The environment is the one that test-python makes.
test-reliability: test-python
	cargo build --release
	$(RELIABILITY_PYTHON) -m pytest -q -p no:cacheprovider reliability

# Every fuzz target, or one with TARGET=csv, for SECONDS seconds each; what it finds stays in the
# corpus.
fuzz: reliability-wheel
	$(RELIABILITY_PYTHON) reliability/fuzz.py --keep --seconds $(or $(SECONDS),600) $(TARGET)
	$(RELIABILITY_PYTHON) reliability/report.py
