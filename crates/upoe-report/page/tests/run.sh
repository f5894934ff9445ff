#!/bin/sh
# Tests the page in a headless Chromium. Installs what is missing.
#
# UPOE_REPORT_HTML  a page to test as the demo's (default: Crabs, fitted here)
# CHROMIUM          the browser (default: /usr/bin/chromium)
set -eu
cd "$(dirname "$0")/.."

[ -d node_modules/@playwright/test ] || npm ci --no-audit --no-fund
if [ ! -x "${CHROMIUM:-/usr/bin/chromium}" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -q && apt-get install -y -q chromium
    else
        echo "the tests need Chromium: install it, or set CHROMIUM to its path" >&2
        exit 1
    fi
fi

target=${CARGO_TARGET_DIR:-$(cd ../../.. && pwd)/target}
export UPOE_PAGES="$target/pages"
(cd ../../.. && cargo run --quiet --release -p xtask -- pages "$UPOE_PAGES")
exec npx playwright test "$@"
