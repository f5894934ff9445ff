# `make release`: everything that a release needs, in dist/, each tried where nothing else is. Included by the Makefile at
# the root. `make release-check` tries what is there.

RELEASE := target/release-venv

.PHONY: release release-check

# The wheel is linked by zig against glibc 2.17, so that any Linux of the last ten years loads it.
release: $(RELEASE)/installed
	rm -rf $(WHEELS)
	PATH=$(abspath $(RELEASE))/bin:$$PATH $(RELEASE)/bin/maturin build --release --strip --zig \
		--compatibility manylinux_2_17 --manifest-path python/Cargo.toml --out $(WHEELS)
	$(RELEASE)/bin/maturin sdist --manifest-path python/Cargo.toml --out $(WHEELS)
	cargo build --release -p upoe-cli
	strip -o $(WHEELS)/upoe $(or $(CARGO_TARGET_DIR),target)/release/upoe
	$(MAKE) package
	cp $(or $(CARGO_TARGET_DIR),target)/package/upoe*.crate $(WHEELS)
	$(MAKE) release-check

release-check:
	$(PYTHON) release/check.py $(WHEELS)

$(RELEASE)/installed: release/requirements.txt
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/pip install --quiet --requirement release/requirements.txt
	touch $@
