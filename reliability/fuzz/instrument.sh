#!/usr/bin/env bash
# Calls the compiler with what libFuzzer needs, counters on edges and comparisons it can learn
# from, for the crates worth exploring; the others compile in half the time without.
case "${CARGO_PKG_NAME:-} $*" in
*"--crate-name build_script"*) exec "$@" ;;
upoe* | parquet* | arrow-ipc* | calamine* | quick-xml* | tiff* | serde_json* | flate2* | fast-float2*)
    exec "$@" -Cpasses=sancov-module -Ccodegen-units=4 \
        -Cllvm-args=-sanitizer-coverage-level=4 \
        -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
        -Cllvm-args=-sanitizer-coverage-pc-table \
        -Cllvm-args=-sanitizer-coverage-trace-compares
    ;;
*) exec "$@" ;;
esac
