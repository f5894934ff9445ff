#!/usr/bin/env bash
# Makes docs/experiments.md and its figures: runs the paper's experiments and puts their pages
# together.
#
#   UPOE_DATA=FOLDER docs/experiments.sh OUT      FOLDER has frey/ and images/
#
# Experiments that are in OUT already are not run again.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1
run() { test -f "$out/$1/results.md" || cargo run --release --quiet -- reproduce "${@:2}" -o "$out/$1"; }
peers() { test -f "$out/peers-images.json" && echo --peers "$out/peers-images.json"; }
run crabs crabs
run frey frey --data "$UPOE_DATA/frey/frey_rawface.mat" --splits 10
# shellcheck disable=SC2046
run images images --data "$UPOE_DATA/images" $(peers)
mkdir -p docs/images/experiments
{
    cat docs/experiments-head.md
    for name in crabs frey images; do
        echo
        cp "$out/$name"/*.png docs/images/experiments/
        for figure in "$out/$name"/*.png; do
            mv "docs/images/experiments/$(basename "$figure")" "docs/images/experiments/$name-$(basename "$figure")"
        done
        # Headings one step lower, figures from the folder here.
        sed -e 's/^#/##/' -e "s|](figure|](images/experiments/$name-figure|" "$out/$name/results.md"
    done
} >docs/experiments.md
