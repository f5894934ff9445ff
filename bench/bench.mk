# `make bench`: every section, or some with SECTION=pass,ica; of density, some methods and sets with
# METHODS=upoe,good,best and SETS=red,white. Included by the Makefile at the root.

BENCH := target/bench
BENCH_PYTHON := $(BENCH)/venv/bin/python
BENCH_SECTIONS := pass ica images density outliers growth scoring search compare groups impute kept default layers

.PHONY: bench bench-install

# Results go to bench/results, tables and plots to docs/benchmarks.md; about 80 minutes, 30 of them for
# the peers of density. OpenBLAS's threads wait asleep, not spinning: the peers are up to three times as fast.
bench: export OPENBLAS_THREAD_TIMEOUT = 4
bench: bench-install
	cargo build --release --package upoe-cli
	for section in $(or $(subst $(comma), ,$(SECTION)),$(BENCH_SECTIONS)); do $(BENCH_PYTHON) bench/$$section.py; done
	$(BENCH_PYTHON) bench/report.py

# The peers at their pinned versions, and our wheel as it is now.
bench-install: $(BENCH)/venv/installed
	rm -rf $(BENCH)/wheels
	$(BENCH)/venv/bin/maturin build --release --manifest-path python/Cargo.toml --out $(BENCH)/wheels
	$(BENCH)/venv/bin/pip install --quiet --force-reinstall --no-deps $(BENCH)/wheels/upoe-*.whl

$(BENCH)/venv/installed: bench/requirements.txt
	python3 -m venv $(BENCH)/venv
	$(BENCH)/venv/bin/pip install --quiet --requirement bench/requirements.txt
	touch $@

# The GPU engine next to the machine's CPU; needs an NVIDIA GPU, and says so where there is none. About five
# minutes on an H200 with 16 cores.
.PHONY: bench-gpu
bench-gpu: bench-install
	cargo build --release -p upoe-cuda --example measure
	UPOE_MEASURE=$(or $(CARGO_TARGET_DIR),target)/release/examples/measure $(BENCH_PYTHON) bench/gpu.py
	$(BENCH_PYTHON) bench/report.py
