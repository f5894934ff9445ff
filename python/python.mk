# The Python package: `make wheel`, `make test-python`. Included by the Makefile at the root.

PYTHON ?= python3
VENV := .venv
WHEELS := dist
PYTHON_MK := $(lastword $(MAKEFILE_LIST))

.PHONY: wheel stubs test-python

# A wheel for every Python from 3.10 on, in $(WHEELS).
wheel: $(VENV)/bin/maturin
	rm -f $(WHEELS)/upoe-*.whl
	$(VENV)/bin/maturin build --release --strip --manifest-path python/Cargo.toml --out $(WHEELS)

# The types of the compiled part, read from a library built for that.
stubs: $(VENV)/bin/maturin
	$(VENV)/bin/maturin generate-stubs --profile release --features inspect \
		--manifest-path python/Cargo.toml --out python

# The wheel in a fresh environment, and everything that can be asked of it; also next to the command, which is built
# first, because building may take longer than a test may.
test-python:
	rm -rf $(VENV)
	$(MAKE) -f $(PYTHON_MK) wheel
	$(VENV)/bin/pip install --quiet --force-reinstall --no-deps $(WHEELS)/upoe-*.whl
	cargo build --release --package upoe-cli --package xtask
	cd python/tests && ../../$(VENV)/bin/python -m pytest -c ../pyproject.toml --rootdir=.. .

$(VENV)/bin/maturin: python/requirements-test.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --requirement python/requirements-test.txt
	touch $@
