# make test: installs what the tests need and runs them all. make lint: the linters. make docs: the site.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c

# A folder with the paper's own data (frey/, images/), where there is one; tests that need it
# say so when it is missing.
DATA := $(wildcard ../shared/data)
export UPOE_DATA ?= $(abspath $(DATA))

comma := ,

-include python/python.mk
include bench/bench.mk
include reliability/reliability.mk
include docs/docs.mk
include release/release.mk

.PHONY: test test-rust test-gpu test-page lint demo null-table radial-table scale package semver

test: test-rust test-python test-page test-docs test-reliability

test-rust:
	cargo test --release --workspace
	cargo test --release -p upoe-cuda --test laws --no-run

# The laws of experts and the agreement of engines on an NVIDIA GPU; says so where there is none.
test-gpu:
	cargo run --release --quiet -p upoe-cuda --example gpu || { echo "test-gpu: SKIPPED, see above"; exit 0; }; \
	cargo test --release -p upoe-cuda --tests --test laws

# The real demo's page and pages of other fitted models, in a headless Chromium.
test-page:
	mkdir -p target/demo
	cargo run --release --quiet -- demo --output target/demo --quiet
	UPOE_REPORT_HTML=$(abspath target/demo/report.html) bash crates/upoe-report/page/tests/run.sh

lint:
	cargo fmt --all --check
	cargo clippy --release --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --release --workspace --no-deps
	cargo check --release -p upoe-table --no-default-features
	for feature in parquet xlsx jsonl arrow mat tiff; do cargo check --release -p upoe-table --features $$feature; done

demo:
	cargo run --release -- demo

# The table behind the null stop rule; about 40 minutes.
null-table:
	cargo run --release -p xtask -- null-table > target/null_table.csv
	mv target/null_table.csv crates/upoe/src/learn/null_table.csv

# The table behind the radial expert's p-values; about a minute.
radial-table:
	cargo run --release -p xtask -- radial-table > target/radial_table.csv
	mv target/radial_table.csv crates/upoe/src/learn/radial_table.csv

# Tables larger than memory, and clusters: the figures of docs/scale.md. With the default of 12 GB it needs 30 GB of
# disk and about an hour on two cores. SCALE="--part large,page --gb 1 --limit 1G" is a small form.
scale: wheel
	$(VENV)/bin/pip install --quiet --force-reinstall --no-deps $(WHEELS)/upoe-*.whl
	cargo build --release -p upoe-cli
	$(VENV)/bin/python bench/scale.py $(SCALE)

# Every crate as it would be published, each built from its own archive.
package:
	cargo package --workspace --exclude upoe-python --exclude xtask $(PACKAGE_FLAGS)

# The public interface of the library against that of the last release (0.1.0), a git revision.
BASELINE ?= ca5543a
semver:
	cargo install --locked cargo-semver-checks
	cargo semver-checks -p upoe --baseline-rev $(BASELINE)
